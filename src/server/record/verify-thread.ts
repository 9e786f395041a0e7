/** The thread that walks one log to its end, opened for reading alone, and says what it found. */
import { parentPort, workerData } from 'node:worker_threads';
import { openFileLog } from '../../log/file.ts';
import type { Log } from '../../log/log.ts';
import { openSqliteLog } from '../../log/sqlite.ts';
import { verifyLog } from '../../log/verify.ts';
import type { Walked } from './keeper.ts';

const log = await open(workerData as Walked);
try {
  parentPort?.postMessage(await verifyLog(log));
} finally {
  await log.close();
}

async function open(walked: Walked): Promise<Log> {
  const options = { readOnly: true };
  if (walked.kind === 'nats') {
    const { openNatsLog } = await import('../../log/nats.ts');
    return openNatsLog(walked.place, walked.space, options);
  }
  const openAt = walked.kind === 'sqlite' ? openSqliteLog : openFileLog;
  return openAt(walked.path, options);
}
