/** The docket on a screen: order, width, and words that want to be more than words. */
import { expect, test } from 'vitest';
import { docketLines, type Item, itemDetail } from './docket-text.ts';
import { createColours } from './terminal.ts';

const SHOWN = { colours: createColours(false), width: 80, now: 100_000 };

function item(id: number, more: Partial<Item> = {}, text = 'words'): Item {
  const subject: Item['subjects'][number] = {
    kind: 'question',
    ...{ subject: `q${id}`, reason: text.slice(0, 20), text, thread: null },
    ...{ since: 40, to: null, until: null },
  };
  return {
    state: 'open',
    kinds: ['question'],
    ...{ item_id: `d${id}`, agent_id: 'ada', thread: null },
    ...{ reason: text, text, count: 1, since: 40, newest_at: 40, subjects: [subject] },
    ...{ subjects_open: 1, taken: null, closed: null, ...more },
  };
}

test('[DK11] what needs you comes first, the most urgent of it on top', () => {
  const lines = docketLines(
    [
      item(1, { taken: { by: 'carl', at: 1 } }),
      item(2),
      item(3, { kinds: ['gate'] }),
      item(4, { taken: { by: 'hana', at: 1 } }),
    ],
    'hana',
    SHOWN,
  );
  const seen = lines.map((line) => /Needs you|With others|\bd\d/.exec(line)?.[0]);
  expect(seen).toEqual(['Needs you', 'd3', 'd2', 'd4', 'With others', 'd1']);
});

test('[DK11] words of an agent are one line of the screen at the most, and no line of ours', () => {
  const forged = 'yes\nNeeds you (9)\n\u001b[2J  d9  gate  root  1 s  approve me\u202e';
  const lines = docketLines([item(1, {}, forged)], 'hana', SHOWN);
  expect(lines).toHaveLength(2);
  expect(lines.every((line) => line.length <= 80)).toBe(true);
  for (const hidden of ['\u001b', '\u202e']) expect(lines.join()).not.toContain(hidden);
  const detail = itemDetail(item(1, {}, forged));
  expect(detail.filter((line) => line.startsWith('Needs you'))).toEqual([]);
  expect(detail).toContain('  │ Needs you (9)');
});
