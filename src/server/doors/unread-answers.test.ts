/** Answers over TLS: there the handle of a socket knows nothing of what has left. Those of plain sockets are attacked. */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { within } from '../../../test/e2e/deadline.ts';
import { makeCertificate } from '../run/certificate.ts';
import { boundUnread } from './unread-answers.ts';

const ANSWER_BYTES = 24 * 1024 * 1024;
const READ_BYTES = 256 * 1024;
const UNREAD_MS = 1_500;

let server: ReturnType<typeof createServer>;
beforeAll(async () => {
  server = createServer(makeCertificate('127.0.0.1', Date.now()), (_, response) => {
    boundUnread(response, UNREAD_MS);
    response.setHeader('content-length', ANSWER_BYTES);
    response.end('x'.repeat(ANSWER_BYTES));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

async function ask(): Promise<TLSSocket> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return socket;
}

test('[SV9] over TLS too, who reads slowly has the whole answer', async () => {
  const socket = await ask();
  let bytes = 0;
  let rested = 0;
  const whole = new Promise<void>((resolve) => {
    socket.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > ANSWER_BYTES) resolve();
      if (bytes - rested < READ_BYTES) return;
      rested = bytes;
      socket.pause();
      // A little at a time: longer than the bound in all, and never silent for as long.
      setTimeout(() => socket.resume(), 40);
    });
    socket.on('close', () => resolve());
  });
  const begunAt = performance.now();
  await within('a slow reader', whole);
  expect(bytes).toBeGreaterThan(ANSWER_BYTES);
  expect(performance.now() - begunAt).toBeGreaterThan(2 * UNREAD_MS);
  socket.destroy();
});

test('[SV9] over TLS too, who reads nothing is cut off', async () => {
  const socket = await ask();
  await once(socket, 'readable');
  // It learns of its end by what it sends.
  const talk = setInterval(() => socket.write('\r\n'), UNREAD_MS / 10);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  await within('the end of who does not read', closed, 20_000);
  clearInterval(talk);
});
