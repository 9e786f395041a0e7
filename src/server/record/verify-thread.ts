/** The thread that walks one log to its end, opened for reading alone, and says what it found. */
import { parentPort, workerData } from 'node:worker_threads';
import { openFileLog } from '../../log/file.ts';
import { openSqliteLog } from '../../log/sqlite.ts';
import { verifyLog } from '../../log/verify.ts';
import type { StorePlace } from './keeper.ts';

const { kind, path } = workerData as StorePlace;
const open = kind === 'sqlite' ? openSqliteLog : openFileLog;
const log = await open(path, { readOnly: true });
try {
  parentPort?.postMessage(await verifyLog(log));
} finally {
  await log.close();
}
