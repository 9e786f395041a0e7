import { expect, test } from 'vitest';
import {
  type ChannelLog,
  EMPTY_LOG,
  HELD_MESSAGES_MAX,
  type Said,
  saidOf,
  withNews,
  withOlder,
} from './channel-log.ts';

const said = (seq: number, id = `m${seq}`, text = 'x'): Said =>
  saidOf({ message_id: id, channel: 'room', seq, sender: 'bob', sent_at: seq, body: { text } });
const range = (from: number, to: number): Said[] =>
  Array.from({ length: to - from + 1 }, (_, i) => said(from + i));
const seqs = (log: ChannelLog): number[] => log.said.map(({ seq }) => seq);

test('[WI6] what arrives twice or out of order is there once, in order', () => {
  const log = withNews(withNews(EMPTY_LOG, [said(2), said(1)]), [
    said(2),
    said(4),
    said(3),
    said(3),
  ]);
  expect(seqs(log)).toEqual([1, 2, 3, 4]);
  expect(withNews(log, [said(3)]).said).toBe(log.said);
});

test('[WI5] at the end the oldest give way; scrolled back, the newest do, and news waits', () => {
  const full = withNews({ ...EMPTY_LOG, isFromStart: true }, range(1, HELD_MESSAGES_MAX + 5));
  expect(full.said).toHaveLength(HELD_MESSAGES_MAX);
  expect([seqs(full)[0], full.isFromStart, full.isToEnd]).toEqual([6, false, true]);
  const back = withOlder(full, range(1, 5), true);
  expect(back.said).toHaveLength(HELD_MESSAGES_MAX);
  expect([seqs(back)[0], back.isFromStart, back.isToEnd]).toEqual([1, true, false]);
  expect(seqs(withNews(back, [said(20_000)])).at(-1)).toBe(HELD_MESSAGES_MAX);
});

test('[WI5] long bodies are held as their beginning, and all together stay within a bound', () => {
  const long = said(1, 'm1', 'y'.repeat(1_000_000));
  expect([long.isCut, JSON.stringify(long).length < 5_000]).toEqual([true, true]);
  const many = Array.from({ length: 2_000 }, (_, i) => said(i + 1, `m${i}`, 'z'.repeat(19_000)));
  expect(withNews(EMPTY_LOG, many).said.length).toBeLessThan(900);
});

test('a channel that was retired and made again begins anew', () => {
  const log = withNews(EMPTY_LOG, range(1, 3));
  expect(withNews(log, [said(1, 'm90')]).said.map((one) => one.message_id)).toEqual(['m90']);
});
