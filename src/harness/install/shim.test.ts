/** The scripts themselves, run by the shell, against a hub that is there, is not, or hangs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isSealed } from './seal.ts';
import {
  hookCommand,
  hookShim,
  hookShimPath,
  hookTimeoutSeconds,
  launcherPath,
  launcherScript,
  serverCommand,
} from './shim.ts';
import { createSite } from './world.ts';

let home: string;
let servers: Server[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'synod-shim-'));
  mkdirSync(join(home, '.synod/bin'), { recursive: true });
  script(hookShimPath(join(home, '.synod')), hookShim());
});
afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers = [];
  rmSync(home, { recursive: true, force: true });
});

function script(path: string, lines: string): void {
  writeFileSync(path, lines);
  chmodSync(path, 0o755);
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function shell(line: string, input = '', env: Record<string, string> = {}): Promise<Ran> {
  const child = spawn('sh', ['-c', line], {
    env: { PATH: process.env.PATH ?? '', HOME: home, ...env },
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null) await once(child, 'exit');
  return { code: child.exitCode, stdout, stderr };
}

interface Seen {
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A hub as far as a hook can see; null hangs for ever. */
async function hub(answer: string | null, { socket = true, status = 200 } = {}): Promise<Seen[]> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      seen.push({ url: request.url, headers: request.headers, body });
      if (answer !== null) response.writeHead(status).end(answer);
    });
  });
  servers.push(server);
  const path = socket ? join(home, '.synod/hub.sock') : null;
  server.listen(path === null ? { port: 0, host: '127.0.0.1' } : { path });
  await once(server, 'listening');
  const port = path === null ? (server.address() as AddressInfo).port : 8765;
  const file = { url: `http://127.0.0.1:${port}`, socket: path, pid: process.pid, since: 'now' };
  writeFileSync(join(home, '.synod/hub.json'), `${JSON.stringify(file)}\n`);
  writeFileSync(join(home, '.synod/credential'), 's3cret\n');
  return seen;
}

test('[IN9] the line of a hook hands input and answer through, and the harness stays its parent', async () => {
  const seen = await hub('{"decision":"block","reason":"é \\\\n"}');
  const input = `{"hook_event_name":"Stop","text":"${'ü'.repeat(70_000)}"}`;
  const ran = await shell(`${hookCommand('claude')}`, input);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(ran.stdout)).toEqual({ decision: 'block', reason: 'é \\n' });
  expect(seen).toEqual([expect.objectContaining({ url: '/v1/hooks/claude', body: input })]);
  // The shell that runs the line becomes the script, so this process is what it sees above it.
  expect(seen[0]?.headers['x-synod-parent']).toBe(String(process.pid));
  expect(seen[0]?.headers.authorization).toBeUndefined();
});

test('[PG1] a hook that waits for people says how long, and its harness gives it more', async () => {
  const seen = await hub('{"ok":1}');
  const line = hookCommand('codex', 30);
  expect(await shell(line, '{"a":1}')).toMatchObject({ code: 0, stdout: '{"ok":1}\n' });
  expect(seen).toEqual([expect.objectContaining({ url: '/v1/hooks/codex/gate', body: '{"a":1}' })]);
  expect(seen[0]?.headers['x-synod-wait']).toBe('30');
  expect(hookTimeoutSeconds(30)).toBeGreaterThan(32);
});

test('[CL3] without a socket the script shows nothing to the port, and Synod itself asks', async () => {
  const seen = await hub('{"ok":1}', { socket: false });
  script(launcherPath(join(home, '.synod')), '#!/bin/sh\necho "$*" "$(cat)"\n');
  const ran = await shell(hookCommand('codex'), '{"a":1}');
  expect(ran).toEqual({ code: 0, stdout: 'hook codex {"a":1}\n', stderr: '' });
  expect(seen).toEqual([]);
});

test('[HD6] in a turn that the hub runs, no hook is handed over', async () => {
  const seen = await hub('{"ok":1}');
  const ran = await shell(hookCommand('gemini'), '{}', { SYNOD_TURN: 't-1' });
  expect(ran).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(seen).toEqual([]);
});

test('[IN9] an empty answer is silence', async () => {
  await hub('');
  expect(await shell(hookCommand('gemini'), '{}')).toEqual({ code: 0, stdout: '', stderr: '' });
});

test.each([
  ['refuses', () => hub('{"error":"no"}', { status: 401 })],
  ['hangs', () => hub(null)],
  ['is not there', async () => []],
  [
    'was killed',
    async () => {
      await hub('{}');
      servers[0]?.close();
      rmSync(join(home, '.synod/hub.sock'), { force: true });
      rmSync(join(home, '.synod/credential'));
    },
  ],
])('[IN9] a hub that %s costs a hook nothing but a moment', async (_, prepare) => {
  await prepare();
  const from = performance.now();
  expect(await shell(hookCommand('claude'), '{}')).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(performance.now() - from).toBeLessThan(30_000);
});

test('[GD6] hooks that got no answer are counted, and told with the next that does', async () => {
  await hub('no', { status: 500 });
  for (let i = 0; i < 3; i++) await shell(hookCommand('claude'), '{}');
  for (const server of servers.splice(0)) server.close();
  rmSync(join(home, '.synod/hub.sock'), { force: true });
  const seen = await hub('{}');
  for (let i = 0; i < 2; i++) await shell(hookCommand('claude'), '{}');
  expect(seen.map(({ headers }) => headers['x-synod-unasked'])).toEqual(['3', '0']);
});

test('[IN9] where Synod is gone altogether the line is silent', async () => {
  rmSync(join(home, '.synod'), { recursive: true });
  expect(await shell(hookCommand('claude'), '{}')).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('[IN9] SYNOD_HOME moves both scripts', async () => {
  const elsewhere = join(home, 'else where');
  mkdirSync(join(elsewhere, 'bin'), { recursive: true });
  script(hookShimPath(elsewhere), '#!/bin/sh\necho "moved $1"\n');
  const ran = await shell(hookCommand('codex'), '', { SYNOD_HOME: elsewhere });
  expect(ran.stdout).toBe('moved codex\n');
});

test('[IN9] the launcher runs the Synod that installed it, with quotes in its path, and says when it is gone', async () => {
  const odd = join(home, "it's here");
  mkdirSync(odd);
  const program = join(odd, 'synod.js');
  writeFileSync(program, 'console.log(JSON.stringify(process.argv.slice(2)), process.ppid)\n');
  script(launcherPath(join(home, '.synod')), launcherScript(process.execPath, program));
  for (const scope of ['user', 'project'] as const) {
    const { command, args } = serverCommand('claude', createSite(scope, home, { HOME: home }));
    const child = spawn(command, args, { env: { HOME: home, PATH: process.env.PATH ?? '' } });
    expect(await text(child.stdout)).toBe(`["mcp","--harness","claude"] ${process.pid}\n`);
  }
  rmSync(program);
  const gone = await shell(`${launcherPath(join(home, '.synod'))} mcp`);
  expect(gone).toMatchObject({ code: 127, stderr: expect.stringContaining('synod upgrade') });
});

test('[IN2] the seal tells what is as it was written from what is not', () => {
  const sealed = hookShim();
  expect(isSealed(sealed)).toBe(true);
  expect(isSealed(sealed.replace('exit 0', 'exit 1'))).toBe(false);
  expect(isSealed(`${sealed}more\n`)).toBe(false);
  expect(isSealed('# synod-file 1\n')).toBe(false);
});
