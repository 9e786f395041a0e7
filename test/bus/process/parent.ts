/**
 * A bus in small, to be killed: starts stubborn workers, tells their pids, and then does what its
 * argument says: `stay`; `exit` at SIGUSR2 without stopping them; `stop`, and come to its natural
 * end; or `storm`, which is to start and lose workers all the time.
 */
import { openWorker } from '../../../src/bus/process/open-worker.ts';
import type { WorkerEvents } from '../../../src/bus/process/worker.ts';
import { specOf } from './spec-of.ts';

const [ending, workers = '1', tag = ''] = process.argv.slice(2);
let told = 0;

const events: WorkerEvents = {
  onReady() {},
  onDown() {},
  onNote() {},
  onLines(worker, [line]) {
    process.stdout.write(`${line}\n`);
    told += 1;
    if (told === Number(workers) && ending === 'stop') void worker.stop(50);
  },
};

/** Gone at once, with a child left in its group and another out of it; and the next one comes. */
const STORM = {
  command: '/bin/sh',
  args: ['-c', '(setsid sleep 1000 &); sleep 1000 & echo "{}"; exit 1'],
  env: { TAG: tag },
  restart: {
    policy: 'always',
    restartsMax: 1_000_000,
    windowMs: 1,
    waitMsMin: 1,
    waitMsMax: 1,
    healthyAfterMs: 1,
  },
} as const;

if (ending === 'stay') setInterval(() => {}, 1_000_000);
if (ending === 'exit') process.once('SIGUSR2', () => process.exit(0));
for (let n = 0; n < Number(workers); n += 1) {
  openWorker(specOf('stubborn.mjs', ending === 'storm' ? STORM : {}), n, events).start();
}
