/** The workers of the box where they belong: in the pools of a real bus, reached over TCP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../free-ports.ts';
import { type BusClient, type BusProcess, openClient, startBus } from './bus-process.ts';

const dir = mkdtempSync(join(tmpdir(), 'synod-bus-'));
let bus: BusProcess;
let one: BusClient;
let two: BusClient;

beforeAll(async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const pools = { echo: 2, 'stream-echo': 1, 'acp-echo': 1 };
  const token = 'a-token-nobody-would-guess';
  bus = await startBus(dir, ['--tcp', address], pools, { SYNOD_BUS_TOKEN: token });
  one = openClient(address);
  two = openClient(address);
  for (const client of [one, two]) client.send({ type: 'auth', token });
});
afterAll(async () => {
  one.close();
  two.close();
  await bus.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('[WP4] [WP5] ids and sessions survive the bus, whatever characters they have', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 });
  let count = 0;
  await fc.assert(
    fc.asyncProperty(text, text, async (id, session) => {
      count += 1;
      const unique = `${count}:${id}`;
      const sessionId = `s${session}`;
      one.send({ id: unique, method: 'm', pool: 'echo', sessionId, params: { count } });
      expect(await one.answer(unique)).toMatchObject({ sessionId, result: { echo: { count } } });
    }),
    { numRuns: 60 },
  );
});

test('[WP8] two streams of one worker reach their two clients, each chunk with its request', async () => {
  const params = { text: 'abcdefghij', chunks: 10, delayMs: 5 };
  const top = { pool: 'stream-echo', method: 'say', params };
  one.send({ id: 'mine', sessionId: 'stream-1', ...top });
  two.send({ id: 'mine', sessionId: 'stream-2', ...top });
  await Promise.all([one.answer('mine'), two.answer('mine')]);
  for (const client of [one, two]) {
    const chunks = client.heard.filter((message) => message.method === 'session/update');
    expect(chunks.map((message) => message.params.update.content.text).join('')).toBe(params.text);
    expect(new Set(chunks.map((message) => message._ext.requestId))).toEqual(new Set(['mine']));
  }
});

test('[WP12] a permission prompt crosses the bus to the client of its session, and nobody else', async () => {
  const top = { pool: 'acp-echo', sessionId: 'acp-1' };
  const params = { cwd: '/', mcpServers: [] };
  two.send({ id: 'new', method: 'session/new', params, ...top });
  const { sessionId } = (await two.answer('new')).result;
  const prompt = [{ type: 'text', text: '/ask format the disk' }];
  two.send({ id: 'ask', method: 'session/prompt', params: { sessionId, prompt }, ...top });
  const question = await two.until(
    'asked',
    ({ method }) => method === 'session/request_permission',
  );
  expect(question.params.toolCall.title).toBe('format the disk');
  const outcome = { outcome: 'selected', optionId: 'reject-always' };
  two.send({ id: question.id, result: { outcome }, ...top });
  expect((await two.answer('ask')).result).toEqual({ stopReason: 'end_turn' });
  const texts = two.heard.map((message) => message.params?.update?.content?.text);
  expect(texts).toContain('permission: reject_always');
  expect(one.heard.some(({ method }) => method === 'session/request_permission')).toBe(false);
});
