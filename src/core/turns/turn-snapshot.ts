/** Managed agents and turns in a snapshot [L3]. How many turns run is counted again. */
import { fieldsOf, fifoOf, listOf, mapBy, setOf, whole } from '../law/fields.ts';
import { AGENT_RAILS, RAILS } from './rails/rails.ts';
import {
  createTurnBook,
  type Managed,
  type Stilled,
  type Turn,
  type TurnBook,
  type Waking,
} from './turn-state.ts';

const MANAGED = fieldsOf<Managed>()({
  agent: 'stored',
  config: 'stored',
  managedAt: 'stored',
  managedBy: 'stored',
  state: 'stored',
  since: 'stored',
  why: 'stored',
  epoch: 'stored',
  turn: 'stored',
  pending: listOf<Waking>(),
  isFlooded: 'stored',
  lookAt: 'stored',
  gatherFrom: 'stored',
  given: listOf<number>(),
  sessionRef: 'stored',
  cost: 'stored',
  turnCount: 'stored',
  rails: AGENT_RAILS,
  stilled: listOf<Stilled>(),
  parkedFor: 'stored',
  freedBy: 'stored',
});

const BOOK = fieldsOf<TurnBook>()({
  agents: mapBy<Managed>(({ agent }) => agent, whole(MANAGED)),
  turns: fifoOf<string, Turn>(),
  waking: setOf<string>(),
  busyCount: 'derived',
  rails: RAILS,
  next: 'stored',
});

export function freezeTurns(book: TurnBook): object {
  return BOOK.freeze(book, {});
}

export function thawTurns(frozen: unknown): TurnBook {
  const book = BOOK.thaw(frozen, createTurnBook());
  for (const { state } of book.agents.values()) if (state === 'busy') book.busyCount++;
  return book;
}
