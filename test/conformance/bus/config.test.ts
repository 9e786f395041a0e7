/** The kernel's config list: what it accepts runs unchanged, what it refuses is refused by name. */
import { expect, test } from 'vitest';
import { parseBusConfig } from '../../../src/bus/router/parse-config.ts';
import { readBusConfig } from '../../../src/bus/router/read-config.ts';

const POOL = { id: 'echo', command: 'node', args: ['echo.js'], instances: 2 };
const parse = (document: unknown) =>
  parseBusConfig(typeof document === 'string' ? document : JSON.stringify(document), 'bus.json');

test('[BU22] a full config is read', () => {
  const limits = {
    max_input_buffer: 2_097_152,
    max_output_queue: 8_388_608,
    max_restarts: 10,
    restart_window_sec: 120,
    drain_timeout_sec: 60,
    backpressure_timeout_sec: 90,
  };
  const config = parse({ pools: [POOL, { ...POOL, id: 'two' }], limits });
  expect(config.pools).toMatchObject([POOL, { ...POOL, id: 'two' }]);
  expect(config.limits).toMatchObject({
    messageBytesMax: 2_097_152,
    queueBytesMax: 8_388_608,
    restartsMax: 10,
    restartWindowMs: 120_000,
    drainMs: 60_000,
    backpressureMs: 90_000,
  });
  expect(config.warnings).toEqual([]);
});

test('[BU22] defaults are the newer kernel’s', () => {
  const config = parse({ pools: [{ id: 'a', command: 'cat', instances: 1 }] });
  expect(config.pools[0]?.args).toEqual([]);
  expect(config.limits).toMatchObject({
    messageBytesMax: 10_485_760,
    queueBytesMax: 41_943_040,
    restartsMax: 5,
    restartWindowMs: 60_000,
    drainMs: 30_000,
    backpressureMs: 60_000,
  });
  expect(config.transport).toEqual({ mode: null, framing: 'ndjson' });
});

test.each<[string, unknown, RegExp]>([
  ['a pool without an id', { pools: [{ ...POOL, id: undefined }] }, /pools\[0\]\.id/],
  ['a pool without a command', { pools: [{ ...POOL, command: undefined }] }, /pools\[0\]\.command/],
  ['an empty command', { pools: [{ ...POOL, command: '' }] }, /pools\[0\]\.command/],
  ['no pools', { pools: [] }, /pools/],
  ['pools missing', {}, /pools/],
  ['zero instances', { pools: [{ ...POOL, instances: 0 }] }, /pools\[0\]\.instances/],
  ['negative instances', { pools: [{ ...POOL, instances: -1 }] }, /pools\[0\]\.instances/],
  ['instances missing', { pools: [{ ...POOL, instances: undefined }] }, /pools\[0\]\.instances/],
  ['a limit as text', { pools: [POOL], limits: { max_restarts: '5' } }, /limits\.max_restarts/],
  ['a negative limit', { pools: [POOL], limits: { max_restarts: -5 } }, /limits\.max_restarts/],
  ['text that is no JSON', 'pools', /JSON/],
  ['JSON cut short', '{"pools": [', /JSON/],
  ['a comma too many', '{"pools": [],}', /JSON/],
])('[BU22] %s is refused', (_, document, wanted) => {
  expect(() => parse(document)).toThrow(wanted);
});

test('[BU22] a missing file is refused', async () => {
  await expect(readBusConfig({ path: 'no/such/bus.json' })).rejects.toThrow(/no such file/);
});

test('[BU22] unknown keys and 300 instances are accepted, as they were', () => {
  const config = parse({ pools: [{ ...POOL, instances: 300, note: 'x' }], more: {} });
  expect(config.pools[0]?.instances).toBe(300);
  expect(config.warnings).toHaveLength(2);
});
