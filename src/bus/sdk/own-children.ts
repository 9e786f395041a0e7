/** The processes of the SDK: a bus it started, or an engine. They end when this program does. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { within } from './probe.ts';

const alive = new Set<ChildProcess>();
let isWatching = false;

/** No bus of ours outlives us; a bus that is told to go sees to its workers. */
export function endWithUs(child: ChildProcess): void {
  alive.add(child);
  child.once('exit', () => alive.delete(child));
  if (isWatching) return;
  isWatching = true;
  process.once('exit', () => {
    for (const left of alive) left.kill('SIGTERM');
  });
}

export function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** A worker it left behind may hold its pipes open for ever. */
const PIPES_MS = 1_000;

/** "exited with code 3", once its pipes are read to the end, or nobody writes to them in time. */
export async function exitOf(child: ChildProcess): Promise<string> {
  const closed = once(child, 'close');
  closed.catch(() => {});
  try {
    const [code, signal] = await once(child, 'exit');
    await within(closed, PIPES_MS, () => new Error('late')).catch(() => {});
    return signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
  } catch {
    return 'was never started';
  }
}
