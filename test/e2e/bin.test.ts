/** The executable under a Node that is too old, and with the built files in place of the sources. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BIN } from './cli-run.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'synod-bin-'));
  mkdirSync(join(root, 'bin'));
  mkdirSync(join(root, 'dist', 'program'), { recursive: true });
  for (const name of ['synod', 'synod.js'])
    cpSync(join(dirname(BIN), name), join(root, 'bin', name));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  // Pretends to be an old Node; only for the process it is loaded into.
  writeFileSync(
    join(root, 'old.js'),
    "Object.defineProperty(process, 'version', { value: 'v18.20.1' });",
  );
});
const PROGRAMS = ['main.js', 'hub.js', 'mcp.js'];
afterEach(() => rmSync(root, { recursive: true }));

function writeMain(source: string): void {
  for (const name of PROGRAMS) writeFileSync(join(root, 'dist', 'program', name), source);
}

function start(args: readonly string[], isOld: boolean): ChildProcess {
  const preload = isOld ? ['--import', join(root, 'old.js')] : [];
  return spawn(process.execPath, [...preload, join(root, 'bin', 'synod.js'), ...args], {
    env: { HOME: root, PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function finish(
  child: ChildProcess,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('no pipes');
  const [said, complained, [code]] = await Promise.all([
    readText(stdout),
    readText(stderr),
    once(child, 'close'),
  ]);
  return { code, stdout: said, stderr: complained };
}

test('[CL6] an old Node is told what is needed and how to get it', async () => {
  const { code, stdout, stderr } = await finish(start(['send'], true));
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^node\.too-old: synod needs Node 24 or newer, and this is v18\.20\.1\./);
  expect(stderr).toContain('npm install');
  // Only a package that is there: the name of ours on the registry may be anybody's.
  expect(stderr).not.toMatch(/-p synod|install -g synod/);
});

test('[CL6] an old Node hands over to the checkout’s own, and its exit code comes back', async () => {
  bundleNode();
  writeMain(
    'export function main(args) { console.log(args.join(), process.version); process.exitCode = 7; }',
  );
  const { code, stdout } = await finish(start(['a', '--b'], true));
  expect(code).toBe(7);
  expect(stdout).toBe(`a,--b ${process.version}\n`);
});

/** `synod` as a shell finds it, where the first `node` on the path says what it was asked. */
function typed(program: string): ChildProcess {
  const folder = join(root, 'elsewhere');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'node'), '#!/bin/sh\necho "old: $*"\n');
  chmodSync(join(folder, 'node'), 0o755);
  const env = { HOME: root, PATH: `${folder}:${process.env.PATH}` };
  return spawn(program, ['a', 'b c'], { env, cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
}

test('[CL6] typed in a shell, the checkout’s own Node is its process, whatever is on the path', async () => {
  bundleNode();
  writeMain(
    'export function main(args) { console.log(args.join(), process.ppid); process.exitCode = 7; }',
  );
  mkdirSync(join(root, 'links'));
  symlinkSync('../bin/synod', join(root, 'links', 'near'));
  symlinkSync(join(root, 'links', 'near'), join(root, 'far'));
  for (const program of [join(root, 'bin', 'synod'), 'bin/synod', join(root, 'far'), './far']) {
    const said = { code: 7, stdout: `a,b c ${process.pid}\n`, stderr: '' };
    expect(await finish(typed(program)), program).toEqual(said);
  }
});

test('[CL6] typed where no Node was installed with it, the one on the path is asked', async () => {
  const { code, stdout } = await finish(typed(join(root, 'bin', 'synod')));
  expect({ code, stdout }).toEqual({ code: 0, stdout: `old: ${root}/bin/synod.js a b c\n` });
});

test('[CL6] signals reach the Node that was handed over to', async () => {
  bundleNode();
  writeMain(`export function main() {
    process.on('SIGTERM', () => process.exit(9));
    setInterval(() => {}, 1000);
    console.log('here');
  }`);
  const child = start([], true);
  if (child.stdout === null) throw new Error('no pipe');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([9, null]);
});

test('without sources the built files run', async () => {
  writeMain("export function main(args) { console.log('built', ...args); }");
  expect(await finish(start(['x'], false))).toEqual({ code: 0, stdout: 'built x\n', stderr: '' });
});

test('[CL6] a hub is run from one file, an agent’s bridge from another, and commands from a third', async () => {
  for (const name of PROGRAMS) {
    const source = `export function main() { console.log('${name}'); }`;
    writeFileSync(join(root, 'dist', 'program', name), source);
  }
  const said = async (...args: string[]) => (await finish(start(args, false))).stdout;
  expect([await said(), await said('serve', '--json')]).toEqual(['hub.js\n', 'hub.js\n']);
  expect(await said('mcp', '--as', 'ada')).toBe('mcp.js\n');
  expect(await said('constructor')).toBe('main.js\n');
  expect([await said('send', 'serve'), await said('--json')]).toEqual(['main.js\n', 'main.js\n']);
});

test('[CL6] in a checkout the built files run until a source is changed, added or taken away', async () => {
  const cli = join(root, 'src', 'cli');
  mkdirSync(cli, { recursive: true });
  const [main, other] = [join(cli, 'main.ts'), join(cli, 'other.ts')];
  writeFileSync(main, "export function main() { console.log('sources'); }");
  writeFileSync(other, '');
  writeMain("export function main() { console.log('built'); }");
  const files = ['cli/main.ts', 'cli/other.ts'];
  writeFileSync(
    join(root, 'dist', 'program', 'sources.json'),
    JSON.stringify({ folders: ['', 'cli'], files, commands: { short: [0], serve: [0, 1] } }),
  );
  const [before, built, after] = [1, 2, 3].map((minute) => new Date(minute * 60_000)) as [
    Date,
    Date,
    Date,
  ];
  /** As a build leaves it: everything older than the program. */
  const settle = () => {
    for (const path of [main, other, cli, join(root, 'src')]) utimesSync(path, before, before);
    for (const name of PROGRAMS) utimesSync(join(root, 'dist', 'program', name), built, built);
  };
  const said = async (...args: string[]) => (await finish(start(args, false))).stdout;
  settle();
  expect(await said()).toBe('built\n');
  expect(await said('constructor')).toBe('built\n');
  utimesSync(other, after, after);
  expect(await said()).toBe('sources\n');
  expect(await said('serve')).toBe('sources\n');
  // What a command is not made of does not make it older.
  expect(await said('short')).toBe('built\n');
  utimesSync(main, after, after);
  expect(await said('short')).toBe('sources\n');
  settle();
  writeFileSync(join(cli, 'more.test.ts'), '');
  utimesSync(cli, before, before);
  expect(await said()).toBe('built\n');
  writeFileSync(join(cli, 'added.ts'), '');
  expect(await said('short')).toBe('sources\n');
  settle();
  rmSync(other);
  expect(await said()).toBe('sources\n');
  expect(await said('short')).toBe('sources\n');
  rmSync(join(root, 'dist', 'program', 'sources.json'));
  expect(await said()).toBe('sources\n');
});

test('[CL37] a checkout keeps its compiled code beside its packages, a package in the user’s cache', async () => {
  const main =
    "export async function main() { console.log(await import('node:module').then((m) => m.getCompileCacheDir())); }";
  writeMain(main);
  const built = await finish(start([], false));
  expect(built.stdout).toMatch(new RegExp(`^${join(root, '.cache', 'synod', 'compiled')}/`));
  mkdirSync(join(root, 'src', 'cli'), { recursive: true });
  writeFileSync(join(root, 'src', 'cli', 'main.ts'), main);
  const inCheckout = await finish(start([], false));
  const beside = join(root, 'node_modules', '.cache', 'synod', 'compiled');
  expect(inCheckout.stdout).toMatch(new RegExp(`^${beside}/`));
});

test('[CL6] the executable is written so that Node 12 can read it', () => {
  const source = readFileSync(BIN, 'utf8').replace(/\/\*[\s\S]*?\*\//, '');
  expect(source).not.toMatch(/\?\.[a-z[(]|\?\?|from 'node:|^await |\|\|=|#[a-z]+\b(?<!#!)/m);
});

function bundleNode(): void {
  mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(process.execPath, join(root, 'node_modules', '.bin', 'node'));
  mkdirSync(join(root, 'node_modules', 'node'));
  const version = process.version.slice(1);
  writeFileSync(join(root, 'node_modules', 'node', 'package.json'), JSON.stringify({ version }));
}
