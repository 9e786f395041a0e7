import { expect, test } from 'vitest';
import { createUtterances } from './utterances.ts';

const line = (text: string, at = 1) => ({ at, from: 'out' as const, text });

test('[SQ17] what turns say is told once, a word for each turn, in order', () => {
  const said = createUtterances();
  said.add({ turn: 't1', agent: 'ada', lines: [line('a')] });
  said.add({ turn: 't2', agent: 'bob', lines: [line('b')] });
  said.add({ turn: 't1', agent: 'ada', lines: [line('c')] });
  expect(said.take()).toEqual([
    { type: 'turn.said', turn: 't1', agent: 'ada', lines: [line('a'), line('c')] },
    { type: 'turn.said', turn: 't2', agent: 'bob', lines: [line('b')] },
  ]);
  expect([said.size, said.take()]).toEqual([0, []]);
});

test('[SQ17] one that says much between two whispers costs its oldest lines', () => {
  const said = createUtterances();
  for (let i = 0; i < 5_000; i++) said.add({ turn: 't', agent: 'ada', lines: [line('x', i)] });
  const [word] = said.take();
  expect([word?.lines.length, word?.lines.at(-1)?.at]).toEqual([1_000, 4_999]);
  for (let i = 0; i < 40; i++) {
    said.add({ turn: 't', agent: 'ada', lines: [line('y'.repeat(4_000), i)] });
  }
  const [long] = said.take();
  expect([long?.lines.length, long?.lines.at(-1)?.at]).toEqual([16, 39]);
});
