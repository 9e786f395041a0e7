/**
 * Items as a history takes them in. A call and its result are one unit [SN4]: a result belongs to a call
 * that is open, nobody speaks to the agent while one is, and a history is cut only where no unit is split.
 */
import { type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { isPrintable } from '../law/text.ts';
import type { Item } from './session-events.ts';
import {
  APPENDED_ITEMS_LIST_MAX,
  CALL_WORD_CHARS_MAX,
  OPEN_CALLS_PER_SESSION_MAX,
} from './session-limits.ts';
import { isToolAt, isWholeAt, type OpenCall, placeAt, wholeAt } from './session-state.ts';

interface Taken {
  readonly places: number[];
  readonly open: Map<string, OpenCall>;
}

interface Where {
  /** Of the session, and of the event that will hold the items. */
  readonly id: string;
  readonly position: number;
  readonly at: number;
}

/** Why these items cannot follow; null when they can. */
export function checkItems(
  open: ReadonlyMap<string, OpenCall>,
  items: readonly Item[],
): Refusal | null {
  if (items.length > APPENDED_ITEMS_LIST_MAX) {
    return refuseFull('APPENDED_ITEMS_LIST_MAX', APPENDED_ITEMS_LIST_MAX);
  }
  const waiting = new Map<string, { readonly key: string }>(open);
  for (const [i, item] of items.entries()) {
    const refused = checkWords(item, i) ?? checkNext(waiting, item);
    if (refused !== null) return refused;
    const { kind, callId = '', key = '' } = item;
    if (kind === 'tool_call') waiting.set(callId, { key });
    if (kind === 'tool_result') waiting.delete(callId);
    if (waiting.size > OPEN_CALLS_PER_SESSION_MAX) {
      return refuseFull('OPEN_CALLS_PER_SESSION_MAX', OPEN_CALLS_PER_SESSION_MAX);
    }
  }
  return null;
}

/** For decide and evolve: where the items lie and which calls are open then. */
export function takeItems(
  open: ReadonlyMap<string, OpenCall>,
  items: readonly Item[],
  where: Where,
): Taken {
  const waiting = new Map(open);
  const places = items.map((item, offset) => {
    const { kind, callId = '', name = '' } = item;
    if (kind === 'tool_call') {
      const key = item.key ?? callKey(where, offset);
      waiting.set(callId, { callId, name, key, at: where.at });
    }
    if (kind === 'tool_result') waiting.delete(callId);
    const isTool = kind === 'tool_call' || kind === 'tool_result';
    return placeAt(where.position, offset, isTool, waiting.size === 0);
  });
  return { places, open: waiting };
}

/** Of a call that came without a key of its own: no other call ever has the same. */
export function callKey({ id, position }: Pick<Where, 'id' | 'position'>, offset: number): string {
  return `${id}-${position}-${offset}`;
}

/** The newest length, not over `most`, at which no call is split from its result. */
export function wholeLength(places: readonly number[], most: number): number {
  let length = Math.min(most, places.length);
  while (length > 0 && !isWholeAt(places[length - 1] as number)) length--;
  return length;
}

/** Why a history cannot be cut there; null when it can. */
export function checkCut(places: readonly number[], length: number): Refusal | null {
  const below = wholeLength(places, length);
  if (below === length) return null;
  let above = length;
  while (above < places.length && !isWholeAt(places[above - 1] as number)) above++;
  const isOpen = !isWholeAt(places[above - 1] as number);
  const or = isOpen ? '' : ` or at ${above}`;
  return refuse(
    'session.split',
    `at ${length} a call would be split from its result: cut at ${below}${or} instead`,
    { length, below, above: isOpen ? null : above },
  );
}

/** What is left of a history when only these ranges are kept, or why it cannot be [HO3]. */
export function keepRanges(
  places: readonly number[],
  ranges: readonly (readonly [number, number])[],
): number[] | Refusal {
  const isKept = new Uint8Array(places.length);
  let last = 0;
  for (const [from, until] of ranges) {
    if (!(from >= last && until > from && until <= places.length)) {
      const issue = `keep has ranges [from, until) of 0 to ${places.length}, ascending`;
      return refuse('input.invalid', issue, { violations: [{ field: 'keep', issue }] });
    }
    isKept.fill(1, from, until);
    last = until;
  }
  const kept: number[] = [];
  for (let start = 0; start < places.length; ) {
    let end = start;
    while (end < places.length && !isWholeAt(places[end] as number)) end++;
    const run = { start, end: Math.min(end + 1, places.length) };
    const tools = countTools(places, isKept, run);
    if (tools.kept !== 0 && tools.kept !== tools.all) {
      return refuse(
        'session.split',
        `of items ${run.start} to ${run.end - 1} a call would be split from its result: keep all of its calls and results, or none`,
        { from: run.start, until: run.end },
      );
    }
    for (let i = run.start; i < run.end; i++) {
      if (isKept[i] !== 1) continue;
      const place = places[i] as number;
      kept.push(tools.kept === 0 ? wholeAt(place) : place);
    }
    start = run.end;
  }
  return kept;
}

function countTools(
  places: readonly number[],
  isKept: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
): { all: number; kept: number } {
  const tools = { all: 0, kept: 0 };
  for (let i = start; i < end; i++) {
    if (!isToolAt(places[i] as number)) continue;
    tools.all++;
    if (isKept[i] === 1) tools.kept++;
  }
  return tools;
}

function checkWords({ kind, callId, name, key }: Item, i: number): Refusal | null {
  const words: [string, string | undefined, boolean][] = [
    ['call_id', callId, kind === 'tool_call' || kind === 'tool_result'],
    ['name', name, kind === 'tool_call'],
  ];
  for (const [field, word, isNeeded] of words) {
    if (word === undefined ? !isNeeded : isPrintable(word, CALL_WORD_CHARS_MAX)) continue;
    return unfit(
      `items.${i}.${field}`,
      `of a ${kind} has 1 to ${CALL_WORD_CHARS_MAX} printable characters`,
    );
  }
  if (key === undefined || isPrintable(key, CALL_WORD_CHARS_MAX)) return null;
  return unfit(`items.${i}.key`, `has 1 to ${CALL_WORD_CHARS_MAX} printable characters`);
}

function checkNext(
  open: ReadonlyMap<string, { readonly key: string }>,
  { kind, callId = '' }: Item,
): Refusal | null {
  if (kind === 'handoff') {
    return unfit('items', 'of the kind handoff are written by sessions.handoff alone');
  }
  if (kind === 'tool_call' && open.has(callId)) {
    return refuse(
      'session.open-call',
      `the call ${quoted(callId)} is open already: append its result first`,
      {
        open: [callId],
      },
    );
  }
  if (kind === 'tool_result' && !open.has(callId)) {
    return refuse(
      'session.no-call',
      `there is no open call ${quoted(callId)}: a result follows its call, once`,
      { call_id: callId, open: [...open.keys()] },
    );
  }
  return kind === 'user' ? checkNoneOpen(open) : null;
}

/** Nobody speaks, and nothing is handed on, while a call waits for its result [SN4]. */
export function checkNoneOpen(open: ReadonlyMap<string, unknown>): Refusal | null {
  if (open.size === 0) return null;
  const ids = [...open.keys()];
  const named = ids.slice(0, 5).map(quoted).join(', ');
  const more = ids.length > 5 ? ` and ${ids.length - 5} more` : '';
  return refuse(
    'session.open-call',
    `there is no result yet for ${named}${more}: append it first, or a tool_result with state unknown`,
    { open: ids },
  );
}

/** The id of a call is somebody's text, and no name: it is said as such [I15]. */
function quoted(callId: string): string {
  return JSON.stringify(callId.slice(0, 64));
}

export function unfit(field: string, issue: string): Refusal {
  return refuse('input.invalid', `${field} ${issue}`, { violations: [{ field, issue }] });
}
