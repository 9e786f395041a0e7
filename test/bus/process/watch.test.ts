/**
 * Goal: a worker that is not ready, hangs, lies or chatters is found out, and the reason is told;
 * one that is merely slow or not read from is left alone.
 */
import { expect, test } from 'vitest';
import { messageOf } from '../../../src/bus/process/byte-line.ts';
import type { WorkerSpec } from '../../../src/bus/process/spec.ts';
import { firstDown, lookUntil, record, startReady } from './recorder.ts';
import { specOf } from './spec-of.ts';

const request = messageOf({ jsonrpc: '2.0', id: 's1', method: 'work', params: 1 });
const probing = (changes: Partial<WorkerSpec>, env: Record<string, string> = {}) =>
  specOf('echo.mjs', { ...changes, env });

test('[WO13] a worker is ready when it answered the probe, and nobody else sees the answer', async () => {
  for (const env of [{}, { ERRS: 'are-you-ready' }]) {
    const recorder = record(probing({ ready: { method: 'are-you-ready', timeoutMs: 9_000 } }, env));
    recorder.worker.start();
    await recorder.when('it was spawned', () => recorder.worker.starts === 1);
    expect(recorder.worker.state).toBe('starting');
    await recorder.when('ready', () => recorder.worker.state === 'ready');
    expect(recorder.worker.send(request)).toBe(1);
    await recorder.when('the answer', () => recorder.lines.length > 0);
    expect(recorder.lines).toEqual(['{"jsonrpc":"2.0","id":"s1","result":1}']);
  }
});

test('[WO13] a worker that does not answer the probe, or lies, is down without being ready', async () => {
  const ready = { method: 'are-you-ready', timeoutMs: 500 };
  const silent = record(probing({ ready }, { DEAF: 'are-you-ready' }));
  silent.worker.start();
  expect((await firstDown(silent)).reason).toContain(
    'did not answer "are-you-ready" within 0.5 s of its start',
  );
  expect(silent.outcomes).toEqual(['down']);
  const liar = record(specOf('liar.mjs', { ready: { ...ready, timeoutMs: 2_000 } }));
  liar.worker.start();
  expect((await firstDown(liar)).reason).toContain('never was ready');
  expect(liar.outcomes).toEqual(['down']);
  // What it said instead is the bus's to judge.
  expect(liar.lines).toHaveLength(9);
});

test('[RS1] a worker that exits with 0 before it was ready has failed', async () => {
  const { restart } = specOf('echo.mjs');
  const ready = { method: 'are-you-ready', timeoutMs: 9_000 };
  const spec = { command: '/bin/true', args: [], ready };
  const recorder = record(
    specOf('echo.mjs', { ...spec, restart: { ...restart, policy: 'on-failure' } }),
  );
  recorder.worker.start();
  const down = await firstDown(recorder);
  expect(down.reason).toBe('exited with code 0 before it was ready');
  expect(down.restartInMs).not.toBeNull();
});

test('[WO13] lines before the answer to the probe are passed on', async () => {
  const ready = { method: 'are-you-ready', timeoutMs: 9_000 };
  const recorder = await startReady(probing({ ready }, { GREETING: 'Welcome!' }));
  expect(recorder.lines).toEqual(['Welcome!']);
});

test('[WO13] pings are answered unseen, leave the numbers alone, and a missing answer is fatal', async () => {
  const ping = { method: 'ping', everyMs: 20, timeoutMs: 1_000 };
  const good = await startReady(probing({ ping }));
  const mute = await startReady(probing({ ping }, { DEAF: 'ping' }));
  expect(await firstDown(mute)).toMatchObject({
    reason: 'did not answer the ping "ping" for 1 s',
    handedOver: 0,
  });
  expect(mute.notes.some((note) => note.what === 'hang')).toBe(true);
  expect(good.worker.send(request, true)).toBe(1);
  await good.when('the answer', () => good.lines.length > 0);
  expect(good.lines).toHaveLength(1);
  await good.worker.stop(1_000);
  expect(good.downs[0]).toMatchObject({ handedOver: 1, unsent: [] });
});

