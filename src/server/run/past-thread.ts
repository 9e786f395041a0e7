/** Where the thread that looks back begins; it knows the stores by their URLs. */
import { parentPort } from 'node:worker_threads';
import { runPastThread } from '../record/past-thread.ts';
import { openLog } from './open-log.ts';

if (parentPort !== null) runPastThread(parentPort, (url) => openLog(url, { readOnly: true }));
