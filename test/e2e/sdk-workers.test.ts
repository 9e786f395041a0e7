/** The SDK with workers it did not know of: `cat`, the workers in the box, and the example. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { BusState, StdioBus, type StdioBusOptions } from '../../src/bus/sdk/index.ts';
import { within } from './deadline.ts';
import { SYNOD } from './sdk-buses.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/sdk/two-streams.ts', import.meta.url));

const open: StdioBus[] = [];
afterEach(async () => {
  for (const bus of open.splice(0)) await bus.stop(2);
});

async function start(options: StdioBusOptions): Promise<StdioBus> {
  const bus = new StdioBus({ onLog() {}, ...options });
  open.push(bus);
  await bus.start();
  return bus;
}

function box(...args: string[]): StdioBusOptions {
  const pool = { id: 'box', command: process.execPath, args: [SYNOD, 'worker', ...args] };
  return { config: { pools: [{ ...pool, instances: 1 }] } };
}

test('[SD5] with cat as worker every line comes back, in order, whole', async () => {
  const bus = await start({ config: { pools: [{ id: 'cat', command: 'cat', instances: 1 }] } });
  const lines: Record<string, unknown>[] = [];
  const seen = Promise.withResolvers<void>();
  bus.onMessage((text) => {
    lines.push(JSON.parse(text));
    if (lines.length === 6) seen.resolve();
  });
  const big = 'x'.repeat(102_400);
  for (let n = 0; n < 5; n++) {
    bus.send(JSON.stringify({ jsonrpc: '2.0', method: `multi-${n}`, sessionId: 's' }));
  }
  bus.send(JSON.stringify({ jsonrpc: '2.0', method: 'big', sessionId: 's', params: { big } }));
  await within('six lines', seen.promise);
  expect(lines.map(({ method }) => method)).toEqual([
    ...['multi-0', 'multi-1', 'multi-2', 'multi-3', 'multi-4', 'big'],
  ]);
  expect(lines[0]).not.toHaveProperty('id');
  expect(lines[5]?.params).toEqual({ big });
  // A request comes back as it is, under its own id: that is no question to this client.
  const asked: string[] = [];
  bus.onRequest(({ method }) => asked.push(method));
  await expect(bus.request('who', {}, { timeoutMs: 200 })).rejects.toThrow('no answer');
  expect(lines[6]).toMatchObject({ id: expect.any(String), method: 'who' });
  expect(asked).toEqual([]);
  await bus.stop(5);
  expect(bus.getState()).toBe(BusState.STOPPED);
});

test('[SD6] echo in the box: 64 sessions, special characters, and a timestamp', async () => {
  const bus = await start(box('echo'));
  const ids = Array.from({ length: 64 }, (_, n) => `s "${n}" \\ ü 😀 \u2028`);
  const answers = await Promise.all(
    ids.map((sessionId) => bus.request<object>('any/method', { sessionId }, { sessionId })),
  );
  for (const [n, answer] of answers.entries()) {
    expect(answer).toMatchObject({ echo: { sessionId: ids[n] }, method: 'any/method' });
    expect(answer).toHaveProperty('timestamp');
  }
});

test('[SD12] an ACP agent asks for permission, and gets the answer of whoever uses the SDK', async () => {
  const bus = await start(box('acp-echo'));
  await bus.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await bus.request<{ sessionId: string }>('session/new', {
    ...{ cwd: process.cwd(), mcpServers: [] },
  });
  const prompt = [{ type: 'text', text: '/ask may I?' }];
  const asked: unknown[] = [];
  const ask = (): Promise<{ stopReason: string; text: string }> =>
    bus.request('session/prompt', { sessionId, prompt });
  const refused = await ask();
  const off = bus.onRequest(({ method, params }) => {
    asked.push(method);
    const { options } = params as { options: { optionId: string; kind: string }[] };
    const once = options.find(({ kind }) => kind === 'allow_once');
    return { outcome: { outcome: 'selected', optionId: once?.optionId } };
  });
  const allowed = await ask();
  off();
  expect(asked).toEqual(['session/request_permission']);
  expect(allowed.stopReason).toBe('end_turn');
  expect(allowed.text).not.toBe(refused.text);
});

test('[SD10] the example streams from two workers at once', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE], { timeout: 15_000 });
  expect(stdout).toMatch(/both at once, both whole\n$/);
});

test('[SD6] 20,000 requests at once to one worker, and none is lost', async () => {
  const bus = await start({ ...box('echo'), timeoutMs: 60_000 });
  const all = Array.from({ length: 20_000 }, (_, n) =>
    bus.request<{ echo: { n: number } }>('e', { n }),
  );
  const answers = await Promise.all(all);
  expect(answers.every(({ echo }, n) => echo.n === n)).toBe(true);
});
