/** Draining at the door: waiting for mail, leases, redelivery, threads, and callers that go away. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until, within } from '../../../../test/e2e/deadline.ts';
import { openRawSocket } from '../../../../test/e2e/raw-socket.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';
import { openHub } from '../../../hub/hub.ts';
import { type Log, LogError } from '../../../log/log.ts';
import { openMemoryLog } from '../../../log/memory.ts';
import { createPrincipal, PLAIN_SEND } from '../../../testing/story.ts';
import { realClock } from '../../run/clock.ts';
import type { Room } from '../room.ts';
import { handleRecv } from './recv.ts';

let hub: RunningHub;
beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

const send = (channel: string, body: object = {}, more: object = {}): Promise<Json> =>
  hub.ask('bob', 'send', { channel, body, ...more });

/** A recv that is waiting at the hub when this resolves, as raw HTTP, so that it can be broken off. */
async function openWait(agent: string, headers: Record<string, string> = hub.as(agent)) {
  const raw = await openRawSocket(hub.port);
  const body = JSON.stringify({ wait_ms: 60_000 });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  raw.write(
    `POST /v1/ops/recv HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}` +
      `content-length: ${body.length}\r\n\r\n${body}`,
  );
  // The hub takes up requests of separate connections in turn: this one is answered after that one waits.
  for (let i = 0; i < 5; i++) await hub.ask('watcher', 'status');
  return raw;
}

