/**
 * Goal: a command of one question is over at once. Most of it is start-up, so what it loads is counted:
 * none of what only a hub needs, and nothing that Node brings along unasked.
 * Method: each command is run against a real hub with a module before it that notes what is loaded.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIN, CHECKOUT_BIN } from '../program.ts';
import { openHome } from './cli-run.ts';

const MODULES_MAX = 60;
const NOTE = `
import { registerHooks } from 'node:module';
import { writeFileSync } from 'node:fs';
const files = [];
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) files.push(url);
    return next(url, context);
  },
});
process.on('exit', () => {
  const builtins = process.moduleLoadList.map((name) => name.replace(/^\\S+ /, ''));
  writeFileSync(process.env.NOTED, JSON.stringify({ files, builtins }));
});
`;

interface Loaded {
  readonly files: readonly string[];
  readonly builtins: readonly string[];
}

const home = openHome();
const dir = mkdtempSync(join(tmpdir(), 'synod-start-'));
const note = join(dir, 'note.mjs');
beforeAll(async () => {
  writeFileSync(note, NOTE);
  await home.json(['up', '--port', '0']);
});
afterAll(async () => {
  await home.close();
  rmSync(dir, { recursive: true });
});

async function loadedBy(program: readonly string[]): Promise<Loaded> {
  const noted = join(dir, 'noted.json');
  const env = { PATH: process.env.PATH ?? '', HOME: dir, SYNOD_DIR: home.dir, NOTED: noted };
  await promisify(execFile)(process.execPath, ['--import', note, ...program], { env });
  return JSON.parse(readFileSync(noted, 'utf8'));
}

/** Node's `fetch`: an ES import of `node:http` is enough to load all of it. */
const FETCH = 'internal/deps/undici/undici';

/** The package, or what was bundled of it. */
const COMMANDER = /\/commander[/-]/;

test('the note tells what was loaded', async () => {
  const probe = join(dir, 'probe.mjs');
  writeFileSync(probe, "import 'node:http';");
  const { files, builtins } = await loadedBy([probe]);
  expect(files).toEqual([pathToFileURL(probe).href]);
  expect(builtins).toContain(FETCH);
});

test.each([
  ['--version'],
  ['status'],
  ['agents'],
  ['claims', '--as', 'ada'],
  ['send', 'team', 'hello', '--as', 'ada'],
  ['recv', '--as', 'ada'],
  ['whoami', '--as', 'ada'],
])('[CL37] [CL39] synod %s loads what it needs', async (...args) => {
  const { files, builtins } = await loadedBy([CHECKOUT_BIN, ...args]);
  expect(files.filter((url) => /node_modules\/(?!commander\/)/.test(url))).toEqual([]);
  const isPlain = args[0] !== '--version';
  expect(files.some((url) => COMMANDER.test(url))).toBe(!isPlain);
  expect(files.filter((url) => /src\/(hub|log|server\/(?!run\/version))/.test(url))).toEqual([]);
  expect(files.length).toBeLessThan(MODULES_MAX);
  expect(builtins).not.toContain(FETCH);
  const bundled = await loadedBy([BIN, ...args]);
  expect(bundled.files.length).toBeLessThan(MODULES_MAX);
  expect(bundled.builtins).not.toContain(FETCH);
  expect(bundled.files.some((url) => COMMANDER.test(url))).toBe(!isPlain);
});

test.each([BIN, CHECKOUT_BIN])(
  '[CL37] a hub asked for operations loads no fetch: %s',
  async (bin) => {
    const noted = join(dir, 'noted-hub.json');
    const where = ['--dir', join(dir, 'hub'), '--port', '0', '--auth', 'open', '--json'];
    const hub = spawn(process.execPath, ['--import', note, bin, 'serve', ...where], {
      env: { PATH: process.env.PATH ?? '', HOME: dir, NOTED: noted },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: hub.stdout }), 'line')) as [string];
    const { url } = JSON.parse(line) as { url: string };
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const headers = { 'x-sox-agent-id': 'ada', 'content-type': 'application/json' };
    const asked = await fetch(`${url}/v1/ops/whoami`, { method: 'POST', headers, body: '{}' });
    expect(asked.status).toBe(200);
    hub.kill('SIGTERM');
    await once(hub, 'exit');
    const { builtins } = JSON.parse(readFileSync(noted, 'utf8')) as Loaded;
    // From the sources a package brings TLS along.
    const unasked = bin === BIN ? [FETCH, 'tls', 'https', 'http2'] : [FETCH, 'http2'];
    for (const one of unasked) expect(builtins).not.toContain(one);
  },
);