test('[WO14] a worker with work in hand that gives no sign is ended, and the reason says so', async () => {
  const spec = probing({ hangMs: 300 }, { DEAF: 'work' });
  const recorder = await startReady(spec);
  const sentAt = performance.now();
  recorder.worker.send(request, true);
  const down = await firstDown(recorder);
  expect(down.reason).toContain('hangs: it has work in hand and gave no sign for 0.3 s');
  expect(performance.now() - sentAt).toBeGreaterThanOrEqual(300);
});

test('[WO14] what it is sent meanwhile puts nothing off, nor does one answer of several', async () => {
  const recorder = await startReady(probing({ hangMs: 300 }, { DEAF: 'work' }));
  recorder.worker.send(request, true);
  recorder.worker.alive(true);
  // It takes all of this, and says nothing to any of it.
  const traffic = setInterval(() => {
    if (recorder.worker.state === 'ready') recorder.worker.send(request, true);
  }, 20);
  const down = await firstDown(recorder).finally(() => clearInterval(traffic));
  expect(down.reason).toContain('hangs');
});

test('[WO14] idle, heard of, or not read from: none of that is hanging', async () => {
  const quiet = { DEAF: 'work' };
  const idle = await startReady(probing({ hangMs: 300 }, quiet));
  const alive = await startReady(probing({ hangMs: 300 }, quiet));
  const paused = await startReady(
    probing({ hangMs: 300, ping: { method: 'ping', everyMs: 1, timeoutMs: 300 } }, quiet),
  );
  const told = await startReady(probing({ hangMs: 300 }, quiet));
  told.worker.send(request, false);
  alive.worker.send(request, true);
  alive.worker.alive(false);
  paused.worker.send(request, true);
  paused.worker.setReading(false);
  const stopAt = performance.now() + 900;
  await lookUntil('three times as long is over', () => performance.now() > stopAt);
  expect([idle, told, alive, paused].map((one) => one.worker.state)).toEqual(
    Array(4).fill('ready'),
  );
  // And the watch is awake: reading again, the pings keep it alive, and only they do.
  paused.worker.setReading(true);
  idle.worker.send(request, true);
  expect((await firstDown(idle)).reason).toContain('hangs');
  expect(paused.worker.state).toBe('ready');
});

test('[WO11] a line over the limit ends the worker, and the reason names the limit', async () => {
  const env = { LINE_BYTES: '5000', LINES: '3' };
  const recorder = record(specOf('flood.mjs', { lineBytesMax: 4_096, env }));
  recorder.worker.start();
  expect((await firstDown(recorder)).reason).toContain('a line of more than 4096 bytes');
  expect(recorder.lines).toEqual([]);
});

test('[WO11] strays are counted and shown harmless; too many, and the worker is restarted', async () => {
  const spec = specOf('strays.mjs', {
    straysMax: 3,
    restart: { ...specOf('strays.mjs').restart, policy: 'on-failure' },
  });
  const recorder = record(spec);
  recorder.onBatch = (lines) => {
    for (const line of lines) recorder.worker.stray(line);
  };
  recorder.worker.start();
  await recorder.when('the first stray', () =>
    recorder.notes.some((note) => note.what === 'stray'),
  );
  const shown = recorder.notes.find((note) => note.what === 'stray')?.text;
  expect(shown).toBe('wrote a line that is no message: Loading model\\u{7} …\\u{202e} done');
  for (let n = 0; n < 3; n += 1) recorder.worker.send(request);
  const down = await firstDown(recorder);
  expect(down.reason).toContain('wrote 4 lines that are no messages to its stdout; 3 are allowed');
  expect(down.restartInMs).toBeGreaterThan(0);
  await recorder.when('it runs again', () => recorder.worker.starts === 2);
});
