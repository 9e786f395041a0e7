/** The ACP echo agent, driven by the official client over real pipes, through routing sessions. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as acp from '@agentclientprotocol/sdk';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { until, within } from '../../e2e/deadline.ts';
import { type RoutedWorker, startRouted } from './acp-client.ts';
import { isAlive, killWorkers, SYNOD, soon, startWorker } from './worker-process.ts';

afterAll(killWorkers);

const CWD = '/';
const shared: RoutedWorker = startRouted(['acp-echo']);

interface ClientOptions {
  readonly capabilities?: acp.ClientCapabilities;
  readonly set?: (app: acp.ClientApp) => void;
  readonly worker?: RoutedWorker;
}

/** Initialises, and gives the context; the connection stays until the file ends. */
async function connect(route: string | null, options: ClientOptions = {}) {
  const app = acp.client({ name: 'test' });
  const updates: acp.SessionUpdate[] = [];
  app.onNotification('session/update', ({ params }) => {
    updates.push(params.update);
  });
  options.set?.(app);
  const { agent } = app.connect((options.worker ?? shared).route(route));
  const clientCapabilities = options.capabilities ?? {};
  const hello = await agent.request('initialize', {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities,
  });
  const { sessionId } = await agent.request('session/new', { cwd: CWD, mcpServers: [] });
  const prompt = (text: string, ...more: acp.ContentBlock[]) =>
    agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }, ...more] });
  const said = (): string =>
    updates
      .flatMap((one) =>
        one.sessionUpdate === 'agent_message_chunk' && one.content.type === 'text'
          ? [one.content.text]
          : [],
      )
      .join('');
  return { agent, hello, sessionId, prompt, updates, said };
}

