/** Where the desk finds the hub of a space. The server opens them; the desk only asks. */
import type { Refusal } from '../../core/law/decider.ts';
import type { Hub } from '../../hub/hub.ts';

export const DEFAULT_SPACE = 'default';

export interface Spaces {
  /** Whether there is such a space, open or not. */
  has(name: string): boolean;
  /** The hub of a space, opened on first use; refuses an unknown name unless it may be created. */
  open(name: string, options: { readonly mayCreate: boolean }): Promise<Hub | Refusal>;
  /** The hub of a space that is open already: the hot path. */
  find(name: string): Hub | null;
  list(): { readonly name: string; readonly entries: number }[];
}

export function isSpaceName(name: string): boolean {
  return /^[a-z0-9_-]{1,64}$/.test(name);
}
