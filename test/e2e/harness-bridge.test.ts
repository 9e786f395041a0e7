/**
 * `synod mcp --harness`: the server of a coding agent and the hooks of the same session are one agent,
 * whatever the vendor tells either of them. Real processes: this one is the harness of both.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, expect, test } from 'vitest';
import type { Vendor } from '../../src/wire/tool-names.ts';
import { BIN, CACHE } from '../program.ts';
import { until } from './deadline.ts';
import { type HookScene, openHookScene } from './hook-scene.ts';

const SHARED = { PATH: process.env.PATH ?? '', XDG_CACHE_HOME: CACHE };
let scene: HookScene;
const clients = new Set<Client>();
afterEach(async () => {
  await Promise.all([...clients].map((client) => client.close()));
  clients.clear();
  await scene?.close();
});

async function connect(vendor: Vendor, env: Record<string, string> = {}, more: string[] = []) {
  const { dir } = scene.hub;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', '--harness', vendor, '--tools', 'all', ...more],
    cwd: dir,
    env: { ...SHARED, HOME: dirname(dir), SYNOD_DIR: dir, ...env },
    stderr: 'inherit',
  });
  const client = new Client({ name: 'test', version: '1' });
  clients.add(client);
  await client.connect(transport);
  const whoami = async (_meta: Record<string, unknown> = {}): Promise<unknown> => {
    const { structuredContent } = await client.callTool({
      name: 'hub__whoami',
      arguments: {},
      _meta,
    });
    return (structuredContent as { agent_id: unknown }).agent_id;
  };
  return { client, whoami };
}

const hook = (vendor: Vendor, session_id: string, env: Record<string, string> = {}) =>
  scene.fire(vendor, { hook_event_name: 'SessionStart', session_id, cwd: scene.hub.dir }, env);

const agentOf = async (session: string): Promise<string> =>
  (await scene.decisions()).findLast((line) => line.session === session)?.agent;

test('[SB4] claude: the session in the environment of the server is the session of the hooks', async () => {
  scene = await openHookScene();
  // Another session, of another process, has the plain name.
  await scene.join('claude', { session: 'other', parent: scene.harness().pid });
  const server = await connect('claude', { CLAUDE_CODE_SESSION_ID: 'c-1' });
  expect(await server.whoami()).toBe('claude-2');
  await hook('claude', 'c-1');
  await scene.fire('claude', { hook_event_name: 'Stop', session_id: 'c-1', cwd: '/' });
  expect(await until('a line', () => agentOf('c-1'), Boolean)).toBe('claude-2');
});

test('[SB4] claude: who it is is known before any tool is called', async () => {
  scene = await openHookScene();
  await connect('claude', { CLAUDE_CODE_SESSION_ID: 'c-1' });
  await until(
    'the agent is seen to be here',
    () => scene.hub.ask('bob', 'presence_list', {}),
    ({ agents }) => agents.some(({ agent_id }: { agent_id: string }) => agent_id === 'claude'),
  );
});

test('[SB4] codex: the thread in the first call decides, though all have one parent', async () => {
  scene = await openHookScene();
  await hook('codex', 't-1');
  await hook('codex', 't-2');
  const [one, two] = await Promise.all([connect('codex'), connect('codex')]);
  expect(await two.whoami({ threadId: 't-2', sessionId: 't-2' })).toBe('codex-2');
  expect(await one.whoami({ threadId: 't-1', sessionId: 't-1' })).toBe('codex');
});

test('[SB4] gemini: hooks and server have one parent, and the hooks may come later than the start', async () => {
  scene = await openHookScene();
  await scene.join('gemini', { session: 'g-0', parent: scene.harness().pid });
  const server = await connect('gemini');
  await hook('gemini', 'g-1');
  expect(await server.whoami()).toBe('gemini-2');
  await scene.fire('gemini', { hook_event_name: 'AfterAgent', session_id: 'g-1', cwd: '/' });
  expect(await until('a line', () => agentOf('g-1'), Boolean)).toBe('gemini-2');
});

test('[SB2] a name given to the server is the name of its hooks', async () => {
  scene = await openHookScene();
  const server = await connect('gemini', {}, ['--as', 'ada']);
  expect(await server.whoami()).toBe('ada');
  const said = await hook('gemini', 'g-1');
  expect(said.answer.hookSpecificOutput.additionalContext).toContain('the agent ada.');
});

test('[SB2] SYNOD_AGENT where a hook runs is the name, with SYNOD_PROJECT before it', async () => {
  scene = await openHookScene();
  const said = await hook('codex', 't-1', { SYNOD_AGENT: 'ada', SYNOD_PROJECT: 'app' });
  expect(said.answer.hookSpecificOutput.additionalContext).toContain('the agent app/ada.');
});

test('[SB7] the server answers before it has found a hub, and says so when there is none to be had', async () => {
  scene = await openHookScene();
  const dead = { SYNOD_URL: 'http://127.0.0.1:1', SYNOD_DIR: join(scene.hub.dir, 'none') };
  const { client } = await connect('codex', dead);
  expect((await client.listTools()).tools.length).toBeGreaterThan(10);
  const { isError, content } = await client.callTool({ name: 'hub__whoami', arguments: {} });
  expect(isError).toBe(true);
  expect(JSON.stringify(content)).toContain('no hub is running');
});

test('[HD6] `synod hook` does by itself what the script does', async () => {
  scene = await openHookScene();
  const url = (path: string): string => new URL(`../../src/cli/${path}`, import.meta.url).href;
  const program = `
    import { Command } from 'commander';
    import { registerHook } from '${url('hook.ts')}';
    const program = new Command('synod');
    registerHook(program);
    await program.parseAsync(process.argv.slice(1), { from: 'user' });`;
  const run = async (vendor: string, input: string, env: Record<string, string> = {}) => {
    const args = ['--input-type=module', '-e', program, '--', 'hook', vendor];
    const child = spawn(process.execPath, args, {
      cwd: join(import.meta.dirname, '../..'),
      env: {
        ...SHARED,
        NODE_COMPILE_CACHE: CACHE,
        HOME: scene.hub.dir,
        SYNOD_DIR: scene.hub.dir,
        ...env,
      },
    });
    child.stdin.end(input);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if (child.exitCode === null) await once(child, 'exit');
    return { stdout, stderr, code: child.exitCode };
  };
  const start = JSON.stringify({ hook_event_name: 'SessionStart', session_id: 'c-1', cwd: '/' });
  const silent = { stdout: '', stderr: '', code: 0 };
  expect((await run('claude', start)).stdout).toContain('the agent claude.');
  expect(await run('claude', 'no json')).toEqual(silent);
  expect(await run('nobody', start)).toEqual(silent);
  expect(await run('claude', start, { SYNOD_DIR: '/nowhere' })).toEqual(silent);
  expect(await run('claude', start, { SYNOD_TURN: 't-1' })).toEqual(silent);
});

test('[MC16] a wait for mail is not ended by one’s own words, nor are they shown', async () => {
  scene = await openHookScene();
  const { client } = await connect('codex', { SYNOD_AGENT: 'ada' });
  const call = async (name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })).structuredContent as Record<string, unknown>;
  expect(await call('channels__subscribe', { pattern: 'room' })).toMatchObject({
    subscribed_to: 'room',
  });
  const waiting = call('channels__recv', { wait_ms: 20_000 });
  await call('channels__send', { channel: 'room', body: { text: 'mine' } });
  await scene.hub.ask('bob', 'send', { channel: 'room', body: { text: 'yours' } });
  const { messages } = (await waiting) as { messages: { body: object }[] };
  expect(messages.map(({ body }) => body)).toEqual([{ text: 'yours' }]);
});
