/**
 * Of which items people are to be told, and when the next is due: once when it begins to wait, and
 * again after a while as long as no person has taken it [DK10]. One that waits again was told of
 * before, so it is told of again, but not within a minute.
 */
import { NEW_ITEM_EVERY_MS } from '../law/limits.ts';
import type { View } from '../law/view.ts';
import type { DocketBook, Item } from './docket-state.ts';

export interface DueNotices {
  readonly items: readonly View<Item>[];
  /** When to look again; null when nothing is to come. */
  readonly nextAt: number | null;
}

export function dueNotices(
  book: View<DocketBook>,
  at: number,
  remindAfterMs: number | null,
  itemsMax: number,
): DueNotices {
  const items: View<Item>[] = [];
  let nextAt: number | null = null;
  for (const id of book.open) {
    const item = book.items.get(id);
    const dueAt = item === undefined ? null : noticeAt(item, remindAfterMs);
    if (item === undefined || dueAt === null) continue;
    if (dueAt <= at && items.length < itemsMax) items.push(item);
    else nextAt = Math.min(nextAt ?? dueAt, dueAt);
  }
  return { items, nextAt };
}

function noticeAt(item: View<Item>, remindAfterMs: number | null): number | null {
  const { noticedAt, since, taken } = item;
  if (noticedAt === null) return since;
  if (since > noticedAt) return Math.max(since, noticedAt + NEW_ITEM_EVERY_MS);
  return taken !== null || remindAfterMs === null ? null : noticedAt + remindAfterMs;
}
