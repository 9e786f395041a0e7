/**
 * Goal: whatever arrives at a door, the hub answers or closes, never dies, and works afterwards.
 * Method: a hub in its own process; random bytes, random JSON and valid frames that were mutated,
 * at HTTP, the event stream, the WebSocket and raw TCP, from a fixed seed and for a bounded time.
 * A failure prints the seed and the smallest input that shows it.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { operationList } from '../../src/wire/operations/table.ts';
import { within } from './deadline.ts';
import { type HubProcess, isRunning, startHubProcess } from './hub-process.ts';
import { openRawSocket } from './raw-socket.ts';
import { fetchReply } from './running-hub.ts';

/** For a longer hunt: SYNOD_FUZZ_SEED=7 SYNOD_FUZZ_MS=60000. */
const SEED = Number(process.env.SYNOD_FUZZ_SEED ?? 20_260_728);
const DOOR_MS = Number(process.env.SYNOD_FUZZ_MS ?? 4_000);
const MEMORY_BYTES_MAX = 700 * 1024 * 1024;
const ANSWER_MS = 5_000;

let hub: HubProcess;
let dir: string;
let headers: Record<string, string>;
let port: number;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-fuzz-'));
  const started = await startHubProcess(dir);
  if (!isRunning(started)) throw new Error(started.stderr);
  hub = started;
  port = Number(new URL(hub.url).port);
  const credential = (await readFile(join(dir, 'credential'), 'utf8')).trim();
  headers = { authorization: `Bearer ${credential}`, 'x-sox-agent-id': 'fuzz' };
});
afterAll(async () => {
  await hub.stop();
  await rm(dir, { recursive: true, force: true });
});
afterEach(async () => {
  expect(hub.child.exitCode).toBeNull();
  expect(hub.child.signalCode).toBeNull();
  const { status, body } = await post('send', '{"channel":"alive","body":{}}');
  expect([status, body.seq > 0]).toEqual([200, true]);
  const pages = (await readFile(`/proc/${hub.child.pid}/statm`, 'utf8').catch(() => '')).split(' ');
  expect(Number(pages[1] ?? 0) * 4_096).toBeLessThan(MEMORY_BYTES_MAX);
});

const post = (operation: string, body: string | Buffer, isOwner = false) =>
  within(
    `an answer to ${operation}`,
    fetchReply(`${hub.url}/v1/ops/${operation}`, {
      method: 'POST',
      headers: { ...headers, ...(isOwner && { 'x-synod-owner': '1' }) },
      body,
    }),
    ANSWER_MS,
  );

async function check<T>(input: fc.Arbitrary<T>, holds: (input: T) => Promise<void>): Promise<void> {
  let runs = 0;
  const property = fc.asyncProperty(input, async (one) => {
    runs++;
    await holds(one);
  });
  await fc.assert(property, {
    seed: SEED,
    numRuns: 100_000,
    interruptAfterTimeLimit: DOOR_MS,
    markInterruptAsFailure: false,
  });
  expect(runs).toBeGreaterThan(100);
}

// Collecting waits, and spaces that are made or set up anew would spoil the hub for what follows.
const LEFT_OUT = new Set(['channels.collect', 'spaces.create', 'spaces.configure']);
const tried = operationList.filter((one) => !LEFT_OUT.has(one.id));
const names = tried.map((one) => one.name);
const someName = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...names) },
  { weight: 1, arbitrary: fc.string() },
);
const channel = fc.constantFrom(
  'c',
  'team/a',
  '*',
  'dm/a~fuzz',
  'dm/x~y',
  'group/g',
  'sox/presence',
);
const scalar = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.string({ unit: 'binary', maxLength: 300 }),
  channel,
  fc.constantFrom('m0', 'm1', 'done', 'online', '2.0', -1, 2 ** 53, 1e308),
);
/** Fields as operations have them, with values they may or may not have. */
const likeInput = fc.dictionary(
  fc.constantFrom(
    ...['channel', 'body', 'pattern', 'channels', 'message_id', 'status', 'reply_to', 'since'],
    ...['limit', 'max_messages', 'thread_depth', 'lease_ms', 'group_id', 'agent_id', 'through'],
    ...[
      'from',
      'stream',
      'schema',
      'ttl',
      'ttl_ms',
      'idempotency_key',
      'reason',
      '__proto__',
      'constructor',
    ],
  ),
  fc.oneof(scalar, fc.array(scalar, { maxLength: 4 }), fc.object({ maxDepth: 4 })),
  { maxKeys: 6 },
);
const anyInput = fc.oneof(likeInput, fc.jsonValue({ maxDepth: 6 }));

