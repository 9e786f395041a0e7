/**
 * Hundreds that listen to one channel, or wait for one message: what is said there is as many writes. Whoever
 * else asks is served between them, whoever said it goes on when they are done, and each gets everything in order.
 */
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { synapseUrl } from '../conformance/synapse/synapse-client.ts';
import { until } from '../e2e/deadline.ts';
import { openRpcSocket, type RpcSocket } from '../e2e/rpc-socket.ts';
import { openRunningHub, type RunningHub } from '../e2e/running-hub.ts';

const CROWD = 700;
/** While others wait for a slow disk the whole crowd may be told, which is fair and says nothing of the turns they get. */
const NO_DISK = { store: 'memory:' };
let hub: RunningHub;
const closers: (() => void)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await hub.close();
});

/** How many of the crowd have heard so many messages. */
interface Crowd {
  count(messages: number): number;
}

function crowdOf(heard: readonly { readonly messages: string[] }[]): Crowd {
  return { count: (messages) => heard.filter((one) => one.messages.length >= messages).length };
}

/** Runs what opens one so often, not all at once. */
async function gather<T>(open: (n: number) => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let from = 0; from < CROWD; from += 50) {
    all.push(...(await Promise.all(Array.from({ length: 50 }, (_, i) => open(from + i)))));
  }
  return all;
}

const listeners: Readonly<Record<string, (n: number) => Promise<{ messages: string[] }>>> = {
  async WebSocket(n) {
    const socket = await openRpcSocket(hub.url, hub.as(`ear-${n}`));
    closers.push(() => socket.ws.terminate());
    const messages: string[] = [];
    await socket.ask('stream.open', { channels: ['loud'] });
    socket.ws.on('message', (raw) => messages.push(JSON.parse(raw.toString()).params.body.text));
    return { messages };
  },
  async SSE(n) {
    const { hostname, port } = new URL(hub.url);
    const socket = connect(Number(port), hostname);
    closers.push(() => socket.destroy());
    const headers = Object.entries(hub.as(`ear-${n}`)).map(([name, said]) => `${name}: ${said}`);
    const head = ['GET /v1/stream?channels=loud HTTP/1.1', `host: ${hostname}:${port}`, ...headers];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const messages: string[] = [];
    await dataOf(socket);
    socket.on('data', (bytes: Buffer) => {
      for (const [, text] of bytes.toString().matchAll(/"text":"(\w+)"/g))
        messages.push(text ?? '');
    });
    return { messages };
  },
  async Synapse(n) {
    const ws = new WebSocket(await synapseUrl(hub.dir));
    closers.push(() => ws.terminate());
    const messages: string[] = [];
    ws.on('message', (raw: Buffer) => {
      // Whoever comes is told to all, with a long list.
      if (raw.length > 500 || !raw.includes('"chat"')) return;
      messages.push(JSON.parse(raw.toString()).payload);
    });
    await new Promise((resolve) => ws.once('message', resolve));
    const frame = { sender: `ear-${n}`, target: 'all', type: 'heartbeat', payload: 'online' };
    ws.send(JSON.stringify(frame));
    return { messages };
  },
};

function dataOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('data', () => resolve()));
}

async function open(agent: string): Promise<RpcSocket> {
  const socket = await openRpcSocket(hub.url, hub.as(agent));
  closers.push(() => socket.ws.terminate());
  return socket;
}

for (const [door, listen] of Object.entries(listeners)) {
  test(`[F9] over ${door} others are answered before the last of many has it, and its sender goes on when all have`, async () => {
    hub = await openRunningHub({ flags: { synapse: '0', ...NO_DISK } });
    const [loud, quiet, friend] = await Promise.all([open('loud'), open('quiet'), open('friend')]);
    await friend.ask('stream.open', { channels: ['few'] });
    const heard = await gather(listen);
    const crowd = crowdOf(heard);
    const channel = door === 'Synapse' ? 'synapse/chat' : 'loud';
    const say = (text: string) => loud.ask('channels.send', { channel, body: { text } });

    await say('first');
    expect(crowd.count(1)).toBeLessThan(CROWD);
    // Both at once: what it says next waits for the crowd, what others say does not.
    const next = say('second').then(() => crowd.count(1));
    await quiet.ask('channels.send', { channel: 'few', body: { text: 'psst' } });
    expect(crowd.count(1)).toBeLessThan(CROWD);
    await friend.next('message');
    expect(crowd.count(1)).toBeLessThan(CROWD);
    expect(await next).toBe(CROWD);
    await until(
      'all have both',
      async () => {
        await turn();
        return crowd.count(2);
      },
      (count) => count === CROWD,
    );
    for (const { messages } of heard) expect(messages).toEqual(['first', 'second']);
  }, 60_000);
}

test('[H23] others are answered before the last of those who wait for one message has it', async () => {
  hub = await openRunningHub({ flags: NO_DISK });
  const [loud, quiet] = await Promise.all([open('loud'), open('quiet')]);
  const waiting = await gather(async (n) => {
    const socket = await open(`waits-${n}`);
    await socket.ask('channels.subscribe', { pattern: 'loud' });
    return socket;
  });
  let answered = 0;
  const answers = waiting.map(async (socket) => {
    const { messages } = await socket.ask('channels.recv', { wait_ms: 25_000 });
    answered++;
    return messages.map(({ body }: { body: unknown }) => body);
  });
  // Asked after them all, so all of them wait.
  await quiet.ask('hub.status');
  await loud.ask('channels.send', { channel: 'loud', body: { text: 'wake up' } });
  for (const text of ['psst', 'are you there', 'well?']) {
    await quiet.ask('channels.send', { channel: 'few', body: { text } });
  }
  expect(answered).toBeLessThan(CROWD / 2);
  for (const messages of await Promise.all(answers))
    expect(messages).toEqual([{ text: 'wake up' }]);
}, 60_000);
