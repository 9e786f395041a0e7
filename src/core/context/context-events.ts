/** What is asked of context, and what then happened. */
import type { Asked } from '../law/decider.ts';

export interface SetContext extends Asked {
  readonly type: 'context.set';
  readonly ns: string;
  readonly key: string;
  /** Any JSON. */
  readonly value: unknown;
  /** Only if the key is at this version; 0: only if there is none. Null: whatever is there. */
  readonly ifVersion: number | null;
  readonly ttlMs: number | null;
}

export interface DeleteContext extends Asked {
  readonly type: 'context.delete';
  readonly ns: string;
  /** One key, or all that begin with `prefix`. */
  readonly key: string | null;
  readonly prefix: string | null;
  readonly ifVersion: number | null;
}

interface Change {
  readonly at: number;
  readonly by: string;
  readonly ns: string;
  readonly key: string;
  /** The version that the key had before, and the one that its namespace had; 0 is none. */
  readonly was: number;
  readonly prior: number;
}

export interface ContextWritten extends Change {
  readonly type: 'context.written';
  readonly value: unknown;
  readonly bytes: number;
  readonly expiresAt: number | null;
  /** Compaction took the value away. */
  readonly dropped?: true;
}

export interface ContextDeleted extends Change {
  readonly type: 'context.deleted';
  /** Its time was over; nobody asked. */
  readonly isLapse?: true;
}

export type ContextEvent = ContextWritten | ContextDeleted;