/** A text with some of it cut, doubled or replaced by bytes. */
const mutated = (text: fc.Arbitrary<string>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(text, fc.nat(), fc.nat(40), fc.uint8Array({ maxLength: 20 }), fc.boolean())
    .map(([whole, at, cut, bytes, isDoubled]) => {
      const buffer = Buffer.from(whole);
      const start = at % (buffer.length + 1);
      const tail = buffer.subarray(isDoubled ? Math.max(0, start - cut) : start + cut);
      return Buffer.concat([buffer.subarray(0, start), bytes, tail]);
    });

test('[O2] HTTP: every request is answered with a status and an envelope, never with our failure', {
  timeout: DOOR_MS + 20_000,
}, async () => {
  const body = fc.oneof(
    anyInput.map((value) => Buffer.from(JSON.stringify(value) ?? 'null')),
    mutated(likeInput.map((value) => JSON.stringify(value))),
    fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
  );
  await check(fc.tuple(someName, body, fc.boolean()), async ([name, bytes, isOwner]) => {
    const { status, body: answer, text } = await post(encodeURIComponent(name), bytes, isOwner);
    if (status === 200) return;
    expect(status, text).toBeGreaterThanOrEqual(400);
    expect(status, text).toBeLessThan(500);
    expect(answer.error_code).toMatch(/^[a-z_]+$/);
    expect(text).not.toMatch(/ at .*\.ts|node_modules/);
  });
});

test('[O2] the event stream: any query and any id streams or is refused', {
  timeout: DOOR_MS + 20_000,
}, async () => {
  const value = fc.oneof(
    scalar.map(String),
    fc.constantFrom('now', 'inbox', '0', '-1', '%', '%00'),
  );
  const query = fc.dictionary(fc.constantFrom('from', 'channels', 'receipts', 'x'), value, {
    maxKeys: 4,
  });
  const id = fc.option(fc.string({ unit: 'grapheme-ascii', maxLength: 30 }));
  await check(fc.tuple(query, id, fc.boolean()), async ([fields, last, isRaw]) => {
    const search = isRaw
      ? Object.entries(fields)
          .map(([name, one]) => `${name}=${one.replace(/[^!-~]/g, '')}`)
          .join('&')
      : new URLSearchParams(fields).toString();
    const raw = await openRawSocket(port);
    const lines = Object.entries({ ...headers, ...(last !== null && { 'last-event-id': last }) });
    raw.write(
      `GET /v1/stream?${search} HTTP/1.1\r\nhost: localhost\r\n${lines.map(([name, one]) => `${name}: ${one}\r\n`).join('')}\r\n`,
    );
    expect(await raw.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 (200|4\d\d) /);
    raw.close();
  });
});

test('[W1] the WebSocket: every frame that wants an answer gets one, or the connection closes', {
  timeout: DOOR_MS + 20_000,
}, async () => {
  const method = fc.oneof(fc.constantFrom(...tried.map((one) => one.id)), fc.string());
  const request = fc.record(
    {
      jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '1.0', 2),
      id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
      method,
      params: anyInput,
    },
    { requiredKeys: ['jsonrpc', 'method'] },
  );
  const frame = fc.oneof(
    request.map((one) => Buffer.from(JSON.stringify(one))),
    fc.array(request, { maxLength: 5 }).map((some) => Buffer.from(JSON.stringify(some))),
    mutated(request.map((one) => JSON.stringify(one))),
    fc.jsonValue().map((one) => Buffer.from(JSON.stringify(one))),
  );
  let ws: WebSocket | null = null;
  await check(
    fc.array(fc.tuple(frame, fc.boolean()), { minLength: 1, maxLength: 5 }),
    async (frames) => {
      if (ws?.readyState !== WebSocket.OPEN) {
        ws = new WebSocket(`${hub.url.replace('http', 'ws')}/ws`, { headers });
        // When the time is up in mid-upgrade, ending it is an error too.
        ws.on('error', () => {});
        await within('the upgrade', new Promise((resolve) => ws?.once('open', resolve)));
      }
      const open = ws;
      // The last question has an answer of its own, or the connection has been closed for the ones before.
      const answered = new Promise<void>((resolve) => {
        const look = (raw: { toString(): string }): void => {
          const answer = JSON.parse(raw.toString());
          if (answer.id !== 'last') return;
          open.off('message', look);
          resolve();
        };
        open.on('message', look);
        open.once('close', () => resolve());
      });
      for (const [bytes, isBinary] of frames) open.send(bytes, { binary: isBinary });
      open.send('{"jsonrpc":"2.0","id":"last","method":"hub.whoami"}');
      await within('an answer or a close', answered, ANSWER_MS);
      open.removeAllListeners('close');
    },
  );
  (ws as WebSocket | null)?.terminate();
});

test('[O2] raw TCP: whatever is written, the hub answers or closes', {
  timeout: DOOR_MS + 20_000,
}, async () => {
  const upgrade =
    'GET /ws HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n' +
    'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  const auth = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 500 }).map((some) => Buffer.from(some)),
    mutated(
      fc.constant(
        `POST /v1/ops/whoami HTTP/1.1\r\nhost: localhost\r\n${auth}content-length: 2\r\n\r\n{}`,
      ),
    ),
    mutated(fc.constant(`${upgrade}${auth}\r\n`)),
    // Let in, and then noise in place of frames.
    fc
      .uint8Array({ minLength: 1, maxLength: 200 })
      .map((noise) => Buffer.concat([Buffer.from(`${upgrade}${auth}\r\n`), noise])),
  );
  await check(bytes, async (sent) => {
    const raw = await openRawSocket(port);
    const heard = new Promise<void>((resolve) => {
      raw.socket.once('data', () => resolve());
      raw.socket.once('close', () => resolve());
    });
    raw.write(sent);
    // A request that is not whole yet may be waited for; one whose sender has hung up may not.
    raw.socket.end();
    await within('an answer or a close', heard, ANSWER_MS);
    raw.close();
  });
});
