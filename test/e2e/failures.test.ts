/**
 * An error that nobody expected, met at every door: the caller gets an id and not the cause, and stderr
 * has one line with that id, at the level `error`, with the stack of the cause.
 */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  type MockInstance,
  test,
  vi,
} from 'vitest';
import { manifestOf } from '../../plugins/host-kit.test.fixture.ts';
import { createLog } from '../../src/cli/serve.ts';
import type { Desk } from '../../src/server/desk/desk.ts';
import { createFailureReport } from '../../src/server/desk/failure.ts';
import { createPace } from '../../src/server/desk/pace.ts';
import { createFanOut } from '../../src/server/doors/fan-out.ts';
import { createHostLimit } from '../../src/server/doors/host-limit.ts';
import { createHttpDoor } from '../../src/server/doors/http.ts';
import { createOpsDoor } from '../../src/server/doors/ops.ts';
import { createOriginCheck } from '../../src/server/doors/origin-check.ts';
import { createSseDoor } from '../../src/server/doors/sse.ts';
import { createWebSocketDoor } from '../../src/server/doors/websocket.ts';
import { createPluginRegistry } from '../../src/server/plugins/registry.ts';
import { createDoorServer } from '../../src/server/run/door-server.ts';
import { connectSynapse, synapseUrl } from '../conformance/synapse/synapse-client.ts';
import { openRpcSocket, turnedAway } from './rpc-socket.ts';
import { fetchReply, openRunningHub, type RunningHub } from './running-hub.ts';

const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/;
const log = createLog('info');
let stderr: MockInstance<typeof process.stderr.write>;
let hub: RunningHub;

/** Fails wherever it is asked, as a bug in a plugin would. */
function explode(): never {
  throw new Error('the secret cause');
}

/** The one line under this id; it has the stack, and the answer has none of it. */
function expectOneLine(answer: unknown): void {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const id = ID.exec(text)?.[0];
  if (id === undefined) expect.fail(`no id in ${text}`);
  expect(text).not.toContain('secret');
  const lines = stderr.mock.calls.map(([line]) => String(line));
  const told = lines.filter((line) => line.includes(id));
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/^\S+ error /);
  expect(told[0]).toMatch(/the secret cause.*at (Object\.)?explode/);
  expect(lines.filter((line) => line.includes('the secret cause'))).toHaveLength(1);
}

beforeAll(async () => {
  const plugins = createPluginRegistry();
  const spec = { applies_to: ['send', 'list_channels'] };
  plugins.registerPlugin(
    'io.acme.bad',
    () => explode,
    manifestOf('io.acme.bad', 'interceptor', spec),
  );
  hub = await openRunningHub({ flags: { synapse: '0' }, hooks: { plugins, log } });
});
afterAll(() => hub.close());
beforeEach(() => {
  stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => stderr.mockRestore());

test('[SV5] a plugin that throws, met over HTTP', async () => {
  const { status, body } = await hub.post('list_channels', {}, hub.as('ada'));
  expect([status, body.error_code]).toEqual([500, 'internal_error']);
  expectOneLine(body);
});

test('[SV5] the id is the one the caller gave, when it gave one', async () => {
  const id = '01234567-89ab-cdef-0123-456789abcdef';
  const { body } = await hub.post(
    'list_channels',
    {},
    { ...hub.as('ada'), 'x-correlation-id': id },
  );
  expect(body.detail.correlation_id).toBe(id);
  expectOneLine(body);
});

test('[SV5] a plugin that throws, met over the WebSocket', async () => {
  const ada = await openRpcSocket(hub.url, hub.as('ada'));
  expectOneLine(await ada.call('channels.send', { channel: 'x', body: { text: 'hi' } }));
  await ada.close();
});

test('[SV5] a plugin that throws, met over MCP', async () => {
  const client = new Client({ name: 'test', version: '0' });
  const requestInit = { headers: hub.as('ada') };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp`), { requestInit }),
  );
  expectOneLine(await client.callTool({ name: 'channels__list_channels', arguments: {} }));
  await client.close();
});

test('[SV5] a plugin that throws, met at the Synapse door', async () => {
  const client = await connectSynapse(await synapseUrl(hub.dir), 'syn');
  expectOneLine(await client.ask({ type: 'chat', target: 'all', payload: 'hi' }, 'error'));
  await client.close();
});

test('[SV5] a hook is met with silence all the same, and the silence carries the id', async () => {
  const spy = vi.spyOn(JSON, 'stringify');
  const event = { hook_event_name: 'UserPromptSubmit', session_id: 's1', prompt: 'x' };
  const body = JSON.stringify(event);
  // The hub tells events apart by their text: that is where this one breaks.
  spy.mockImplementation((value: unknown) =>
    (value as { session_id?: string } | null)?.session_id === 's1' ? explode() : '{}',
  );
  const answer = await fetchReply(`${hub.url}/v1/hooks/claude`, {
    method: 'POST',
    headers: { authorization: `Bearer ${hub.owner}` },
    body,
  }).finally(() => spy.mockRestore());
  expect([answer.status, answer.text]).toEqual([204, '']);
  expectOneLine(String(answer.headers['x-correlation-id']));
});

/** Doors whose desk throws before it has looked at anything. */
async function openBrokenDoors(): Promise<{ server: Server; url: string }> {
  const desk = { authenticate: async () => explode(), isOpenMode: false } as unknown as Desk;
  const report = createFailureReport((line, cause) => log('error', line, cause), randomUUID);
  const origins = createOriginCheck({ allowedHosts: [], corsOrigins: [] });
  const onCutOff = (): void => {};
  const fanOut = createFanOut(createPace());
  const sse = createSseDoor({ desk, origins, report, onCutOff, fanOut });
  const websocket = createWebSocketDoor({ desk, origins, report, onCutOff, fanOut });
  const ops = createOpsDoor({ desk, origins, report });
  const hooks = async () => null;
  const http = createHttpDoor({ desk, origins, report, version: '0', mcp: null, hooks });
  const hostLimit = createHostLimit(null);
  const server = createDoorServer({ http, ops, sse, websocket, hostLimit }, false);
  server.on('close', () => websocket.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('[SV5] a door that fails itself answers with the id: HTTP, an event stream, an upgrade', async () => {
  const { server, url } = await openBrokenDoors();
  for (const [method, path] of [
    ['POST', '/v1/ops/whoami'],
    ['POST', '/v1/hooks/claude'],
    ['GET', '/v1/stream'],
  ] as const) {
    const { status, body } = await fetchReply(`${url}${path}`, { method });
    expect([path, status, body.error_code]).toEqual([path, 500, 'internal_error']);
    expectOneLine(body);
    stderr.mockClear();
  }
  const { status, body } = await turnedAway(url, {});
  expect(status).toBe(500);
  expectOneLine(body);
  server.close();
});
