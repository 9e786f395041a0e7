import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJson } from './json.ts';

/** Few letters, so that names meet: a backslash, what may follow one, a quote, and what is often escaped. */
const name = fc.string({
  unit: fc.constantFrom('a', 'n', 'u', '0', '\\', '"', '\n', 'é', '\u2028', ':', ' '),
  maxLength: 4,
});
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, -1.5e-7, 1e21),
    name,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(name, fc.constant('__proto__')), tie('value'), { maxKeys: 3 }),
  ),
}));

/** JSON written by the test's own hand, each character in a way drawn by chance. */
function write(value: unknown, draw: () => number): string {
  const blank = (): string => ['', ' ', '\n\t'][draw() % 3] as string;
  if (typeof value === 'string') {
    return `"${[...value].map((char) => writeChar(char, draw() % 3)).join('')}"`;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Array.isArray(value)
    ? value.map((one) => write(one, draw))
    : Object.entries(value).map(
        ([key, one]) => `${write(key, draw)}${blank()}:${write(one, draw)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return open + parts.map((part) => blank() + part + blank()).join(',') + close;
}

const SHORT = new Map([
  ['\\', '\\\\'],
  ['"', '\\"'],
  ['\n', '\\n'],
]);
function writeChar(char: string, way: number): string {
  const code = `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  if (way === 0) return code;
  return SHORT.get(char) ?? char;
}

const draws = fc.infiniteStream(fc.nat(999)).map((stream) => () => stream.next().value as number);

test('[M12] every value is read as it was written', () => {
  fc.assert(
    fc.property(value, draws, (written, draw) => {
      // As text: the order of names counts too.
      expect(JSON.stringify(readJson(write(written, draw)))).toBe(JSON.stringify(written));
    }),
    { numRuns: 2_000 },
  );
});

test('[M12] a name that stands in the place of others is read as it was written', () => {
  const short = fc.string({
    unit: fc.constantFrom('\\', 'n', '\n', 'é'),
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(short, draws), { minLength: 50 }), (texts) => {
      for (const [written, draw] of texts) {
        const read = readJson(`{"first":1,${write(written, draw)}:2}`);
        expect(Object.keys(read as object)).toEqual(['first', written]);
      }
    }),
  );
});

test.each([
  ['{"y":1,"caf\\\\":1}', '{"y":1,"caf\\u00e9":1}', 'café'],
  ['{"z":1,"ca\\\\n":1}', '{"z":1,"ca\\n\\n":1}', 'ca\n\n'],
  ['{"x":[],"\\\\":[]}', '{"x":[],"\\u2028":[]}', '\u2028'],
])('[M12] after %s, %s has its own name', (before, text, expected) => {
  readJson(before);
  expect(Object.keys(readJson(text) as object)[1]).toBe(expected);
});

test('[M12] what is no JSON is refused, and only that, with escaped names in it or without', () => {
  const change = fc.tuple(
    fc.nat(),
    fc.constantFrom('', '"', '\\', ',', '}', ']', ':', '1', 'u', '\n'),
  );
  fc.assert(
    fc.property(value, draws, fc.array(change, { maxLength: 2 }), (written, draw, changes) => {
      let text = `{"\\u006e":${write(written, draw)}}`;
      for (const [where, char] of changes) {
        const at = where % (text.length + 1);
        text = text.slice(0, at) + char + text.slice(at + 1);
      }
      expect(isRead(readJson, text)).toBe(isRead(JSON.parse, text));
    }),
    { numRuns: 5_000 },
  );
});

test('[M12] a text that nests without end is refused and takes nobody along', () => {
  expect(() => readJson(`{"\\n":${'['.repeat(1_000_000)}`)).toThrow(SyntaxError);
});

function isRead(read: (text: string) => unknown, text: string): boolean {
  try {
    read(text);
    return true;
  } catch (cause) {
    expect(cause).toBeInstanceOf(SyntaxError);
    return false;
  }
}
