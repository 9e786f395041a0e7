import fc from 'fast-check';
import { assert, expect, test } from 'vitest';
import { COMMAND_ROWS, parseCommand } from './commands.ts';
import { choose, complete } from './completion.ts';

test.each([
  ['hello there', { do: 'send', text: 'hello there' }],
  ['//etc is a path', { do: 'send', text: '/etc is a path' }],
  ['/join ticket:*', { do: 'join', channel: 'ticket:*' }],
  ['/leave', { do: 'leave', channel: null }],
  [
    '/msg bob two  spaces\nand a line',
    { do: 'msg', agent: 'bob', text: 'two  spaces\nand a line' },
  ],
  ['/dm bob hi', { do: 'msg', agent: 'bob', text: 'hi' }],
  ['/reply m5 on it', { do: 'reply', message: 'm5', text: 'on it' }],
  ['/thread', { do: 'thread', message: null }],
  ['/ack m5 nack no time', { do: 'ack', message: 'm5', status: 'nack', reason: 'no time' }],
  ['/ack m5 done', { do: 'ack', message: 'm5', status: 'done', reason: null }],
  ['/search the  lock', { do: 'search', text: 'the  lock' }],
  ['/threads', { do: 'threads', only: null }],
  ['/threads closed', { do: 'threads', only: 'closed' }],
  ['/pin', { do: 'pin', id: null, note: null }],
  ['/resolve m5 it is', { do: 'resolve', id: 'm5', note: 'it is' }],
  ['/close done  and shipped', { do: 'close', id: null, note: 'done  and shipped' }],
  ['/close d3', { do: 'close', id: 'd3', note: null }],
  ['/exit', { do: 'quit' }],
  ['   ', null],
])('[TU4] %j is understood', (line, command) => {
  expect(parseCommand(line)).toEqual(command);
});

test.each([
  ['/nonsense', /no \/nonsense; \/help/],
  ['/join', /\/join CHANNEL/],
  ['/msg bob', /\/msg AGENT TEXT/],
  ['/reply m5', /\/reply ID TEXT/],
  ['/threads some', /\/threads \[STATE\]/],
  ['/ack m5 perhaps', /\/ack ID STATUS/],
  ['/', /\/help/],
])('[TU4] %j is answered with how it is written', (line, words) => {
  expect(parseCommand(line)).toEqual({ problem: expect.stringMatching(words) });
});

test('[TU4] no line makes it throw, and a line without a slash is sent as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (line) => {
      const command = parseCommand(line);
      if (line.trim() !== '' && !line.startsWith('/'))
        expect(command).toEqual({ do: 'send', text: line });
    }),
  );
});

const WORDS = {
  channels: ['general', 'group/ops', 'ticket:42'],
  agents: ['bob', 'bobby', 'claude/worker'],
  messages: ['m12', 'm7'],
  docket: ['d1', 'g1'],
};

test.each([
  ['/joi', '/join ', []],
  ['/join t', '/join ticket:42 ', []],
  ['/join g', '/join g', ['general', 'group/ops']],
  ['/msg c', '/msg claude/worker ', []],
  ['/msg b', '/msg bob', ['bob', 'bobby']],
  ['/reply m1', '/reply m12 ', []],
  ['/ack m7 pro', '/ack m7 processing ', []],
  ['/threads re', '/threads resolved ', []],
  ['ask @cl', 'ask @claude/worker ', []],
  ['plain words', 'plain words', []],
  ['/nothing x', '/nothing x', []],
])('Tab after %j makes it %j', (typed, text, words) => {
  const done = complete(typed, typed.length, WORDS);
  expect(done).toMatchObject({ text, cursor: text.length });
  expect(done.choices?.words ?? []).toEqual(words);
});

test('[TU10] Tab again goes through the words that may be meant, in a circle, either way', () => {
  const { choices } = complete('/msg b hello', 6, WORDS);
  assert(choices !== null);
  const first = choose(choices, 1);
  expect(first).toMatchObject({ text: '/msg bob hello', cursor: 8 });
  assert(first.choices !== null);
  const second = choose(first.choices, 1);
  expect(second.text).toBe('/msg bobby hello');
  expect(choose(second.choices ?? choices, 1).text).toBe('/msg bob hello');
  expect(choose(choices, -1).text).toBe('/msg bobby hello');
});

test('Tab works in the middle of a line and leaves the rest of it', () => {
  expect(complete('/msg cl hello', 7, WORDS)).toEqual({
    text: '/msg claude/worker hello',
    cursor: 18,
    choices: null,
  });
});

test('Tab never loses what stands on the line', () => {
  const line = fc.string({ unit: fc.constantFrom('/', 'm', 's', 'g', ' ', '@', 'b', '1') });
  fc.assert(
    fc.property(line, fc.nat(20), (text, at) => {
      const cursor = Math.min(at, text.length);
      const done = complete(text, cursor, WORDS);
      expect(done.text.startsWith(text.slice(0, cursor))).toBe(true);
      expect(done.text.endsWith(text.slice(cursor))).toBe(true);
    }),
  );
});

test('every command is one that can be typed', () => {
  for (const { name, usage } of COMMAND_ROWS) {
    const given = usage.replace('STATUS', 'done').replace('STATE', 'open').replace(/[[\]]/g, '');
    expect(parseCommand(`/${name} ${given}`)).toMatchObject({ do: name });
  }
});
