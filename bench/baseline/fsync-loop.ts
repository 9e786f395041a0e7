/**
 * What the machine charges: one durable one-row commit, and one round trip over loopback.
 *
 * `fsync-loop.ts DIR COUNT` commits to SQLite as the hub does (WAL, FULL) and bounces a small
 * packet off a process of its own; one JSON line with p50 and p99 of each, in milliseconds.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Percentiles, percentiles } from '../percentiles.ts';

const [, self = '', dir = '.', count = '500'] = process.argv;

function commits(times: number): Percentiles {
  const db = new DatabaseSync(join(dir, 'fsync.sqlite'));
  db.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
    CREATE TABLE IF NOT EXISTS log(position INTEGER PRIMARY KEY, text TEXT)`);
  const insert = db.prepare('INSERT INTO log(text) VALUES (?)');
  const text = 'x'.repeat(200);
  const takenMs: number[] = [];
  for (let n = 0; n < times; n++) {
    const from = performance.now();
    insert.run(text); // outside a transaction: each row is its own commit
    takenMs.push(performance.now() - from);
  }
  db.close();
  return percentiles(takenMs);
}

async function roundTrips(times: number): Promise<Percentiles> {
  const echo = fork(self, ['--echo']);
  const [port] = (await once(echo, 'message')) as [number];
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  const packet = Buffer.alloc(200, 'x');
  const takenMs: number[] = [];
  for (let n = 0; n < times; n++) {
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.once('data', () => resolve());
    const from = performance.now();
    socket.write(packet);
    await promise;
    takenMs.push(performance.now() - from);
  }
  socket.destroy();
  echo.disconnect();
  return percentiles(takenMs.slice(times >> 2));
}

if (dir === '--echo') {
  const server = createServer((socket) => socket.setNoDelay(true).pipe(socket));
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.once('disconnect', () => process.exit(0));
} else {
  const fsync = commits(Number(count));
  const loopback = await roundTrips(Number(count));
  process.stdout.write(`${JSON.stringify({ fsync, loopback })}\n`);
}