test('[WP10] it says who it is, echoes, and describes what is not text', async () => {
  const { hello, prompt, said } = await connect('describe');
  expect(hello.agentInfo?.name).toBe('synod-acp-echo');
  expect(hello.agentCapabilities?.loadSession).toBe(true);
  const answer = await prompt(
    'hello',
    { type: 'image', mimeType: 'image/png', data: Buffer.from('12345').toString('base64') },
    { type: 'resource_link', name: 'readme', uri: 'file:///readme.md' },
    { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside' } },
  );
  expect(answer.stopReason).toBe('end_turn');
  expect(said()).toContain('hello');
  expect(said()).toContain('[image image/png, 5 bytes]');
  expect(said()).toContain('[resource link readme: file:///readme.md]');
  expect(said()).toContain('[resource file:///a.txt]\ninside');
});

test('[WP11] the routing session is carried whatever it is called, and updates name their request', async () => {
  const names = fc.sample(fc.string({ unit: 'grapheme', minLength: 1 }), { numRuns: 20, seed: 7 });
  const special = ['"', '\\', '\u2028', 'a\nb', '🦊', '__proto__', ' ', ...new Set(names)];
  for (const name of special) {
    const { prompt, said } = await connect(`route:${name}`);
    await prompt(`I am ${name.trim()}`.replaceAll('\n', ' '));
    expect(said()).toContain('I am');
  }
  expect(shared.stray).toEqual([]);
  const updates = shared.seen.filter((one) => one.method === 'session/update');
  expect(updates.length).toBeGreaterThan(special.length);
  for (const { _ext } of updates) {
    expect((_ext as { requestId: string }).requestId).toMatch(/^b\d+$/);
  }
});

test('[WP11] two clients in one process do not share what they can do, nor their questions', async () => {
  const asked: string[] = [];
  const permit = (name: string, optionId: string) => (app: acp.ClientApp) => {
    app.onRequest('session/request_permission', async ({ params }) => {
      asked.push(`${name}: ${params.toolCall.title}`);
      return { outcome: { outcome: 'selected', optionId } };
    });
  };
  const reader = (app: acp.ClientApp) => {
    permit('one', 'allow-once')(app);
    app.onRequest('fs/read_text_file', () => ({ content: 'from one' }));
  };
  const one = await connect('one', { capabilities: { fs: { readTextFile: true } }, set: reader });
  const two = await connect('two', { set: permit('two', 'reject-once') });
  await Promise.all([one.prompt('/ask first'), two.prompt('/ask second')]);
  expect(asked.sort()).toEqual(['one: first', 'two: second']);
  expect(one.said()).toBe('permission: allow_once');
  expect(two.said()).toBe('permission: reject_once');
  await one.prompt('/read /x');
  expect(one.said()).toContain('from one');
  await expect(two.prompt('/read /x')).rejects.toMatchObject({ code: 10 });
});

test('[WP12] a permission is asked of the client; a refusal is a refusal', async () => {
  const outcomes: acp.RequestPermissionOutcome[] = [
    { outcome: 'selected', optionId: 'allow-always' },
    { outcome: 'cancelled' },
    { outcome: 'selected', optionId: 'no-such-option' },
  ];
  const { prompt, said, updates } = await connect('permission', {
    set: (app) =>
      app.onRequest('session/request_permission', () => ({
        outcome: outcomes.shift() as acp.RequestPermissionOutcome,
      })),
  });
  for (let round = 0; round < 3; round += 1) await prompt('/ask delete everything');
  const answers = said().split('permission: ').slice(1);
  expect(answers).toEqual(['allow_always', 'cancelled', 'refused, there is no such option']);
  const ends = updates.flatMap((one) =>
    one.sessionUpdate === 'tool_call_update' ? [one.status] : [],
  );
  expect(ends).toEqual(['completed', 'failed', 'failed']);
});

test('[WP10] it writes and runs through its client', async () => {
  const written: Record<string, string> = {};
  const { prompt, said } = await connect('files', {
    capabilities: { fs: { writeTextFile: true }, terminal: true },
    set(app) {
      app
        .onRequest('fs/write_text_file', ({ params }) => {
          written[params.path] = params.content;
          return {};
        })
        .onRequest('terminal/create', () => ({ terminalId: 't1' }))
        .onRequest('terminal/wait_for_exit', () => ({ exitCode: 3 }))
        .onRequest('terminal/output', () => ({ output: 'ran\n', truncated: false }))
        .onRequest('terminal/release', () => ({}));
    },
  });
  await prompt('/write /tmp/a two words');
  await prompt('/run make all');
  expect(written).toEqual({ '/tmp/a': 'two words' });
  expect(said()).toContain('ran\n(exit 3)');
});

test('[WP13] cancel ends the turn, one turn runs at a time, and an error is an error', async () => {
  const { agent, prompt, sessionId, said } = await connect('cancel');
  const slow = prompt('/wait 60000');
  await expect(prompt('me too')).rejects.toMatchObject({ code: -32_600 });
  await agent.notify('session/cancel', { sessionId });
  expect(await within('the cancelled turn ends', slow)).toEqual({ stopReason: 'cancelled' });
  await expect(prompt('/fail on purpose')).rejects.toMatchObject({
    code: -32_603,
    message: expect.stringContaining('on purpose'),
  });
  expect(said()).toBe('');
});

test('[WP13] $/cancelRequest with the id of the bus answers that request as cancelled', async () => {
  const worker = startWorker(['acp-echo']);
  worker.send({
    jsonrpc: '2.0',
    id: 's1',
    method: 'session/new',
    params: { cwd: CWD, mcpServers: [] },
  });
  const { sessionId } = (await worker.answer('s1')).result;
  const prompt = [{ type: 'text', text: 'go\n/wait 60000' }];
  worker.send({
    jsonrpc: '2.0',
    id: 's2',
    method: 'session/prompt',
    params: { sessionId, prompt },
  });
  await worker.until('it began', (one) => one.method === 'session/update');
  worker.send({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id: 's2' } });
  expect((await worker.answer('s2')).error.code).toBe(-32_800);
  worker.child.stdin.end();
  expect(await worker.exited()).toBe(0);
});

