/** What a guard rail puts before a person: a thread that goes on without one [RA3], a trigger that leads nowhere [RA13]. */
import { raiseItem, settleItem } from '../docket/docket.ts';
import type { World } from '../law/state.ts';
import type { TurnStilled } from './turn-events.ts';
import type { Stillness } from './turn-state.ts';

const WORDS: Readonly<Record<Stillness, string>> = {
  hops: 'agents answer each other without a person; it goes on when you say something in the thread',
  pair: 'two agents talk very fast; it goes on when you say something in the thread',
  fruitless: 'its turns for that sender did nothing; it wakes again when you write to it',
};

/** For evolve. */
export function raiseStilled(world: World, event: TurnStilled): void {
  const { at, agent, sender, cause, root } = event;
  const thread = `m${root}`;
  const subject = cause === 'fruitless' ? fruitlessOf(agent) : thread;
  raiseItem(world, at, {
    ...{ kind: 'alert', agent: sender, reason: cause, thread, subject },
    text: `${sender} to ${agent}: ${WORDS[cause]}`,
  });
}

/** For evolve: a person spoke in the thread, or to the agent. */
export function settleStilled(
  world: World,
  about: { root: number } | { agent: string },
  at: number,
  by: string | null,
): void {
  const subject = 'root' in about ? `m${about.root}` : fruitlessOf(about.agent);
  settleItem(world, at, 'alert', subject, 'a person spoke', by);
}

function fruitlessOf(agent: string): string {
  return `fruitless ${agent}`;
}
