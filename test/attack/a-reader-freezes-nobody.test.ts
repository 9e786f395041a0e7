/**
 * A reader of the whole past, and many of them, cost the others nothing: history is shown in small
 * pieces, and whoever asks meanwhile is answered between two of them. What is looked at is the order
 * of things, not the time they take.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { within } from '../e2e/deadline.ts';
import type { RpcSocket } from '../e2e/rpc-socket.ts';
import type { Json } from '../e2e/running-hub.ts';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

const CHANNELS = 200;
const MESSAGES = 4_000;
const STREAMS = 16;

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
  const socket = await hub.agent.socket();
  for (let from = 0; from < MESSAGES; from += 1_000) {
    const some = Array.from({ length: 1_000 }, (_, i) => ({
      ...{ jsonrpc: '2.0', id: `m${from + i}`, method: 'channels.send' },
      params: { channel: `c${(from + i) % CHANNELS}`, body: { n: from + i } },
    }));
    socket.ws.send(JSON.stringify(some));
    await within('a batch of messages', socket.frame());
  }
  await socket.close();
});
afterAll(() => hub.close());

/** Counts what it is shown, and knows when it was so many. */
function countMessages({ ws }: RpcSocket): { count: number; until(count: number): Promise<void> } {
  const numbers = {
    count: 0,
    until: (count: number) =>
      within(
        `${count} messages`,
        new Promise<void>((resolve) => {
          ws.on('message', () => numbers.count >= count && resolve());
        }),
        60_000,
      ),
  };
  ws.on('message', (raw) => {
    if (raw.toString().includes('"method":"message"')) numbers.count++;
  });
  return numbers;
}

test('[F8] sixteen streams of the whole past leave room for everybody else between their pages', async () => {
  const reader = await hub.observer.socket();
  const seen = countMessages(reader);
  const opened = Array.from({ length: STREAMS }, () =>
    reader.ask('stream.open', { from: 0, channels: ['*'] }),
  );
  await Promise.all(opened);
  // Each answer comes when the reader has been shown a little more, never after all of it.
  let shown = seen.count;
  let most = 0;
  for (let i = 0; i < 20; i++) {
    await hub.other.ask('send', { channel: 'urgent', body: { i } });
    most = Math.max(most, seen.count - shown);
    shown = seen.count;
  }
  expect(most).toBeLessThan((STREAMS * MESSAGES) / 10);
  expect(shown).toBeLessThan(STREAMS * MESSAGES);
  // And it gets all of it, what was sent meanwhile included.
  await seen.until(STREAMS * (MESSAGES + 20));
  await reader.close();
});

test('[F2] a stream over many channels comes in log order, each message once', async () => {
  const reader = await hub.observer.socket();
  const seen = countMessages(reader);
  await reader.ask('stream.open', { from: 0, channels: ['c*'] });
  await seen.until(MESSAGES);
  const numbers = reader.said.map(({ params }) => params.body.n);
  expect(numbers).toEqual(Array.from({ length: MESSAGES }, (_, i) => i));
  await reader.close();
});

test('[F6] one token has its share of feeds, over however many connections, and others have theirs', async () => {
  const sockets: RpcSocket[] = [];
  const openSome = async (who: Holder): Promise<number> => {
    const socket = await who.socket();
    sockets.push(socket);
    const calls = Array.from({ length: 16 }, () => socket.call('stream.open', { from: 'now' }));
    const answers = await Promise.all(calls);
    const refused = answers.filter(({ error }) => error !== undefined);
    for (const { error } of refused) {
      expect(error.data.detail).toMatchObject({
        reason: 'limit.reached',
        limit: 'FEEDS_PER_AGENT_MAX',
      });
    }
    return 16 - refused.length;
  };
  let count = 0;
  for (let i = 0; i < 8; i++) count += await openSome(hub.untrusted);
  expect(count).toBe(100);
  expect(await openSome(hub.other)).toBe(16);
  for (const socket of sockets) await socket.close();
});

