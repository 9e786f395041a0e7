/** The registry launcher as a process, with agents that are processes too, some of them bad. */
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { platformTarget } from '../../../src/bus/programs/registry-file.ts';
import { until } from '../../e2e/deadline.ts';
import {
  isAlive,
  killWorkers,
  type Message,
  soon,
  startWorker,
  type WorkerProcess,
} from './worker-process.ts';

const AGENT = fileURLToPath(new URL('./registry-agent.mjs', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'synod-registry-'));
const pids = join(dir, 'pids');
writeFileSync(pids, '');
afterAll(async () => {
  await killWorkers();
  rmSync(dir, { recursive: true });
});

const here = platformTarget();
const run = (...args: string[]) => ({
  ...{ cmd: process.execPath, archive: 'https://example.com/agent.tgz' },
  args: [AGENT, ...args],
  env: { PID_FILE: pids },
});
const agents = [
  { id: 'alpha', name: 'Alpha', version: '1', distribution: { binary: { [here]: run() } } },
  {
    ...{ id: 'beta', distribution: { binary: { [here]: run('b') } } },
    mcpServers: [
      { name: 'ours', command: 'registry' },
      { name: 'both', command: 'registry' },
    ],
  },
  { id: 'elsewhere', distribution: { binary: { 'plan9-mips': { cmd: 'x' } } } },
  { id: 'missing', distribution: { binary: { [here]: { cmd: './no-such-agent' } } } },
  {
    id: 'npx',
    distribution: {
      npx: { package: '@x/agent@1', cmd: 'agent', args: ['--acp'] },
      uvx: { package: 'agent' },
      binary: { [here]: run() },
    },
  },
  {
    id: 'uvx',
    distribution: { uvx: { package: 'agent', args: ['serve'] }, binary: { [here]: run() } },
  },
];
const registry = file('registry.json', { version: '1.0.0', agents });

function file(name: string, value: unknown): string {
  const path = join(dir, name);
  writeFileSync(path, JSON.stringify(value));
  return path;
}
function launch(args: readonly string[] = [], env: Record<string, string> = {}): WorkerProcess {
  const own = ['registry', '--registry', registry, '--api-keys', join(dir, 'keys.json')];
  return startWorker([...own, ...args], { env });
}
let count = 0;
async function request(worker: WorkerProcess, method: string, params: object, top: object) {
  count += 1;
  const id = `c${count}`;
  worker.send({ jsonrpc: '2.0', id, method, params, ...top });
  return worker.answer(id);
}
async function newSession(worker: WorkerProcess, top: object): Promise<string> {
  const params = { cwd: '/', mcpServers: [] };
  return (await request(worker, 'session/new', params, top)).result.sessionId;
}
const prompt = (worker: WorkerProcess, sessionId: string, text: string, top: object) =>
  request(worker, 'session/prompt', { sessionId, prompt: [{ type: 'text', text }] }, top);
const started = (): { pid: number; args: string[]; env: Record<string, string> }[] =>
  readFileSync(pids, 'utf8')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
test('[WP26] it introduces itself, wants an agentId, and knows what it cannot run', async () => {
  const worker = launch();
  const hello = (await request(worker, 'initialize', { protocolVersion: 1 }, {})).result;
  expect(hello.agentInfo.name).toBe('synod-registry');
  expect(hello._meta['synod/agents'].map((one: Message) => one.id)).toContain('alpha');
  const refused = async (top: object) => (await request(worker, 'session/new', {}, top)).error;
  expect((await refused({})).code).toBe(-32_600);
  expect(await refused({ agentId: 'nobody' })).toMatchObject({
    ...{ code: -32_001, data: { agentId: 'nobody' } },
  });
  expect(await refused({ agentId: 'elsewhere' })).toMatchObject({
    ...{ code: -32_002, data: { platforms: ['plan9-mips'] } },
  });
  const missing = await refused({ agentId: 'missing', sessionId: 'S' });
  expect(missing).toMatchObject({ code: -32_003, data: { mayHaveRun: false } });
  expect(missing.message).toContain('no-such-agent');
  expect(missing.data.remedy).toContain('unpack it');
  const params = { cwd: '/auth', mcpServers: [] };
  await request(worker, 'initialize', {}, { agentId: 'alpha' });
  const auth = (await request(worker, 'session/new', params, { agentId: 'alpha' })).error;
  expect(auth).toMatchObject({
    code: -32_004,
    data: { agentId: 'alpha', requiredMethod: 'oauth', supportedMethods: ['oauth'] },
  });
  expect(auth.data.remediation).toContain('--setup');
});

