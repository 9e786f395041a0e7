import { expectTypeOf, test } from 'vitest';
import type { Hub } from '../../hub/hub.ts';
import type { EventListener } from '../../hub/watch.ts';
import { evolvePresented } from '../talk/presented.ts';
import type { World, WorldView } from './state.ts';
import { type decide, evolve } from './world.ts';

/** Never called: every line below must be refused by the compiler, which `npm run check` asks. */
function attempts(hub: Hub): void {
  // @ts-expect-error: a map of the state cannot be emptied
  void hub.ask((world) => world.agents.clear());
  // @ts-expect-error: nor set
  void hub.ask((world) => world.channels.set('a', null as never));
  // @ts-expect-error: nor a number changed
  void hub.ask((world) => world.length++);
  void hub.ask(({ agents, channels, claims, plan, deadlines, keys, offers, cards, findings }) => {
    const agent = agents.get('ada');
    const channel = channels.get('a');
    if (agent === undefined || channel === undefined) return;
    // @ts-expect-error: what lies deeper is as fixed
    agent.presence.state = 'online';
    // @ts-expect-error: also a range of positions
    agent.presented = null;
    // @ts-expect-error: also sets
    agent.patterns.clear();
    // @ts-expect-error: also what is in order
    agent.ready.delete(null as never);
    // @ts-expect-error: also a list
    channel.members.get('ada')?.again.push(1);
    // @ts-expect-error: also what is reached in a circle
    channel.members.get('ada')?.agent.memberships.get('a')?.channel.held?.clear();
    // @ts-expect-error: positions are read
    channel.positions.push(1);
    // @ts-expect-error: deadlines are read
    deadlines.pop(1);
    // @ts-expect-error: keys are read
    keys.delete('k');
    // @ts-expect-error: claims are read
    claims.claims.delete('t');
    // @ts-expect-error: and what a claim says
    for (const claim of claims.claims.values()) claim.owner = 'eve';
    // @ts-expect-error: the index of scopes is searched only
    claims.held.get('/w')?.remove(null as never);
    // @ts-expect-error: what falls due is looked at
    claims.due.delete(null as never);
    // @ts-expect-error: the plan is read
    plan.ids.sort();
    // @ts-expect-error: an offer stays
    offers.agents.delete('ada');
    // @ts-expect-error: a card stays
    cards.cards.clear();
    // @ts-expect-error: a count stays
    findings.recalls = 1;
  });
  // @ts-expect-error: an event happens to the state, not to a view of it
  void hub.ask((world) => evolve(world, null as never, 0));
  // @ts-expect-error: whichever event it is
  void hub.ask((world) => evolvePresented(world, null as never));
}

test('[L10] what asks, decides or listens is handed a view, and no view is a state', () => {
  expectTypeOf<Parameters<typeof decide>[0]>().toEqualTypeOf<WorldView>();
  expectTypeOf<Parameters<Parameters<Hub['ask']>[0]>[0]>().toEqualTypeOf<WorldView>();
  expectTypeOf<Parameters<EventListener>[0]>().toEqualTypeOf<WorldView>();
  expectTypeOf(attempts).toBeFunction();
  expectTypeOf<World>().toExtend<WorldView>();
  expectTypeOf<WorldView>().not.toExtend<World>();
});
