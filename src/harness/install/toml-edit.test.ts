import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { expect, test } from 'vitest';
import type { TablePiece } from './piece.ts';
import { isFault, type TextFault } from './problem.ts';
import { addSection, sectionState, takeSection } from './section-edit.ts';
import { addToToml, type TomlAdded, takeFromToml } from './toml-edit.ts';

const TABLE: TablePiece = {
  kind: 'table',
  at: ['mcp_servers', 'synod'],
  lines: ['command = "synod"', 'args = ["mcp", "--harness", "codex"]'],
};

function must(result: TomlAdded | TextFault): TomlAdded {
  if (isFault(result)) throw new Error(`${result.line}:${result.column} ${result.message}`);
  return result;
}

const SAMPLE = `# my settings
model = "o9"   # the good one

[mcp_servers.other]
command = "x"
args = [
  "a",  # first
]

[projects."/srv/app"]
trust_level = "trusted"
`;

test('[IN4] a table goes to the end, set apart, with a remark that says whose it is', () => {
  const { text } = must(addToToml(SAMPLE, [TABLE]));
  expect(text.slice(SAMPLE.length)).toBe(`
# Written by "synod install"; "synod uninstall" takes it out.
[mcp_servers.synod]
command = "synod"
args = ["mcp", "--harness", "codex"]
`);
});

test.each([
  ['a usual file', SAMPLE],
  ['carriage returns', SAMPLE.replaceAll('\n', '\r\n')],
  ['nothing in it', ''],
  ['a table alone', '[a]\n'],
])('[IN2] what was put in is taken out again, byte for byte: %s', (_, text) => {
  const { text: written, added } = must(addToToml(text, [TABLE]));
  expect(parse(written)).toMatchObject({ mcp_servers: { synod: { command: 'synod' } } });
  expect(takeFromToml(written, added)).toBe(text);
});

test('[IN2] tables that Codex added since stay, and sub-tables of ours go', () => {
  const { text, added } = must(addToToml(SAMPLE, [TABLE]));
  const more = `[mcp_servers.synod.tools.x]\napproval_mode = "approve"\n\n# theirs\n[hooks.state."a:stop:0:0"]\ntrusted_hash = "1"\n`;
  expect(takeFromToml(`${text}${more}`, added)).toBe(
    `${SAMPLE}\n# theirs\n[hooks.state."a:stop:0:0"]\ntrusted_hash = "1"\n`,
  );
});

test('[IN2] a table that was rewritten in another form is found, or left with a reason', () => {
  const moved = `[mcp_servers."synod"] # ours\ncommand = "synod"\nargs = [\n  "mcp",\n]\n[a]\nb = 1\n`;
  expect(takeFromToml(moved, [TABLE])).toBe('[a]\nb = 1\n');
  const inline = `[mcp_servers]\nsynod = { command = "synod" }\n`;
  expect(takeFromToml(inline, [TABLE])).toMatchObject({ fault: 'odd-shape', line: 2 });
});

test('[IN2] a header inside a long string is no header', () => {
  const text = `note = """\n[mcp_servers.synod]\n"""\n`;
  const { text: written, added } = must(addToToml(text, [TABLE]));
  const rest = takeFromToml(written, added);
  // Better nothing at all than the wrong lines.
  if (isFault(rest)) expect(rest.fault).toBe('odd-shape');
  else expect(rest).toBe(text);
});

test.each([
  ['a = \n', 'broken', 1],
  ['[a]\nb = 1\nb = 2\n', 'broken', 3],
  ['x = 1\nmcp_servers = { other = { command = "x" } }\n', 'odd-shape', 2],
])('[IN10] %j is left alone, and its fault is located', (text, fault, line) => {
  expect(addToToml(text, [TABLE])).toMatchObject({ fault, line });
});

test.each([
  '[mcp_servers.synod]\ncommand = "mine"\n',
  'mcp_servers.synod.command = "mine"\n',
  '[mcp_servers]\nsynod = { command = "mine" }\n',
])('[IN4] a name that is taken stays with whoever has it: %j', (text) => {
  expect(must(addToToml(text, [TABLE]))).toMatchObject({ text, added: [], taken: [TABLE] });
});

const scalar = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant('[mcp_servers.synod]'),
);
const tables = fc.dictionary(
  fc.constantFrom('a', 'mcp_servers', 'projects', 'x.y'),
  fc.dictionary(
    fc.constantFrom('k', 'other', '/srv/app'),
    fc.oneof(scalar, fc.array(scalar), fc.record({ v: scalar })),
  ),
);

test('[IN2] for any TOML, taking out undoes putting in', () => {
  fc.assert(
    fc.property(
      tables,
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom('', '\n'),
      (made, eol, end) => {
        const text = (stringify(made) + end).replaceAll('\n', eol);
        const { text: written, added } = must(addToToml(text, [TABLE]));
        expect(parse(written)).toMatchObject({ mcp_servers: { synod: { command: 'synod' } } });
        // A last line without an end has got one, and keeps it.
        const ended = text === '' || text.endsWith('\n') ? text : text + eol;
        expect(takeFromToml(written, added)).toBe(ended);
      },
    ),
    { numRuns: 500 },
  );
});

const SECTION = { kind: 'section', mark: 'synod-x', text: '## Synod\n\nWords.\n' } as const;

test.each(['', '# Rules\n', '# Rules\r\n\r\nMore.\r\n', '\n', '# Rules\n\n\n'])(
  '[IN2] a section of Markdown comes and goes: %j',
  (text) => {
    const written = addSection(text, SECTION) as string;
    expect(sectionState(written, SECTION)).toBe('present');
    expect(sectionState(text, SECTION)).toBe('absent');
    expect(addSection(written, SECTION)).toBe(written);
    expect(takeSection(written, 'synod-x')).toBe(text);
    const after = takeSection(`${written}\n# Later\n`, 'synod-x') as string;
    expect(after).toBe(`${text}\n# Later\n`);
  },
);

test('[IN10] a section whose marks are no pair is left alone', () => {
  const written = addSection('# Rules\n', SECTION) as string;
  const half = written.replace('<!-- synod-x:end -->', '');
  expect(takeSection(half, 'synod-x')).toMatchObject({ fault: 'odd-shape', line: 3 });
  expect(takeSection(`${written}${written}`, 'synod-x')).toMatchObject({ fault: 'odd-shape' });
});

test('[IN2] a remark that somebody wrote behind our table stays', () => {
  const { text } = must(addToToml(SAMPLE, [TABLE]));
  const taken = takeFromToml(`${text}\n# a note of mine\n`, [TABLE]);
  expect(taken).toBe(`${SAMPLE}\n# a note of mine\n`);
  expect(takeFromToml(text, [TABLE])).toBe(SAMPLE);
});
