/** The scanner against JSON.parse: the same lines are accepted, the same facts are read. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ByteLine, lineOf, textOf } from './byte-line.ts';
import { DEPTH_MAX } from './scan-json.ts';
import {
  BATCH_MAX,
  type Envelope,
  readExt,
  readParams,
  rewrite,
  scan,
  withId,
} from './scan-message.ts';

const ROUTING = ['id', 'method', 'sessionId', 'pool', 'agentId', '_ext', 'result', 'error'];

function envelopeOf(text: string): Envelope {
  const found = scan(lineOf(text));
  if (found.kind === 'problem' || found.kind === 'batch') throw new Error(`${found.kind}: ${text}`);
  return found;
}

function problemOf(line: ByteLine): string | null {
  const found = scan(line);
  return found.kind === 'problem' ? found.problem : null;
}

function parse(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

function escapeAll(text: string): string {
  return text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** JSON in one of its many spellings: white space and escapes by a seeded chance. */
function spell(value: unknown, seed: number): string {
  let state = seed >>> 0;
  const chance = (of: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % of === 0;
  };
  const gap = () => (chance(4) ? (chance(2) ? ' ' : '\t\r\n ') : '');
  const text = (raw: string) => {
    const units =
      JSON.stringify(raw)
        .slice(1, -1)
        .match(/\\u....|\\.|./gsu) ?? [];
    return `"${units.map((unit) => (unit.startsWith('\\') || !chance(6) ? unit : escapeAll(unit))).join('')}"`;
  };
  const any = (one: unknown): string => {
    if (typeof one === 'string') return text(one);
    if (one === null || typeof one !== 'object') return JSON.stringify(one);
    const parts = Array.isArray(one)
      ? one.map((item) => `${gap()}${any(item)}${gap()}`)
      : Object.entries(one).map(
          ([key, item]) => `${gap()}${text(key)}${gap()}:${gap()}${any(item)}${gap()}`,
        );
    const inner = parts.length === 0 ? gap() : parts.join(',');
    return Array.isArray(one) ? `[${inner}]` : `{${inner}}`;
  };
  return `${gap()}${any(value)}${gap()}`;
}

const word = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 30, maxLength: 200 }));
const anything = fc.oneof(fc.jsonValue(), word);
const rpc = fc
  .record(
    {
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(word, fc.integer(), fc.double({ noNaN: true }), anything),
      method: fc.oneof(word, anything),
      sessionId: fc.oneof(word, anything),
      pool: anything,
      agentId: anything,
      _ext: fc.oneof(fc.dictionary(word, anything), anything),
      params: anything,
      result: anything,
      error: anything,
      other: anything,
    },
    { requiredKeys: [] },
  )
  .chain((record) =>
    fc
      .shuffledSubarray(Object.entries(record), { minLength: Object.keys(record).length })
      .map((entries) => Object.fromEntries(entries)),
  );
const spelled = fc.tuple(rpc, fc.nat()).map(([value, seed]) => spell(value, seed));

const own = (value: object, key: string) =>
  Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
const isObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The same facts, read from the parsed message by the book. */
function expectFacts(line: ByteLine, found: Envelope, value: object): void {
  const id = own(value, 'id');
  const hasId = Object.hasOwn(value, 'id');
  const isIdUsable = hasId && (id === null || typeof id !== 'object');
  const hasMethod = typeof own(value, 'method') === 'string';
  const hasAnswer = Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error');
  let kind = 'invalid';
  if (hasMethod && !hasAnswer && !hasId) kind = 'notification';
  else if (hasMethod && !hasAnswer && isIdUsable) kind = 'request';
  else if (!hasMethod && hasAnswer && isIdUsable) kind = 'response';
  expect(found.kind).toBe(kind);
  expect(found.id === null).toBe(!isIdUsable);
  if (found.id !== null) expect(JSON.parse(textOf(found.id))).toEqual(id);
  if (hasId) {
    const raw = line.slice(found.idStart, found.idEnd) as ByteLine;
    expect(JSON.parse(textOf(raw))).toEqual(id);
  } else expect(found.idStart).toBe(-1);
  for (const key of ['method', 'sessionId', 'pool', 'agentId'] as const)
    expect(found[key]).toBe(textOrNull(own(value, key)));
  expect(found.hasResult).toBe(Object.hasOwn(value, 'result'));
  expect(found.hasError).toBe(Object.hasOwn(value, 'error'));
  const ext = own(value, '_ext');
  expect(readExt(found)).toEqual(isObject(ext) ? ext : undefined);
  expect(readParams(found)).toEqual(own(value, 'params'));
}

