/**
 * Goal: nothing is lost, cut or reordered between the bus and a worker, whatever the worker does,
 * and nobody's memory grows because somebody else does not read.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { type ByteLine, lineOf, messageOf } from '../../../src/bus/process/byte-line.ts';
import { HANDED_BYTES_MAX } from '../../../src/bus/process/outbound.ts';
import { firstDown, lookUntil, record, startReady } from './recorder.ts';
import { specOf } from './spec-of.ts';

const MIB = 1_048_576;
/** What the system keeps for a pipe or a pair of sockets, generously. */
const PIPE_BYTES_MAX = MIB;

const cat = specOf('echo.mjs', { command: 'cat', args: [] });
const request = (n: number, filler = ''): ByteLine =>
  messageOf({ jsonrpc: '2.0', id: `s${n}`, method: 'x', params: { n, filler } });

test('[WO1] [WO2] lines of one byte to 8 MB come back whole and in order', async () => {
  const recorder = await startReady(cat);
  const sizes = [1, 2, 100, 65_534, 65_535, 65_536, 65_537, 131_072, 8 * MIB, 3, 8 * MIB, 1];
  const sent = sizes.map((size, at) => String.fromCharCode(97 + at).repeat(size) as ByteLine);
  expect(sent.map((line) => recorder.worker.send(line))).toEqual(sizes.map((_, at) => at + 1));
  const total = sizes.reduce((sum, size) => sum + size + 1, 0);
  expect(recorder.worker.queuedBytes).toBe(total);
  await recorder.when('all are back', () => recorder.lines.length === sent.length);
  expect(recorder.lines.every((line, at) => line === sent[at])).toBe(true);
  expect(recorder.worker.queuedBytes).toBe(0);
});

test('[WO1] thousands of messages in one tick arrive, and bytes stay bytes', async () => {
  const recorder = await startReady(cat);
  const sent = Array.from({ length: 20_000 }, (_, n) => request(n, n % 7 === 0 ? 'grüße 🙂' : ''));
  for (const line of sent) recorder.worker.send(line);
  await recorder.when('all are back', () => recorder.lines.length === sent.length);
  expect(recorder.lines).toEqual(sent);
});

test('[WO1] a message stays one line, whatever white space stands in it', async () => {
  const recorder = await startReady(cat);
  recorder.worker.send('{"params":\n{"id":"s1"}\r}' as ByteLine);
  recorder.worker.send(lineOf('{}'));
  await recorder.when('both are back', () => recorder.lines.length >= 2);
  expect(recorder.lines).toEqual(['{"params": {"id":"s1"} }', '{}']);
});

test('[WO1] what a worker does not read stays with us, is counted, and arrives in the end', async () => {
  const lines = 64;
  const spec = specOf('never-reads.mjs', { env: { LINES: String(lines) } });
  const recorder = await startReady(spec);
  await recorder.when('it is there', () => recorder.lines.length === 1);
  const digest = createHash('sha256');
  let total = 0;
  for (let n = 1; n <= lines; n += 1) {
    const line = request(n, 'y'.repeat(MIB));
    digest.update(`${line}\n`);
    total += line.length + 1;
    expect(recorder.worker.send(line)).toBe(n);
  }
  expect(recorder.worker.queuedBytes).toBe(total);
  await lookUntil('the pipe is full', () => recorder.worker.queuedBytes < total);
  expect(recorder.worker.queuedBytes).toBeGreaterThan(total - PIPE_BYTES_MAX);
  process.kill(recorder.worker.pid ?? 0, 'SIGUSR2');
  await recorder.when('it has read all', () => recorder.lines.length === 2);
  expect(JSON.parse(recorder.lines[1] ?? '')).toEqual({ lines, sha256: digest.digest('hex') });
  await lookUntil('all is taken', () => recorder.worker.queuedBytes === 0);
});

test('[WO1] what the process never saw is told when it goes down, and can be sent again', async () => {
  const recorder = await startReady(specOf('never-reads.mjs'));
  await recorder.when('it is there', () => recorder.lines.length === 1);
  const sent = Array.from({ length: 5_000 }, (_, n) => request(n + 1, 'z'.repeat(1_000)));
  for (const line of sent) recorder.worker.send(line);
  const before = recorder.worker.queuedBytes;
  await lookUntil('the pipe is full', () => recorder.worker.queuedBytes < before);
  process.kill(recorder.worker.pid ?? 0, 'SIGKILL');
  const { handedOver, unsent } = await firstDown(recorder);
  // A pipe and a piece for the stream: everything behind that cannot have been seen.
  expect(handedOver).toBeGreaterThan(0);
  expect(handedOver * 1_000).toBeLessThan(PIPE_BYTES_MAX + HANDED_BYTES_MAX);
  expect(unsent).toEqual(sent.slice(handedOver));
  expect(recorder.worker.queuedBytes).toBe(0);
});

