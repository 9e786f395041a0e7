/** The bridge on two streams, line by line; the whole process is tried in test/conformance/mcp.test.ts. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { isRefusal } from '../../core/law/decider.ts';
import type { CallOptions } from '../../wire/mcp/server.ts';
import { createMcpTools } from '../../wire/mcp/tools.ts';
import { operationList } from '../../wire/operations/table.ts';
import type { HubCall, Mention } from './http-call.ts';
import { LINE_BYTES_MAX } from './lines.ts';
import { type McpStdio, serveMcpStdio } from './stdio.ts';

const tools = createMcpTools(operationList);

interface Bridge extends McpStdio {
  readonly input: PassThrough;
  write(message: unknown): void;
  /** The next line written. */
  next(): Promise<Record<string, unknown>>;
  readonly errors: Error[];
}

function openBridge(call: HubCall, toolset = 'core', mention: Mention | null = null): Bridge {
  const input = new PassThrough();
  const output = new PassThrough();
  const errors: Error[] = [];
  const lines: string[] = [];
  let partial = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (partial + chunk).split('\n');
    partial = parts.pop() ?? '';
    lines.push(...parts);
    output.emit('line');
  });
  const bridge = serveMcpStdio({
    ...{ call, tools, toolset, version: '0.0.1', input, output, mention },
    onError: (error) => errors.push(error),
  });
  if (isRefusal(bridge)) throw new Error(bridge.message);
  return {
    ...bridge,
    input,
    errors,
    write: (message) =>
      void input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    async next() {
      while (lines.length === 0) await once(output, 'line');
      return JSON.parse(lines.shift() ?? '');
    },
  };
}

function toolCall(id: number, name: string, args: object, meta?: object) {
  const params = { name, arguments: args, ...(meta && { _meta: meta }) };
  return { jsonrpc: '2.0', id, method: 'tools/call', params };
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};

const subscribed: HubCall = async () => ({ ok: { subscribed: ['x'] } });

describe('the bridge', () => {
  test('[MC1] speaks the older era from its first version on', async () => {
    const bridge = openBridge(subscribed);
    bridge.write(INITIALIZE);
    expect(await bridge.next()).toMatchObject({
      id: 0,
      result: {
        protocolVersion: '2024-11-05',
        serverInfo: { name: 'synod' },
        capabilities: { tools: {} },
      },
    });
    bridge.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    bridge.write({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect(await bridge.next()).toMatchObject({ id: 1, result: { tools: expect.any(Array) } });
    bridge.write({ jsonrpc: '2.0', id: 2, method: 'ping' });
    expect(await bridge.next()).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
    await bridge.close();
    await bridge.closed;
  });

  test('[MC1] speaks 2026-07-28 to a client that opens with it', async () => {
    const bridge = openBridge(subscribed);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    bridge.write({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta } });
    expect(await bridge.next()).toMatchObject({
      id: 1,
      result: { supportedVersions: ['2026-07-28'] },
    });
    bridge.write(toolCall(2, 'channels__subscribe', { pattern: 'x' }, _meta));
    expect(await bridge.next()).toMatchObject({
      id: 2,
      result: { resultType: 'complete', structuredContent: { subscribed: ['x'] } },
    });
    await bridge.close();
  });

  test('[MC4] passes the arguments, the client version and the wish for a trace on as they came', async () => {
    const asked: { name: string; input: unknown; options: CallOptions }[] = [];
    const bridge = openBridge(async (name, input, options) => {
      asked.push({ name, input, options });
      return { ok: {}, metadata: { pipeline_trace: [1] } };
    });
    bridge.write(INITIALIZE);
    await bridge.next();
    const meta = { 'sox/client_version': '2.0', 'sox/trace': true };
    bridge.write(toolCall(1, 'channels__group_create', { group_id: 7 }, meta));
    expect(await bridge.next()).toMatchObject({
      result: { _meta: { 'sox/metadata': { pipeline_trace: [1] } } },
    });
    expect(asked).toMatchObject([
      {
        name: 'group_create',
        input: { group_id: 7 },
        options: { clientVersion: '2.0', wantsTrace: true },
      },
    ]);
    await bridge.close();
  });

  test('[MC8] answers what is no message as JSON-RPC says, and goes on', async () => {
    const bridge = openBridge(subscribed);
    bridge.write('{');
    expect(await bridge.next()).toMatchObject({ id: null, error: { code: -32_700 } });
    bridge.write('{"id":5}');
    expect(await bridge.next()).toMatchObject({ id: 5, error: { code: -32_600 } });
    bridge.write('[]');
    expect(await bridge.next()).toMatchObject({ id: null, error: { code: -32_600 } });
    bridge.input.write('\n\r\n');
    bridge.write(INITIALIZE);
    expect(await bridge.next()).toMatchObject({ id: 0, result: {} });
    await bridge.close();
  });

  test('[MC8] a line without end is refused and ends the bridge', async () => {
    const bridge = openBridge(subscribed);
    bridge.input.write('x'.repeat(LINE_BYTES_MAX + 1));
    expect(await bridge.next()).toMatchObject({ id: null, error: { code: -32_600 } });
    await bridge.closed;
  });

  test('[MC8] when the input ends, what was asked is answered, then the bridge closes', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const bridge = openBridge(async () => {
      await gate;
      return { ok: { subscribed: ['late'] } };
    });
    bridge.write(INITIALIZE);
    bridge.write(toolCall(1, 'channels__subscribe', { pattern: 'x' }));
    bridge.input.end();
    expect(await bridge.next()).toMatchObject({ id: 0 });
    open();
    expect(await bridge.next()).toMatchObject({
      id: 1,
      result: { structuredContent: { subscribed: ['late'] } },
    });
    await bridge.closed;
  });

  test('[MC8] when the input ends, a call that only waits is given up at once', async () => {
    const { promise: asked, resolve: seen } = Promise.withResolvers<CallOptions>();
    const bridge = openBridge(async (_name, _input, options) => {
      seen(options);
      await once(options.signal, 'abort');
      return { ok: {} };
    });
    bridge.write(INITIALIZE);
    bridge.write(toolCall(1, 'channels__recv', { wait_ms: 60_000 }));
    const { signal } = await asked;
    expect(signal.aborted).toBe(false);
    bridge.input.end();
    await bridge.closed;
    expect(signal.aborted).toBe(true);
  });

  test('[MC7] a cancelled call ends and is not answered', async () => {
    const { promise: asked, resolve: seen } = Promise.withResolvers<CallOptions>();
    const bridge = openBridge(async (_name, _input, options) => {
      seen(options);
      await once(options.signal, 'abort');
      return { ok: {} };
    });
    bridge.write(INITIALIZE);
    await bridge.next();
    bridge.write(toolCall(1, 'channels__recv', { wait_ms: 60_000 }));
    const { signal } = await asked;
    bridge.write({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: 'enough' },
    });
    if (!signal.aborted) await once(signal, 'abort');
    bridge.write({ jsonrpc: '2.0', id: 2, method: 'ping' });
    expect(await bridge.next()).toMatchObject({ id: 2 });
    bridge.input.end();
    await bridge.closed;
  });

  test('[MC3] refuses a toolset it does not know before it serves', () => {
    const refusal = serveMcpStdio({
      ...{ call: subscribed, tools, toolset: 'nope', version: '1' },
      input: new PassThrough(),
      output: new PassThrough(),
      onError: () => {},
    });
    expect(refusal).toMatchObject({ refused: 'input.invalid' });
  });

  test('[MC8] whatever lines come, the next message is answered', async () => {
    const bridge = openBridge(subscribed);
    bridge.write(INITIALIZE);
    await bridge.next();
    const line = fc
      .oneof(fc.string({ unit: 'binary' }), fc.json())
      .map((text) => text.replaceAll('\n', ' '));
    for (const text of fc.sample(line, 300)) bridge.write(text);
    bridge.write({ jsonrpc: '2.0', id: 'last', method: 'ping' });
    let answer = await bridge.next();
    while (answer.id !== 'last') answer = await bridge.next();
    expect(answer).toMatchObject({ result: {} });
    await bridge.close();
  });
});

