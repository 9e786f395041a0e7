/** Managed agents by name, turns the newest first, a page at a time. */
import { type Page, type PageBounds, takePage } from '../law/page.ts';
import type { ManagedView, Turn, TurnBookView, TurnState } from './turn-state.ts';

export interface ManagedQuery extends PageBounds {
  /** Of one agent alone. */
  readonly agent?: string | undefined;
  readonly state?: string | undefined;
  readonly after?: string | undefined;
}

export function managedPage(book: TurnBookView, query: ManagedQuery): Page<ManagedView, string> {
  const { agent, state, after = '' } = query;
  const rows = [...book.agents.values()]
    .filter((one) => (agent === undefined || one.agent === agent) && one.agent > after)
    .filter((one) => state === undefined || one.state === state)
    .sort((a, b) => (a.agent < b.agent ? -1 : 1));
  return takePage(rows, ({ agent: name }) => name, query);
}

export interface TurnQuery extends PageBounds {
  readonly agent?: string | undefined;
  readonly state?: TurnState | undefined;
  readonly after?: string | undefined;
}

export function turnsPage(book: TurnBookView, query: TurnQuery): Page<Turn, string> {
  const { agent, state, after } = query;
  const below = after === undefined ? Number.POSITIVE_INFINITY : numberOf(after);
  const rows = [...book.turns.values()]
    .filter((turn) => (agent === undefined || turn.agent === agent) && numberOf(turn.id) < below)
    .filter((turn) => state === undefined || turn.state === state)
    .sort((a, b) => numberOf(b.id) - numberOf(a.id));
  return takePage(rows, ({ id }) => id, query);
}

/** Turns are numbered as they fall due. */
function numberOf(id: string): number {
  return /^t\d{1,15}$/.test(id) ? Number(id.slice(1)) : 0;
}
