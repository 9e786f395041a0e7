/** Finding a gate, who may see it, and what is said of one that has ended. */
import { type Refusal, refuse } from '../law/decider.ts';
import { type Page, type PageBounds, takePage } from '../law/page.ts';
import { type Principal, SERVER } from '../law/principal.ts';
import type { AnyGateView, EndState, GateBookView, GateView, OpenState } from './gate-state.ts';

/** People see every gate, an agent those it asked for; what one may not see is not there [GT8]. */
export function findGate(book: GateBookView, by: Principal, id: string): AnyGateView | Refusal {
  const gate = book.open.get(id) ?? book.ended.get(id);
  if (gate !== undefined && maySee(gate, by)) return gate;
  return refuse('gate.not-found', `there is no gate ${id.slice(0, 64)} of yours; see gates.list`, {
    gate_id: id.slice(0, 64),
  });
}

export function maySee(gate: AnyGateView, by: Principal): boolean {
  return by.kind === 'human' || by.kind === 'admin' || gate.asker === by.id;
}

export function isOpen(gate: AnyGateView): gate is GateView {
  return !('end' in gate);
}

/** The gate while it may still be decided, withdrawn or used; else how it ended. */
export function checkOpen(gate: AnyGateView, at: number): GateView | Refusal {
  if (!isOpen(gate)) return hasEnded(gate, at);
  // What time ends is told by the clock before any command; this is the law's own word on it.
  if (gate.dueAt === null || at < gate.dueAt) return gate;
  if (gate.state === 'approved') return hasLapsed(gate.id, gate.dueAt, 'it was not used in time');
  return refuse('gate.ended', `${gate.id} expired: nobody decided it in time`, {
    gate_id: gate.id,
    state: 'expired',
  });
}

/** Who ended it, how and when; for one that is approved, who did that. */
export function hasEnded(gate: AnyGateView, now: number): Refusal {
  const { state, by, at, reason } = wordOn(gate);
  if (state === 'lapsed') return hasLapsed(gate.id, at, reason ?? 'it was not used in time');
  const why = reason === null ? '' : `: ${reason}`;
  const how = by === null ? state : `was ${state} by ${by}`;
  const message = `${gate.id} ${how} ${ago(now - at)}${why}; what is decided stays, ask anew with gates.ask`;
  return refuse('gate.ended', message, {
    gate_id: gate.id,
    ...{ state, by, at: at / 1000, why: reason },
  });
}

export interface LastWord {
  readonly state: OpenState | EndState;
  /** Whose word it was; null when it was time's. */
  readonly by: string | null;
  readonly at: number;
  readonly reason: string | null;
}

/** The last word on a gate: how it ended, or who approved it last. */
export function wordOn(gate: AnyGateView): LastWord {
  if (!isOpen(gate)) {
    const { state, by, person, at, reason } = gate.end;
    return { state, by: by === SERVER.id ? null : (person ?? by), at, reason };
  }
  const last = gate.approvals.at(-1);
  if (last === undefined) return { state: gate.state, by: null, at: gate.askedAt, reason: null };
  return { state: gate.state, by: last.person ?? last.by, at: last.at, reason: last.reason };
}

function ago(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds} s ago`;
  return seconds < 7_200
    ? `${Math.floor(seconds / 60)} min ago`
    : `${Math.floor(seconds / 3_600)} h ago`;
}

function hasLapsed(id: string, at: number, why: string): Refusal {
  return refuse(
    'gate.lapsed',
    `the approval of ${id} has lapsed: ${why}; ask anew with gates.ask`,
    {
      gate_id: id,
      ...{ state: 'lapsed', at: at / 1000 },
    },
  );
}

export interface GateQuery extends PageBounds {
  /** Whose; null: everybody's. */
  readonly asker: string | null;
  /** Null: all. */
  readonly state: string | null;
  readonly after?: string | undefined;
}

/** Oldest first. */
export function gatesPage(book: GateBookView, query: GateQuery): Page<AnyGateView, string> {
  const { asker, state, after } = query;
  const from = after === undefined ? 0 : numberOf(after);
  const isWanted = (gate: AnyGateView): boolean =>
    (asker === null || gate.asker === asker) &&
    (state === null || state === stateOf(gate)) &&
    numberOf(gate.id) > from;
  const rows = [...book.open.values(), ...book.ended.values()]
    .filter(isWanted)
    .sort((a, b) => numberOf(a.id) - numberOf(b.id));
  return takePage(rows, ({ id }) => id, query);
}

function stateOf(gate: AnyGateView): OpenState | EndState {
  return isOpen(gate) ? gate.state : gate.end.state;
}

function numberOf(id: string): number {
  return Number(id.slice(1)) || 0;
}