test('[WO1] of a message handed over in pieces the process counts as having seen it', async () => {
  const recorder = await startReady(specOf('never-reads.mjs'));
  await recorder.when('it is there', () => recorder.lines.length === 1);
  recorder.worker.send(request(1, 'z'.repeat(4 * MIB)));
  recorder.worker.send(request(2));
  await lookUntil('it was begun', () => recorder.worker.queuedBytes < 4 * MIB);
  await recorder.worker.stop(0);
  expect(recorder.downs[0]).toMatchObject({ handedOver: 1, unsent: [request(2)] });
});

test('[WO2] no line comes while reading is off, and none is missing afterwards', async () => {
  const lines = 3_000;
  const recorder = record(specOf('flood.mjs', { env: { LINES: String(lines) } }));
  let isOn = true;
  let whileOff = 0;
  let pauses = 0;
  recorder.onBatch = () => {
    if (!isOn) whileOff += 1;
    isOn = false;
    pauses += 1;
    recorder.worker.setReading(false);
    // Long enough for what is on its way to arrive if it could.
    setTimeout(() => {
      isOn = true;
      recorder.worker.setReading(true);
    }, 2);
  };
  recorder.worker.start();
  await firstDown(recorder);
  expect(whileOff).toBe(0);
  expect(pauses).toBeGreaterThan(10);
  expect(recorder.lines.map((line) => JSON.parse(line).n)).toEqual(
    Array.from({ length: lines }, (_, at) => at + 1),
  );
});

test('[WO2] [WO15] a worker that exits while reading is off is down after its last line, not before', async () => {
  const recorder = await startReady(specOf('flood.mjs', { env: { LINES: '20', LINE_BYTES: '9' } }));
  recorder.worker.setReading(false);
  const seen = recorder.lines.length;
  await lookUntil('it has exited', () => recorder.worker.pid === null);
  // Node has set the pipe flowing again by now; one turn of the loop would bring the lines.
  await once(spawn('true'), 'exit');
  expect(recorder.lines.length).toBe(seen);
  expect(recorder.outcomes).toEqual(['ready']);
  recorder.worker.setReading(true);
  await firstDown(recorder);
  expect(recorder.lines).toHaveLength(20);
});

test('[WO2] our memory stays bounded while a worker floods and nobody reads', async () => {
  const recorder = await startReady(specOf('flood.mjs'));
  await recorder.when('it floods', () => recorder.lines.length > 1_000);
  recorder.worker.setReading(false);
  recorder.lines.length = 0;
  const before = process.memoryUsage().rss;
  const stopAt = performance.now() + 1_000;
  await lookUntil('a second of flood is over', () => performance.now() > stopAt);
  expect(recorder.lines).toEqual([]);
  // The flood itself is hundreds of megabytes a second.
  expect(process.memoryUsage().rss - before).toBeLessThan(32 * MIB);
});

test('[WO15] an answer cut at any byte never looks whole, and a whole one is delivered', async () => {
  const whole = '{"jsonrpc":"2.0","id":"s1","result":"grüße"}';
  const bytes = Buffer.byteLength(whole);
  for (const at of [0, 1, 17, bytes - 5, bytes - 1, bytes, bytes + 1]) {
    const recorder = await startReady(specOf('dies-at.mjs', { env: { AT: String(at) } }));
    recorder.worker.send(request(1));
    expect(await firstDown(recorder)).toMatchObject({ exitCode: 1, handedOver: 1, unsent: [] });
    expect(recorder.lines).toEqual(at === 0 ? [] : [lineOf(whole).slice(0, at)]);
  }
});

test('[WO15] a worker that closes a pipe and goes on running is ended, and the reason says so', async () => {
  const deaf = await startReady(specOf('half-closed.mjs', { env: { CLOSES: '0' } }));
  const feed = setInterval(() => deaf.worker.state === 'ready' && deaf.worker.send(request(1)), 20);
  expect((await firstDown(deaf)).reason).toContain('closed its stdin');
  clearInterval(feed);
  const mute = await startReady(specOf('half-closed.mjs', { env: { CLOSES: '1' } }));
  expect((await firstDown(mute)).reason).toContain('closed its stdout');
});
