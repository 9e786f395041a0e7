/** The plugin as opencode loads it, with a script in the place of the hook that answers as told. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { opencodePlugin } from './opencode-plugin.ts';

type Hook = (input: unknown, output?: unknown) => Promise<void>;

let root: string;
let hooks: Record<string, Hook>;
const prompted: unknown[] = [];
const kept = process.env.SYNOD_HOME;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'synod-plugin-'));
  process.env.SYNOD_HOME = root;
  mkdirSync(join(root, 'bin'));
  writeFileSync(join(root, 'plugin.mjs'), opencodePlugin());
  const plugin = await import(pathToFileURL(join(root, 'plugin.mjs')).href);
  expect(Object.keys(plugin)).toEqual(['Synod']);
  const client = { session: { promptAsync: async (request: unknown) => prompted.push(request) } };
  hooks = await plugin.Synod({ client, directory: '/srv/app' });
});
afterAll(() => {
  if (kept === undefined) delete process.env.SYNOD_HOME;
  else process.env.SYNOD_HOME = kept;
  rmSync(root, { recursive: true, force: true });
});

/** From here on every event is answered so. */
function answer(text: string): void {
  const path = join(root, 'bin/hook');
  writeFileSync(
    path,
    `#!/bin/sh\ncat > '${root}/seen'\n[ "$1" = opencode ] && printf '%s' '${text}'\n`,
  );
  chmodSync(path, 0o755);
}

const seen = () => JSON.parse(readFileSync(join(root, 'seen'), 'utf8'));
const call = (name: string, input: unknown, output?: unknown) => hooks[name]?.(input, output);

test('[IN13] a refusal keeps the tool from running, and the event says which it was', async () => {
  answer('{"throw":"bob holds src/a.ts"}');
  const input = { tool: 'write', sessionID: 's1', callID: 'c1' };
  await expect(call('tool.execute.before', input, { args: { filePath: 'a.ts' } })).rejects.toThrow(
    'bob holds src/a.ts',
  );
  expect(seen()).toEqual({
    hook_event_name: 'tool.execute.before',
    session_id: 's1',
    cwd: '/srv/app',
    tool_name: 'write',
    tool_use_id: 'c1',
    tool_input: { filePath: 'a.ts' },
  });
});

test('[IN13] what arrived is added to the output of a tool, ours or opencode’s, and to a prompt', async () => {
  answer('{"append":"mail"}');
  const own = { output: 'done' };
  const mcp = { content: [{ type: 'text', text: 'done' }] };
  const message = { parts: [{ type: 'file' }, { type: 'text', text: 'hello' }] };
  const input = { tool: 'bash', sessionID: 's1', callID: 'c1', args: { command: 'ls' } };
  await call('tool.execute.after', input, own);
  await call('tool.execute.after', input, mcp);
  await call('chat.message', { sessionID: 's1' }, message);
  expect(own.output).toBe('done\n\nmail');
  expect(mcp.content.at(-1)).toEqual({ type: 'text', text: 'mail' });
  expect(message.parts.at(-1)).toEqual({ type: 'text', text: 'hello\n\nmail' });
});

test('[IN13] an idle session goes on when something is owed, and a child session does not', async () => {
  answer('{"prompt":"one message waits"}');
  const event = (type: string, properties: object) =>
    call('event', { event: { type, properties } });
  await event('session.created', { info: { id: 'child', parentID: 's1' } });
  expect(seen()).toMatchObject({ hook_event_name: 'session.created', source: 'subagent' });
  await event('session.idle', { sessionID: 'child' });
  expect(prompted).toEqual([]);
  await event('session.idle', { sessionID: 's1' });
  expect(prompted).toEqual([
    { path: { id: 's1' }, body: { parts: [{ type: 'text', text: 'one message waits' }] } },
  ]);
});

test.each([
  ['permission.asked', { permission: 'bash', patterns: ['rm *'] }, 'bash', 'rm *'],
  ['permission.updated', { type: 'edit', title: 'Edit a.ts' }, 'edit', 'Edit a.ts'],
])('[IN13] %s says what a person is asked', async (type, properties, tool, description) => {
  answer('');
  await call('event', { event: { type, properties: { sessionID: 's1', ...properties } } });
  expect(seen()).toMatchObject({ tool_name: tool, tool_input: { description } });
  expect(seen().hook_event_name).toBe('permission.asked');
  await call('event', { event: { type: 'permission.replied', properties: { sessionID: 's1' } } });
  expect(seen().hook_event_name).toBe('permission.replied');
});

test('[IN13] [PG1] installed to wait, a dialog is answered as a person did at the gate, or stays', async () => {
  writeFileSync(join(root, 'waits.mjs'), opencodePlugin(30));
  const { Synod } = await import(pathToFileURL(join(root, 'waits.mjs')).href);
  const replied: { url?: string; body: object }[] = [];
  const isNewer = { value: true };
  const client = {
    _client: {
      post: async (request: { url: string; body: object }) => {
        if (!isNewer.value) return { error: 'no such door' };
        replied.push(request);
        return {};
      },
    },
    postSessionIdPermissionsPermissionId: async (request: { body: object }) =>
      replied.push(request),
  };
  const waits = await Synod({ client, directory: '/srv/app' });
  const asks = async (text: string): Promise<unknown> => {
    answer(text);
    const properties = { id: 'per_1', sessionID: 's1', permission: 'bash', patterns: ['rm -rf x'] };
    const [already] = [replied.length];
    await waits.event({ event: { type: 'permission.asked', properties } });
    await expect.poll(() => replied.length).toBe(already + 1);
    return replied.at(-1);
  };
  expect(await asks('{"reply":"reject","message":"no: why"}')).toMatchObject({
    url: '/permission/{requestID}/reply',
    path: { requestID: 'per_1' },
    body: { reply: 'reject', message: 'no: why' },
  });
  expect(seen()).toMatchObject({ tool_use_id: 'per_1', tool_input: { patterns: ['rm -rf x'] } });
  isNewer.value = false;
  expect(await asks('{"reply":"once"}')).toEqual({
    path: { id: 's1', permissionID: 'per_1' },
    body: { response: 'once' },
  });
});

test.each(['', 'no JSON', 'null', '{"throw":7}'])(
  '[IN13] %j for an answer changes nothing',
  async (text) => {
    answer(text);
    const output = { output: 'done' };
    await call('tool.execute.before', { tool: 'bash', sessionID: 's' }, { args: {} });
    await call('tool.execute.after', { tool: 'bash', sessionID: 's' }, output);
    expect(output).toEqual({ output: 'done' });
  },
);

test('[IN13] nor does a Synod that is gone', async () => {
  rmSync(join(root, 'bin'), { recursive: true });
  await call('tool.execute.before', { tool: 'bash', sessionID: 's' }, { args: {} });
});
