/**
 * What the passing of time changes. The hub has it recorded before each command and each question,
 * by their stamp, and when a deadline passes with nobody asking [H6] [H10]. One deadline at a time,
 * so that each is decided against the state the one before left.
 */

import { lapsedContext } from '../context/context.ts';
import type { ContextEvent } from '../context/context-events.ts';
import { armContext } from '../context/context-evolve.ts';
import { armDocket } from '../docket/docket.ts';
import { type DocketLapsed, lapsedQuestions } from '../docket/lapsed-questions.ts';
import { type EndEvent, gatesDue } from '../gates/gate-end.ts';
import { armGates } from '../gates/gate-hold.ts';
import { lapsedInstances } from '../processes/instance.ts';
import type { ProcessEvent } from '../processes/process-events.ts';
import { armInstances } from '../processes/process-evolve.ts';
import { armSession, lapsedSession } from '../sessions/session.ts';
import type { SessionEvent } from '../sessions/session-events.ts';
import { expiredHeld } from '../talk/expired-held.ts';
import { armHeld, type HeldExpired } from '../talk/held.ts';
import { armLeases, type Lapsed, lapsedLeases } from '../talk/inbox.ts';
import { lapses } from '../talk/lapse.ts';
import { armPresence, type PresenceChanged, silenceOf } from '../talk/presence.ts';
import { dueTurns } from '../turns/due.ts';
import type { TurnEvent } from '../turns/turn-events.ts';
import { armTurns } from '../turns/turn-evolve.ts';
import {
  armClaims,
  armOffers,
  armSupervisor,
  lapsedClaims,
  lapsedOffers,
  supervised,
  type WorkEvent,
} from '../work/work.ts';
import { armRuns } from '../workflows/run-book.ts';
import { runsDue } from '../workflows/run-due.ts';
import type { RunEvent } from '../workflows/run-events.ts';
import { assert } from './assert.ts';
import type { Deadline } from './deadlines.ts';
import type { World, WorldView } from './state.ts';
import { armSweep } from './sweep.ts';

/** Memory only: the soonest deadline is off the list. */
export interface Ticked {
  readonly type: 'clock.ticked';
  readonly at: number;
}

type TickEvent =
  | PresenceChanged
  | Lapsed
  | Ticked
  | WorkEvent
  | HeldExpired
  | DocketLapsed
  | EndEvent
  | TurnEvent
  | ProcessEvent
  | ContextEvent
  | SessionEvent
  | RunEvent
  | ReturnType<typeof lapses>[number];

export function isDue(world: WorldView, at: number): boolean {
  const due = world.deadlines.next;
  return due !== null && due.at <= at;
}

/** What the soonest deadline brings, if it is due by `at`; there may be more. */
export function decideDue(world: WorldView, at: number): TickEvent[] {
  const due = world.deadlines.next;
  if (due === null || due.at > at) return [];
  return [...passed(world, due, at), { type: 'clock.ticked', at }];
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
    case 'held':
      return expiredHeld(world, at);
    case 'docket':
      return lapsedQuestions(world, due.agent, at);
    case 'gates':
      return gatesDue(world, at);
    case 'turns':
      return dueTurns(world, due.agent, at);
    case 'instances':
      return lapsedInstances(world, due.agent, at);
    case 'context':
      return lapsedContext(world, due.agent, at);
    case 'sessions':
      return lapsedSession(world, due.agent, at);
    case 'runs':
      return runsDue(world, at);
    case 'sweep':
      return lapses(world, at, due.at);
  }
}

export function evolveTicked(world: World, event: Ticked): void {
  const due = world.deadlines.pop(event.at);
  assert(due !== null, 'a tick is told only when something is due');
  switch (due.kind) {
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
    case 'held':
      return armHeld(world);
    case 'docket':
      return armDocket(world, due.agent);
    case 'gates':
      return armGates(world);
    case 'turns':
      return armTurns(world, due.agent);
    case 'instances':
      return armInstances(world, due.agent);
    case 'context':
      return armContext(world, due.agent);
    case 'sessions':
      return armSession(world, due.agent);
    case 'runs':
      return armRuns(world);
    case 'sweep':
      return armSweep(world);
  }
}
