/**
 * The bus inside the hub: its pools answer at a socket in the data directory, and what passed is in
 * the log, in the chain like everything else.
 */

import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { BIN, openHome } from './cli-run.ts';
import { within } from './deadline.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';

const dirs: string[] = [];
const hubs: HubProcess[] = [];
afterEach(async () => {
  // One that its test has stopped is gone already; a failed test leaves none behind.
  for (const hub of hubs.splice(0)) if (hub.child.exitCode === null) await hub.kill();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function scratch(config: object): { dir: string; config: string } {
  const dir = mkdtempSync(join(tmpdir(), 'synod-hub-bus-'));
  dirs.push(dir);
  const path = join(dir, 'bus.json');
  writeFileSync(path, JSON.stringify(config));
  return { dir: join(dir, 'hub'), config: path };
}

async function ask(path: string, message: object): Promise<Record<string, unknown>> {
  const socket = connect(path);
  const answered = new Promise<string>((resolve, reject) => {
    createInterface({ input: socket }).once('line', resolve);
    socket.once('error', reject);
  });
  socket.write(`${JSON.stringify(message)}\n`);
  const answer = await within('an answer of the bus', answered);
  socket.destroy();
  return JSON.parse(answer);
}

test('[BU23] the bus inside the hub answers, and every request is on the record', async () => {
  const { dir, config } = scratch({
    pools: [{ id: 'echo', command: process.execPath, args: [BIN, 'worker', 'echo'], instances: 1 }],
  });
  const hub = await startHubProcess(dir, { args: ['--bus', config] });
  if (!('url' in hub)) throw new Error(`the hub did not start: ${hub.stderr}`);
  hubs.push(hub);
  const socket = join(dir, 'bus.sock');
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  const audit = { eventId: 'e-1', action: 'x' };
  const identity = { subjectId: 'ada', role: 'dev', assertedBy: 'bus' };
  const good = await ask(socket, {
    jsonrpc: '2.0',
    id: 7,
    method: 'say/hello',
    params: { a: 1 },
    ...{ agentId: 'echo', sessionId: 's-9' },
    _ext: { audit, identity },
  });
  expect(good).toMatchObject({ id: 7, result: { echo: { a: 1 } } });
  const bad = await ask(socket, { jsonrpc: '2.0', id: 8, method: 'x', pool: 'nowhere' });
  expect(bad).toMatchObject({ id: 8, error: { data: { code: 'bus.pool-unknown' } } });
  expect(await hub.stop()).toBe(0);
  expect(existsSync(socket)).toBe(false);

  const home = openHome();
  const exported = await home.run(['log', 'export', '--dir', dir]);
  const calls = exported.stdout
    .split('\n')
    .filter((line) => line.includes('bus.recorded'))
    .flatMap((line) => (JSON.parse(line).entries as string[]).map((entry) => JSON.parse(entry)))
    .filter(({ type }) => type === 'bus.recorded');
  expect(calls).toHaveLength(2);
  expect(calls[1]).toMatchObject({
    call: { action: 'x', resource: null, outcome: 'bus.pool-unknown' },
  });
  expect(calls[0]).toMatchObject({
    by: '__bus__',
    missed: 0,
    call: {
      action: 'say/hello',
      parentEventId: 'e-1',
      // What a client says of itself is on the record as a claim, never as who it is.
      actor: { client: 'unix#1', claims: 'ada' },
      resource: 'echo/0',
      ...{ agentId: 'echo', sessionId: 's-9' },
      outcome: 'ok',
    },
  });
  expect((await home.run(['log', 'verify', '--dir', dir])).code).toBe(0);
  await home.close();
});

test('[BU23] a hub whose bus cannot start does not start, and says which pool', async () => {
  const { dir, config } = scratch({
    pools: [{ id: 'ghost', command: 'no-such-program-anywhere', instances: 1 }],
  });
  const hub = await startHubProcess(dir, { args: ['--bus', config] });
  if ('url' in hub) throw new Error('the hub started');
  expect(hub.exitCode).toBe(70);
  expect(hub.stderr).toContain('pool ghost cannot start');
  expect(hub.stderr).toContain('no-such-program-anywhere');
});

const echo = (id: string) => ({
  id,
  command: process.execPath,
  args: [BIN, 'worker', 'echo'],
  instances: 1,
});

test('[BU25] SIGHUP has the bus read its config again, and the hub goes on', async () => {
  const { dir, config } = scratch({ pools: [echo('a')] });
  const hub = await startHubProcess(dir, { args: ['--bus', config] });
  if (!('url' in hub)) throw new Error(`the hub did not start: ${hub.stderr}`);
  hubs.push(hub);
  const logged = async (pattern: RegExp) => {
    while (!pattern.test(hub.stderr())) {
      await within(`${pattern} in the log`, once(hub.child.stderr as Readable, 'data'));
    }
  };
  const socket = join(dir, 'bus.sock');
  const asked = { jsonrpc: '2.0', id: 1, method: 'm', pool: 'b' };
  writeFileSync(config, '{"pools": []}');
  hub.child.kill('SIGHUP');
  await logged(/bus: not reloaded, the old config stays: .*pools/);
  expect(await ask(socket, asked)).toMatchObject({ error: { code: 1 } });
  writeFileSync(config, JSON.stringify({ pools: [echo('a'), echo('b')] }));
  hub.child.kill('SIGHUP');
  await logged(/bus: reloaded .*: added b/);
  expect(await ask(socket, asked)).toMatchObject({ result: { method: 'm' } });
  expect((await fetch(`${hub.url}/health`)).status).toBe(200);
  expect(await hub.stop()).toBe(0);
});

test('[BU26] the metrics of the hub show its bus too, and stay well formed', async () => {
  const { dir, config } = scratch({ pools: [echo('a')] });
  const token = 'scrape-with-this-and-nothing-else';
  const hub = await startHubProcess(dir, { args: ['--bus', config, `--metrics=${token}`] });
  if (!('url' in hub)) throw new Error(`the hub did not start: ${hub.stderr}`);
  hubs.push(hub);
  await ask(join(dir, 'bus.sock'), { jsonrpc: '2.0', id: 1, method: 'm' });
  const headers = { authorization: `Bearer ${token}` };
  const read = async () => (await fetch(`${hub.url}/metrics`, { headers })).text();
  const text = await read();
  expect(text).toMatch(/^synod_up 1$/m);
  expect(text).toMatch(/^synod_bus_messages_in_total 1$/m);
  expect(text).toMatch(/^synod_bus_workers\{pool="a",state="ready"\} 1$/m);
  // Counters are set anew at each scrape, not added up.
  expect(await read()).toMatch(/^synod_bus_messages_in_total 1$/m);
  const types = text.match(/^# TYPE \S+/gm) ?? [];
  expect(new Set(types).size).toBe(types.length);
  expect(
    text.split('\n').filter((line) => !/^($|# (HELP|TYPE) |[a-z0-9_]+[ {])/.test(line)),
  ).toEqual([]);
  expect(await hub.stop()).toBe(0);
});

test('[BU25] a hub without a bus still ends at SIGHUP', async () => {
  const { dir } = scratch({});
  const hub = await startHubProcess(dir);
  if (!('url' in hub)) throw new Error(`the hub did not start: ${hub.stderr}`);
  hubs.push(hub);
  const gone = new Promise((resolve) => hub.child.once('close', resolve));
  hub.child.kill('SIGHUP');
  expect(await within('the end of the hub', gone)).toBe(0);
});
