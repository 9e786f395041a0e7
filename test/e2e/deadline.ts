/**
 * Waiting with a deadline: for an event, or for a question to be answered as wanted. What does not happen
 * in time fails with a sentence that says what was waited for.
 */
import { setTimeout as pause } from 'node:timers/promises';

/** Long: it is reached only when something is wrong, and a busy machine is not wrong. */
export const DEADLINE_MS = 60_000;

export async function within<T>(
  what: string,
  event: Promise<T>,
  afterMs: number = DEADLINE_MS,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${afterMs} ms: ${what}`)), afterMs);
  });
  return await Promise.race([event, late]).finally(() => clearTimeout(timer));
}

/** Whoever has waited for so long asks again after a tenth of it, and not later than this. */
const ASK_AGAIN_MS_MAX = 50;

/**
 * Asks again and again, each time over the wire, until the answer is the one wanted: at once in the beginning, then
 * the seldomer the longer it takes. Who asks without end takes the processor from what it waits for.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  afterMs: number = DEADLINE_MS,
): Promise<T> {
  const begunAt = performance.now();
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    const waitedMs = performance.now() - begunAt;
    if (waitedMs > afterMs) {
      throw new Error(`not within ${afterMs} ms: ${what}; last was ${JSON.stringify(answer)}`);
    }
    await pause(Math.min(waitedMs / 10, ASK_AGAIN_MS_MAX));
  }
}
