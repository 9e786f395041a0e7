/**
 * What the hub remembers of an agent between two hooks: how long it has not read, what it was shown,
 * what could not be said yet, and whether it is idle. Memory only, and bounded: after a restart an
 * agent may be reminded a little later or shown once more what it has not read, and nothing worse.
 */

import { isRefusal } from '../../core/law/decider.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Policy } from '../../wire/policy.ts';
import type { Caller } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import type { Spaces } from '../desk/spaces.ts';
import {
  CADENCE_VERSION,
  type CadenceDecision,
  type CadenceEvent,
  type CadenceState,
  decide,
  initialCadence,
} from './cadence.ts';
import type { HookOutput } from './hook-event.ts';
import type { BookedSession } from './session-file.ts';

export interface Attention {
  readonly space: string;
  readonly agent: string;
  /** Null until the agent was seated, or when the hub does not know its space. */
  hub: Hub | null;
  /** What is asked here is asked as the agent itself would ask; null until it was seated. */
  caller: Caller | null;
  booked: BookedSession;
  cadence: CadenceState;
  /** Said by the enforcer when the harness had no ear for it; the next event carries it. */
  pending: string | null;
  /** By session: one agent may hold several conversations, and each sees for itself. */
  readonly views: Map<string, View>;
  /** The drain that was last taken account of; milliseconds. */
  drainAt: number;
  /** Whether the hub was told that the agent is here. */
  isAnnounced: boolean;
  /** Since when nothing is heard of it; what was owed then it left on purpose. */
  idle: Idle | null;
  isEnded: boolean;
  readonly reach: Reach;
  /** What was answered lately, so that a hook that is installed twice counts once. */
  readonly lately: Map<string, Answered>;
  /** Hooks of one agent are answered in order; so many wait. */
  turn: Promise<unknown>;
  waiting: number;
}

/** What one conversation has seen. */
export interface View {
  /** Positions put before it and not read since [HD4]. */
  readonly shown: Set<number>;
  /** The drain after which that was last looked through. */
  forgotAt: number;
  /** Whether it was told who it is. */
  isIntroduced: boolean;
}

export interface Idle {
  /** The conversation that stopped last. */
  readonly session: string;
  readonly since: number;
  readonly left: ReadonlySet<number>;
}

export interface Answered {
  readonly at: number;
  readonly output: Promise<HookOutput>;
}

/** By what the session can be woken, as its own processes said. */
export interface Reach {
  claudeSocket: string | null;
  /** Never logged. */
  claudeToken: string | null;
  codexHome: string | null;
}

export interface Attentions {
  of(booked: BookedSession): Attention;
  /** Called before anything is asked about an agent. */
  seat(attention: Attention): Promise<void>;
  find(space: string, agent: string): Attention | undefined;
}

const ATTENTIONS_MAX = 5_000;
/** More than this is not shown until something is read. */
export const SHOWN_MAX = 1_000;
const VIEWS_MAX = 16;

export function createAttentions(desk: Desk, spaces: Spaces): Attentions {
  const known = new Map<string, Attention>();
  const keyOf = (space: string, agent: string): string => `${space} ${agent}`;
  return {
    of(booked) {
      const { space, agent } = booked;
      const found = known.get(keyOf(space, agent));
      if (found !== undefined) {
        found.booked = booked;
        return found;
      }
      const [oldest] = known.keys();
      if (known.size >= ATTENTIONS_MAX && oldest !== undefined) known.delete(oldest);
      const made: Attention = {
        space,
        agent,
        booked,
        hub: null,
        caller: null,
        cadence: initialCadence(agent),
        pending: null,
        views: new Map(),
        drainAt: 0,
        isAnnounced: false,
        lately: new Map(),
        idle: null,
        isEnded: false,
        reach: { claudeSocket: null, claudeToken: null, codexHome: null },
        turn: Promise.resolve(),
        waiting: 0,
      };
      known.set(keyOf(space, agent), made);
      return made;
    },
    async seat(attention) {
      const { space, agent } = attention;
      if (attention.caller === null) {
        // The door was opened with the owner's credential, and the owner may speak for any agent of theirs.
        const caller = await desk.authenticate({
          ...{ token: null, agent, space, clientVersion: null, isOwnerSocket: true },
          ...{ wantsOwner: false, transport: 'http', connectionId: 'hooks' },
        });
        attention.caller = isRefusal(caller) ? null : caller;
      }
      attention.hub = spaces.find(space);
    },
    find: (space, agent) => known.get(keyOf(space, agent)),
  };
}

export function viewOf({ views }: Attention, session: string): View {
  const known = views.get(session);
  if (known !== undefined) return known;
  const [oldest] = views.keys();
  if (views.size >= VIEWS_MAX && oldest !== undefined) views.delete(oldest);
  const made: View = { shown: new Set(), forgotAt: 0, isIntroduced: false };
  views.set(session, made);
  return made;
}

/** When the agent last read its inbox, by whatever door; milliseconds, 0 for never. */
export function lastDrainAt({ caller }: Attention): number {
  return caller?.activity.lastDrainAt ?? 0;
}

/** A drain by any door resets; what was to be said about reading has lost its point. */
export function noteDrain(attention: Attention, policy: Policy): void {
  const drainAt = lastDrainAt(attention);
  if (drainAt <= attention.drainAt) return;
  attention.drainAt = drainAt;
  attention.pending = null;
  advance(attention, { ...plain(attention, drainAt), event_type: 'channel_recv' }, policy);
}

/** A send by any door counts; a reminder about it waits for the next hook. */
export function noteSend(attention: Attention, at: number, policy: Policy): CadenceDecision {
  const event: CadenceEvent = { ...plain(attention, at), event_type: 'channel_send' };
  const decision = advance(attention, event, policy);
  if (decision.message !== null) attention.pending = decision.message;
  return decision;
}

export function advance(
  attention: Attention,
  event: CadenceEvent,
  policy: Policy,
): CadenceDecision {
  const { decision, state } = decide(event, attention.cadence, policy);
  attention.cadence = state;
  return decision;
}

function plain({ agent }: Attention, atMs: number) {
  return {
    schema_version: CADENCE_VERSION,
    agent_id: agent,
    timestamp: atMs / 1000,
    metadata: {},
  } as const;
}
