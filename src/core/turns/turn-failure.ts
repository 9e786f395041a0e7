/**
 * A turn that failed: it is tried again after 2, 4 and 8 seconds, each a little more or less so that
 * many do not come back together; then it is dead, and its agent waits for a person [TN8].
 */
import { type EndEvent, withdrawGatesOf } from '../gates/gate-end.ts';
import { DAY_MS } from '../law/limits.ts';
import type { WorldView } from '../law/state.ts';
import { afterTurn } from './after-turn.ts';
import { hashOf } from './rails/likeness.ts';
import type { AgentParked, TurnDead, TurnFailed } from './turn-events.ts';
import { BACKOFF_MS } from './turn-limits.ts';
import type { ManagedView, Turn } from './turn-state.ts';

export type Failure = Pick<TurnFailed, 'cause' | 'note' | 'sessionRef' | 'cost' | 'quota'>;

export function failure(
  world: WorldView,
  managed: ManagedView,
  turn: Turn,
  how: Failure,
  at: number,
): (TurnFailed | TurnDead | AgentParked | EndEvent)[] {
  const { id, agent } = turn;
  const withdrawn = withdrawGatesOf(world, id, at);
  const retryAt = retryAtOf(turn, how, at);
  const failed: TurnFailed = { type: 'turn.failed', at, id, ...how, retryAt };
  const verdict = afterTurn(world, managed, turn, failed);
  if (verdict === null && retryAt !== null) return [failed, ...withdrawn];
  const said = how.note === null ? '' : `: ${how.note}`;
  const text = `turn ${id} failed ${turn.failures + 1} times, at last it ${WORDS[how.cause]}${said}`;
  if (retryAt === null) {
    const dead: TurnDead = { type: 'turn.dead', at, id, reason: text };
    const parked: AgentParked = { type: 'agent.parked', at, agent, cause: 'dead', text, turn: id };
    return [failed, dead, parked, ...withdrawn];
  }
  const { park: cause = 'dead', text: why = text } = verdict ?? {};
  const parked: AgentParked = { type: 'agent.parked', at, agent, cause, text: why, turn: id };
  return [failed, parked, ...withdrawn];
}

/** Where the vendor does not say until when. */
const VENDOR_WAIT_MS: Readonly<Record<NonNullable<Failure['quota']>['kind'], number>> = {
  exhausted: 5 * 60_000,
  overloaded: 30_000,
};
/** A vendor that never serves again is a failure in the end. */
const VENDOR_ATTEMPTS_MAX = 100;

const WORDS: Readonly<Record<TurnFailed['cause'], string>> = {
  lapsed: 'was not heard of in time',
  overran: 'took too long',
  reported: 'ended in failure',
  restart: 'was cut off by a restart of the hub',
};

/** When it is tried again; null when it was tried often enough. */
function retryAtOf(turn: Turn, how: Failure, at: number): number | null {
  const { cause, quota } = how;
  if (quota !== undefined && turn.attempt <= VENDOR_ATTEMPTS_MAX) {
    return Math.min(Math.max(quota.until ?? at + VENDOR_WAIT_MS[quota.kind], at), at + DAY_MS);
  }
  // That the hub was started again is no fault of the turn; once, or a turn that ends hubs goes on.
  if (isExcused(turn, cause)) return at;
  const waitMs = BACKOFF_MS[turn.failures];
  if (waitMs === undefined) return null;
  const part = (hashOf(`${turn.id}/${turn.failures}`) % 1_001) / 1_000;
  return at + Math.round(waitMs * (0.75 + part / 2));
}

/** The vendor would not serve: no fault of the turn, so it is tried again when the vendor will [RA10]. */
export function isVendors({ quota }: Pick<TurnFailed, 'quota'>): boolean {
  return quota !== undefined;
}

export function isExcused(turn: Turn, cause: TurnFailed['cause']): boolean {
  return cause === 'restart' && !turn.isAfterRestart;
}
