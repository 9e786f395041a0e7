/**
 * Heads of a log at chosen places: the first, which no other log has, and the one at a position.
 */
import { GENESIS } from './batch.ts';
import type { Log } from './log.ts';

/** The head after the first append; null while there is none. */
export async function originOf(log: Pick<Log, 'batches'>): Promise<string | null> {
  for await (const batch of log.batches(0)) return batch.head;
  return null;
}

/** The head at `position` entries; null where no append ended or none is. */
export async function headOf(
  log: Pick<Log, 'batches' | 'length' | 'head'>,
  position: number,
): Promise<string | null> {
  if (position === 0) return GENESIS;
  if (position > log.length) return null;
  if (position === log.length) return log.head;
  for await (const { first, count, head } of log.batches(position - 1)) {
    return first + count === position ? head : null;
  }
  return null;
}
