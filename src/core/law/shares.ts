/**
 * Shares: the bounds that all agents of a space fill together, and how much of each one agent may
 * use, so that no single token makes a space useless for the others [SH1]. An untrusted one has less
 * [SH2], and a tenth of each bound is kept for the owner [SH3], who makes room with it.
 *
 * The table is complete by its type: a bound that is neither here nor one that nobody fills for
 * others does not compile, and such a bound can be refused by `checkShare` alone.
 */
import { CONTEXT_KEYS_MAX, CONTEXT_VOLUME_MAX } from '../context/context-limits.ts';
import { GATES_MAX, GATES_PER_AGENT_MAX } from '../gates/gate-limits.ts';
import { SESSION_ITEMS_MAX, SESSIONS_MAX } from '../sessions/session-limits.ts';
import { DESCRIBED_CHARS_MAX } from '../threads/thread-limits.ts';
import {
  CLAIMS_MAX,
  CLAIMS_PER_AGENT_MAX,
  WAITS_MAX,
  WAITS_PER_AGENT_MAX,
} from '../work/claim/claim-limits.ts';
import {
  CARDS_MAX,
  DEPENDENCIES_MAX,
  OFFERS_MAX,
  OFFERS_PER_AGENT_MAX,
  PLAN_CHARS_MAX,
  TASKS_MAX,
} from '../work/work-limits.ts';
import { JOURNAL_CHARS_MAX, RUNS_MAX, RUNS_PER_AGENT_MAX } from '../workflows/workflow-limits.ts';
import { type Refusal, refuse } from './decider.ts';
import {
  AGENTS_MAX,
  CHANNELS_MAX,
  DOCKET_ITEMS_MAX,
  DOCKET_ITEMS_PER_AGENT_MAX,
  GROUPS_MAX,
  HELD_MESSAGES_MAX,
  IDEMPOTENCY_KEYS_MAX,
  TOKENS_MAX,
} from './limits.ts';
import type { Principal } from './principal.ts';
import { type BoundName, type SharedBound, WAYS_OUT } from './ways-out.ts';

export interface Share {
  readonly max: number;
  /** What one agent may use of it, and one that is untrusted. */
  readonly each: number;
  readonly untrusted: number;
  /** The bound that is named when an agent has used its share. */
  readonly name?: BoundName;
}

export const SHARES: Readonly<Record<SharedBound, Share>> = {
  CHANNELS_MAX: { max: CHANNELS_MAX, each: 10_000, untrusted: 100 },
  /** Names that an agent made known by writing to them or inviting them, and that have not come yet. */
  AGENTS_MAX: { max: AGENTS_MAX, each: 1_000, untrusted: 20 },
  GROUPS_MAX: { max: GROUPS_MAX, each: 500, untrusted: 5 },
  TOKENS_MAX: { max: TOKENS_MAX, each: 5_000, untrusted: 5_000 },
  IDEMPOTENCY_KEYS_MAX: { max: IDEMPOTENCY_KEYS_MAX, each: 50_000, untrusted: 500 },
  HELD_MESSAGES_MAX: { max: HELD_MESSAGES_MAX, each: 500, untrusted: 500 },
  DOCKET_ITEMS_MAX: {
    ...{ max: DOCKET_ITEMS_MAX, each: DOCKET_ITEMS_PER_AGENT_MAX, untrusted: 10 },
    name: 'DOCKET_ITEMS_PER_AGENT_MAX',
  },
  TASKS_MAX: { max: TASKS_MAX, each: 5_000, untrusted: 50 },
  DEPENDENCIES_MAX: { max: DEPENDENCIES_MAX, each: 20_000, untrusted: 200 },
  DESCRIBED_CHARS_MAX: { max: DESCRIBED_CHARS_MAX, each: 1_000_000, untrusted: 10_000 },
  PLAN_CHARS_MAX: { max: PLAN_CHARS_MAX, each: 4_000_000, untrusted: 40_000 },
  OFFERS_MAX: {
    ...{ max: OFFERS_MAX, each: OFFERS_PER_AGENT_MAX, untrusted: 8 },
    name: 'OFFERS_PER_AGENT_MAX',
  },
  CONTEXT_KEYS_MAX: { max: CONTEXT_KEYS_MAX, each: 20_000, untrusted: 100 },
  /** Bytes of values. */
  CONTEXT_VOLUME_MAX: { max: CONTEXT_VOLUME_MAX, each: 64 * 1_048_576, untrusted: 1_048_576 },
  CARDS_MAX: { max: CARDS_MAX, each: 1, untrusted: 1 },
  CLAIMS_MAX: {
    ...{ max: CLAIMS_MAX, each: CLAIMS_PER_AGENT_MAX, untrusted: 8 },
    name: 'CLAIMS_PER_AGENT_MAX',
  },
  RUNS_MAX: {
    ...{ max: RUNS_MAX, each: RUNS_PER_AGENT_MAX, untrusted: 100 },
    name: 'RUNS_PER_AGENT_MAX',
  },
  JOURNAL_CHARS_MAX: { max: JOURNAL_CHARS_MAX, each: 100_000_000, untrusted: 100_000 },
  GATES_MAX: {
    ...{ max: GATES_MAX, each: GATES_PER_AGENT_MAX, untrusted: 20 },
    name: 'GATES_PER_AGENT_MAX',
  },
  SESSIONS_MAX: { max: SESSIONS_MAX, each: 5_000, untrusted: 50 },
  SESSION_ITEMS_MAX: { max: SESSION_ITEMS_MAX, each: 200_000, untrusted: 2_000 },
  WAITS_MAX: {
    ...{ max: WAITS_MAX, each: WAITS_PER_AGENT_MAX, untrusted: 2 },
    name: 'WAITS_PER_AGENT_MAX',
  },
};

/** One part in so many of each bound is the owner's. */
const OWNER_PART = 10;

/** May this principal, who has `mine` of the `total`, have `more`? `most` is the space's word for what each may. */
export function checkShare(
  bound: SharedBound,
  by: Pick<Principal, 'id' | 'tier'>,
  total: number,
  mine: number,
  more = 1,
  most: number | null = null,
): Refusal | null {
  if (more <= 0) return null;
  const { max, each, untrusted, name } = SHARES[bound];
  const isOwner = by.tier === 'owner';
  const said = most ?? each;
  const share = by.tier === 'untrusted' ? Math.min(untrusted, said) : said;
  // What an agent may hold by a bound of its own holds for the owner too.
  if ((!isOwner || name !== undefined) && mine + more > share) {
    const limit = name ?? bound;
    const message = `the share of ${by.id} is ${share} of ${bound}, and it is used up: ${WAYS_OUT[limit]}`;
    return refuse('limit.reached', message, { limit, max: share, used: mine });
  }
  const room = isOwner ? max : roomBesidesOwner(max);
  if (total + more <= room) return null;
  const kept = isOwner ? '' : ` but for what is kept for the owner`;
  const message = `${bound} is ${max}, and it is reached${kept}: ${WAYS_OUT[bound]}`;
  return refuse('limit.reached', message, { limit: bound, max });
}

/** What of a bound everybody but the owner may fill. */
export function roomBesidesOwner(max: number): number {
  return max - Math.ceil(max / OWNER_PART);
}

/** For evolve: keeps a count by name, and no name without one. */
export function count(counts: Map<string, number>, name: string | null, change: number): void {
  if (name === null) return;
  const now = (counts.get(name) ?? 0) + change;
  if (now > 0) counts.set(name, now);
  else counts.delete(name);
}
