/** The streaming echo as a process: pieces, interleaving, both cancels, and the end of the input. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killWorkers, type Message, startWorker, type WorkerProcess } from './worker-process.ts';

let worker: WorkerProcess;
beforeAll(() => {
  worker = startWorker(['stream-echo']);
});
afterAll(killWorkers);

const ask = (id: string, params: object, around: object = {}): void =>
  worker.send({ jsonrpc: '2.0', id, method: 'say', params, ...around });
const chunksOf = (id: string): Message[] =>
  worker.heard.filter((one) => one.method === 'session/update' && one._ext?.requestId === id);
const textOf = (chunks: readonly Message[]): string =>
  chunks.map((one) => one.params.update.content.text).join('');

test('[WP8] a text comes in pieces that carry the id of their request, then the answer', async () => {
  const text = 'one two  three\nfour 🦊🦊';
  ask('words', { text }, { sessionId: 'S' });
  ask('cut', { text, chunks: 3 });
  const answer = await worker.answer('words');
  await worker.answer('cut');
  expect(answer).toMatchObject({ sessionId: 'S', result: { stopReason: 'end_turn', chunks: 5 } });
  expect(textOf(chunksOf('words'))).toBe(text);
  expect(chunksOf('words').every((one) => one.sessionId === 'S')).toBe(true);
  expect(worker.heard.indexOf(answer)).toBeGreaterThan(
    worker.heard.lastIndexOf(chunksOf('words').at(-1) as Message),
  );
  expect(chunksOf('cut')).toHaveLength(3);
  expect(textOf(chunksOf('cut'))).toBe(text);
});

test('[WP8] streams run at the same time and interleave', async () => {
  for (const id of ['x', 'y']) ask(id, { text: 'a'.repeat(20), chunks: 20, delayMs: 2 });
  await Promise.all([worker.answer('x'), worker.answer('y')]);
  const order = worker.heard.flatMap((one) =>
    one._ext?.requestId === 'x' || one._ext?.requestId === 'y' ? [one._ext.requestId] : [],
  );
  expect(order).toHaveLength(40);
  // One after the other would change hands once.
  const turns = order.filter((id, at) => at > 0 && id !== order[at - 1]).length;
  expect(turns).toBeGreaterThan(3);
});

test('[WP9] a cancelled request ends with an error, a cancelled session with its stop reason', async () => {
  const slow = { text: 'ab'.repeat(50), chunks: 100, delayMs: 50 };
  ask('r1', slow);
  ask('r2', slow);
  ask('s1', { ...slow, sessionId: 'agent-1' });
  ask('s2', slow, { sessionId: 'route-2' });
  for (const id of ['r1', 'r2', 's1', 's2']) {
    await worker.until(`a chunk of ${id}`, (one) => one._ext?.requestId === id);
  }
  worker.send({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id: 'r1' } });
  worker.send({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 'r2' } });
  worker.send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 'agent-1' } });
  worker.send({ jsonrpc: '2.0', method: 'session/cancel', sessionId: 'route-2' });
  expect((await worker.answer('r1')).error.code).toBe(-32_800);
  expect((await worker.answer('r2')).error.code).toBe(-32_800);
  expect((await worker.answer('s1')).result).toEqual({ stopReason: 'cancelled' });
  expect((await worker.answer('s2')).result).toEqual({ stopReason: 'cancelled' });
  expect(chunksOf('r1').length).toBeLessThan(100);
});

test('[WP8] what it cannot do is named', async () => {
  ask('no-text', { chunks: 2 });
  ask('many', { text: 'a', chunks: 1e6 });
  ask('slow', { text: 'a', delayMs: -1 });
  expect((await worker.answer('no-text')).error.message).toContain('params.text');
  expect((await worker.answer('many')).error.message).toContain('params.chunks');
  expect((await worker.answer('slow')).error.message).toContain('params.delayMs');
});

test('[WP7] streams in hand are finished after the input has ended', async () => {
  const ending = startWorker(['stream-echo']);
  const params = { text: 'abcde', chunks: 5, delayMs: 20 };
  ending.send({ jsonrpc: '2.0', id: 1, method: 'say', params });
  ending.child.stdin.end();
  expect(await ending.exited()).toBe(0);
  expect(ending.heard).toHaveLength(6);
  expect(ending.heard.at(-1)).toMatchObject({ id: 1, result: { stopReason: 'end_turn' } });
});
