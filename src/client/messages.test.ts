import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  messageAt,
  openScriptedHub,
  type ScriptedHub,
  type Seat,
} from '../../test/client/scripted-hub.ts';
import { type Client, createClient } from './client.ts';
import type { LiveStream } from './live.ts';
import type { Message } from './messages.ts';
import type { ClientOptions } from './options.ts';

let hub: ScriptedHub;
let clients: Client[] = [];

beforeEach(async () => {
  hub = await openScriptedHub();
});

afterEach(async () => {
  // Nobody answers the last commits of most tests, so the hub goes first and with it the wait.
  const closing = clients.map((client) => client.close());
  clients = [];
  await hub.close();
  void Promise.all(closing);
});

/** A client, and the seat of its calls. */
async function open(options: Partial<ClientOptions> = {}): Promise<[Client, Seat]> {
  const client = createClient({ url: hub.url, reconnect: { random: () => 0 }, ...options });
  clients.push(client);
  return [client, await hub.seat()];
}

/** Takes the next connection and confirms the stream it asks for. */
async function confirm(position: number): Promise<[Seat, Record<string, unknown>]> {
  const seat = await hub.seat();
  const asked = await seat.asked();
  expect(asked.method).toBe('stream.open');
  seat.answer(asked, { stream: 's1', position });
  return [seat, asked.params];
}

async function take(stream: LiveStream<Message>, count: number): Promise<number[]> {
  const positions: number[] = [];
  while (positions.length < count) {
    const { value, done } = await stream.next();
    if (done) break;
    positions.push(value.position);
  }
  return positions;
}

test('[K3] after a break the stream goes on behind the last message, and shows none twice', async () => {
  const [client] = await open({ commit: 'manual' });
  const stream = client.messages();
  const [first, asked] = await confirm(9);
  expect(asked).toEqual({ from: 'inbox' });
  for (const position of [3, 5, 7]) first.push('message', messageAt(position));
  expect(await take(stream, 2)).toEqual([3, 5]);
  first.cut();
  const [second, resumed] = await confirm(9);
  expect(resumed).toEqual({ from: 7 });
  for (const position of [5, 7, 8, 8, 9]) second.push('message', messageAt(position));
  expect(await take(stream, 3)).toEqual([7, 8, 9]);
});

test('[K3] a stream from now that broke before its first message misses nothing', async () => {
  const [client] = await open();
  const stream = client.messages({ channels: ['room'] });
  const [first, asked] = await confirm(41);
  expect(asked).toEqual({ from: 'now', channels: ['room'] });
  await stream.ready;
  first.cut();
  const [second, resumed] = await confirm(43);
  expect(resumed).toEqual({ from: 41, channels: ['room'] });
  second.push('message', messageAt(42));
  expect(await take(stream, 1)).toEqual([42]);
});

test('[K3] an inbox that showed nothing yet is asked for again', async () => {
  const [client] = await open();
  client.messages();
  const [first] = await confirm(41);
  first.cut();
  const [, resumed] = await confirm(41);
  expect(resumed).toEqual({ from: 'inbox' });
});

test('[K3] a released message keeps its old place and is shown all the same', async () => {
  const [client] = await open({ commit: 'manual' });
  const stream = client.messages({ from: 10 });
  const [seat] = await confirm(20);
  for (const position of [12, 15, 4, 16]) seat.push('message', messageAt(position));
  expect(await take(stream, 4)).toEqual([12, 15, 4, 16]);
  seat.cut();
  expect((await confirm(20))[1]).toEqual({ from: 16 });
});

test('[K3] a stream that the hub ends is resumed', async () => {
  const [client] = await open({ commit: 'manual' });
  const stream = client.messages();
  const [first] = await confirm(1);
  first.push('message', messageAt(1));
  first.push('stream.end', { stream: 's1', reason: 'store_unavailable' });
  const [second, resumed] = await confirm(2);
  expect(resumed).toEqual({ from: 1 });
  second.push('message', messageAt(2));
  expect(await take(stream, 2)).toEqual([1, 2]);
});

test('[K3] a hub in trouble is asked again once the stream ran, and believed before', async () => {
  const trouble = {
    error_code: 'store_unavailable',
    message: 'try again',
    detail: { reason: 'store.unavailable' },
  };
  const [client] = await open();
  const stream = client.messages();
  const [first] = await confirm(1);
  first.cut();
  const second = await hub.seat();
  second.refuse(await second.asked(), trouble);
  const [third] = await confirm(1);
  third.push('message', messageAt(2));
  expect(await take(stream, 1)).toEqual([2]);

  const other = client.messages();
  const seat = await hub.seat();
  seat.refuse(await seat.asked(), trouble);
  await expect(other.ready).rejects.toMatchObject({ code: 'store.unavailable' });
  await expect(other.next()).rejects.toMatchObject({ code: 'store.unavailable' });
  expect(await other.next()).toEqual({ done: true, value: undefined });
});

