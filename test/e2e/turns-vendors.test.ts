/** An agent of a vendor, run by the hub: its prompt is a gate, and a budget ends its turn while it runs. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type StandIn, writeStandIn } from '../../src/server/runners/vendors/stand-in.fixture.ts';
import { until } from './deadline.ts';
import { type Json, openRunningHub, type RunningHub } from './running-hub.ts';

let hub: RunningHub;
let folder = '';
let standIn: StandIn;
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'synod-vendor-turns-')));
  standIn = writeStandIn(folder);
  hub = await openRunningHub({
    file: { turns_roots: [folder] },
    hooks: { env: { PATH: process.env.PATH ?? '' } },
  });
});
afterAll(async () => {
  await hub.close();
  rmSync(folder, { recursive: true, force: true });
});

test('[RV2] a turn whose tokens are spent is ended while it waits for a person, and its agent is parked', async () => {
  await hub.ask('ada', 'subscribe', { pattern: 'room' });
  const runner = { kind: 'claude', command: standIn('claude', 'asks'), cwd: folder };
  const limits = { turn_tokens: 5 };
  await hub.admin('agents_manage', { agent_id: 'ada', runner, limits });
  await hub.ask('bob', 'agents_tell', { to: 'ada', body: { text: 'three files, please' } });
  const managed = await until(
    'the agent is parked',
    async () => (await hub.admin('agents_managed', {})).agents[0] as Json,
    ({ state }) => state === 'parked',
  );
  expect(managed.reason).toContain('budget');
  const { gates } = await hub.admin('gates_list', {});
  expect(gates.map(({ state }: Json) => state)).not.toContain('pending');
});
