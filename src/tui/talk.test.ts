import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeTalk, type Said, saidOf, TALK_MESSAGES_MAX } from './talk.ts';

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