describe('waiting', () => {
  test('[N9] wakes at once when a message comes', async () => {
    await hub.ask('wakes', 'subscribe', { pattern: 'wakes' });
    const waiting = hub.ask('wakes', 'recv', { wait_ms: 60_000 });
    await hub.ask('watcher', 'status');
    await send('wakes', { n: 1 });
    const { messages } = await within('the wait ends', waiting, 2_000);
    expect(messages.map((one: Json) => one.body.n)).toEqual([1]);
  });

  test('[N9] answers with nothing when the time is up, and not before', async () => {
    await hub.ask('alone', 'subscribe', { pattern: 'alone' });
    const startedAt = performance.now();
    const { messages } = await hub.ask('alone', 'recv', { wait_ms: 300 });
    expect(messages).toEqual([]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(295);
  });

  test('[N9] is for oneself: mail of others wakes nobody, and of two that wait one gets the message', async () => {
    await hub.ask('twin', 'subscribe', { pattern: 'twin' });
    const both = [1, 2].map(() => hub.ask('twin', 'recv', { wait_ms: 60_000 }));
    await hub.ask('watcher', 'status');
    await send('elsewhere');
    await send('twin', { n: 1 });
    await Promise.race(both);
    // The other still waits: this is for it.
    await send('twin', { n: 2 });
    const got = (await Promise.all(both)).map(({ messages }) =>
      messages.map((one: Json) => one.body.n),
    );
    expect(got.sort()).toEqual([[1], [2]]);
  });

  test('[N1] a caller that disconnects while it waits loses nothing', async () => {
    await hub.ask('leaver', 'subscribe', { pattern: 'leaver' });
    const raw = await openWait('leaver');
    raw.close();
    await raw.ended;
    for (let i = 0; i < 5; i++) await hub.ask('watcher', 'status');
    await send('leaver', { n: 1 });
    expect((await hub.ask('leaver', 'recv')).messages).toHaveLength(1);
  });

  test('[I5] a token revoked while its caller waits gets nothing any more', async () => {
    const { token, token_id } = await hub.admin('tokens_create', { agent_id: 'fallen' });
    await hub.ask('fallen', 'subscribe', { pattern: 'fallen' });
    const raw = await openWait('fallen', { authorization: `Bearer ${token}` });
    await hub.admin('tokens_revoke', { token_id });
    await send('fallen', { n: 1 });
    expect(await raw.until('}')).toContain('401 Unauthorized');
    raw.close();
    expect((await hub.ask('fallen', 'recv')).messages).toHaveLength(1);
  });
});

describe('leases', () => {
  test('[N5] a leased message comes back unless it is acked in time', async () => {
    await hub.ask('lessee', 'subscribe', { pattern: 'leased' });
    const first = await send('leased', { n: 1 });
    await send('leased', { n: 2 });
    const { messages, lease_until, drained_at } = await hub.ask('lessee', 'recv', {
      lease_ms: 3_000,
    });
    expect(messages).toHaveLength(2);
    expect(lease_until - drained_at).toBeCloseTo(3, 3);
    expect((await hub.ask('lessee', 'inbox_peek')).leased).toBe(2);
    expect((await hub.ask('lessee', 'recv')).messages).toEqual([]);
    await hub.ask('lessee', 'channels_ack', { message_id: first.message_id, status: 'done' });
    const again = await hub.ask('lessee', 'recv', { wait_ms: 60_000 });
    expect(again.messages.map((one: Json) => one.body.n)).toEqual([2]);
    expect(await hub.ask('lessee', 'inbox_peek')).toEqual({ owed: 0, channels: [], leased: 0 });
  });

  test('[N5] a message handed out five times and never acked is dead, and its receipt says so', async () => {
    await hub.ask('sloth', 'subscribe', { pattern: 'dead' });
    const { message_id } = await send('dead', { n: 1 });
    for (let round = 1; round <= 5; round++) {
      const { messages } = await hub.ask('sloth', 'recv', { wait_ms: 60_000, lease_ms: 1_000 });
      expect(messages).toHaveLength(1);
    }
    const { receipts } = await until(
      'the receipt is dead',
      () => hub.ask('bob', 'receipts_get', { message_id }),
      (answer) => answer.receipts[0].state === 'dead',
    );
    expect(receipts[0].reason).toContain('5 times');
    expect((await hub.ask('sloth', 'recv')).messages).toEqual([]);
  });
});

describe('threads', () => {
  test('[TH2] ancestors come nearest first, as deep as asked', async () => {
    await hub.ask('deep', 'subscribe', { pattern: 'thread' });
    let parent: string | null = null;
    for (let n = 1; n <= 4; n++) {
      parent = (await send('thread', { n }, { reply_to: parent })).message_id;
    }
    const depths = async (thread_depth: number): Promise<number[]> => {
      const { messages } = await hub.ask('deep', 'recv', { thread_depth, lease_ms: 60_000 });
      const { ancestors } = messages.at(-1);
      for (const one of messages) {
        await hub.ask('deep', 'channels_ack', { message_id: one.message_id, status: 'done' });
      }
      return ancestors.map((one: Json) => one.body.n);
    };
    expect(await depths(-1)).toEqual([3, 2, 1]);
    await send('thread', { n: 5 }, { reply_to: parent });
    expect(await depths(2)).toEqual([4, 3]);
  });

  test('[TH2] a parent that the reader may not read is not shown, nor anything behind it', async () => {
    await hub.ask('outsider', 'subscribe', { pattern: 'open-thread' });
    const root = await send('open-thread', { n: 1 });
    const secret = await hub.ask('bob', 'send', {
      channel: 'dm/ada~bob',
      body: { secret: true },
      reply_to: root.message_id,
      quote: true,
    });
    await send('open-thread', { n: 2 }, { reply_to: secret.message_id, quote: true });
    const { messages } = await hub.ask('outsider', 'recv', { thread_depth: -1 });
    expect(messages.map((one: Json) => [one.body.n, one.ancestors])).toEqual([
      [1, []],
      [2, []],
    ]);
    // Nor can the outsider hang its own message below it.
    const { status, body } = await hub.post(
      'send',
      { channel: 'open-thread', body: {}, reply_to: secret.message_id },
      hub.as('outsider'),
    );
    expect([status, body.detail.reason]).toEqual([404, 'message.not-found']);
  });

  test('[R6] a parent that waits for a person is not shown by way of its answers', async () => {
    await hub.admin('spaces_configure', { hold_untrusted: true }, 'holding');
    const { token } = await hub.admin(
      'tokens_create',
      { agent_id: 'stranger', tier: 'untrusted' },
      'holding',
    );
    await hub.ask('ada', 'subscribe', { pattern: 'inbound' }, 'holding');
    const held = await hub.post(
      'send',
      { channel: 'inbound', body: { bait: true } },
      { authorization: `Bearer ${token}` },
    );
    const reply = { channel: 'inbound', body: { n: 1 }, reply_to: held.body.message_id };
    const named = await hub.post('send', reply, hub.as('bob', 'holding'));
    expect([named.status, named.body.detail.reason]).toEqual([404, 'message.not-found']);
    await hub.admin('send', reply, 'holding');
    const { messages } = await hub.ask('ada', 'recv', { thread_depth: -1 }, 'holding');
    expect(messages.map((one: Json) => [one.body, one.ancestors])).toEqual([[{ n: 1 }, []]]);
  });

  test('[R8] [GA1] what a person refused stays refused when its sender retires the channel', async () => {
    await hub.admin('spaces_configure', { hold_untrusted: true }, 'refusing');
    const made = await hub.admin(
      'tokens_create',
      { agent_id: 'stranger', tier: 'untrusted' },
      'refusing',
    );
    const stranger = { authorization: `Bearer ${made.token}` };
    await hub.ask('ada', 'subscribe', { pattern: 'open' }, 'refusing');
    const bait = { channel: 'own', body: { bait: true } };
    const { message_id } = (await hub.post('send', bait, stranger)).body;
    await hub.admin('held_review', { message_id, decision: 'refuse' }, 'refusing');
    expect((await hub.post('retire', { channel: 'own' }, stranger)).status).toBe(200);
    const reply = { channel: 'open', body: { n: 1 }, reply_to: message_id, quote: true };
    const named = await hub.post('send', reply, hub.as('bob', 'refusing'));
    expect([named.status, named.body.detail?.reason]).toEqual([404, 'message.not-found']);
    await hub.admin('send', reply, 'refusing');
    const { messages } = await hub.ask('ada', 'recv', { thread_depth: -1 }, 'refusing');
    expect(messages.map((one: Json) => [one.body, one.ancestors])).toEqual([[{ n: 1 }, []]]);
  });
});

test('[N2] drains at once from two sides hand each message out once, in order', async () => {
  await hub.ask('greedy', 'subscribe', { pattern: 'greedy/*' });
  for (let n = 1; n <= 60; n++) await send(`greedy/${n % 2}`, { n });
  const drains = Array.from({ length: 12 }, () => hub.ask('greedy', 'recv', { max_messages: 5 }));
  const batches = (await Promise.all(drains)).map(({ messages }) => messages);
  const rest = (await hub.ask('greedy', 'recv', { max_messages: 1000 })).messages;
  const all = [...batches.flat(), ...rest].map((one: Json) => one.body.n);
  expect(all.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
  for (const batch of batches) {
    const seqs = batch
      .filter((one: Json) => one.channel === 'greedy/0')
      .map((one: Json) => one.seq);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  }
});

/** Ada is owed a message and one that answers it; the log is read for each of them. */
async function openOwed(at: (log: Log) => Log['at']) {
  const log = openMemoryLog();
  const alone = await openHub({
    ...{ space: 's', clock: realClock, cacheBytesMax: 0 },
    log: Object.create(log, { at: { value: at(log) } }),
  });
  const by = createPrincipal('ada');
  const say = (replyTo: number | null) =>
    alone.submit({ ...PLAIN_SEND, by, at: alone.stamp(), channel: 'a', replyTo });
  await alone.submit({ type: 'subscription.add', by, at: alone.stamp(), pattern: 'a' });
  const parent = await say(null);
  await say('position' in parent ? parent.position : null);
  const room = {
    hub: alone,
    by,
    caller: { tokenId: null, principal: by },
    platform: { elapsedMs: () => 0 },
  };
  const recv = (): Promise<unknown> =>
    handleRecv({ ...room, signal: null, timings: () => [] } as unknown as Room, {
      ...{ max_messages: 10, thread_depth: -1, include_meta: false },
    });
  return { recv, close: () => alone.close() };
}

test('[N1] [TH2] a thread that cannot be read costs nobody the message', async () => {
  let readsLeft = Number.POSITIVE_INFINITY;
  const owed = await openOwed((log) => async (positions) => {
    if (readsLeft-- === 0) throw new LogError('log.unavailable', 'the disk is gone');
    return log.at(positions);
  });
  readsLeft = 1;
  await expect(owed.recv()).rejects.toThrow('the disk is gone');
  expect(await owed.recv()).toMatchObject({ messages: [{ seq: 1 }, { seq: 2, ancestors: [{}] }] });
  await owed.close();
});

test('[SV9] [TH2] what a message answers is of its page: no other is read for the same agent meanwhile', async () => {
  let reads = 0;
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  const owed = await openOwed((log) => async (positions) => {
    if (++reads === 2) await goOn;
    return log.at(positions);
  });
  const both = [owed.recv(), owed.recv()];
  await until(
    'the first reads what is answered',
    async () => reads,
    (count) => count > 1,
  );
  for (let i = 0; i < 10; i++) await new Promise((done) => setImmediate(done));
  expect(reads).toBe(2);
  resolve();
  expect(await Promise.all(both)).toMatchObject([
    { messages: [{ seq: 1 }, { seq: 2, ancestors: [{}] }] },
    { messages: [] },
  ]);
  await owed.close();
});
