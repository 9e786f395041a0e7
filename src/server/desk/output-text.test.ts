/** Outputs made as text: the doors take the text, everybody else sees an output. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { shortOutput } from './handlers/send.ts';
import { outputFromText, outputText } from './output-text.ts';

const TEXT = '{"messages":[{"n":1}], "has_more":false}';
type Page = { messages: object[]; has_more: boolean };
const page = () => outputFromText<Page>(TEXT, ['messages', 'has_more']);

test('[O1] an output made as text is written as that text, and read as what it says', () => {
  expect(outputText(page())).toBe(TEXT);
  expect(page()).toEqual({ messages: [{ n: 1 }], has_more: false });
  expect(JSON.stringify(page())).toBe(JSON.stringify(JSON.parse(TEXT)));
});

test('[O1] a copy that was changed is written as it is now', () => {
  expect(outputText({ ...page(), has_more: true })).toBe('{"messages":[{"n":1}],"has_more":true}');
  expect(outputText({ plain: 1 })).toBe('{"plain":1}');
});

test('[O1] what was answered is forgotten by the next small collection, not kept for a full one', () => {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as (how?: { type: 'minor' }) => void;
  const said = 'x'.repeat(400);
  const answer = (round: number): number => {
    const text = Array.from({ length: 100 }, (_, i) => `{"n":${round + i},"said":"${said}"}`);
    const page = `{"messages":[${text.join(',')}],"has_more":false}`;
    return Buffer.byteLength(outputText(outputFromText<Page>(page, ['messages', 'has_more'])));
  };
  answer(0);
  collect();
  const before = getHeapStatistics().used_heap_size;
  let most = 0;
  for (let round = 1; round <= 400; round++) {
    answer(round);
    if (round % 20 !== 0) continue;
    collect({ type: 'minor' });
    most = Math.max(most, getHeapStatistics().used_heap_size - before);
  }
  // They are sixteen megabytes.
  expect(most).toBeLessThan(4_000_000);
});

test('[O1] what a send is answered is written as its fields are', () => {
  for (const [depth, limit] of [
    [0, 1_000],
    [800, 1_000],
    [1_000, 1_000],
  ] as const) {
    const sent = shortOutput({ at: 1_700_000_000_123, position: 41, seq: 7, depth, limit });
    expect(outputText(sent)).toBe(JSON.stringify({ ...sent }));
    expect(Object.keys(sent)).toEqual(['sent_at', 'message_id', 'seq', 'backpressure']);
  }
  const gated = shortOutput({ at: 1, position: 1, seq: 1, depth: 0, limit: 1, gate: 'g1' });
  expect(JSON.parse(outputText(gated)).metadata).toEqual({ gate_id: 'g1' });
});
