/**
 * Calls something that may take for ever, and ends it when it has used up its time: also a pattern in the middle of
 * its work. What counts is the processor's time. On a machine that is busy with others, a thread that was kept
 * waiting has done nothing wrong, and begins again.
 */
import { type Context, createContext, Script } from 'node:vm';

/** Begun so often; nobody is kept waiting for ever by a machine that stands still. */
const TRIES_MAX = 10;
const CALL = new Script('run()');
let context: Context | null = null;

export function within<T>(ms: number, run: () => T): T {
  context ??= createContext({});
  let outcome: { readonly value: T } | null = null;
  context.run = () => {
    outcome = { value: run() };
  };
  const begun = process.threadCpuUsage();
  for (let tries = 1; ; tries++) {
    try {
      CALL.runInContext(context, { timeout: ms });
      return (outcome as unknown as { readonly value: T }).value;
    } catch (cause) {
      if (!isTooLate(cause) || tries === TRIES_MAX || usedMs(begun) >= ms * ENOUGH) throw cause;
    }
  }
}

/** The clock of the processor is not that of the wall: one that ran all the time may seem to have had a little less. */
const ENOUGH = 0.8;

/** What this thread has had of the processor since then. */
export function usedMs(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1_000;
}

export function isTooLate(cause: unknown): boolean {
  return (cause as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
