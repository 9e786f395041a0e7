/**
 * The MCP front: the official MCP client, the proxy as a process, a real bus on a Unix socket, and
 * the ACP echo agent in its pool.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server as NetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { platformTarget } from '../../../src/bus/programs/registry-file.ts';
import { until } from '../../e2e/deadline.ts';
import { freePort } from '../../free-ports.ts';
import { type BusProcess, startBus } from './bus-process.ts';
import { killWorkers, SYNOD, spawnWorker } from './worker-process.ts';

const dir = mkdtempSync(join(tmpdir(), 'synod-proxy-'));
const socket = join(dir, 'bus.sock');
const clients: Client[] = [];
let bus: BusProcess;

beforeAll(async () => {
  bus = await startBus(dir, ['--unix', socket], { 'acp-echo': 1, echo: 1 });
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await bus.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function open(
  args: readonly string[],
  decide?: (message: string) => string | null,
  env: Record<string, string> = {},
) {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: decide === undefined ? {} : { elicitation: { form: {} } } },
  );
  if (decide !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      const option = decide(params.message);
      return option === null ? { action: 'decline' } : { action: 'accept', content: { option } };
    });
  }
  clients.push(client);
  const command = [SYNOD, 'worker', 'mcp-proxy', ...args];
  await client.connect(new StdioClientTransport({ command: process.execPath, args: command, env }));
  return async (name: string, input: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: input });
    const [block] = result.content as { text: string }[];
    // biome-ignore lint/suspicious/noExplicitAny: looked at field by field.
    const value = result.structuredContent as any;
    return { text: block?.text, value, isError: result.isError === true };
  };
}

const acp = ['--unix', socket, '--pool', 'acp-echo'];

test('[WP22] acp_prompt keeps one session; sessions have their own; a task brings its own', async () => {
  const call = await open(acp);
  const first = await call('acp_prompt', { prompt: 'hello' });
  const second = await call('acp_prompt', { prompt: 'again' });
  expect([first.text, second.text]).toEqual(['hello', 'again']);
  expect(first.value.session_id).toBe(second.value.session_id);
  const made = await call('sessions_create', { metadata: { for: 'test' } });
  const session_id = made.value.session_id;
  expect(session_id).not.toBe(first.value.session_id);
  expect((await call('sessions_prompt', { session_id, prompt: 'mine' })).text).toBe('mine');
  expect((await call('sessions_status', { session_id })).value).toMatchObject({
    ...{ status: 'idle', prompts: 1, metadata: { for: 'test' } },
  });
  expect((await call('tasks_delegate', { prompt: 'once' })).text).toBe('once');
  expect((await call('sessions_status')).value.sessions).toHaveLength(2);
  expect((await call('sessions_close', { session_id })).value.closed).toBe(true);
  const gone = await call('sessions_prompt', { session_id, prompt: 'still?' });
  expect(gone).toMatchObject({ isError: true, value: { error: { category: 'CONFIG' } } });
  expect((await call('bridge_health')).value).toMatchObject({ connected: true, sessions: 1 });
  const [agent] = (await call('agents_discover')).value.agents;
  expect(agent.name).toBe('synod-acp-echo');
});

test('[WP23] an error after text is an error that carries the text', async () => {
  const call = await open(acp);
  const failed = await call('acp_prompt', { prompt: 'so far\n/fail and no further' });
  expect(failed).toMatchObject({
    isError: true,
    text: expect.stringContaining('and no further'),
    value: { text: 'so far', error: { category: 'UPSTREAM', code: -32_002 } },
  });
  const late = await call('tasks_delegate', { prompt: '/wait 60000', timeout_ms: 50 });
  expect(late).toMatchObject({
    isError: true,
    value: { error: { category: 'TIMEOUT', code: -32_001, retryable: false } },
  });
});

test('[WP22] cancel stops the prompt that runs, and one session takes one at a time', async () => {
  const call = await open(acp);
  const { session_id } = (await call('sessions_create')).value;
  const running = call('sessions_prompt', { session_id, prompt: 'begin\n/wait 60000' });
  const status = () => call('sessions_status', { session_id });
  await until('it runs', status, ({ value }) => value.status === 'prompting');
  const busy = await call('sessions_prompt', { session_id, prompt: 'me too' });
  expect(busy.isError).toBe(true);
  expect((await call('sessions_cancel', { session_id })).value.cancelled).toBe(true);
  expect((await running).value.stop_reason).toBe('cancelled');
});

test('[WP24] a permission goes to the MCP client as an elicitation, and is refused without one', async () => {
  const asked: string[] = [];
  const willing = await open(acp, (message) => {
    asked.push(message);
    return 'allow-once';
  });
  const allowed = await willing('acp_prompt', { prompt: '/ask delete it' });
  expect(allowed.text).toBe('permission: allow_once');
  expect(asked).toEqual([expect.stringContaining('delete it')]);
  const unwilling = await open(acp, () => null);
  expect((await unwilling('acp_prompt', { prompt: '/ask x' })).text).toBe('permission: cancelled');
  const liar = await open(acp, () => 'an option nobody offered');
  expect((await liar('acp_prompt', { prompt: '/ask x' })).text).toBe('permission: cancelled');
  const mute = await open(acp);
  expect((await mute('acp_prompt', { prompt: '/ask x' })).text).toBe('permission: cancelled');
});

test('[WP22] too much at once is refused by name', async () => {
  const call = await open(acp);
  const long = await call('acp_prompt', { prompt: 'x'.repeat(1_048_577) });
  expect(long).toMatchObject({ isError: true, text: expect.stringContaining('1048576 bytes') });
  const heavy = await call('sessions_create', { metadata: { a: 'x'.repeat(65_536) } });
  expect(heavy.text).toContain('65536 bytes');
  expect((await call('nothing')).isError).toBe(true);
  expect((await call('acp_prompt', { prompt: '' })).isError).toBe(true);
});

test('[WP25] no bus is said so, and a bus that comes back is found again', async () => {
  const late = join(dir, 'late.sock');
  const call = await open(['--unix', late, '--pool', 'acp-echo']);
  const none = await call('acp_prompt', { prompt: 'anybody?' });
  expect(none).toMatchObject({
    isError: true,
    value: { error: { category: 'TRANSPORT', retryable: true } },
  });
  expect(none.text).toContain(late);
  // A line to the real bus that can be cut.
  const relay: NetServer = createServer((from) => {
    const to = connect(socket);
    from.pipe(to).pipe(from);
    const end = (): void => {
      from.destroy();
      to.destroy();
    };
    from.on('error', end).on('close', end);
    to.on('error', end).on('close', end);
    relay.once('cut', end);
  });
  relay.listen(late);
  await once(relay, 'listening');
  expect((await call('acp_prompt', { prompt: 'now?' })).text).toBe('now?');
  const running = call('tasks_delegate', { prompt: 'begun\n/wait 60000' });
  const busy = () => call('sessions_status');
  await until('it runs', busy, ({ value }) =>
    value.sessions.some((one: { status: string }) => one.status === 'prompting'),
  );
  relay.emit('cut');
  const broken = await running;
  expect(broken).toMatchObject({ isError: true, value: { error: { category: 'TRANSPORT' } } });
  expect((await call('tasks_delegate', { prompt: 'back' })).text).toBe('back');
  relay.close();
});

test('[WP25] a bus that wants a token is shown the one of the environment', async () => {
  const own = mkdtempSync(join(dir, 'token-'));
  const address = `127.0.0.1:${await freePort()}`;
  const token = { SYNOD_BUS_TOKEN: 'a-token-nobody-would-guess' };
  const guarded = await startBus(own, ['--tcp', address], { 'acp-echo': 1 }, token);
  const known = await open(['--tcp', address], undefined, token);
  expect((await known('acp_prompt', { prompt: 'let me in' })).text).toBe('let me in');
  const stranger = await open(['--tcp', address]);
  expect((await stranger('acp_prompt', { prompt: 'me too' })).isError).toBe(true);
  await guarded.stop();
});

test('[WP22] behind a registry its agents are discovered and chosen by id', async () => {
  const registry = join(dir, 'registry.json');
  const args = [SYNOD, 'worker', 'acp-echo'];
  const binary = { [platformTarget()]: { cmd: process.execPath, args } };
  const agents = ['ann', 'bob'].map((id) => ({ id, name: id, distribution: { binary } }));
  writeFileSync(registry, JSON.stringify({ agents }));
  const path = join(dir, 'registry.sock');
  const launcher = spawnWorker(['registry', '--registry', registry]);
  const server = createServer((from) => {
    from.on('error', () => {}).pipe(launcher.stdin);
    launcher.stdout.pipe(from);
  }).listen(path);
  await once(server, 'listening');
  const call = await open(['--unix', path, '--agent', 'ann']);
  const { value } = await call('agents_discover');
  expect(value.agents.map((agent: { id: string }) => agent.id)).toEqual(['ann', 'bob']);
  expect((await call('acp_prompt', { prompt: 'to ann' })).text).toBe('to ann');
  expect((await call('tasks_delegate', { prompt: 'to bob', agent_id: 'bob' })).text).toBe('to bob');
  const nobody = await call('tasks_delegate', { prompt: 'to eve', agent_id: 'eve' });
  expect(nobody.text).toContain('no agent "eve"');
  server.close();
  await killWorkers();
});