test('[WP27] one process an agent, at its first message; agentId and route are taken off', async () => {
  const worker = launch();
  const before = started().length;
  const first = await request(
    worker,
    'peek',
    { a: 1 },
    { agentId: 'alpha', sessionId: 'S', pool: 'p' },
  );
  expect(first.sessionId).toBe('S');
  expect(Object.keys(first.result.seen).sort()).toEqual(['id', 'jsonrpc', 'method', 'params']);
  await request(worker, 'peek', {}, { agentId: 'alpha' });
  await request(worker, 'peek', {}, { agentId: 'beta' });
  expect(
    started()
      .slice(before)
      .map(({ args }) => args),
  ).toEqual([[], ['b']]);
});

test('[WP27] any id and any session come back as they were', async () => {
  const worker = launch();
  const text = fc.string({ unit: 'grapheme' });
  await fc.assert(
    fc.asyncProperty(text, text, async (id, sessionId) => {
      count += 1;
      const unique = `${count}${id}`;
      worker.send({ jsonrpc: '2.0', id: unique, method: 'm', agentId: 'alpha', sessionId });
      expect((await worker.answer(unique)).sessionId).toBe(sessionId);
    }),
    { numRuns: 50 },
  );
});

test('[WP28] updates get the route of their session, also those that come before its answer', async () => {
  const worker = launch();
  const [one, two] = [
    { agentId: 'alpha', sessionId: 'route-1' },
    { agentId: 'alpha', sessionId: 'route-2' },
  ];
  const [a, b] = [await newSession(worker, one), await newSession(worker, two)];
  const early = worker.heard.filter((message) => message.params?.update?.early);
  expect(early.map(({ sessionId, params }) => [sessionId, params.sessionId])).toEqual([
    ['route-1', a],
    ['route-2', b],
  ]);
  await Promise.all([prompt(worker, a, 'for a', one), prompt(worker, b, 'for b', two)]);
  const said = worker.heard.filter((message) => message.params?.update?.content);
  expect(
    said.map(({ sessionId, params }) => [sessionId, params.update.content.text]).sort(),
  ).toEqual([
    ['route-1', 'heard for a'],
    ['route-2', 'heard for b'],
  ]);
  expect(said.every((message) => /^c\d+$/.test(message._ext.requestId))).toBe(true);
  worker.send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: b } });
  const seen = await worker.until('the cancel arrives', (message) => message.method === 'seen');
  expect(seen).toMatchObject({ sessionId: 'route-2', params: { method: 'session/cancel' } });
});

test('[WP28] a prompt that is cancelled ends the turn of its agent in ACP’s words too', async () => {
  const worker = launch();
  const route = { agentId: 'alpha', sessionId: 'route-1' };
  const sessionId = await newSession(worker, route);
  const params = { sessionId, prompt: [{ type: 'text', text: 'hang' }] };
  worker.send({ jsonrpc: '2.0', id: 'p', method: 'session/prompt', ...route, params });
  worker.send({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id: 'p' } });
  const seen = await worker.until(
    'the agent is told',
    ({ method, params: told }) => method === 'seen' && told.method === 'session/cancel',
  );
  expect(seen.params.params).toEqual({ sessionId });
});

test('[WP28] the servers of the registry are added, and those of the client win', async () => {
  const worker = launch();
  const mcpServers = [{ name: 'both', command: 'client' }];
  const { result } = await request(
    worker,
    'session/new',
    { cwd: '/', mcpServers },
    { agentId: 'beta' },
  );
  expect(result.mcpServers).toEqual([
    { name: 'both', command: 'client' },
    { name: 'ours', command: 'registry' },
  ]);
});

test('[WP29] a permission prompt goes to the client; its answer goes back, and nothing else does', async () => {
  const worker = launch();
  const top = { agentId: 'alpha', sessionId: 'S' };
  const session = await newSession(worker, top);
  const answer = prompt(worker, session, 'permission', top);
  const asked = await worker.until(
    'the client is asked',
    (one) => one.id !== undefined && 'method' in one,
  );
  expect(asked).toMatchObject({ method: 'session/request_permission', sessionId: 'S' });
  expect(asked.params.toolCall.title).toBe('rm -rf');
  const outcome = { outcome: { outcome: 'selected', optionId: 'yes' } };
  worker.send({ jsonrpc: '2.0', id: asked.id, result: outcome });
  await answer;
  const texts = worker.heard.flatMap((one) => one.params?.update?.content?.text ?? []);
  expect(texts).toEqual([JSON.stringify(outcome)]);
});

