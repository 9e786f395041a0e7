/**
 * Deadlines as commands: the hub asks for a tick when the next one is due, and
 * the law says what the passing of time has changed. One deadline a tick, so that
 * each is decided against the state the one before left.
 */

import { armLeases, type Lapsed, lapsedLeases } from '../talk/inbox.ts';
import type { MessageSent } from '../talk/message.ts';
import { armPresence, type PresenceChanged, silenceOf } from '../talk/presence.ts';
import {
  armClaims,
  armOffers,
  armSupervisor,
  lapsedClaims,
  lapsedOffers,
  supervised,
  type WorkEvent,
} from '../work/work.ts';
import type { Deadline } from './deadlines.ts';
import type { Asked, Decision } from './decider.ts';
import type { World, WorldView } from './state.ts';

export interface Tick extends Asked {
  readonly type: 'clock.tick';
}

/** Memory only: the soonest deadline is off the list. */
export interface Ticked {
  readonly type: 'clock.ticked';
  readonly at: number;
}

type TickEvent = PresenceChanged | MessageSent | Lapsed | Ticked | WorkEvent;

export function decideTick(world: WorldView, command: Tick): Decision<TickEvent, null> {
  const { at } = command;
  const due = world.deadlines.next;
  if (due === null || due.at > at) return { events: [], answer: null };
  const ticked: Ticked = { type: 'clock.ticked', at };
  return { events: [...passed(world, due, at), ticked], answer: null };
}

function passed(world: WorldView, due: Deadline, at: number): TickEvent[] {
  switch (due.kind) {
    case 'presence':
      return silenceOf(world, due.agent, at);
    case 'lease': {
      const lapsed = lapsedLeases(world, due.agent, at);
      return lapsed === null ? [] : [lapsed];
    }
    case 'claims':
      return lapsedClaims(world, at);
    case 'offers':
      return lapsedOffers(world, due.agent, at);
    case 'supervisor':
      return supervised(world, at);
  }
}

export function evolveTicked(world: World, event: Ticked): void {
  const due = world.deadlines.pop(event.at);
  switch (due?.kind) {
    case 'presence':
      return armPresence(world, due.agent);
    case 'lease':
      return armLeases(world, due.agent);
    case 'claims':
      return armClaims(world);
    case 'offers':
      return armOffers(world, due.agent);
    case 'supervisor':
      return armSupervisor(world, event.at);
    case undefined:
      return;
  }
}
