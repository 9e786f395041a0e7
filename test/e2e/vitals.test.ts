/** How the hub is doing, as a person is told: what was measured, of one's own space, whatever door was used. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedHub, openAttackedHub } from '../attack/attacked-hub.ts';
import { BIN } from './cli-run.ts';
import { until } from './deadline.ts';
import type { Json } from './running-hub.ts';

let hub: AttackedHub;
let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'synod-vitals-'));
  const bus = join(scratch, 'bus.json');
  const args = [BIN, 'worker', 'echo'];
  const pools = [{ id: 'echo', command: process.execPath, args, instances: 1 }];
  writeFileSync(bus, JSON.stringify({ pools }));
  hub = await openAttackedHub({ flags: { bus }, hooks: { vitalsMs: 50 } });
});
afterAll(async () => {
  await hub.close();
  await rm(scratch, { recursive: true, force: true });
});

test('[VI1] a person is told rates, latencies and sizes; an agent is told nothing', async () => {
  await hub.agent.ask('send', { channel: 'ops', body: { text: 'one' } });
  let vitals: Json;
  await until(
    'a sample tells of what was stored',
    async () => {
      await hub.agent.ask('send', { channel: 'ops', body: { text: 'more' } });
      vitals = await hub.human.ask('vitals');
    },
    () => vitals?.samples.some((one: Json) => one.entries_per_s > 0 && one.append_ms_p99 > 0),
  );
  const last = vitals.samples.at(-1);
  expect(last).toMatchObject({ failures: 0, rss_bytes: expect.any(Number) });
  expect(last.busy).toBeGreaterThanOrEqual(0);
  expect(vitals.samples.some((one: Json) => one.calls_per_s > 0 && one.call_ms_p50 > 0)).toBe(true);
  expect(vitals.store).toMatchObject({ ok: true, kind: 'sqlite', entries: expect.any(Number) });
  expect(vitals.store.bytes).toBeGreaterThan(1_000);
  expect(vitals.now.connections).toEqual({ websocket: 0, sse: 0 });
  expect(vitals.bus).toMatchObject({ pools: [{ pool: 'echo', workers: { ready: 1 } }] });
  const later = await hub.human.ask('vitals', { since: last.at });
  expect(later.samples.every((one: Json) => one.at > last.at)).toBe(true);
  expect((await hub.agent.refusal('vitals')).detail.reason).toBe('access.denied');
});

test('[VI1] what is of another space is not told there', async () => {
  await hub.admin('spaces_create', { name: 'elsewhere' });
  const person = await hub.holder('paul', { kind: 'human', space: 'elsewhere' });
  const vitals = await person.ask('vitals');
  expect(vitals).toMatchObject({ bus: null, slow_readers: { total: 0, last: [] } });
  expect(vitals.store.entries).toBeLessThan((await hub.human.ask('vitals')).store.entries);
});

test('[VI3] a reader that was cut off is named to people of its space, whatever door it read at', async () => {
  const reader = await hub.observer.socket();
  await reader.ask('stream.open', { channels: ['flood'] });
  (reader.ws as unknown as { _socket: Socket })._socket.pause();
  const events = await hub.human.events('?channels=flood');
  events.pause();
  const text = 'x'.repeat(900_000);
  const cutOff = (): number => hub.log.filter((one) => one.includes('a reader was cut off')).length;
  await until(
    'both readers are cut off',
    () => hub.agent.ask('send', { channel: 'flood', body: { text } }),
    () => cutOff() === 2,
    30_000,
  );
  const { slow_readers: slow } = await hub.human.ask('vitals');
  expect(slow.total).toBe(2);
  const told = slow.last.map((one: Json) => [one.agent_id, one.door]);
  expect(told.sort()).toEqual([
    ['hilda', 'SSE'],
    ['olga', 'WebSocket'],
  ]);
  expect(slow.last[0].bytes).toBeGreaterThan(1_000_000);
  reader.ws.terminate();
  events.close();
});
