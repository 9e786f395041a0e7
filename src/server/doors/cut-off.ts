/** What the hub's log says of a reader that was cut off: who it was, and how much it did not take [F3]. */
import type { Caller } from '../desk/caller.ts';

/** A reader was cut off: it did not take so many bytes at this door. */
export type CutOff = (caller: Caller, bytes: number, door: string) => void;

export function cutOffLine({ principal, space }: Caller, bytes: number, door: string): string {
  const who = JSON.stringify(principal.id);
  return `a reader was cut off: ${who} in ${space} did not take ${bytes} bytes (${door}); it may resume where it was`;
}
