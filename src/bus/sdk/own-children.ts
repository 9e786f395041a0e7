/** Processes this program started and has not stopped: told to go when it ends by itself. */
import type { ChildProcess } from 'node:child_process';

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