test('[K4] a reader that falls behind holds a bounded number and resumes when half is read', async () => {
  const [client] = await open({ commit: 'manual', bufferMax: 10 });
  const stream = client.messages();
  const [first] = await confirm(30);
  for (let position = 0; position < 10; position++) first.push('message', messageAt(position));
  await first.ended;
  expect(await take(stream, 4)).toEqual([0, 1, 2, 3]);
  expect(hub.seats).toBe(2);
  expect(await take(stream, 2)).toEqual([4, 5]);
  const [second, resumed] = await confirm(30);
  expect(resumed).toEqual({ from: 9 });
  for (let position = 10; position < 13; position++) second.push('message', messageAt(position));
  expect(await take(stream, 7)).toEqual([6, 7, 8, 9, 10, 11, 12]);
});

test('[K10] what was handled is committed, many at a time, and the one in hand is not', async () => {
  const [client, calls] = await open();
  const stream = client.messages();
  const [seat] = await confirm(100);
  for (let position = 1; position <= 50; position++) seat.push('message', messageAt(position));
  await take(stream, 50);
  const commit = await calls.asked();
  expect(commit).toMatchObject({ method: 'inbox.commit', params: { through: 49 } });
  seat.push('message', messageAt(51));
  await take(stream, 1);
  expect(calls.waiting).toBe(0);
  calls.answer(commit, { committed: 49 });
  const last = await calls.asked();
  expect(last.params).toEqual({ through: 50 });
  calls.answer(last, { committed: 1 });
});

test('[K10] leaving the loop commits what was handled before, not the message it was left on', async () => {
  const [client, calls] = await open();
  const left = (async () => {
    const seen: number[] = [];
    for await (const message of client.messages()) {
      seen.push(message.position);
      if (seen.length === 3) break;
    }
    return seen;
  })();
  const [seat] = await confirm(3);
  for (const position of [1, 2, 3]) seat.push('message', messageAt(position));
  const commit = await calls.asked();
  expect(commit.params).toEqual({ through: 2 });
  calls.answer(commit, { committed: 2 });
  expect(await left).toEqual([1, 2, 3]);
  await seat.ended;
});

test.each([
  { channels: ['room'] },
  { channels: ['room'], from: 'inbox' as const },
  { from: 'now' as const },
  { from: 5 },
  { commit: 'manual' as const },
])('[K10] a stream that is not the whole inbox commits nothing: %o', async (options) => {
  const [client, calls] = await open();
  const stream = client.messages(options);
  const [seat] = await confirm(5);
  for (const position of [6, 7]) seat.push('message', messageAt(position));
  await take(stream, 2);
  await stream.close();
  void client.peek().catch(() => {});
  expect((await calls.asked()).method).toBe('inbox.peek');
});

test('[K10] a refused commit reaches the reader', async () => {
  const [client, calls] = await open();
  const stream = client.messages();
  const [seat] = await confirm(1);
  seat.push('message', messageAt(1));
  await take(stream, 1);
  const next = stream.next();
  calls.refuse(await calls.asked(), {
    error_code: 'identity_failure',
    message: 'observers do not write',
    detail: { reason: 'access.denied' },
  });
  await expect(next).rejects.toMatchObject({ code: 'access.denied' });
});

test('[K11] a reader that was cut off disturbs no call', async () => {
  const [client, calls] = await open();
  const stream = client.messages({ from: 0 });
  const [seat] = await confirm(1);
  const answer = client.recv();
  const asked = await calls.asked();
  seat.close(4008, 'slow_reader');
  const [again] = await confirm(1);
  again.push('message', messageAt(1));
  expect(await take(stream, 1)).toEqual([1]);
  calls.answer(asked, { drained_at: 1, messages: [] });
  expect(await answer).toEqual({ drained_at: 1, messages: [] });
});

test('a signal ends the loop without an error', async () => {
  const [client] = await open({ commit: 'manual' });
  const abort = new AbortController();
  const stream = client.messages({ signal: abort.signal });
  const [seat] = await confirm(1);
  const next = stream.next();
  abort.abort();
  expect(await next).toEqual({ done: true, value: undefined });
  await seat.ended;
});

test('closing the client ends its loops', async () => {
  const [client] = await open({ commit: 'manual' });
  const stream = client.messages();
  const [seat] = await confirm(1);
  const next = stream.next();
  await client.close();
  expect(await next).toEqual({ done: true, value: undefined });
  await seat.ended;
  expect(() => client.messages()).toThrow(expect.objectContaining({ code: 'client.closed' }));
});

test('[K7] a revoked credential ends the loop with the reason, after what was received', async () => {
  const [client] = await open({ commit: 'manual' });
  const stream = client.messages();
  const [seat] = await confirm(1);
  seat.push('message', messageAt(1));
  seat.close(4001, 'revoked');
  await seat.ended;
  expect(await take(stream, 1)).toEqual([1]);
  await expect(stream.next()).rejects.toMatchObject({ code: 'access.unknown' });
});

test('[K12] receipts come as they change, and the stream outlives a break', async () => {
  const [client] = await open();
  const receipts = client.receipts();
  const [first, asked] = await confirm(1);
  expect(asked).toMatchObject({ from: 'now', receipts: true });
  const change = {
    message_id: 'm1',
    channel: 'room',
    agent_id: 'bob',
    state: 'consumed',
    reason: null,
    at: 2,
  };
  first.push('message', messageAt(1));
  first.push('receipt', change);
  expect((await receipts.next()).value).toEqual(change);
  first.cut();
  const [second] = await confirm(1);
  second.push('receipt', { ...change, state: 'acted' });
  expect((await receipts.next()).value).toMatchObject({ state: 'acted' });
});
