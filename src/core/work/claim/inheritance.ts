/**
 * Checkpoints that claims left behind, for the next holder [CM7]. They are bounded by number and by
 * characters: an agent that leaves more than its share gives up its own oldest, and where all of them
 * are too many, those who have the most do [SH4]. Their authors, people and administrators take them
 * away, and the space's retention does by age [CM14].
 */
import { type Decision, refuse } from '../../law/decider.ts';
import { quotas } from '../../law/make-room.ts';
import { SERVER } from '../../law/principal.ts';
import { checkId } from './claim-check.ts';
import type { ClaimForgotten, ForgetCheckpoints } from './claim-events.ts';
import {
  INHERITED_CHARS_MAX,
  INHERITED_CHARS_PER_AGENT_MAX,
  INHERITED_MAX,
  INHERITED_PER_AGENT_MAX,
} from './claim-limits.ts';
import type { BookView, ClaimBook, Inherited, Legacy } from './claim-state.ts';

/** For evolve and for thawing a snapshot. */
export function inherit(book: ClaimBook, id: string, inherited: Inherited): void {
  disinherit(book, id);
  const { checkpoint, from } = inherited;
  const mine = book.legacies.get(from) ?? { chars: 0, ids: new Set() };
  book.legacies.set(from, mine);
  book.inherited.set(id, inherited);
  book.inheritedChars += checkpoint.length;
  mine.chars += checkpoint.length;
  mine.ids.add(id);
  giveUp(book, mine, sizeOf, mine.ids.size - INHERITED_PER_AGENT_MAX);
  giveUp(book, mine, charsOf, mine.chars - INHERITED_CHARS_PER_AGENT_MAX);
  if (book.inherited.size > INHERITED_MAX) makeRoom(book, sizeOf, INHERITED_MAX);
  if (book.inheritedChars > INHERITED_CHARS_MAX) makeRoom(book, charsOf, INHERITED_CHARS_MAX);
}

export function disinherit(book: ClaimBook, id: string): void {
  const inherited = book.inherited.get(id);
  if (inherited === undefined) return;
  const { checkpoint, from } = inherited;
  book.inherited.delete(id);
  book.inheritedChars -= checkpoint.length;
  const left = book.legacies.get(from);
  if (left === undefined) return;
  left.chars -= checkpoint.length;
  left.ids.delete(id);
  if (left.ids.size === 0) book.legacies.delete(from);
}

/** Ids of what an event takes away; `decide` uses it too. */
export function forgottenBy(
  book: BookView,
  { id, from, before }: Pick<ClaimForgotten, 'id' | 'from' | 'before'>,
): string[] {
  const named = id === null ? [...book.inherited.keys()] : [id];
  return named.filter((one) => {
    const left = book.inherited.get(one);
    if (left === undefined || (from !== null && left.from !== from)) return false;
    return before === null || left.at < before;
  });
}

export function decideForget(
  book: BookView,
  command: ForgetCheckpoints,
): Decision<ClaimForgotten, { readonly forgotten: number }> {
  const { by, at, id } = command;
  const left = id === null ? undefined : book.inherited.get(id);
  if (id !== null && left === undefined) {
    const message = `no claim that is gone left a checkpoint under ${id}`;
    return checkId(book, id) ?? refuse('claim.not-found', message, { id });
  }
  const from = left?.from ?? command.from ?? by.id;
  if (from !== by.id && by.kind !== 'admin' && by.kind !== 'human') {
    const message = 'a checkpoint is forgotten by who left it, a person or an administrator';
    return refuse('access.denied', message);
  }
  const what = { id, from, before: null };
  const forgotten = forgottenBy(book, what).length;
  const event: ClaimForgotten = { type: 'claim.forgotten', at, by: by.id, ...what };
  return { events: forgotten === 0 ? [] : [event], answer: { forgotten } };
}

/** What is older than the space keeps it. */
export function outlived(book: BookView, keptMs: number | null, at: number): ClaimForgotten[] {
  if (keptMs === null) return [];
  const what = { id: null, from: null, before: at - keptMs };
  if (forgottenBy(book, what).length === 0) return [];
  return [{ type: 'claim.forgotten', at, by: SERVER.id, ...what }];
}

type Measure = (left: Inherited) => number;
const sizeOf: Measure = () => 1;
const charsOf: Measure = ({ checkpoint }) => checkpoint.length;

/** Its oldest go until `much` is free. */
function giveUp(book: ClaimBook, { ids }: Legacy, measure: Measure, much: number): void {
  let left = much;
  for (const id of ids) {
    if (left <= 0) return;
    const inherited = book.inherited.get(id);
    if (inherited !== undefined) left -= measure(inherited);
    disinherit(book, id);
  }
}

function makeRoom(book: ClaimBook, measure: Measure, max: number): void {
  const sums = new Map<string, number>();
  for (const [agent, { ids, chars }] of book.legacies) {
    sums.set(agent, measure === sizeOf ? ids.size : chars);
  }
  for (const [agent, much] of quotas(sums, max)) {
    const legacy = book.legacies.get(agent);
    if (legacy !== undefined) giveUp(book, legacy, measure, much);
  }
}
