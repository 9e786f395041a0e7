/**
 * The record of a snapshot: its position and digest, so that a hub knows the shortcut it took from one
 * that somebody put in its place. The state holds nothing of it; the chain does [H21].
 */
import type { Asked, Decision } from './decider.ts';
import type { WorldView } from './state.ts';

/** Only the hub asks for this, before it saves the snapshot. */
export interface RecordSnapshot extends Asked {
  readonly type: 'snapshot.record';
  /** How many entries the state was made of. */
  readonly position: number;
  readonly digest: string;
}

export interface SnapshotTaken {
  readonly type: 'snapshot.taken';
  readonly at: number;
  readonly position: number;
  readonly digest: string;
}

export function decideSnapshot(
  _world: WorldView,
  { at, position, digest }: RecordSnapshot,
): Decision<SnapshotTaken, null> {
  return { events: [{ type: 'snapshot.taken', at, position, digest }], answer: null };
}
