import { expect, test } from 'vitest';
import { DISCIPLINE_DOCUMENT } from './document.ts';
import { HEADINGS, lintDiscipline, TOKENS } from './lint.ts';

const sound = HEADINGS.map((heading) => `${heading}\n\nWords.\n`).join('\n');
const rulesOf = (document: string): string[] => lintDiscipline(document).map(({ rule }) => rule);

test('[DI1] our own document has the sections of SOX in their order, and only its tokens', () => {
  expect(lintDiscipline(DISCIPLINE_DOCUMENT)).toEqual([]);
  const headings = DISCIPLINE_DOCUMENT.match(/^#{1,2} .*$/gm);
  expect(headings).toEqual([
    '# Inter-agent channels',
    '## When to send',
    '## How to send',
    '## Polling cadence',
    '## The send-and-continue pattern',
    '## The speculative-then-reconcile recipe',
    '## Anti-patterns',
    '## What not to use channels for',
  ]);
  for (const token of Object.keys(TOKENS)) expect(DISCIPLINE_DOCUMENT).toContain(token);
});

test('[DI1] a heading that is missing, misspelt, misplaced or only in code is found', () => {
  expect(rulesOf(sound)).toEqual([]);
  expect(rulesOf(`${sound}\n## One of our own\n`)).toEqual([]);
  expect(rulesOf(sound.replace('## Anti-patterns', '## Antipatterns'))).toEqual([
    'heading-missing',
  ]);
  expect(rulesOf(sound.replace('## Anti-patterns', '```\n## Anti-patterns\n```'))).toEqual([
    'heading-missing',
  ]);
  expect(rulesOf(sound.replace('## Anti-patterns', '  ## Anti-patterns  '))).toEqual([]);
  const moved = `${sound.replace('## How to send\n', '')}\n## How to send\n`;
  const [finding] = lintDiscipline(moved);
  expect(finding).toMatchObject({ rule: 'heading-order', line: 12 });
  expect(finding?.message).toContain('stands before "## How to send"');
  expect(rulesOf('')).toHaveLength(8);
  expect(rulesOf(sound.replaceAll('\n', '\r\n'))).toEqual([]);
});

test('[DI1] a second level-1 heading is a collision, in either way of writing it', () => {
  const table: readonly (readonly [string, boolean])[] = [
    ['# Another', true],
    ['#', true],
    ['Another\n=======', true],
    ['# Inter-agent channels', true],
    ['#hashtag', false],
    ['```sh\n# a comment\n```', false],
    ['~~~\nx\n===\n~~~', false],
    ['### Deeper', false],
  ];
  for (const [text, isFound] of table) {
    expect(rulesOf(`${sound}\n${text}\n`), text).toEqual(isFound ? ['level-1-collision'] : []);
  }
  expect(lintDiscipline(`# Mine\n${sound}`)).toMatchObject([
    { rule: 'level-1-collision', line: 1 },
  ]);
});

test('[DI1] a tool by its name is found wherever it stands, and so is an unknown token', () => {
  const table: readonly (readonly [string, string[]])[] = [
    ['call channels__send now', ['tool-named']],
    ['`mcp__sox__channels__recv`', ['tool-named']],
    ['```\nchannels__subscribe\n```', ['tool-named']],
    ['channels__list_channels', ['tool-named']],
    ['channels__sender, channels__list', []],
    ['`claims__take`', []],
    ['{{ack_tool}} and {{ send_tool }}', ['token-unknown', 'token-unknown']],
    ['{{send_tool}} {{recv_tool}} {{subscribe_tool}} {{list_tool}}', []],
    ['{{broken', ['token-unknown']],
  ];
  for (const [text, rules] of table) expect(rulesOf(`${sound}\n${text}\n`), text).toEqual(rules);
  const [finding] = lintDiscipline(`${sound}\nchannels__recv`);
  expect(finding?.message).toContain('write {{recv_tool}}');
});