describe('presence', () => {
  const IDLE = { state: 'idle', process: process.pid, ttl: 120 };

  test('[MC14] repeats what the agent said of itself, and says at the end that it left', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const mentioned: unknown[] = [];
    const bridge = openBridge(subscribed, 'all', async (name, input) => {
      mentioned.push([name, input]);
      return true;
    });
    bridge.write(INITIALIZE);
    await bridge.next();
    expect(mentioned).toEqual([['presence_report', IDLE]]);
    bridge.write(toolCall(1, 'presence__report', { state: 'blocked', note: 'which?' }));
    await bridge.next();
    vi.advanceTimersByTime(60_000);
    // The hub keeps that it is blocked until its person speaks, which a bridge does not hear.
    expect(mentioned.at(-1)).toEqual(['channels_heartbeat', { status: 'online', ttl: 120 }]);
    bridge.write(toolCall(9, 'presence__report', { state: 'busy', note: 'the lexer' }));
    await bridge.next();
    vi.advanceTimersByTime(60_000);
    expect(mentioned.at(-1)).toEqual([
      'presence_report',
      { ...IDLE, state: 'busy', note: 'the lexer' },
    ]);
    mentioned.pop();
    bridge.write(toolCall(2, 'channels__heartbeat', { status: 'offline' }));
    await bridge.next();
    vi.advanceTimersByTime(60_000);
    expect(mentioned).toHaveLength(2);
    bridge.input.end();
    await bridge.closed;
    expect(mentioned.slice(2)).toEqual([['channels_heartbeat', { status: 'offline' }]]);
    vi.advanceTimersByTime(600_000);
    expect(mentioned).toHaveLength(3);
  });

  test('[MC14] a hub that was not there is told after the first call that reached it', async () => {
    const answers = [false, true];
    let reports = 0;
    const bridge = openBridge(subscribed, 'core', async () => answers[reports++] ?? true);
    bridge.write(INITIALIZE);
    await bridge.next();
    for (const id of [1, 2, 3]) {
      bridge.write(toolCall(id, 'channels__subscribe', { pattern: 'x' }));
      await bridge.next();
    }
    expect(reports).toBe(2);
    await bridge.close();
    await bridge.closed;
  });

  test('[MC14] a hub that does not answer holds up neither calls nor the end', async () => {
    const bridge = openBridge(subscribed, 'core', () => new Promise(() => {}));
    bridge.write(INITIALIZE);
    await bridge.next();
    bridge.write(toolCall(1, 'channels__subscribe', { pattern: 'x' }));
    expect(await bridge.next()).toMatchObject({ id: 1, result: {} });
    const before = performance.now();
    bridge.input.end();
    await bridge.closed;
    // A report is given up after a minute.
    expect(performance.now() - before).toBeLessThan(30_000);
  });
});
