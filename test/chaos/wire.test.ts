/** The line that can be cut: for everybody or for one, so that it breaks, or so that what was sent comes late. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../e2e/deadline.ts';
import { openWire, type Wire } from './wire.ts';

/** Whatever comes is sent back. */
async function openEcho(): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as { port: number }).port;
}

async function open(wire: Wire) {
  const socket = connect(wire.port, '127.0.0.1');
  const state = { heard: '', isClosed: false };
  socket.on('data', (chunk: Buffer) => (state.heard += chunk.toString()));
  socket.on('close', () => (state.isClosed = true));
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const hears = (text: string): Promise<unknown> =>
    until(`hears ${text}`, tick, () => state.heard === text);
  const ends = (): Promise<unknown> => until('is closed', tick, () => state.isClosed);
  return { socket, state, hears, ends };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('[CH1] a line that hangs keeps what was sent, and hands it over when it is mended', async () => {
  const wire = await openWire(await openEcho());
  onTestFinished(() => wire.close());
  const one = await open(wire);
  one.socket.write('a');
  await one.hears('a');
  wire.cut('hang');
  one.socket.write('b');
  // Somebody else cannot get through either, also when it comes later.
  const other = await open(wire);
  other.socket.write('c');
  for (let i = 0; i < 50; i++) await tick();
  expect([one.state.heard, other.state.heard, one.state.isClosed]).toEqual(['a', '', false]);
  wire.mend();
  await one.hears('ab');
  await other.hears('c');
});

test('[CH1] a line that is cut off for one is open for others', async () => {
  const nameOf = (opening: string): string | null => /^(\w+):/.exec(opening)?.[1] ?? null;
  const wire = await openWire(await openEcho(), nameOf);
  onTestFinished(() => wire.close());
  const [ada, bob] = [await open(wire), await open(wire)];
  ada.socket.write('ada:');
  bob.socket.write('bob:');
  await ada.hears('ada:');
  await bob.hears('bob:');
  wire.cut('reset', 'ada');
  await ada.ends();
  const again = await open(wire);
  again.socket.write('ada:');
  await again.ends();
  bob.socket.write('still');
  await bob.hears('bob:still');
  expect([ada.state.heard, again.state.heard]).toEqual(['ada:', '']);
});

test('[CH1] a line that loses packets is late and whole, in order, also when it is mended meanwhile', async () => {
  const wire = await openWire(await openEcho());
  onTestFinished(() => wire.close());
  const one = await open(wire);
  wire.cut('loss');
  const begun = performance.now();
  let text = '';
  for (let i = 0; i < 40; i++) {
    text += `${i} `;
    one.socket.write(`${i} `);
    // One piece at a time, so that some of them are lost.
    await new Promise((resolve) => setTimeout(resolve, 2));
    if (i === 30) wire.mend();
  }
  await one.hears(text);
  expect(performance.now() - begun).toBeGreaterThan(200);
  expect(one.state.isClosed).toBe(false);
});