test('[WP10] a session can be loaded, listed by its own route only, and closed', async () => {
  const mine = await connect('history');
  await mine.prompt('remember me');
  const again = await connect('history-2');
  await again.agent.request('session/load', {
    ...{ sessionId: mine.sessionId, cwd: CWD, mcpServers: [] },
  });
  const replayed = again.updates.map((one) => 'content' in one && one.sessionUpdate);
  expect(replayed).toEqual(['user_message_chunk', 'agent_message_chunk']);
  const ids = async (client: typeof mine): Promise<string[]> =>
    (await client.agent.request('session/list', {})).sessions.map((one) => one.sessionId);
  expect(await ids(mine)).toEqual([mine.sessionId]);
  expect(await ids(again)).toEqual([again.sessionId]);
  await mine.agent.request('session/close', { sessionId: mine.sessionId });
  await expect(mine.prompt('still there?')).rejects.toMatchObject({ code: -32_002 });
});

test('[WP14] stdio MCP servers of session/new are connected, and end with the worker', async () => {
  const worker = startRouted(['acp-echo']);
  const { agent, updates, said } = await connect('mcp', { worker });
  const pidFile = join(mkdtempSync(join(tmpdir(), 'synod-mcp-')), 'pid');
  const script = `echo $$ > ${pidFile}; exec ${process.execPath} ${SYNOD} worker mcp-echo`;
  const echo = { name: 'echo', command: 'sh', args: ['-c', script], env: [] };
  const broken = { name: 'broken', command: '/no/such/program', args: [], env: [] };
  const http = { type: 'http' as const, name: 'web', url: 'http://127.0.0.1:9', headers: [] };
  const mcpServers: acp.McpServer[] = [echo, broken, http];
  const { sessionId } = await agent.request('session/new', { cwd: CWD, mcpServers });
  await agent.request('session/prompt', {
    sessionId,
    prompt: [
      { type: 'text', text: '/tool echo reverse {"text":"abc"}' },
      { type: 'resource_link', name: 'hello', uri: 'echo://hello' },
    ],
  });
  expect(updates.length).toBeGreaterThan(0);
  expect(said()).toContain('cba');
  expect(said()).toContain('hello from an MCP resource');
  expect(worker.stderr()).toContain('"broken" is not connected');
  const pid = Number(readFileSync(pidFile, 'utf8'));
  expect(isAlive(pid)).toBe(true);
  worker.child.stdin.end();
  const [code] = await within('it ends', once(worker.child, 'close'));
  expect(code).toBe(0);
  await until(
    'the MCP server has ended',
    () => soon(() => isAlive(pid)),
    (alive) => !alive,
  );
});

test('[WP7] a worker whose client left in the middle of a question refuses it and ends', async () => {
  const worker = startWorker(['acp-echo']);
  worker.send({
    jsonrpc: '2.0',
    id: 1,
    method: 'session/new',
    params: { cwd: CWD, mcpServers: [] },
  });
  const { sessionId } = (await worker.answer(1)).result;
  const prompt = [{ type: 'text', text: '/ask anything' }];
  worker.send({ jsonrpc: '2.0', id: 2, method: 'session/prompt', params: { sessionId, prompt } });
  await worker.until('it asks', (one) => one.method === 'session/request_permission');
  worker.child.stdin.end();
  expect(await worker.exited()).toBe(0);
  expect((await worker.answer(2)).result).toEqual({ stopReason: 'end_turn' });
  const texts = worker.heard.map((one) => one.params?.update?.content?.text);
  expect(texts).toContain('permission: cancelled');
});

test('[WP36] without the ACP library it names the package and what to run', async () => {
  const hook = new URL('./without-acp.mjs', import.meta.url).href;
  const worker = startWorker(['acp-echo'], { env: { NODE_OPTIONS: `--import=${hook}` } });
  expect(await worker.exited()).toBe(78);
  expect(worker.stderr()).toContain('npm install @agentclientprotocol/sdk');
});
