import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeTalk, rootOf, type Said, saidOf, TALK_MESSAGES_MAX, threadOf } from './talk.ts';

function said(seq: number, replyTo: string | null = null): Said {
  return {
    id: `m${seq}`,
    channel: 'room',
    seq,
    sender: 'bob',
    sentAt: seq,
    replyTo,
    text: `t${seq}`,
  };
}

test('[TU3] talk is in order and without repeats, however it arrives', () => {
  const pieces = fc.array(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 20 }));
  fc.assert(
    fc.property(pieces, (arrivals) => {
      let talk: readonly Said[] = [];
      for (const piece of arrivals)
        talk = mergeTalk(
          talk,
          piece.map((seq) => said(seq)),
        );
      const wanted = [...new Set(arrivals.flat())].sort((a, b) => a - b);
      expect(talk.map(({ seq }) => seq)).toEqual(wanted);
    }),
  );
});

test('[TU3] what is known already changes nothing', () => {
  const talk = mergeTalk([], [said(1), said(2)]);
  expect(mergeTalk(talk, [said(2), said(1)])).toBe(talk);
});

test('talk is bounded, and the oldest give way', () => {
  const all = Array.from({ length: TALK_MESSAGES_MAX + 5 }, (_, i) => said(i + 1));
  const talk = mergeTalk([], all);
  expect(talk).toHaveLength(TALK_MESSAGES_MAX);
  expect(talk[0]?.seq).toBe(6);
});

test('a thread is its first message and what answers it, set in by depth', () => {
  const talk = [said(1), said(2), said(3, 'm1'), said(4, 'm3'), said(5, 'm1'), said(6, 'm2')];
  expect(rootOf(talk, 'm4')).toBe('m1');
  expect(threadOf(talk, 'm1').map(({ said: one, depth }) => [one.id, depth])).toEqual([
    ['m1', 0],
    ['m3', 1],
    ['m4', 2],
    ['m5', 1],
  ]);
});

test('answers that point in a circle, at themselves or at nothing end all the same', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 10 }), (parents) => {
      const talk = parents.map((parent, i) => said(i + 1, parent === 0 ? null : `m${parent}`));
      for (const { id } of talk) {
        const placed = threadOf(talk, rootOf(talk, id));
        expect(new Set(placed.map(({ said: one }) => one.id)).size).toBe(placed.length);
      }
    }),
  );
});

test('a body that is not only text is shown as what it is, and a huge one in part', () => {
  const envelope = { message_id: 'm1', channel: 'c', seq: 1, sender: 's', sent_at: 1 };
  expect(saidOf({ ...envelope, body: { text: 'hi' } }).text).toBe('hi');
  // What the Synapse door keeps beside a text is no part of it.
  expect(saidOf({ ...envelope, body: { text: 'hi', synapse: {} } }).text).toBe('hi');
  expect(saidOf({ ...envelope, body: { text: 'hi', n: 1 } }).text).toBe('{"text":"hi","n":1}');
  const huge = saidOf({ ...envelope, body: { text: 'x'.repeat(1_000_000) } }).text;
  expect(huge.length).toBeLessThan(9_000);
  expect(huge).toMatch(/more characters\)$/);
});
