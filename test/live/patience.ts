/**
 * Waiting for what only looking can tell: a line in a file, a screen, the output of a process. It
 * looks every LOOK_MS, lets everything else run in between, and fails at the deadline by name.
 */
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_MS = 20;
const DEADLINE_MS = 30_000;
/** By when a terminal has begun: opencode first brings packages of its own, which takes minutes where the net is slow. */
export const STARTS_MS = 180_000;

type Look<T> = T | undefined | null | false;

/** What `look` finds first that is something. */
export async function seen<T>(
  what: string,
  look: () => Look<T> | Promise<Look<T>>,
  deadlineMs: number = DEADLINE_MS,
): Promise<T> {
  const stopAt = performance.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (performance.now() > stopAt) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await pause(LOOK_MS);
  }
}
