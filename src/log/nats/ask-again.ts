/**
 * Questions to JetStream that change nothing. One that a lost node took with it is not answered by anybody, although the next
 * leader would: it is asked again beside the first, and whichever answer comes first counts. All were asked after the
 * caller did, so that each tells what the caller must know; a server that is only slow is not given less time for it.
 */

const AGAIN_MS = 1_000;
/** When so many had no answer in the time of a request, nobody answers. */
const LOST_MAX = 2;

export function askAgain<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let lost = 0;
    const once = (): void => {
      ask().then((answer) => {
        clearInterval(timer);
        resolve(answer);
      }, fail);
    };
    const timer = setInterval(once, AGAIN_MS).unref();
    function fail(error: unknown): void {
      const isLost = error instanceof Error && error.name === 'TimeoutError';
      // What was refused would be refused again.
      if (isLost && ++lost < LOST_MAX) return;
      clearInterval(timer);
      reject(error);
    }
    once();
  });
}
