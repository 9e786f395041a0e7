/**
 * The client against a real hub, over a way that keeps breaking. What the scripted
 * hub shows move by move is shown here as a whole: everything arrives, once, in order.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type Client, connect } from '../../src/client/client.ts';
import type { Message } from '../../src/client/messages.ts';
import type { ClientOptions } from '../../src/client/options.ts';
import { parseConfig } from '../../src/server/run/config.ts';
import { type RunningServer, startServer } from '../../src/server/run/server.ts';
import { type CuttingProxy, openCuttingProxy } from '../client/cutting-proxy.ts';

let dir: string;
let server: RunningServer;
let proxy: CuttingProxy;
let token: string;
let clients: Client[] = [];

async function start(): Promise<RunningServer> {
  const config = parseConfig({ flags: {}, env: {}, file: { port: 0, dir }, home: dir, cwd: dir });
  if (Array.isArray(config)) return expect.unreachable(JSON.stringify(config));
  return startServer(config, { env: {} });
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-client-'));
  server = await start();
  proxy = await openCuttingProxy(server.url);
  token = (await readFile(join(dir, 'credential'), 'utf8')).trim();
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
  await proxy.close();
  await server.close();
  await rm(dir, { recursive: true });
});

async function enter(agent: string, options: Partial<ClientOptions> = {}): Promise<Client> {
  const client = await connect({
    url: proxy.url,
    token,
    agent,
    reconnect: { minMs: 1, maxMs: 20 },
    ...options,
  });
  clients.push(client);
  return client;
}

async function take(stream: AsyncIterable<Message>, count: number): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const message of stream) {
    messages.push(message);
    if (messages.length === count) break;
  }
  return messages;
}

const numbers = (messages: readonly Pick<Message, 'body'>[]): unknown[] =>
  messages.map(({ body }) => body.n);

test('[K1] the hub knows who connected', async () => {
  const ada = await enter('ada');
  expect(await ada.whoami()).toMatchObject({ agent_id: 'ada' });
});

test('[K2] [K3] over a way that keeps breaking, every message arrives once and in order', async () => {
  const COUNT = 400;
  const [ada, bob] = [await enter('ada'), await enter('bob')];
  await bob.subscribeTo('room');
  const stream = bob.messages();
  await stream.ready;
  const reading = take(stream, COUNT);
  let breaks = 0;
  ada.onState((state) => {
    if (state === 'waiting') breaks++;
  });
  for (let n = 0; n < COUNT; n++) {
    const sending = ada.send('room', { n });
    if (n % 40 === 20) proxy.cut();
    await sending;
  }
  expect(numbers(await reading)).toEqual(Array.from({ length: COUNT }, (_, n) => n));
  expect(breaks).toBeGreaterThanOrEqual(COUNT / 40);
  const { messages } = await ada
    .subscribeTo('room')
    .then(() => ada.replay('room', { limit: 1000 }));
  expect(numbers(messages)).toEqual(Array.from({ length: COUNT }, (_, n) => n));
});

test('[K3] a hub that is restarted is found again, and nothing is lost over it', async () => {
  const [ada, bob] = [await enter('ada'), await enter('bob')];
  await bob.subscribeTo('room');
  const stream = bob.messages();
  await stream.ready;
  const reading = take(stream, 20);
  for (let n = 0; n < 10; n++) await ada.send('room', { n });
  await server.close();
  const sending = Promise.all(
    Array.from({ length: 10 }, (_, n) => ada.send('room', { n: n + 10 })),
  );
  server = await start();
  proxy.aim(server.url);
  await sending;
  expect(numbers(await reading)).toEqual(Array.from({ length: 20 }, (_, n) => n));
});

test('[K4] a reader far behind gets everything through a small buffer', async () => {
  const COUNT = 300;
  const [ada, bob] = [await enter('ada'), await enter('bob', { bufferMax: 16 })];
  await bob.subscribeTo('room');
  await Promise.all(Array.from({ length: COUNT }, (_, n) => ada.send('room', { n })));
  const messages = await take(bob.messages(), COUNT);
  expect(numbers(messages)).toEqual(Array.from({ length: COUNT }, (_, n) => n));
});

test('[K10] what was handled is not owed again; the message the loop was left on is', async () => {
  const [ada, bob] = [await enter('ada'), await enter('bob')];
  await bob.subscribeTo('room');
  for (let n = 0; n < 5; n++) await ada.send('room', { n });
  expect(numbers(await take(bob.messages(), 3))).toEqual([0, 1, 2]);
  expect(await bob.peek()).toMatchObject({ owed: 3 });
  expect(numbers(await take(bob.messages(), 3))).toEqual([2, 3, 4]);
});

test('[K7] a revoked token ends the client and its loop', async () => {
  const owner = await enter('owner', { agent: undefined });
  const made = await owner.call('tokens.create', { agent_id: 'eve' });
  const eve = await enter('eve', { token: made.token });
  const stream = eve.messages();
  await stream.ready;
  const next = stream.next();
  await owner.call('tokens.revoke', { token_id: made.token_id });
  await expect(next).rejects.toMatchObject({ code: 'access.unknown' });
  await expect(connect({ url: server.url, token: made.token })).rejects.toMatchObject({
    soxCode: 'identity_failure',
  });
});

test('[K12] the sender sees what becomes of a message', async () => {
  const [ada, bob] = [await enter('ada'), await enter('bob')];
  await bob.subscribeTo('room');
  const receipts = ada.receipts();
  await receipts.ready;
  const { message_id } = await ada.send('room', { n: 1 });
  await bob.recv();
  const { value } = await receipts.next();
  expect(value).toMatchObject({ message_id, agent_id: 'bob', state: 'consumed' });
  await bob.ack(message_id, 'done');
  expect((await receipts.next()).value).toMatchObject({ message_id, state: 'acted' });
  expect(await ada.receiptsOf(message_id)).toMatchObject([{ agent_id: 'bob', state: 'acted' }]);
});

test('the owner-only Unix socket needs no token', async () => {
  const path = server.socketPath;
  const ada = await connect({
    url: 'http://localhost',
    agent: 'ada',
    openSocket: (_, protocols) => new WebSocket(`ws+unix:${path}:/ws`, [...protocols]),
  });
  clients.push(ada);
  expect(await ada.whoami()).toMatchObject({ agent_id: 'ada' });
});
