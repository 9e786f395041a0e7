import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { addToJson, type JsonAdded, takeFromJson } from './json-edit.ts';
import type { Json, JsonPiece } from './piece.ts';
import { isFault, type TextFault } from './problem.ts';

const SERVER: JsonPiece = {
  kind: 'member',
  at: ['mcpServers', 'synod'],
  value: { command: 'synod', args: ['mcp'] },
};
const HOOK: JsonPiece = {
  kind: 'item',
  at: ['hooks', 'Stop'],
  value: { hooks: [{ type: 'command', command: 'ours' }] },
  command: 'ours',
};
const ALLOW: JsonPiece = { kind: 'item', at: ['permissions', 'allow'], value: 'mcp__synod__*' };
const PIECES = [SERVER, HOOK, ALLOW];

function must(result: JsonAdded | TextFault): JsonAdded {
  if (isFault(result)) throw new Error(`${result.line}:${result.column} ${result.message}`);
  return result;
}

function roundTrip(text: string, pieces: readonly JsonPiece[] = PIECES): string | TextFault {
  const { text: written, added, containers } = must(addToJson(text, pieces));
  return takeFromJson(written, added, containers);
}

test('[IN4] an entry goes last, in the manner of the file, and comments keep their place', () => {
  const text = `{
\t// the servers
\t"mcpServers": {
\t\t"other": { "command": "x" } // mine
\t},
\t"permissions": { "allow": ["Bash(ls)"], "deny": [] }
}
`;
  expect(must(addToJson(text, [SERVER, ALLOW])).text).toBe(`{
\t// the servers
\t"mcpServers": {
\t\t"other": { "command": "x" }, // mine
\t\t"synod": {
\t\t\t"command": "synod",
\t\t\t"args": [
\t\t\t\t"mcp"
\t\t\t]
\t\t}
\t},
\t"permissions": { "allow": ["Bash(ls)", "mcp__synod__*"], "deny": [] }
}
`);
});

test.each([
  ['one line', '{"a":1,"mcpServers":{"x":{}},"permissions":{"allow":["a","b"]}}'],
  ['trailing commas', '{\n  "mcpServers": {\n    "x": {},\n  },\n  "hooks": {"Stop": [1,],},\n}\n'],
  ['carriage returns', '{\r\n    "a": [\r\n        1\r\n    ]\r\n}\r\n'],
  ['no last newline', '{\n  "mcpServers": { "x": 1 }\n}'],
  ['nothing in it', '{}'],
  ['comments only', '{\n  // nothing yet\n}\n'],
  ['a comment at the end', '{\n  "a": 1 /* one */ // two\n  /* three */\n}\n'],
  [
    'a comment between',
    '{\n  "permissions": { "allow": [\n    "a", // first\n    "b" // last\n  ] }\n}\n',
  ],
  ['brackets on the line of a value', '{ "a": 1,\n  "permissions": { "allow": [ "x",\n "y" ] } }'],
])('[IN2] what was put in is taken out again, byte for byte: %s', (_, text) => {
  const written = must(addToJson(text, PIECES));
  expect(parse(written.text)).toMatchObject({ mcpServers: { synod: SERVER.value } });
  expect(written.added).toEqual(PIECES);
  expect(roundTrip(text)).toBe(text);
});

test('[IN2] what others added around ours since stays, wherever they put it', () => {
  const text = '{\n  "permissions": {\n    "allow": [\n      "a"\n    ]\n  }\n}\n';
  const { text: written, added, containers } = must(addToJson(text, PIECES));
  const edited = written
    .replace('"mcp__synod__*"', '"before",\n      "mcp__synod__*",\n      "after"')
    .replace('"synod": {', '"mine": {},\n    "synod": {');
  expect(edited).not.toBe(written);
  const rest = takeFromJson(edited, added, containers) as string;
  expect(parse(rest)).toEqual({
    permissions: { allow: ['a', 'before', 'after'] },
    mcpServers: { mine: {} },
  });
});

