/**
 * Deadlines as commands: the hub asks for a tick when the next one is due, and
 * the law says what the passing of time has changed. One deadline a tick, so that
 * each is decided against the state the one before left.
 */
import type { Asked, Decision } from './decider.ts';
import { armLeases, type Lapsed, lapsedLeases } from './inbox.ts';
import type { MessageSent } from './message.ts';
import { armPresence, type PresenceChanged, silenceOf } from './presence.ts';
import type { World } from './state.ts';

export interface Tick extends Asked {
  readonly type: 'clock.tick';
}

/** Memory only: the soonest deadline is off the list. */
export interface Ticked {
  readonly type: 'clock.ticked';
  readonly at: number;
}

export function decideTick(
  world: World,
  command: Tick,
): Decision<PresenceChanged | MessageSent | Lapsed | Ticked, null> {
  const { at } = command;
  const due = world.deadlines.next;
  if (due === null || due.at > at) return { events: [], answer: null };
  const ticked: Ticked = { type: 'clock.ticked', at };
  if (due.kind === 'presence') {
    return { events: [...silenceOf(world, due.agent, at), ticked], answer: null };
  }
  const lapsed = lapsedLeases(world, due.agent, at);
  return { events: lapsed === null ? [ticked] : [lapsed, ticked], answer: null };
}

export function evolveTicked(world: World, event: Ticked): void {
  const passed = world.deadlines.pop(event.at);
  if (passed === null) return;
  if (passed.kind === 'presence') armPresence(world, passed.agent);
  else armLeases(world, passed.agent);
}