test('[WP29] a permission without an answer, with an error for one, or without a client is refused', async () => {
  const refused = JSON.stringify({ outcome: { outcome: 'cancelled' } });
  const worker = launch(['--ask-timeout', '100ms']);
  const top = { agentId: 'alpha', sessionId: 'S' };
  const session = await newSession(worker, top);
  const texts = () => worker.heard.flatMap((one) => one.params?.update?.content?.text ?? []);
  await prompt(worker, session, 'permission', top);
  expect(texts()).toEqual([refused]);
  const second = prompt(worker, session, 'permission', top);
  const isQuestion = (one: Message) => one.method === 'session/request_permission';
  await worker.until('asked again', () => worker.heard.filter(isQuestion).length === 2);
  const { id } = worker.heard.filter(isQuestion)[1] as Message;
  worker.send({ jsonrpc: '2.0', id, error: { code: 8, message: 'nobody is attached' } });
  await second;
  expect(texts()).toEqual([refused, refused]);
  const third = prompt(worker, session, 'read', top);
  await third;
  expect(JSON.parse(texts()[2]).code).toBe(3);

  const leaving = launch();
  const own = await newSession(leaving, top);
  leaving.send({
    ...{ jsonrpc: '2.0', id: 'p', method: 'session/prompt', ...top },
    params: { sessionId: own, prompt: [{ type: 'text', text: 'permission' }] },
  });
  await leaving.until('asked', isQuestion);
  leaving.child.stdin.end();
  expect(await leaving.exited()).toBe(0);
  const last = leaving.heard.flatMap((one) => one.params?.update?.content?.text ?? []);
  expect(last).toEqual([refused]);
  expect((await leaving.answer('p')).result.stopReason).toBe('end_turn');
});

test('[WP30] an agent that dies answers what it owed with an error, and is started again', async () => {
  const worker = launch();
  const top = { agentId: 'alpha', sessionId: 'S' };
  const session = await newSession(worker, top);
  const before = started().length;
  const hanging = prompt(worker, session, 'hang', top);
  const dying = prompt(worker, session, 'die', top);
  expect((await dying).error).toMatchObject({
    code: 5,
    data: { agentId: 'alpha', mayHaveRun: true },
  });
  expect((await dying).error.message).toContain('code 7');
  expect((await hanging).error.code).toBe(5);
  expect(await newSession(worker, top)).not.toBe(session);
  expect(started().length).toBe(before + 1);
});

test('[WP30] a stray line of an agent costs nothing; its processes end with the launcher', async () => {
  const worker = launch();
  const top = { agentId: 'alpha', sessionId: 'S' };
  const session = await newSession(worker, top);
  expect((await prompt(worker, session, 'noise', top)).result.stopReason).toBe('end_turn');
  const { pid } = started().at(-1) as { pid: number };
  expect(isAlive(pid)).toBe(true);
  worker.child.kill('SIGTERM');
  expect(await worker.exited()).toBe(0);
  expect(isAlive(pid)).toBe(false);

  const killed = launch();
  await newSession(killed, top);
  const orphan = started().at(-1)?.pid as number;
  killed.child.kill('SIGKILL');
  await killed.exited();
  const look = () => soon(() => isAlive(orphan));
  await until('nothing is left', look, (alive) => !alive);
});

test('[WP31] an agent gets its keys and the variables every program needs, and nothing else of ours', async () => {
  const keys = file('own-keys.json', {
    version: 1,
    agents: { alpha: { apiKey: '', env: { ALPHA_KEY: 'a-secret' } }, beta: { env: { BETA: 'b' } } },
  });
  chmodSync(keys, 0o644);
  const env = { SYNOD_TOKEN: 't', OPENAI_API_KEY: 'k', ALLOWED: 'yes', CLAUDE_CODE_X: 'x' };
  const worker = launch(['--api-keys', keys, '--allow-env', 'ALLOWED'], env);
  await request(worker, 'peek', {}, { agentId: 'alpha' });
  const seen = started().at(-1)?.env as Record<string, string>;
  expect(seen).toMatchObject({ ALPHA_KEY: 'a-secret', ALLOWED: 'yes', PID_FILE: pids });
  for (const name of ['SYNOD_TOKEN', 'OPENAI_API_KEY', 'CLAUDE_CODE_X', 'BETA']) {
    expect(seen).not.toHaveProperty(name);
  }
  await worker.noted(/can be read by others/);
  expect(worker.stderr()).not.toContain('a-secret');
});

