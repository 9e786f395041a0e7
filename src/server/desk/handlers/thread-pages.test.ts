/** Pages of a long thread: bounded by bytes and by work, whatever is in it. A hub without doors. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isRefusal } from '../../../core/law/decider.ts';
import { type Hub, openHub } from '../../../hub/hub.ts';
import { openMemoryLog } from '../../../log/memory.ts';
import { accepted, createPrincipal, PLAIN_SEND } from '../../../testing/story.ts';
import { realClock } from '../../run/clock.ts';
import { outputText } from '../output-text.ts';
import type { Room } from '../room.ts';
import { threadHandlers } from './threads.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
let hub: Hub;
beforeAll(async () => {
  hub = await openHub({ space: 'test', log: await openMemoryLog(), clock: realClock });
});
afterAll(() => hub.close());

const as = (by: typeof ada): Room =>
  ({ hub, by, platform: { digest: (text: string) => text } }) as unknown as Room;

async function send(body: object, replyTo: number | null = null, channel = 'long') {
  const text = JSON.stringify(body);
  const by = replyTo === null ? ada : bob;
  const command = { ...PLAIN_SEND, by, at: hub.stamp(), channel, body: text, replyTo };
  return accepted(await hub.submit(command)).position;
}

const get = async (input: object) => {
  const page = await threadHandlers['threads.get'](as(bob), { limit: 500, ...input } as never);
  if (isRefusal(page)) throw new Error(page.message);
  expect(Buffer.byteLength(outputText(page))).toBeLessThanOrEqual(1024 * 1024);
  return page;
};

test('[TM5] ten thousand replies come in pages, none over 1 MiB, each reply once and in order', async () => {
  const root = await send({ n: 0 });
  const text = 'ü'.repeat(600);
  const sent = await Promise.all(Array.from({ length: 10_000 }, (_, n) => send({ n, text }, root)));
  const wide = 'ü'.repeat(100_000);
  for (const big of [{ wide }, { wide }, { wide: wide + wide }]) sent.push(await send(big, root));
  const seen: string[] = [];
  let pages = 0;
  for (let after: string | null = ''; after !== null; pages++) {
    const page = await get({ message_id: `m${root}`, ...(after !== '' && { after }) });
    expect(page.thread.reply_count).toBe(10_003);
    seen.push(...page.replies.map((one) => one.message_id));
    after = page.next;
    if (after === null) expect(page.replies.at(-1)).toMatchObject({ cut: true, body: {} });
  }
  expect(seen).toEqual(sent.map((position) => `m${position}`));
  // The bodies alone are twelve of them.
  expect(pages).toBeLessThan(30);
});

test('[TM2] the history of marks is read a page at a time, and is bounded too', async () => {
  const position = await send({ n: 0 }, null, 'marked');
  const root = { position, channel: 'marked', seq: 1, sender: 'ada', owners: [] };
  const note = 'ü'.repeat(4_096);
  const asked = { type: 'thread.mark', by: ada, root, expectedVersion: null } as const;
  for (let i = 0; i < 60; i++) {
    const mark = i % 2 === 0 ? 'close' : 'reopen';
    accepted(await hub.submit({ ...asked, at: hub.stamp(), mark, note }));
  }
  const versions: number[] = [];
  let pages = 0;
  for (let before: number | null = -1; before !== null; pages++) {
    const more = before === -1 ? {} : { marks_before: before };
    const { marks, marks_next: next } = await get({ message_id: `m${position}`, ...more });
    versions.push(...marks.map((one) => one.version));
    before = next;
  }
  expect(versions).toEqual(Array.from({ length: 60 }, (_, i) => 60 - i));
  expect(pages).toBeGreaterThan(3);
  // A cursor leads nowhere but to marks of this thread.
  for (const bad of [0, position, 9_999_999]) {
    const input = { message_id: `m${position}`, limit: 1, marks_before: bad };
    const outcome = await threadHandlers['threads.get'](as(bob), input);
    expect(isRefusal(outcome) && outcome.refused).toBe('input.invalid');
  }
});
