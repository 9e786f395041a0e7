/** One token asks for much and reads nothing of it: the answers do not stay in the hub's memory. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until, within } from '../e2e/deadline.ts';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

const MIB = 1024 * 1024;
const UNREAD_MS = 1_500;

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub({ hooks: { unreadMs: UNREAD_MS } });
  for (const one of [hub.untrusted, hub.other]) await one.ask('subscribe', { pattern: 'large' });
  const text = 'x'.repeat(MIB - 1024);
  for (let i = 0; i < 16; i++) await hub.agent.ask('send', { channel: 'large', body: { text } });
});
afterAll(() => hub.close());

function askRaw(): Socket {
  const socket = connect(hub.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(requestOf(hub.untrusted, 'replay', { channel: 'large', limit: 1_000 }));
  return socket;
}

function requestOf({ headers }: Holder, operation: string, input: object): string {
  const body = JSON.stringify(input);
  return (
    `POST /v1/ops/${operation} HTTP/1.1\r\nHost: 127.0.0.1:${hub.port}\r\n` +
    `Authorization: ${headers.authorization}\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  );
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

test('[SV9] who has not read an answer is made no other, and others are', async () => {
  const sockets = Array.from({ length: 6 }, askRaw);
  const begun: Socket[] = [];
  const begins = sockets.map((socket) => once(socket, 'readable').then(() => begun.push(socket)));
  await within('an answer that is not read', Promise.race(begins));
  const { messages } = await hub.other.ask('replay', { channel: 'large', limit: 1_000 });
  expect(messages.length).toBeGreaterThan(10);
  // The second is read already when the first is found unread.
  expect(begun.length).toBeLessThanOrEqual(2);
  // Who leaves makes room for who waits.
  await until(
    'all answers, one after the other',
    async () => {
      for (const socket of begun) socket.destroy();
      return begun.length;
    },
    (count) => count === sockets.length,
  );
});

test('[SV9] who waits for a page holds none of it meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapMiB = (): number => {
    collect();
    return process.memoryUsage().heapUsed / MIB;
  };
  const [{ message_id }] = (await hub.other.ask('replay', { channel: 'large', limit: 1 })).messages;
  const unread = askRaw();
  await within('an answer that is not read', once(unread, 'readable'));
  const socket = await hub.untrusted.socket();
  const before = heapMiB();
  const pages = Array.from({ length: 100 }, () => socket.call('threads.get', { message_id }));
  // The hub has heard them all when it answers this.
  await socket.call('status');
  await hub.other.ask('status');
  expect(heapMiB() - before).toBeLessThan(50);
  unread.destroy();
  for (const { result } of await Promise.all(pages)) expect(result.root).toBeDefined();
  await socket.close();
});

test('[SV9] what is sent behind a request that waits is not begun before that is answered', async () => {
  for (const pattern of ['mail', 'behind']) await hub.other.ask('subscribe', { pattern });
  const request = (operation: string, input: object) => requestOf(hub.agent, operation, input);
  const send = request('send', { channel: 'behind', body: {} });
  await hub.agent.ask('subscribe', { pattern: 'mail' });
  const socket = connect(hub.port, '127.0.0.1');
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  const wait = request('recv', { channels: ['mail'], wait_ms: 60_000 });
  socket.write(send + wait + send.repeat(20));
  const sent = async (input: object): Promise<number> =>
    (await hub.other.ask('recv', { channels: ['behind'], ...input })).messages.length;
  expect(await sent({ wait_ms: 60_000 })).toBe(1);
  // The others came with it; they would be carried out by now.
  for (let n = 0; n < 20; n++) await hub.other.ask('status');
  expect(await sent({})).toBe(0);
  await hub.other.ask('send', { channel: 'mail', body: {} });
  await until(
    'all answers',
    async () => text.match(/HTTP\/1.1 200 /g)?.length,
    (count) => count === 22,
  );
  expect(await sent({})).toBe(20);
  socket.destroy();
});

test('[SV9] an answer that is streamed is no other: it is cut off unread, and none is made beside it', async () => {
  const call = (id: number, name: string, given: object) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name, arguments: given },
  });
  // What waits has the batch streamed.
  const body = JSON.stringify([
    call(1, 'channels__replay', { channel: 'large', limit: 1_000 }),
    call(2, 'channels__recv', { channels: ['mail'], wait_ms: 1 }),
  ]);
  const sockets = Array.from({ length: 4 }, () => {
    const socket = connect(hub.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${hub.port}\r\n` +
        `Authorization: ${hub.untrusted.headers.authorization}\r\n` +
        'Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n' +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    return socket;
  });
  const closed: number[] = [];
  const ends = sockets.map(async (socket, n) => {
    await once(socket, 'readable');
    // It learns that it was cut off by what it sends.
    const talk = setInterval(() => socket.write('\r\n'), UNREAD_MS / 10);
    await new Promise((resolve) => socket.on('close', resolve));
    clearInterval(talk);
    closed.push(n);
  });
  await within('the end of the first', Promise.race(ends));
  // The others were not made meanwhile, or they would end with it.
  await pause(UNREAD_MS);
  expect(closed.length).toBeLessThanOrEqual(2);
  await within('the end of all who do not read', Promise.all(ends));
});

test('[SV9] who asked and left is read nothing, and stands before nobody', async () => {
  const unread = askRaw();
  await within('an answer that is not read', once(unread, 'readable'));
  const gone = Array.from({ length: 600 }, askRaw);
  await Promise.all(gone.map((socket) => once(socket, 'connect')));
  // They are in line by then: the hub has heard them all before it hears this.
  await hub.other.ask('status');
  for (const socket of gone) socket.destroy();
  unread.destroy();
  // Ten gigabytes would be read first, a page at a time.
  const page = hub.untrusted.ask('replay', { channel: 'large' });
  const { messages } = await within('a page', page, 8_000);
  expect(messages.length).toBeGreaterThan(10);
});

test('[SV9] [F3] answers to a batch are several arrays where one would be very long', async () => {
  const socket = await hub.other.socket();
  const calls = Array.from({ length: 5 }, (_, id) => ({
    ...{ jsonrpc: '2.0', id, method: 'channels.replay' },
    params: { channel: 'large', limit: 1_000 },
  }));
  socket.ws.send(JSON.stringify(calls));
  const answered: number[] = [];
  while (answered.length < calls.length) {
    const some = await within('some of the answers', socket.frame());
    for (const { id, result } of some) {
      expect(result.messages.length).toBeGreaterThan(10);
      answered.push(id);
    }
    expect(some).toHaveLength(1);
  }
  expect(answered.toSorted()).toEqual([0, 1, 2, 3, 4]);
  await socket.close();
});

test('[SV9] [F3] who reads a large answer is not cut off for what comes meanwhile', async () => {
  const replay = { method: 'channels.replay', params: { channel: 'large', limit: 1_000 } };
  const rpc = { jsonrpc: '2.0' };
  const page = { ...rpc, id: 'page', ...replay };
  const pages = ['one', 'two', 'three'].map((id) => ({ ...rpc, id, ...replay }));
  for (const asked of [page, pages]) {
    const socket = await hub.other.socket();
    const raw = (socket.ws as unknown as { _socket: Socket })._socket;
    socket.ws.send(JSON.stringify(asked));
    await within('the first of it', once(raw, 'data'));
    raw.pause();
    const few = Array.from({ length: 500 }, () => socket.call('channels.list_agents'));
    // It goes on when the hub has answered those.
    for (let n = 0; n < 100; n++) await hub.other.ask('status');
    raw.resume();
    for (let left = [asked].flat().length; left > 0; ) left -= [await socket.frame()].flat().length;
    expect((await Promise.all(few)).filter(({ error }) => error !== undefined)).toEqual([]);
    await socket.close();
  }
});

test('[SV9] a batch over MCP is answered until the answers are much, and the rest is refused', async () => {
  const replay = { name: 'channels__replay', arguments: { channel: 'large', limit: 1_000 } };
  const recv = { name: 'channels__recv', arguments: { channels: ['mail'], wait_ms: 50_000 } };
  const rpc = { jsonrpc: '2.0', method: 'tools/call' };
  const calls = Array.from({ length: 40 }, (_, id) => ({ ...rpc, id, params: replay }));
  for (const some of [calls, [...calls, { ...rpc, id: 'waits', params: recv }]]) {
    const response = await within(
      'an answer to a batch',
      fetch(`${hub.url}/mcp`, {
        method: 'POST',
        headers: {
          ...{ authorization: String(hub.untrusted.headers.authorization) },
          ...{ 'content-type': 'application/json' },
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(some),
      }),
    );
    const text = await within('all of it', response.text());
    expect(text.length).toBeLessThan(100 * MIB);
    const refused = text.match(/limit\.reached/g)?.length ?? 0;
    expect(refused).toBeGreaterThan(35);
    expect(refused).toBeLessThan(calls.length);
  }
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
