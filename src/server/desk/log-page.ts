/**
 * Rows of which part lies in the log, a page of them: as many as fit. An entry is read once a page however many
 * rows lie in it, no more is read than a page may cost, and no more is held of what was read than is shown.
 */
import { utf8Bytes } from '../../core/law/text.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import { PAGE_BYTES_MAX } from '../../core/work/work-limits.ts';
import { onePage } from './one-page.ts';
import type { Room } from './room.ts';

/** What one answer may still show, and what may still be read for it. */
export interface Budget {
  bytes: number;
  chars: number;
  /** Nothing was shown of it: the next row fits, whatever its size. */
  isWhole: boolean;
}

/** What one page reads of the log; it ends early before it reads more. */
const READ_CHARS_MAX = 8 * 1024 * 1024;
/** So much is looked at in one go, and so many entries. */
const PIECE_CHARS = 256 * 1024;
const PIECE_ENTRIES = 32;

export function createBudget(bytes: number = PAGE_BYTES_MAX): Budget {
  return { bytes, chars: READ_CHARS_MAX, isWhole: true };
}

export interface Shows<Row, Shown> {
  /** Null: nothing of it lies in the log. */
  positionOf(row: Row): number | null;
  show(row: Row, event: DurableEvent | undefined): Shown;
}

/** The first of the rows, as many as the budget holds; none for one that left while it waited. */
export async function readPage<Row, Shown>(
  room: Pick<Room, 'hub' | 'by' | 'signal'>,
  rows: readonly Row[],
  shows: Shows<Row, Shown>,
  budget: Budget = createBudget(),
): Promise<Shown[]> {
  return (await onePage(room, () => readRows(room, rows, shows, budget))) ?? [];
}

async function readRows<Row, Shown>(
  { hub, by }: Pick<Room, 'hub' | 'by'>,
  rows: readonly Row[],
  { positionOf, show }: Shows<Row, Shown>,
  budget: Budget,
): Promise<Shown[]> {
  const shown = new Map<number, { readonly row: Shown; readonly bytes: number }>();
  const indexes = new Map<number, number[]>();
  const least = budget.isWhole ? 1 : 0;
  /** Rows from here on cannot be part of the page. */
  let end = rows.length;

  function endAt(index: number): void {
    for (let i = Math.max(index, least); i < end; i++) shown.delete(i);
    end = Math.min(end, Math.max(index, least));
  }

  /** What does not fit even if all that is not read yet is nothing. */
  function trim(): void {
    let left = budget.bytes;
    for (let i = 0; i < end; i++) {
      left -= shown.get(i)?.bytes ?? 0;
      if (left < 0) endAt(i);
    }
  }

  function showAll(some: readonly number[], event: DurableEvent | undefined): void {
    let left = budget.bytes;
    for (const i of some) {
      if (i >= end) return;
      const row = show(rows[i] as Row, event);
      const bytes = utf8Bytes(JSON.stringify(row));
      left -= bytes;
      if (left < 0) endAt(i);
      if (i < end) shown.set(i, { row, bytes });
    }
  }

  for (const [i, row] of rows.entries()) {
    const position = positionOf(row);
    const known = indexes.get(position ?? -1);
    if (position === null) showAll([i], undefined);
    else if (known === undefined) indexes.set(position, [i]);
    else known.push(i);
  }
  trim();
  // In the order of the first row of each, so that those that are wanted still come first.
  const positions = [...indexes.keys()];
  const firstOf = (position: number | undefined): number =>
    indexes.get(position ?? -1)?.[0] ?? rows.length;
  for (let from = 0; firstOf(positions[from]) < end; ) {
    if (budget.chars <= 0 && !(budget.isWhole && from === 0)) {
      endAt(firstOf(positions[from]));
      break;
    }
    const some = positions.slice(from, from + PIECE_ENTRIES).filter((one) => firstOf(one) < end);
    const { events, chars } = await hub.readEvents(by.id, some, PIECE_CHARS);
    for (const [i, event] of events.entries()) {
      showAll(indexes.get(some[i] as number) ?? [], event);
      trim();
    }
    budget.chars -= chars;
    from += events.length;
  }
  const page: Shown[] = [];
  for (let i = 0; i < end; i++) {
    const { row, bytes } = shown.get(i) as { row: Shown; bytes: number };
    page.push(row);
    budget.bytes -= bytes;
    budget.isWhole = false;
  }
  return page;
}
