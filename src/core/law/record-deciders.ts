/** What is put on record of the log itself: a snapshot, a compaction, a break. */
import { decideBreak, evolveBroken, type LogBroken } from '../docket/log-broken.ts';
import { decideCompaction, type LogCompacted } from './compaction.ts';
import { decideSnapshot, type SnapshotTaken } from './snapshot-record.ts';
import type { World } from './state.ts';

export interface RecordDeciders {
  'compaction.record': typeof decideCompaction;
  'snapshot.record': typeof decideSnapshot;
  'break.record': typeof decideBreak;
}

export const RECORD_DECIDERS: RecordDeciders = {
  'compaction.record': decideCompaction,
  'snapshot.record': decideSnapshot,
  'break.record': decideBreak,
};

export type RecordEvent = LogCompacted | SnapshotTaken | LogBroken;

/** Only a break changes the state: a person is to know of it. The rest is in the chain alone. */
export function evolveRecord(world: World, event: RecordEvent): void {
  if (event.type === 'log.broken') evolveBroken(world, event);
}
