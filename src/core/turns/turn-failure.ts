/**
 * A turn that failed: it is tried again after 2, 4 and 8 seconds, each a little more or less so that
 * many do not come back together; then it is dead, and its agent waits for a person [TN8].
 */
import { type EndEvent, withdrawGatesOf } from '../gates/gate-end.ts';
import type { WorldView } from '../law/state.ts';
import { afterTurn } from './after-turn.ts';
import { hashOf } from './sketch.ts';
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

const WORDS: Readonly<Record<TurnFailed['cause'], string>> = {
  lapsed: 'was not heard of in time',
  overran: 'took too long',
  reported: 'ended in failure',
  restart: 'was cut off by a restart of the hub',
};

/** When it is tried again; null when it was tried often enough. */
function retryAtOf(turn: Turn, how: Failure, at: number): number | null {
  if (isExcused(turn, how)) return Math.max(at, how.quota?.until ?? at);
  const waitMs = BACKOFF_MS[turn.failures];
  if (waitMs === undefined) return null;
  const part = (hashOf(`${turn.id}/${turn.failures}`) % 1_001) / 1_000;
  return at + Math.round(waitMs * (0.75 + part / 2));
}

/**
 * That the hub was started again is no fault of the turn; once, or a turn that ends hubs goes on.
 * Nor is it that its vendor serves nobody before a time.
 */
export function isExcused(turn: Turn, { cause, quota }: Pick<Failure, 'cause' | 'quota'>): boolean {
  return (cause === 'restart' && !turn.isAfterRestart) || quota?.until != null;
}
