/**
 * Goal: what is published works where it is installed, without our sources.
 * Method: pack the package, unpack it into another project's node_modules, and run
 * the executable and the library entries from there.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allExamples } from '../tidy/flow-names.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'synod-package-'));
const modules = join(project, 'node_modules');
let files: string[] = [];
let tarball = '';

/** Whether it was built of what lies here now: an install builds, and then nothing is built again. */
function isNewest(built: string): boolean {
  const builtAt = statSync(join(ROOT, built), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const inputs = ['src/**/*', 'vite.program.config.ts', 'package.json', 'package-lock.json'];
  return globSync(inputs, { cwd: ROOT }).every(
    (path) => statSync(join(ROOT, path)).mtimeMs <= builtAt,
  );
}

beforeAll(() => {
  const run = (command: string, args: string[], cwd: string): string =>
    execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  run(process.execPath, [join(ROOT, 'node_modules/.bin/tsc'), '-b'], ROOT);
  const vite = join(ROOT, 'node_modules/.bin/vite');
  if (!isNewest('dist/program/hub.js')) {
    run(process.execPath, [vite, 'build', '--config', 'vite.program.config.ts'], ROOT);
  }
  const packed = run(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', project],
    ROOT,
  );
  const parsed = JSON.parse(packed) as unknown;
  const [report] = (Array.isArray(parsed) ? parsed : Object.values(parsed as object)) as [
    { filename: string; files: { path: string }[] },
  ];
  files = report.files.map(({ path }) => path);
  tarball = join(project, report.filename);
  run('mkdir', ['-p', join(modules, 'synod')], project);
  run(
    'tar',
    ['xzf', report.filename, '--strip-components=1', '-C', join(modules, 'synod')],
    project,
  );
  // Its dependencies, as an installer would lay them beside it.
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '.bin' && name !== '.cache') {
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
    }
  }
}, 120_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

