/**
 * The record of a compaction: that old bodies were dropped from the log, and what proves the rest. The
 * state holds nothing of it; the chain does [G13].
 */
import type { Asked, Decision } from './decider.ts';
import type { WorldView } from './state.ts';

/** Only `synod log compact` asks for this, on a log that no hub has open. */
export interface RecordCompaction extends Asked {
  readonly type: 'compaction.record';
  readonly facts: CompactionRecord;
}

export interface LogCompacted {
  readonly type: 'log.compacted';
  readonly at: number;
  readonly by: string;
  readonly facts: CompactionRecord;
}

/** As the log proves it: up to where, the head there, and digests of what lies and of what went. */
export interface CompactionRecord {
  readonly through: number;
  readonly head: string;
  readonly digest: string;
  readonly dropped: number;
  readonly droppedDigest: string;
}

export function decideCompaction(
  _world: WorldView,
  { at, by, facts }: RecordCompaction,
): Decision<LogCompacted, null> {
  return { events: [{ type: 'log.compacted', at, by: by.id, facts }], answer: null };
}
