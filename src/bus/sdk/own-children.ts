/** The processes of the SDK: a bus it started, or an engine. They end when this program does. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

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

/** "exited with code 3", once its pipes are read to the end. */
export async function exitOf(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = await once(child, 'close');
    return signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
  } catch {
    return 'was never started';
  }
}
