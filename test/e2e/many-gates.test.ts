/** A thousand open gates, at the doors where people and agents meet them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GATES_PER_AGENT_MAX } from '../../src/core/gates/gate-limits.ts';
import { type AttackedHub, openAttackedHub } from '../attack/attacked-hub.ts';
import type { Json } from './running-hub.ts';

const PERSON = { name: 'mia', passphrase: 'correct horse battery' };
let hub: AttackedHub;
let proof: string;
beforeAll(async () => {
  hub = await openAttackedHub();
  await hub.owned.ask('people_add', PERSON);
  ({ proof } = await hub.owned.ask('people_prove', PERSON));
});
afterAll(() => hub.close());

test('[GT10] [GT8] a thousand are asked, listed by pages, decided and withdrawn; one more is refused', async () => {
  const socket = await hub.agent.socket();
  const asked = await Promise.all(
    Array.from({ length: GATES_PER_AGENT_MAX }, (_, i) =>
      socket.ask('gates.ask', { action: 'push', subject: `branch ${i}`, tell: false }),
    ),
  );
  const ids = asked.map(({ gate_id }: Json) => gate_id);
  expect(new Set(ids).size).toBe(GATES_PER_AGENT_MAX);
  const full = await socket.call('gates.ask', { action: 'push', subject: 'one more' });
  expect(full.error.data.detail.reason).toBe('limit.reached');
  // Another agent is not kept out by it, and a person sees all of them, page by page.
  await hub.other.ask('gates_ask', { action: 'deploy', subject: 'site' });
  const listed: string[] = [];
  let pages = 0;
  for (let after: string | null = null; ; pages++) {
    const wish: object = { state: 'pending', limit: 100, ...(after !== null && { after }) };
    const { gates, next }: Json = await hub.owned.ask('gates_list', wish);
    expect(gates.length).toBeLessThanOrEqual(100);
    listed.push(...gates.map(({ gate_id }: Json) => gate_id));
    if (next === null) break;
    after = next;
  }
  expect(pages).toBeGreaterThanOrEqual(10);
  expect(new Set(listed).size).toBe(GATES_PER_AGENT_MAX + 1);
  // On the docket they are a few items with a count, not a thousand lines.
  const { items } = await hub.owned.ask('docket_list', { kind: 'gate' });
  expect(items.length).toBeLessThan(10);
  // One that waits hears of its own and of no other.
  const last = ids.at(-1);
  const waits = socket.ask('gates.get', { gate_id: last, wait_ms: 60_000 });
  const decided = ids.slice(0, 20).map((gate_id) => {
    const word = { gate_id, decision: 'approve', proof };
    return hub.owned.ask('gates_decide', word);
  });
  expect((await Promise.all(decided)).every(({ state }: Json) => state === 'approved')).toBe(true);
  await hub.owned.ask('gates_decide', { gate_id: last, decision: 'deny', reason: 'no', proof });
  expect(await waits).toMatchObject({ gate_id: last, state: 'denied', decided_by: 'mia' });
  await Promise.all(ids.slice(20, -1).map((gate_id) => socket.ask('gates.withdraw', { gate_id })));
  const left = await hub.agent.ask('gates_list', { state: 'pending' });
  expect(left.gates).toEqual([]);
  await socket.close();
});
