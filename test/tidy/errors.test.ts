/**
 * docs/ERRORS.md explains every code there is, and no code that is not. Where codes are values
 * they are imported; where they are only types they are read from the source.
 */
import { expect, test } from 'vitest';
import { BUS_ERRORS } from '../../src/bus/router/errors.ts';
import { EXITS } from '../../src/cli/failure.ts';
import { REFUSALS } from '../../src/wire/errors.ts';
import { listFiles, readText, tableRows } from './repository.ts';

const page = readText('docs/ERRORS.md');

function explained(heading: string): string[] {
  const section = page.split('\n## ').find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return tableRows(section, 4).flatMap(([code = '']) => /^`(.+)`$/.exec(code)?.[1] ?? []);
}

/** The string literals of a type, from its `=` to its end. */
function literalsOf(path: string, declaration: RegExp): string[] {
  const [, text = ''] = declaration.exec(readText(path)) ?? [];
  return [...text.matchAll(/'([^']+)'/g)].map(([, literal]) => literal as string);
}

function unionOf(path: string, name: string): string[] {
  return literalsOf(path, new RegExp(`export type ${name} =([^;]+);`));
}

const logCodes = unionOf('src/log/log.ts', 'LogErrorCode');
const configCodes = literalsOf('src/server/run/config.ts', /readonly code: ([^;]+);/);
const guardCodes = [
  ...readText('src/server/doors/origin-check.ts').matchAll(/\bturned\(\s*\d+,\s*'([^']+)'/g),
].map(([, code]) => code as string);
const nodeCodes = [...readText('bin/synod.js').matchAll(/\b(node\.[a-z-]+):/g)].map(
  ([, code]) => code as string,
);

const SOURCES: readonly (readonly [heading: string, codes: readonly string[]])[] = [
  ['Refusals', Object.keys(REFUSALS)],
  ['Turned away at the door', guardCodes],
  ['Failures of the store', logCodes],
  ['Configuration', configCodes],
  [
    'Plugins at start-up',
    [
      ...unionOf('src/server/plugins/startup-error.ts', 'StartupErrorCode'),
      ...literalsOf('src/server/plugins/registry.ts', /readonly code = ([^;]+);/),
    ],
  ],
  ['The client', unionOf('src/client/error.ts', 'ClientErrorCode')],
  [
    'The command line',
    [
      ...Object.keys(EXITS).filter(
        (code) => !logCodes.includes(code) && !configCodes.includes(code),
      ),
      ...nodeCodes,
    ],
  ],
  ['The bus', Object.keys(BUS_ERRORS)],
  [
    'Programs and agents of builders',
    [
      ...unionOf('src/flow/process/supervisor-options.ts', 'SupervisorErrorCode'),
      ...unionOf('src/flow/process/client/agent-client.ts', 'AgentClientErrorCode'),
    ],
  ],
  ['Git and files on disk', unionOf('src/place/problem.ts', 'ProblemCode')],
];

test.each(SOURCES)('%s: explained are exactly the codes there are', (heading, codes) => {
  expect(codes.length).toBeGreaterThan(0);
  expect(explained(heading).toSorted()).toEqual([...new Set(codes)].sort());
});

test('each refusal has a JSON-RPC code of its own', () => {
  const codes = Object.entries(REFUSALS).map(([name, { rpc }]) => [rpc, name] as const);
  const shared = codes.filter(([rpc, name]) =>
    codes.some(([other, by]) => other === rpc && by !== name),
  );
  expect(shared.filter(([rpc]) => rpc < -32_000 || rpc > -30_000).sort()).toEqual([]);
});

test('the close codes explained are those the doors use', () => {
  const doors = listFiles('src/server/doors', '.ts').map(readText).join('\n');
  // 1009 is sent by the WebSocket library itself, for a frame over its maxPayload.
  const used = [...doors.matchAll(/close\((\d{4}),|\b(40\d\d)\b(?=[,;)])/g)].map(
    ([, direct, named]) => (direct ?? named) as string,
  );
  expect(explained('A connection that ends').toSorted()).toEqual(
    [...new Set([...used, '1009'])].sort(),
  );
});

test('every explanation says what to do', () => {
  const rows = tableRows(page, 4).filter(([code]) => code?.startsWith('`'));
  expect(rows.filter((cells) => cells.some((cell) => cell === ''))).toEqual([]);
});