test('[F6] costly globs are bounded for one token, and shared by all who use the same', async () => {
  const socket = await hub.untrusted.socket();
  const costly = Array.from({ length: 100 }, (_, i) => `*${'a?'.repeat(100)}${i}`);
  const { error } = await socket.call('stream.open', { from: 'now', channels: costly });
  expect(error.data.detail.limit).toBe('FEED_GLOB_CHARS_PER_AGENT_MAX');
  expect(error.message).toMatch(/shorter ones, or close a feed/);
  const some = costly.slice(0, 20);
  for (let i = 0; i < 2; i++) {
    const answer = await socket.call('stream.open', { from: 'now', channels: some });
    expect(answer.error === undefined).toBe(i === 0);
  }
  await hub.other.ask('send', { channel: 'a'.repeat(256), body: {} });
  await socket.close();
});

const MIB = 1024 * 1024;
const LARGE = 40;
const ANSWER_BYTES_MAX = 16 * MIB;

async function sendLarge(channel: string, char = 'x'): Promise<void> {
  const text = char.repeat((MIB - 1024) / Buffer.byteLength(char));
  for (let n = 0; n < LARGE; n++) await hub.agent.ask('send', { channel, body: { n, text } });
}

test('[SV9] a replay of forty megabytes comes in pages, and all of it comes', async () => {
  await hub.untrusted.ask('subscribe', { pattern: 'large' });
  await sendLarge('large');
  const got: number[] = [];
  for (let since = 0, hasMore = true; hasMore; ) {
    const reply = await hub.untrusted.post('replay', { channel: 'large', since, limit: 1_000 });
    expect(Buffer.byteLength(reply.text)).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
    const { messages, has_more } = reply.body;
    got.push(...messages.map((one: Json) => one.body.n));
    since = messages.at(-1).seq + 1;
    hasMore = has_more;
    if (got.length === messages.length) expect(hasMore).toBe(true);
  }
  expect(got).toEqual(Array.from({ length: LARGE }, (_, n) => n));
});

test('[SV9] others are answered while one token replays forty megabytes eight times at once', async () => {
  let done = 0;
  const replays = Array.from({ length: 8 }, () =>
    hub.untrusted.post('replay', { channel: 'large', limit: 1_000 }).finally(() => done++),
  );
  await hub.other.ask('status');
  expect(done).toBeLessThan(8);
  await Promise.all(replays);
});

test.each([
  ['x', 'of letters'],
  ['語', 'of three bytes a letter'],
])(
  '[N2] [SV9] what is owed comes in pages, each message once, and what does not fit stays owed: %s, %s',
  async (char) => {
    const channel = `owed-${Buffer.byteLength(char)}`;
    await hub.other.ask('subscribe', { pattern: channel });
    await sendLarge(channel, char);
    const got: number[] = [];
    for (;;) {
      const reply = await hub.other.post('recv', { max_messages: 1_000, channels: [channel] });
      expect(Buffer.byteLength(reply.text)).toBeLessThan(ANSWER_BYTES_MAX + MIB);
      if (reply.body.messages.length === 0) break;
      got.push(...reply.body.messages.map((one: Json) => one.body.n));
    }
    expect(got).toEqual(Array.from({ length: LARGE }, (_, n) => n));
  },
);

test('[TH2] [SV9] a hundred answers to one large message are handed out with it, in pages', async () => {
  const text = 'x'.repeat(MIB - 1024);
  const root = await hub.agent.ask('send', { channel: 'answers', body: { text } });
  await hub.other.ask('subscribe', { pattern: 'answers' });
  for (let n = 0; n < 100; n++) {
    const said = { channel: 'answers', body: { n }, reply_to: root.message_id };
    await hub.agent.ask('send', said);
  }
  const got: number[] = [];
  for (;;) {
    const input = { max_messages: 1_000, channels: ['answers'], thread_depth: -1 };
    const reply = await hub.other.post('recv', input);
    expect(Buffer.byteLength(reply.text)).toBeLessThan(ANSWER_BYTES_MAX + MIB);
    if (reply.body.messages.length === 0) break;
    for (const one of reply.body.messages) {
      got.push(one.body.n);
      expect(one.ancestors.map((parent: Json) => parent.message_id)).toEqual([root.message_id]);
    }
  }
  expect(got).toEqual(Array.from({ length: 100 }, (_, n) => n));
});
