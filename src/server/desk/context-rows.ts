/** Keys and changes of context as every door shows them; values are read from the log for what is shown. */
import type { ContextEntry } from '../../core/context/context-state.ts';
import type { OutputOf } from '../../wire/operation.ts';
import type { contextDiff, contextList } from '../../wire/operations/context.ts';
import { type Changed, type Past, writtenAt } from './context-past.ts';

export type EntryRow = OutputOf<typeof contextList>['entries'][number];
type DiffOutput = OutputOf<typeof contextDiff>;
type Change = DiffOutput['changes'][number];

/** Bytes of values in one answer; one value is always given. */
export const VALUES_BYTES = 1_048_576;

export function toSeconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}

export function rowOf({ key, version, bytes, by, at, expiresAt }: ContextEntry): EntryRow {
  return { key, version, bytes, by, set_at: at / 1000, expires_at: toSeconds(expiresAt) };
}

export async function readRow(
  past: Past,
  key: string,
  version: number,
  isWhole: boolean,
): Promise<EntryRow> {
  const event = await writtenAt(past, version);
  const { bytes, by, at, expiresAt, value, dropped } = event;
  return {
    ...rowOf({ key, version, bytes, by, at, expiresAt }),
    ...(isWhole && { value: value ?? null }),
    ...(dropped && { dropped: true as const }),
  };
}

export async function changeRows(
  past: Past,
  changed: readonly Changed[],
  isWhole: boolean,
  limit: number,
): Promise<Pick<DiffOutput, 'changes' | 'next'>> {
  const changes: Change[] = [];
  let left = VALUES_BYTES;
  for (const { key, before, after, by, at } of changed) {
    if (changes.length >= limit || left < 0) break;
    const now = isWhole && after > 0 ? await writtenAt(past, after) : null;
    const then = isWhole && before > 0 ? await writtenAt(past, before) : null;
    left -= (now?.bytes ?? 0) + (then?.bytes ?? 0);
    changes.push({
      ...{ key, before, after, by, set_at: toSeconds(at) },
      change: before === 0 ? 'added' : after === 0 ? 'removed' : 'changed',
      ...(now !== null && { value: now.value }),
      ...(then !== null && { before_value: then.value }),
    });
  }
  const next = changes.length < changed.length ? (changes.at(-1)?.key ?? null) : null;
  return { changes, next };
}