test('[RE1] the package carries what it needs and none of our sources or tests', () => {
  expect(files).toContain('bin/synod.js');
  expect(files).toContain('dist/program/main.js');
  expect(files).toContain('dist/program/hub.js');
  expect(files).toContain('dist/program/mcp.js');
  expect(files).toContain('dist/program/LICENSES.md');
  expect(files).toContain('dist/client/index.d.ts');
  expect(files).toContain('LICENSE');
  expect(files.filter((path) => /^(src|test|bench|dist\/test)\//.test(path))).toEqual([]);
  expect(files.filter((path) => /\.test\./.test(path))).toEqual([]);
});

test('[RE2] each executable is a program of Node: npm has nothing on Windows that starts a shell script', () => {
  const { bin } = JSON.parse(readFileSync(join(modules, 'synod/package.json'), 'utf8'));
  expect(Object.keys(bin)).toContain('synod');
  for (const path of Object.values(bin) as string[]) {
    const [first] = readFileSync(join(modules, 'synod', path), 'utf8').split('\n');
    expect([path, first]).toEqual([path, '#!/usr/bin/env node']);
  }
});

test('[RE2] the installed executable and library talk to each other', () => {
  const program = join(project, 'two-agents.mjs');
  writeFileSync(
    program,
    `import { connect } from 'synod';
     import { parseConfig, startServer } from 'synod/server';
     const config = parseConfig({ flags: { port: '0', dir: process.argv[2], auth: 'open' }, env: {}, home: '/', cwd: '/' });
     const server = await startServer(config);
     const ada = await connect({ url: server.url, agent: 'ada' });
     const bob = await connect({ url: server.url, agent: 'bob' });
     await ada.subscribeTo('team/*');
     await bob.send('team/plan', { text: 'from the package' });
     const { messages } = await ada.recv();
     console.log(JSON.stringify(messages.map(({ sender, body }) => [sender, body.text])));
     await ada.close(); await bob.close(); await server.close();`,
  );
  const out = execFileSync(process.execPath, [program, join(project, 'data')], {
    encoding: 'utf8',
  });
  expect(JSON.parse(out)).toEqual([['bob', 'from the package']]);
  const version = execFileSync(
    process.execPath,
    [join(modules, 'synod/bin/synod.js'), '--version'],
    {
      encoding: 'utf8',
    },
  );
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
});

test('[RE2] the installed program finds its threads, its bridge, its page and its packages', async () => {
  const dir = join(project, 'hub');
  const env = { PATH: process.env.PATH ?? '', HOME: project, SYNOD_DIR: dir, SYNOD_AGENT: 'ada' };
  const bin = join(modules, 'synod/bin/synod.js');
  const synod = (args: string[], input = '') =>
    execFileSync(process.execPath, [bin, ...args], { encoding: 'utf8', env, input });
  const { url } = JSON.parse(synod(['up', '--port', '0', '--metrics', '--json']));
  try {
    synod(['send', 'team/plan', 'the parser is done']);
    expect(synod(['search', 'parser'])).toContain('the parser is done');
    const owner = readFileSync(join(dir, 'credential'), 'utf8').trim();
    const headers = { authorization: `Bearer ${owner}` };
    expect(await (await fetch(`${url}/metrics`, { headers })).text()).toContain('# TYPE');
    expect((await fetch(url)).status).toBe(200);
    const opening = {
      ...{ protocolVersion: '2025-06-18', capabilities: {} },
      clientInfo: { name: 'package', version: '1.0.0' },
    };
    const asked = { jsonrpc: '2.0', id: 1, method: 'initialize', params: opening };
    expect(synod(['mcp'], `${JSON.stringify(asked)}\n`)).toContain('"serverInfo"');
  } finally {
    synod(['down']);
  }
  expect(synod(['log', 'verify'])).toContain('ok');
});

test('[RE2] an upgrade from the package says what another one is, and installs nothing unasked', () => {
  const upgrade = (from: string) =>
    spawnSync(
      process.execPath,
      [join(modules, 'synod/bin/synod.js'), 'upgrade', '--user', '--package', from],
      { encoding: 'utf8', cwd: project, env: { PATH: process.env.PATH, HOME: project } },
    );
  const { status, stderr } = upgrade(tarball);
  expect(stderr).toMatch(/synod \d+\.\d+\.\d+ from .*\.tgz\n\s+sha512-/);
  expect([status, stderr]).toEqual([2, expect.stringContaining('nobody is here to be asked')]);
  expect(upgrade(join(project, 'no-such.tgz')).stderr).toContain('there is no Synod to be had');
});

test('[RE3] the public types and their examples hold for the packed declarations, and a looser one is noticed', () => {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: 'es2024', module: 'nodenext', skipLibCheck: true },
    ...{ lib: ['ES2024', 'ESNext.Disposable', 'DOM', 'DOM.AsyncIterable'], types: ['node'] },
    exactOptionalPropertyTypes: true,
  };
  const file = 'public-types.test.ts';
  copyFileSync(join(ROOT, 'test/types', file), join(project, file));
  writeFileSync(join(project, 'flow-examples.ts'), allExamples());
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  const compile = (files: readonly string[]): string => {
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const args = [join(ROOT, 'node_modules/.bin/tsc'), '-p', '.'];
    const { stdout } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
    // An example calls functions of its reader, which nobody has declared.
    const own = /^flow-examples\.ts\S+ error TS(?:2304|2552|2593|18004|7006|7031):.*\n(?: .*\n)*/gm;
    return stdout.replaceAll(own, '');
  };
  expect(compile([file, 'flow-examples.ts'])).toBe('');
  const declarations = join(modules, 'synod/dist/client/operations.d.ts');
  const exact = readFileSync(declarations, 'utf8');
  const output = /export type CallOutput<Id extends CallId> = [^;]+;/;
  expect(exact).toMatch(output);
  writeFileSync(
    declarations,
    exact.replace(output, 'export type CallOutput<Id extends CallId> = any;'),
  );
  expect(compile([file])).toMatch(/^public-types\.test\.ts\(\d+,\d+\): error TS/m);
});