test('[IN2] a handler that somebody put into our group of hooks stays, and ours goes', () => {
  const { text, added, containers } = must(addToJson('{}', [HOOK]));
  const edited = text.replace(
    '[\n          {',
    '[\n          { "command": "theirs" },\n          {',
  );
  expect(parse(edited).hooks.Stop[0].hooks).toHaveLength(2);
  const rest = takeFromJson(edited, added, containers) as string;
  expect(parse(rest)).toEqual({ hooks: { Stop: [{ hooks: [{ command: 'theirs' }] }] } });
});

test('[IN4] what is there already is not put in twice, nor is a name that is taken', () => {
  const text = JSON.stringify({
    permissions: { allow: ['mcp__synod__*'] },
    mcpServers: { synod: {} },
  });
  const result = must(addToJson(text, [SERVER, ALLOW]));
  expect(result).toMatchObject({ text, added: [], taken: [SERVER], containers: [] });
});

test.each([
  ['{\n  "a": 1,\n  "b" 2\n}', 'broken', 3, 7],
  ['{ "a": 1', 'broken', 1, 9],
  ['[]', 'odd-shape', 1, 1],
  ['{\n "mcpServers": []\n}', 'odd-shape', 2, 16],
  ['{\n "mcpServers": null\n}', 'odd-shape', 2, 16],
  ['{\n "permissions": { "allow": {} }\n}', 'odd-shape', 2, 28],
  ['{ "hooks": {},\n  "hooks": {} }', 'odd-shape', 2, 3],
])('[IN10] %j is left alone, and its fault is located', (text, fault, line, column) => {
  expect(addToJson(text, PIECES)).toMatchObject({ fault, line, column });
});

/** JSON as people write it: any indentation, line ending, comments and trailing commas. */
const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.integer(),
    fc.constantFrom(null, true, 'mcp__synod__*', '// no comment', '},'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'synod', 'hooks', '"', '\\'), tie('value'), {
      maxKeys: 3,
    }),
  ),
})).value;

const config = fc
  .record(
    {
      before: value,
      mcpServers: fc.dictionary(fc.constantFrom('x', 'y'), value, { minKeys: 1, maxKeys: 2 }),
      hooks: fc.record(
        { Stop: fc.array(value, { minLength: 1, maxLength: 2 }), Start: value },
        { requiredKeys: [] },
      ),
      permissions: fc.record(
        { allow: fc.array(fc.string(), { minLength: 1, maxLength: 3 }), deny: value },
        { requiredKeys: [] },
      ),
      after: value,
    },
    { requiredKeys: [] },
  )
  .filter((made) => !('hooks' in made && Object.keys(made.hooks ?? {}).length === 0))
  .filter((made) => !('permissions' in made && Object.keys(made.permissions ?? {}).length === 0));

const manner = fc.record({
  indent: fc.constantFrom('', '  ', '\t', '    '),
  eol: fc.constantFrom('\n', '\r\n'),
  comments: fc.boolean(),
  trailing: fc.boolean(),
  end: fc.constantFrom('', '\n', '\r\n', '\n\n'),
});

function write(
  made: object,
  { indent, eol, comments, trailing, end }: Record<string, unknown>,
): string {
  let lines = JSON.stringify(made, null, indent as string).split('\n');
  if (indent !== '') {
    if (trailing)
      lines = lines.map((line, i) =>
        /^\s*[}\]]/.test(lines[i + 1] ?? '') && !/[{[]$/.test(line) ? `${line},` : line,
      );
    if (comments)
      lines = lines.map((line, i) => (i % 2 === 0 ? `${line} // ${i}` : `${line} /* , } */`));
  }
  return lines.join(eol as string) + end;
}

test('[IN2] for any configuration, taking out undoes putting in, and nothing else is lost', () => {
  fc.assert(
    fc.property(config, manner, (made, how) => {
      const text = write(made, how);
      const { text: written } = must(addToJson(text, PIECES));
      const is = parse(written);
      expect(is.mcpServers.synod).toEqual(SERVER.value);
      expect(is.hooks.Stop).toContainEqual(HOOK.value);
      expect(is.permissions.allow).toContain('mcp__synod__*');
      expect(roundTrip(text)).toBe(text);
    }),
    { numRuns: 1000 },
  );
});