test('[WP32] npx comes before uvx, and uvx before a binary', async () => {
  const bin = mkdtempSync(join(dir, 'bin-'));
  for (const name of ['npx', 'uvx']) {
    const script = `#!/bin/sh\nexec ${process.execPath} ${AGENT} ${name} "$@"\n`;
    writeFileSync(join(bin, name), script, { mode: 0o755 });
  }
  const path = `${bin}${delimiter}${process.env.PATH}`;
  const worker = launch(['--allow-env', 'PID_FILE'], { PATH: path, PID_FILE: pids });
  await request(worker, 'peek', {}, { agentId: 'npx' });
  expect(started().at(-1)?.args).toEqual([
    'npx',
    '-y',
    '--package',
    '@x/agent@1',
    'agent',
    '--acp',
  ]);
  await request(worker, 'peek', {}, { agentId: 'uvx' });
  expect(started().at(-1)?.args).toEqual(['uvx', 'agent', 'serve']);
});

test('[WP33] a registry is a file, a file: URL, with custom agents over it; faults are named', async () => {
  const custom = file('custom.json', {
    agents: [{ id: 'alpha', distribution: { binary: { [here]: run('custom') } } }],
  });
  const url = pathToFileURL(registry).href;
  const worker = startWorker(['registry', '--registry', url, '--custom-agents', custom]);
  await request(worker, 'peek', {}, { agentId: 'alpha' });
  expect(started().at(-1)?.args).toEqual(['custom']);
  const bad = file('bad.json', { agents: [{ id: 'x', distribution: { npx: {} } }] });
  const refused = startWorker(['registry', '--registry', bad]);
  expect(await refused.exited()).toBe(78);
  expect(refused.stderr()).toContain('agents[0].distribution.npx.package must be a string');
  const absent = startWorker(['registry', '--registry', join(dir, 'none.json')]);
  expect(await absent.exited()).toBe(78);
  expect(await startWorker(['registry']).exited()).toBe(2);
});

test('[WP33] an http registry is read where somebody gives its URL, without following it elsewhere', async () => {
  const server = createServer((asked, response) => {
    const text = readFileSync(registry, 'utf8');
    if (asked.url === '/moved') response.writeHead(302, { location: '/agents.json' }).end();
    else response.writeHead(asked.url === '/agents.json' ? 200 : 500).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { ACP_REGISTRY_URL: `${url}/agents.json` };
  const worker = startWorker(['registry'], { env });
  const hello = (await request(worker, 'initialize', {}, {})).result;
  expect(hello._meta['synod/agents']).toHaveLength(agents.length);
  for (const path of ['/moved', '/broken']) {
    const refused = startWorker(['registry', '--registry', `${url}${path}`]);
    expect(await refused.exited()).toBe(78);
    expect(refused.stderr()).toContain(`${path} cannot be read`);
  }
  server.close();
});

test('[WP34] the keys file is made for its owner alone, and no value of it is printed', async () => {
  const path = join(dir, 'made-keys.json');
  const keys = ['registry', '--registry', registry, '--api-keys', path];
  const run = async (
    args: readonly string[],
    input = '',
  ): Promise<[number | null, WorkerProcess]> => {
    const worker = startWorker([...keys, ...args, '--json']);
    worker.child.stdin.end(input);
    return [await worker.exited(), worker];
  };
  expect((await run(['--setup']))[0]).toBe(0);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect((await run(['--set-key', 'alpha:ALPHA_KEY'], 'very-secret\n'))[0]).toBe(0);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const written = JSON.parse(readFileSync(path, 'utf8'));
  expect(written.agents.alpha.env).toEqual({ ALPHA_KEY: 'very-secret' });
  expect(written.agents.beta).toEqual({ apiKey: '', env: {} });
  const [, status] = await run(['--auth-status']);
  expect(status.heard[0]?.lines).toContain('alpha: ALPHA_KEY');
  expect(JSON.stringify(status.heard)).not.toContain('very-secret');
  expect((await run(['--logout', 'alpha']))[0]).toBe(0);
  expect(readFileSync(path, 'utf8')).not.toContain('very-secret');
  const [code, login] = await run(['--login', 'github']);
  expect(code).toBe(2);
  expect(login.stderr()).toContain('a login needs a browser on this machine');
});
