import { expect, test } from 'vitest';
import { type Deed, runsOf } from './runs.ts';

const deed = (position: number, actor: string, outcome = 'done'): Deed => ({
  ...{ position, actor, outcome, at: position, action: 'message.sent', subject: 'general' },
  ...{ detail: {}, body_hash: null },
});

test('what repeats is one line, and anything else between begins another', () => {
  const deeds = [
    deed(9, 'ada'),
    deed(8, 'ada'),
    deed(7, 'bob'),
    deed(6, 'ada'),
    deed(5, 'ada', 'held'),
  ];
  const runs = runsOf(deeds).map((run) => [run.deed.position, run.count]);
  expect(runs).toEqual([
    [9, 2],
    [7, 1],
    [6, 1],
    [5, 1],
  ]);
});
