/**
 * Waiting with a deadline: for an event, or for a question to be answered as wanted. Nothing here
 * sleeps; what does not happen in time fails with a sentence that says what was waited for.
 */

/** Long: it is reached only when something is wrong, and a busy machine is not wrong. */
export const DEADLINE_MS = 30_000;

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

/** Asks again and again, each time over the wire, until the answer is the one wanted. */
export async function until<T>(
  what: string,
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  afterMs: number = DEADLINE_MS,
): Promise<T> {
  const stopAt = performance.now() + afterMs;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (performance.now() > stopAt) {
      throw new Error(`not within ${afterMs} ms: ${what}; last was ${JSON.stringify(answer)}`);
    }
  }
}
