import { expect, test } from 'vitest';
import { PAGE_MESSAGES, type Replay, readAfter, readBefore, readTail } from './history.ts';

/** A channel of so many messages, some of them held, and how often it was asked. */
function channelOf(count: number, held: ReadonlySet<number> = new Set()) {
  let asked = 0;
  const replay: Replay = async (channel, options = {}) => {
    const { since = 0, limit = 100 } = options;
    const until = options.until ?? count;
    asked++;
    const all = Array.from({ length: count }, (_, i) => i + 1).filter((seq) => !held.has(seq));
    const found = all.filter((seq) => seq >= since && seq <= until);
    const messages = found.slice(0, limit).map((seq) => {
      return { message_id: `m${seq}`, channel, seq, sender: 'bob', sent_at: seq, body: {} };
    });
    return { messages, has_more: found.length > limit };
  };
  return { replay, asked: () => asked };
}

test.each([0, 1, 199, 200, 201, 399, 400, 401, 1_000, 4_097, 20_000])(
  'of %i messages the newest are found',
  async (count) => {
    const { replay, asked } = channelOf(count);
    const { messages, isWhole } = await readTail(replay, 'room');
    expect(messages.at(-1)?.seq).toBe(count === 0 ? undefined : count);
    expect(messages).toHaveLength(Math.min(count, PAGE_MESSAGES));
    expect(isWhole).toBe(count <= PAGE_MESSAGES);
    expect(asked()).toBeLessThan(30);
  },
);

test('messages that are held for a person do not hide the end', async () => {
  const held = new Set([400, 401, 998, 999, 1_000]);
  const { messages } = await readTail(channelOf(1_000, held).replay, 'room');
  expect(messages.at(-1)?.seq).toBe(997);
});

test('what was said before is read page by page to the beginning', async () => {
  const { replay } = channelOf(450);
  const seen: number[] = [];
  let before = 451;
  for (;;) {
    const { messages, isWhole } = await readBefore(replay, 'room', before);
    seen.unshift(...messages.map(({ seq }) => seq));
    if (isWhole) break;
    before = messages[0]?.seq ?? 1;
  }
  expect(seen).toEqual(Array.from({ length: 450 }, (_, i) => i + 1));
});

test('what was said after is read to the end', async () => {
  const seqs: number[] = [];
  for await (const page of readAfter(channelOf(2_500).replay, 'room', 100)) {
    seqs.push(...page.map(({ seq }) => seq));
  }
  expect(seqs).toEqual(Array.from({ length: 2_400 }, (_, i) => i + 101));
});
