/**
 * Filters of a hand-off: which items the next holder gets. A filter chooses and makes nothing up: what is
 * to be added goes into `input`. The hub keeps the choice, so that no later reader filters again.
 */
import type { SessionItem } from '../../wire/operations/sessions.ts';

/**
 * The items that go along, of those that it is given.
 *
 * @example
 * const spoken: SessionFilter = (items) => items.filter(({ kind }) => kind === 'user' || kind === 'assistant');
 */
export type SessionFilter = (items: readonly SessionItem[]) => readonly SessionItem[];

/**
 * A filter that leaves tool calls and their results out.
 *
 * @example
 * await session.handoff('writer', { why: 'write it up', filter: withoutTools });
 */
export function withoutTools(items: readonly SessionItem[]): readonly SessionItem[] {
  return items.filter(({ kind }) => kind !== 'tool_call' && kind !== 'tool_result');
}

/**
 * A filter that keeps the newest items, and as many more as it takes to split no call from its result.
 *
 * @example
 * await session.handoff('closer', { why: 'only the end matters', filter: newest(10) });
 */
export function newest(count: number): SessionFilter {
  return (items) => {
    let start = Math.max(0, items.length - count);
    for (let i = start; i < items.length; i++) {
      const item = items[i];
      if (item?.kind !== 'tool_result') continue;
      const call = items.findLastIndex(
        (one, at) => at < i && one.kind === 'tool_call' && one.call_id === item.call_id,
      );
      if (call >= 0 && call < start) {
        start = call;
        i = start;
      }
    }
    return items.slice(start);
  };
}

/** The choice of a filter as ranges of indexes. */
export function chosenOf(filter: SessionFilter, items: readonly SessionItem[]): [number, number][] {
  const stored = items.filter(({ index }) => index !== null);
  const known = new Set(stored);
  const ranges: [number, number][] = [];
  let last = -1;
  for (const item of filter(stored)) {
    const index = item.index ?? -1;
    if (!known.has(item) || index <= last) {
      throw new TypeError(
        'a filter returns items that it was given, in their order: what is new goes into input',
      );
    }
    const range = ranges.at(-1);
    if (range?.[1] === index) range[1] = index + 1;
    else ranges.push([index, index + 1]);
    last = index;
  }
  return ranges;
}
