/**
 * The bounds of the plugin host, and the one way to wait under a deadline.
 *
 * A plugin is foreign code in our process: it may be slow, large or many. Each of those has a
 * limit here, and reaching one is an error with a code, never a hang.
 */

export const PLUGINS_MAX = 64;
export const MANIFEST_BYTES_MAX = 65_536;
export const PACKAGE_JSON_BYTES_MAX = 1_048_576;
export const PACKAGES_SCANNED_MAX = 20_000;
/** Entries of one `requires`, `must_run_before` or `must_run_after`. */
export const REFERENCES_MAX = 64;
export const RANGE_CHARS_MAX = 256;
/** What a plugin may leave as the input of a call, as JSON text. */
export const INPUT_CHARS_MAX = 2_097_152;
export const METADATA_KEYS_MAX = 64;
/** Time a unit may spend in its own code for one call; what it waits for in `next` is not counted. */
export const UNIT_TIMEOUT_MS = 5000;
export const STARTUP_TIMEOUT_MS = 10_000;
export const SHUTDOWN_TIMEOUT_MS = 5000;

/** Thrown when foreign code has not answered in time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * The answer of `work`, or a DeadlineError after `timeoutMs`. The work itself cannot be stopped;
 * its late answer is dropped.
 */
export async function withDeadline<Value>(
  work: () => Value | Promise<Value>,
  timeoutMs: number,
  what: string,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new DeadlineError(`${what} took longer than ${timeoutMs} ms`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([Promise.resolve().then(work), expiry]);
  } finally {
    clearTimeout(timer);
  }
}
