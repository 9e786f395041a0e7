/** Names and kinds of options: what is misspelt is refused with what was meant, and nothing is sent. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scripted } from '../../../test/e2e/sdk-scripted.ts';
import { LIMIT_ROWS } from '../router/config-limits.ts';
import { POOL_SHAPE } from '../router/parse-config.ts';
import { POOL_KEYS } from './check-options.ts';
import { InvalidArgumentError, StdioBus } from './index.ts';
import type { LimitOptions } from './options.ts';

const pool = { id: 'a', command: 'cat' };
const config = { pools: [pool] };

const REFUSED: readonly [object, string][] = [
  [{ config, sesion: 'auto' }, 'there is no option sesion; did you mean session?'],
  [{ config, timeout: 5 }, 'there is no option timeout; did you mean timeoutMs?'],
  [{ config, retries: 5 }, 'there is no option retries; there are config, configPath'],
  [{ config, session: 5 }, 'session must be a text that is not empty; found 5'],
  [{ config, onLog: 'loud' }, 'onLog must be a function; found a string'],
  [{ config, embedded: { listenmode: 'tcp' } }, 'embedded.listenmode; did you mean listenMode?'],
  [{ config, backend: 'subprocess', subprocess: { binary: 'x' } }, 'did you mean binaryPath?'],
  [{ config, backend: 'docker', docker: { pullPolicy: 'allways' } }, 'docker.pullPolicy must be'],
  [{ config, backend: 'docker', docker: { dialect: 'sox' } }, '"synod" or "stdio_bus"'],
  [{ socket: { unixpath: '/x' } }, 'there is no option socket.unixpath; did you mean unixPath?'],
  [{ socket: { unixPath: '' } }, 'socket.unixPath must be a text that is not empty'],
  [{ socket: { unixPath: '/x', token: 5 } }, 'socket.token must be a text'],
  [{ socket: { unixPath: '/x', reconnect: { attempts: 3 } } }, 'did you mean attemptsMax?'],
  [{ functions: { sums: 5 } }, 'functions.sums must be a function; found 5'],
  [{ config: { ...config, polcy: [] } }, 'polcy: is not known here; did you mean policy?'],
  [{ config: { ...config, comment: 'mine' } }, 'comment: is not known here; use pools, limits'],
  [{ config: { ...config, limits: { max_restart: 1 } } }, 'did you mean max_restarts?'],
  [
    { config: { ...config, limits: { max_restarts: Number.NaN } } },
    'max_restarts: JSON has no word',
  ],
  [
    { config: { pools: [{ ...pool, instance: 4 }] } },
    'config.pools[0].instance; did you mean instances?',
  ],
  [{ config: { pools: [{ id: 'a', fuction: () => 1 }] } }, 'did you mean function?'],
  [
    { config: { pools: [{ id: 'a', function: 'x' }] } },
    'config.pools[0].function must be a function',
  ],
  [{ config: { pools: pool } }, 'pools: must be an array'],
  [{ config: { pools: [null] } }, 'pools[0]: must be an object'],
  [{ config: { ...config, policy: [{ effect: 'deny', methods: 'x' }] } }, 'did you mean method?'],
];

test.each(REFUSED)('[SD14] %j is refused by name', (options, why) => {
  expect(() => new StdioBus(options)).toThrow(InvalidArgumentError);
  expect(() => new StdioBus(options)).toThrow(why);
});

const REQUESTS: readonly [object, string][] = [
  [{ timeout: 5 }, 'there is no option timeout; did you mean timeoutMs?'],
  [{ idempotencykey: 'k' }, 'did you mean idempotencyKey?'],
  [{ pool: 5 }, 'pool must be a text that is not empty; found 5'],
  [{ sessionId: null }, 'sessionId must be a text that is not empty; found null'],
  [{ identity: { subject: 'ada', role: 'x' } }, 'identity.subject; did you mean subjectId?'],
  [{ audit: { eventId: 'e', actoin: 'a' } }, 'audit.actoin; did you mean action?'],
  [{ requiredExtensions: 'cancel' }, 'requiredExtensions must be a list of texts'],
];

test.each(REQUESTS)('[SD14] of one request %j is refused by name, unsent', async (options, why) => {
  const { bus, backend } = await scripted();
  await expect(bus.request('echo', {}, options)).rejects.toThrow(why);
  await expect(bus.stream('echo', {}, options).next()).rejects.toThrow(InvalidArgumentError);
  expect(() => bus.notify('echo', {}, options)).toThrow(why);
  expect(backend.sent).toEqual([]);
});

test('[SD14] a wish of the handshake that nobody reads is refused, and so is a queue’s', async () => {
  const { bus, backend } = await scripted();
  const [extension, required] = [{ extension: {} }, { extensions: { cancel: { require: true } } }];
  await expect(bus.hello(extension as object)).rejects.toThrow('did you mean extensions?');
  await expect(bus.hello(required as object)).rejects.toThrow('did you mean required?');
  expect(() => bus.notifications({ maxqueue: 5 } as object)).toThrow('did you mean maxQueue?');
  expect(backend.sent).toEqual([]);
});

test('[SD14] the types name every key the bus reads, and no other', () => {
  const limits: Record<keyof Required<LimitOptions>, true> = {
    ...{ max_input_buffer: true, max_output_queue: true, max_restarts: true },
    ...{ restart_window_sec: true, drain_timeout_sec: true, backpressure_timeout_sec: true },
    ...{ request_timeout_sec: true, session_idle_sec: true, max_sessions: true, max_pending: true },
    ...{ max_clients: true, max_missed: true, max_missed_bytes: true, max_stray_lines: true },
    ...{ restart_delay_ms: true, idempotency_sec: true },
  };
  expect(Object.keys(limits).sort()).toEqual(
    Object.values(LIMIT_ROWS)
      .map(({ name }) => name)
      .sort(),
  );
  const names = Object.values(POOL_SHAPE).map(([name]) => name);
  expect(Object.keys(POOL_KEYS).sort()).toEqual([...names, 'function'].sort());
});

test('[SD14] a file’s unknown keys are warnings, heard also without a log', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'synod-sdk-'));
  const configPath = join(dir, 'bus.json');
  writeFileSync(configPath, JSON.stringify({ pools: [{ ...pool, instances: 1, instace: 2 }] }));
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
  const bus = new StdioBus({ configPath });
  await bus.start();
  expect(await warned).toMatchObject({
    ...{
      name: 'StdioBusWarning',
      message: expect.stringMatching(/instace.*did you mean instances/),
    },
  });
  await bus.stop(1);
  rmSync(dir, { recursive: true });
});