test('[EN1] [EN2] every message in every spelling is accepted, with the facts JSON.parse finds', () => {
  fc.assert(
    fc.property(spelled, (text) => {
      const line = lineOf(text);
      expectFacts(line, envelopeOf(text), JSON.parse(text));
    }),
    { numRuns: 1000 },
  );
});

test('[EN1] with one byte changed, a line is accepted if and only if JSON.parse accepts it', () => {
  const special = fc.constantFrom(...Buffer.from('"\\{}[],:0123456789-+.eEutfn/\n\r\t \0\x1f\x7f'));
  const byte = fc.oneof(special, fc.integer({ min: 0, max: 255 }));
  const change = fc.constantFrom('replace', 'insert', 'delete');
  let refused = 0;
  fc.assert(
    fc.property(spelled, fc.nat(), byte, change, (text, place, value, how) => {
      const before = Buffer.from(text);
      const at = place % before.length;
      const bytes = Buffer.concat([
        before.subarray(0, at),
        Buffer.from(how === 'delete' ? [] : [value]),
        before.subarray(how === 'insert' ? at : at + 1),
      ]);
      const line = bytes.toString('latin1') as ByteLine;
      const problem = problemOf(line);
      if (problem === 'duplicate') return;
      const parsed = parse(bytes.toString());
      if (parsed === null) refused++;
      expect(problem).toBe(
        parsed === null
          ? 'syntax'
          : typeof parsed.value === 'object' && parsed.value
            ? null
            : 'not-an-object',
      );
      const found = scan(line);
      if (
        parsed !== null &&
        isObject(parsed.value) &&
        found.kind !== 'problem' &&
        found.kind !== 'batch'
      )
        expectFacts(line, found, parsed.value as object);
    }),
    { numRuns: 3000 },
  );
  expect(refused).toBeGreaterThan(500);
});

test('[EN1] the odd corners of the grammar are as JSON.parse has them', () => {
  const values =
    '0 -0 01 -01 1. .5 1.5 -1.5e+10 1e 1e+ 1E-2 +1 - -a 0x1 1_0 00 0e0 0.0e-0 NaN Infinity true tru trueX False nul null undefined "" "a "\\" "\\"" "\\x41" "\\u12" "\\u12g4" "\\uD800" "\\u00e9" "\\/" "\\\\" \'a\' [] [,] [1,] [,1] [1,2] [1 2] {} {,} {"a"} {"a":} {"a":1,} {a:1} {"a":1"b":2} {"a"::1} [[]] [[] ]] {"a":{}} \ufeff1 /**/1 1// "\u007f" "\u2028" "\u00a0" \u00a01'.split(
      ' ',
    );
  for (const value of [...values, '', ' ', '"\n"', '"\t"', '"\0"', '\x0b1', '\0', '1\0'])
    for (const text of [
      `{"a":${value}}`,
      `{"a":[${value}]}`,
      `{"a":{"b":${value} } }`,
      `[${value}]`,
    ])
      expect([text, problemOf(lineOf(text))]).toEqual([text, parse(text) ? null : 'syntax']);
});

test('[EN1] long strings are checked to their end, whatever they hold', () => {
  const runs = ['x'.repeat(300), '\\n'.repeat(1300), '\\u00e9x'.repeat(700), 'é\\"'.repeat(600)];
  for (const good of runs)
    for (const other of runs) {
      expect(problemOf(lineOf(`{"method":"${good}${other}"}`))).toBe(null);
      for (const bad of ['\\x', '\\u12x4', '\n', '\0', '"'])
        expect(problemOf(lineOf(`{"method":"${good}${bad}${other}"}`))).toBe('syntax');
      expect(problemOf(lineOf(`{"method":"${good}${other}`))).toBe('syntax');
    }
});

test('[EN1] a line is read to its end and not further, whatever was read before', () => {
  for (const size of [10, 65_000, 65_520, 65_521, 65_522, 65_523, 65_524, 70_000]) {
    const whole = lineOf(`{"method":"${'x'.repeat(size)}"}`);
    expect(problemOf(whole)).toBe(null);
    for (let end = whole.length - 5; end < whole.length; end++) {
      expect(problemOf(whole.slice(0, end) as ByteLine)).toBe('syntax');
      expect(problemOf(whole)).toBe(null);
    }
    expect(problemOf(`${whole}x` as ByteLine)).toBe('syntax');
  }
  expect(problemOf('' as ByteLine)).toBe('syntax');
});

