/** Where the desk finds the hub of a space. The server opens them; the desk only asks. */
import type { Refusal } from '../../core/law/decider.ts';
import type { Hub } from '../../hub/hub.ts';

export const DEFAULT_SPACE = 'default';

export interface OpenSpaceOptions {
  readonly mayCreate: boolean;
  /** It is asked for by name: one that was removed is made again, empty [SP4]. */
  readonly isExplicit?: boolean;
}

export interface RemovedSpace {
  /** When; milliseconds. */
  readonly at: number;
  /** Where what it held lies now; null when nothing is kept. */
  readonly kept: string | null;
}

export interface Spaces {
  /** Whether there is such a space, open or not. */
  has(name: string): boolean;
  /** The hub of a space, opened on first use; refuses an unknown name unless it may be created. */
  open(name: string, options: OpenSpaceOptions): Promise<Hub | Refusal>;
  /**
   * Called before a call that may make the space; null when there is nothing to make. What it answers
   * is called when that is done: a space that nobody stored anything in was not made [SP3].
   */
  enter(name: string): (() => Promise<void>) | null;
  /** The hub of a space that is open already: the hot path. */
  find(name: string): Hub | null;
  /** Closes a space and moves its store aside, or deletes what it held; its name is refused from then on [SP4]. */
  remove(name: string, options: { readonly isDeleted: boolean }): Promise<RemovedSpace | Refusal>;
  /** Tells of spaces that were removed; the answer stops the telling. */
  onRemoved(listener: (name: string) => void): () => void;
  list(): { readonly name: string; readonly entries: number }[];
}

export function isSpaceName(name: string): boolean {
  return /^[a-z0-9_-]{1,64}$/.test(name);
}
