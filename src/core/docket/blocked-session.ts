/**
 * Sessions of coding agents that stand still because their harness asks a person something: a
 * permission, a question. The harness's hooks tell the hub, which puts it on the docket with the words
 * and since when, and takes it off when the session goes on or is gone [DK9].
 */
import { type Asked, type Decision, refuse } from '../law/decider.ts';
import { SERVER } from '../law/principal.ts';
import type { World, WorldView } from '../law/state.ts';
import { raiseItem, settleItem } from './docket.ts';
import { placeOf } from './docket-state.ts';

export interface BlockSession extends Asked {
  readonly type: 'docket.block';
  readonly agent: string;
  readonly session: string;
  /** What kind of thing it asks, in the hub's words, and what exactly, in the harness's. */
  readonly reason: string;
  readonly text: string;
  /** Since when it stands still. */
  readonly since: number;
}

export interface UnblockSession extends Asked {
  readonly type: 'docket.unblock';
  readonly session: string;
  readonly outcome: string;
}

export interface SessionBlocked {
  readonly type: 'docket.blocked';
  readonly at: number;
  readonly agent: string;
  readonly session: string;
  readonly reason: string;
  readonly text: string;
  readonly since: number;
}

export interface SessionUnblocked {
  readonly type: 'docket.unblocked';
  readonly at: number;
  readonly session: string;
  readonly outcome: string;
}

export type BlockedEvent = SessionBlocked | SessionUnblocked;

export function decideBlock(
  _world: WorldView,
  { by, at, agent, session, reason, text, since }: BlockSession,
): Decision<SessionBlocked, null> {
  if (by.id !== SERVER.id) return refuse('access.denied', 'the hub itself hears hooks');
  const event = { type: 'docket.blocked', at, agent, session, reason, text, since } as const;
  return { events: [event], answer: null };
}

export function decideUnblock(
  world: WorldView,
  { by, at, session, outcome }: UnblockSession,
): Decision<SessionUnblocked, null> {
  if (by.id !== SERVER.id) return refuse('access.denied', 'the hub itself hears hooks');
  if (!world.docket.subjects.has(placeOf('blocked', session))) return { events: [], answer: null };
  return { events: [{ type: 'docket.unblocked', at, session, outcome }], answer: null };
}

export function evolveBlocked(world: World, event: BlockedEvent): void {
  if (event.type === 'docket.unblocked') {
    return settleItem(world, event.at, 'blocked', event.session, event.outcome);
  }
  const { at, agent, session, reason, text, since } = event;
  const raised = { kind: 'blocked', agent, reason, thread: null, text, since } as const;
  raiseItem(world, at, { ...raised, subject: session });
}

/** Sessions that are on the docket as blocked, and whose they are. */
export function blockedSessions(world: WorldView): { session: string; agent: string }[] {
  const prefix = placeOf('blocked', '');
  const sessions: { session: string; agent: string }[] = [];
  for (const [place, id] of world.docket.subjects) {
    if (!place.startsWith(prefix)) continue;
    const agent = world.docket.items.get(id)?.agent ?? '';
    sessions.push({ session: place.slice(prefix.length), agent });
  }
  return sessions;
}
