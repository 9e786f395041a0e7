/**
 * Looking at the docket: what waits, the longest first, and what ended, the newest first. A page is
 * found by its first id and touches the items it shows, however many wait [DK8].
 */
import type { Principal } from '../law/principal.ts';
import type { View } from '../law/view.ts';
import { isPerson } from './docket-commands.ts';
import {
  type DocketBook,
  ITEM_KINDS,
  type Item,
  type ItemKind,
  type ItemState,
  placeFrom,
} from './docket-state.ts';

export interface ItemQuery {
  /** None is what waits: open or taken. */
  readonly state?: ItemState | undefined;
  readonly kind?: ItemKind | undefined;
  /** The id of the last item that is known. */
  readonly after?: number | undefined;
}

/** What this principal may see: a person everything, an agent its own [DK3]. */
export function* itemsFor(
  book: View<DocketBook>,
  by: Principal,
  { state, kind, after }: ItemQuery,
): Generator<View<Item>> {
  const own = book.agents.get(by.id);
  const ids =
    state === 'closed'
      ? closedIds(book, isPerson(by) ? book.closed : (own?.kept ?? []), after)
      : idsAfter(isPerson(by) ? book.open : (own?.open ?? []), after ?? 0);
  for (const id of ids) {
    const item = book.items.get(id);
    if (item === undefined || (state !== undefined && stateOf(item) !== state)) continue;
    if (kind === undefined || kindsOf(item).includes(kind)) yield item;
  }
}

/** Null when there is none, or none that is theirs to see: which of the two is not told [DK3]. */
export function findItem(book: View<DocketBook>, by: Principal, id: number): View<Item> | null {
  const item = book.items.get(id);
  if (item === undefined || (!isPerson(by) && item.agent !== by.id)) return null;
  return item;
}

export function stateOf({ closed, taken }: View<Item>): ItemState {
  if (closed !== null) return 'closed';
  return taken === null ? 'open' : 'taken';
}

/** Of what it is about; of what it was about, when it has ended. The most urgent first. */
export function kindsOf(item: View<Item>): ItemKind[] {
  if (item.subjects.size === 0) return [item.kind];
  const kinds = new Set<ItemKind>();
  for (const { kind } of item.subjects.values()) kinds.add(kind);
  return ITEM_KINDS.filter((kind) => kinds.has(kind));
}

function* idsAfter(ids: readonly number[], after: number): Generator<number> {
  for (let i = placeFrom(ids, after + 1); i < ids.length; i++) yield ids[i] as number;
}

function closedIds(
  book: View<DocketBook>,
  ids: readonly number[],
  after: number | undefined,
): number[] {
  return ids
    .filter((id) => book.items.get(id)?.closed !== null && id < (after ?? Number.POSITIVE_INFINITY))
    .sort((a, b) => b - a);
}
