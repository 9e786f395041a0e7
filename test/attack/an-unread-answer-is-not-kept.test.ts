/** One token asks for much and reads nothing of it: the answers do not stay in the hub's memory. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { within } from '../e2e/deadline.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

const MIB = 1024 * 1024;
const UNREAD_MS = 1_500;

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub({ hooks: { unreadMs: UNREAD_MS } });
  await hub.untrusted.ask('subscribe', { pattern: 'large' });
  const text = 'x'.repeat(MIB - 1024);
  for (let i = 0; i < 16; i++) await hub.agent.ask('send', { channel: 'large', body: { text } });
});
afterAll(() => hub.close());

function askRaw(): Socket {
  const body = JSON.stringify({ channel: 'large', limit: 1_000 });
  const socket = connect(hub.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `POST /v1/ops/replay HTTP/1.1\r\nHost: 127.0.0.1:${hub.port}\r\n` +
      `Authorization: ${hub.untrusted.headers.authorization}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

test('[SV9] who reads nothing of an answer is cut off, also when it goes on sending', async () => {
  const sockets = Array.from({ length: 4 }, askRaw);
  const closed = sockets.map(async (socket) => {
    await once(socket, 'readable');
    expect(String(socket.read(12))).toBe('HTTP/1.1 200');
    // It reads no more, and sends blank lines, which are no request; that they go nowhere is how it learns.
    const talk = setInterval(() => socket.write('\r\n'), UNREAD_MS / 10);
    await new Promise((resolve) => socket.on('close', resolve));
    clearInterval(talk);
  });
  await within('the end of those who do not read', Promise.all(closed), 20_000);
});

test('[SV9] who reads slowly has the whole answer', async () => {
  const socket = askRaw();
  const parts: Buffer[] = [];
  let bytes = 0;
  let isBegun = false;
  const whole = new Promise<void>((resolve) => {
    socket.on('data', (part: Buffer) => {
      if (!isBegun) parts.push(part);
      isBegun = true;
      bytes += part.length;
      if (bytes > 15 * MIB) resolve();
      socket.pause();
      // A little at a time: longer than the bound in all, and never silent for as long.
      setTimeout(() => socket.resume(), 8);
    });
    socket.on('close', resolve);
  });
  await within('a slow reader', whole, 60_000);
  expect(Buffer.concat(parts).toString()).toMatch(/^HTTP\/1.1 200/);
  expect(bytes).toBeGreaterThan(15 * MIB);
  socket.destroy();
});