test('[EN3] nesting has a limit and does not reach the stack', () => {
  const nested = (levels: number) => lineOf(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
  expect(problemOf(nested(DEPTH_MAX - 1))).toBe(null);
  expect(problemOf(nested(DEPTH_MAX))).toBe('too-deep');
  expect(problemOf('{"a":'.repeat(1_000_000) as ByteLine)).toBe('too-deep');
  expect(problemOf('['.repeat(1_000_000) as ByteLine)).toBe('too-deep');
});

test('[EN4] a routing key that is there twice, in whatever spelling, is refused', () => {
  const escaped = (key: string, which: number) =>
    [...key].map((char, i) => ((which >> i) & 1 ? escapeAll(char) : char)).join('');
  const mask = fc.nat(1023);
  fc.assert(
    fc.property(fc.constantFrom(...ROUTING), mask, mask, anything, (key, one, two, value) => {
      const json = JSON.stringify(value);
      const twice = `{"${escaped(key, one)}":${json},"other":1,"${escaped(key, two)}":${json}}`;
      expect(problemOf(lineOf(twice))).toBe('duplicate');
      const nested = `{"${escaped(key, one)}":1,"params":{"${key}":1,"${key}":2}}`;
      expect(problemOf(lineOf(nested))).toBe(null);
    }),
  );
  for (const key of ROUTING)
    expect(problemOf(lineOf(`{"${escapeAll(key)}":1,"${key}":1}`))).toBe('duplicate');
  expect(problemOf(lineOf('{"other":1,"other":2,"\\\\u0069d":1,"id":2,"Id":3}'))).toBe(null);
  const params = '{"method":"m","params":1,"params":[2]}';
  expect(readParams(envelopeOf(params))).toEqual([2]);
});

test('[EN2] fields are extracted as the reference kernel does', () => {
  const all = '{"jsonrpc":"2.0","id":"r1","method":"m","sessionId":"s","pool":"p","agentId":"a"}';
  expect(envelopeOf(all)).toMatchObject({
    kind: 'request',
    id: '"r1"',
    method: 'm',
    sessionId: 's',
    pool: 'p',
    agentId: 'a',
    hasResult: false,
    hasError: false,
  });
  for (const id of ['42', '1.5', '-7', '0', 'true', 'null', '1e400', '123456789012345678901'])
    expect(envelopeOf(`{"id":${id},"method":"m"}`)).toMatchObject({ kind: 'request', id });
  expect(envelopeOf('{"method":"m"}')).toMatchObject({
    kind: 'notification',
    id: null,
    pool: null,
  });
  expect(envelopeOf('{"id":1,"result":null}')).toMatchObject({ kind: 'response', hasResult: true });
  expect(envelopeOf('{"id":1,"error":{}}')).toMatchObject({ kind: 'response', hasError: true });
  for (const broken of ['"id":1', '{"id":"x', '{"id":1', '{"id":1}}', 'hello', '{"id":1} x'])
    expect(problemOf(lineOf(broken))).toBe('syntax');
  expect(envelopeOf('{"id":"a\\"b\\u0041","method":"m"}').id).toBe('"a\\"b\\u0041"');
  const nested = '{"params":{"id":9,"method":"x","sessionId":"y","a":[{"result":1}]},"method":"m"}';
  expect(envelopeOf(nested)).toMatchObject({ kind: 'notification', sessionId: null, method: 'm' });
  expect(envelopeOf(' {\t"id" : 1 , "method" : "m" } \r')).toMatchObject({ id: '1', method: 'm' });
  expect(envelopeOf('{"id":"","method":"","sessionId":""}')).toMatchObject({
    kind: 'request',
    id: '""',
    method: '',
    sessionId: '',
  });
  expect(envelopeOf('{"sessionId":5,"method":["m"],"pool":null,"agentId":{}}')).toMatchObject({
    kind: 'invalid',
    method: null,
    sessionId: null,
    pool: null,
    agentId: null,
  });
  expect(envelopeOf('{"method":"m","pool":null,"sessionId":"s"}').mistyped).toBe(null);
  for (const key of ['pool', 'sessionId', 'agentId']) {
    for (const value of ['5', '{}', '[]', 'true', 'false'])
      expect(envelopeOf(`{"method":"m","${key}":${value}}`).mistyped).toBe(key);
  }
  for (const text of ['é', '日本語', '😀', '\\u00e9', '\\ud83d\\ude00', 'a\\/b', '\\\\', '\u007f'])
    expect(envelopeOf(`{"method":"m","sessionId":"${text}"}`).sessionId).toBe(
      JSON.parse(`"${text}"`),
    );
});

test('[EN2] what is neither question nor answer, or both, or has an id of a wrong type, is invalid', () => {
  for (const text of [
    '{}',
    '{"id":1}',
    '{"result":1}',
    '{"id":{},"method":"m"}',
    '{"id":[1],"result":1}',
    '{"id":1,"method":"m","result":1}',
    '{"method":"m","error":null}',
  ])
    expect([text, envelopeOf(text).kind]).toEqual([text, 'invalid']);
  expect(problemOf(lineOf('"text"'))).toBe('not-an-object');
  expect(problemOf(lineOf(' null '))).toBe('not-an-object');
});

test('[EN5] a batch is cut into the very lines it holds', () => {
  const elements = fc.array(fc.tuple(fc.oneof(rpc, fc.jsonValue()), fc.nat()));
  fc.assert(
    fc.property(elements, (made) => {
      const lines = made.map(([value, seed]) => lineOf(spell(value, seed)));
      const found = scan(` [${lines.join(',')}] ` as ByteLine);
      expect(found).toEqual({
        kind: 'batch',
        batch: lines.map((line) => line.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')),
      });
    }),
  );
  expect(problemOf(lineOf(`[${'1,'.repeat(BATCH_MAX - 1)}1]`))).toBe(null);
  expect(problemOf(lineOf(`[${'1,'.repeat(BATCH_MAX)}1]`))).toBe('batch-too-long');
  expect(problemOf(lineOf('[{}] {}'))).toBe('syntax');
});

test('[EN6] id and _ext are replaced or put in, and nothing else changes', () => {
  const extension = fc.dictionary(word, anything);
  fc.assert(
    fc.property(spelled, extension, fc.option(word), fc.boolean(), (text, ext, id, hasExt) => {
      const line = lineOf(text);
      const found = envelopeOf(text);
      const idText = id === null ? null : lineOf(JSON.stringify(id));
      const extJson = hasExt ? lineOf(JSON.stringify(ext)) : null;
      const expected = {
        ...JSON.parse(text),
        ...(id === null ? {} : { id }),
        ...(hasExt ? { _ext: JSON.parse(JSON.stringify(ext)) } : {}),
      };
      const written = rewrite(found, idText, extJson);
      expect(JSON.parse(textOf(written))).toEqual(expected);
      expect(problemOf(written)).toBe(null);
      if (idText !== null && extJson === null) expect(withId(found, idText)).toBe(written);
      if (idText === null && extJson === null) expect(written).toBe(line);
    }),
    { numRuns: 1000 },
  );
  for (const text of ['{}', ' { } '])
    expect(JSON.parse(rewrite(envelopeOf(text), '1', '{}'))).toEqual({
      id: 1,
      _ext: {},
    });
});

test('[EN1] any byte at any place of a long string is taken or refused as JSON.parse does', () => {
  const length = 72;
  const wrong: string[] = [];
  for (const before of ['', 'k', 'ke', 'key']) {
    for (let at = 0; at < length; at++) {
      for (let byte = 0; byte < 256; byte++) {
        const chars = 'x'.repeat(at) + String.fromCharCode(byte) + 'x'.repeat(length - at);
        const text = `{"${before}":"${chars}"}`;
        const isTaken = problemOf(text as ByteLine) === null;
        if (isTaken !== (parse(text) !== null)) wrong.push(`${byte} at ${at} behind "${before}"`);
      }
    }
  }
  expect(wrong).toEqual([]);
});

test('[EN1] lines of any length are read alike, the longest between short ones', () => {
  for (const bytes of [60, 65_500, 65_536, 200_000, 1_048_560, 3_000_000, 100, 70_000]) {
    const filler = 'y'.repeat(bytes);
    expect(envelopeOf(`{"id":1,"method":"m","params":{"x":"${filler}"}}`).method).toBe('m');
    expect(problemOf(lineOf(`{"id":1,"method":"m","params":"${filler}\t"}`))).toBe('syntax');
    expect(problemOf(lineOf(`{"id":1,"method":"m","params":"${filler}`))).toBe('syntax');
  }
});
