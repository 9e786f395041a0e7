/** Posts of tier 2 at HTTP: a person decides on them, and the turn that wrote one waits for it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedHub, openAttackedHub } from '../attack/attacked-hub.ts';
import type { Json, Reply } from './running-hub.ts';

const PERSON = { name: 'mia', passphrase: 'correct horse battery' };
const GRAVE = { channel: 'ops', body: { tier: 2, text: 'drop the old tables' } };

let hub: AttackedHub;
let proof: string;
beforeAll(async () => {
  hub = await openAttackedHub();
  await hub.owned.ask('people_add', PERSON);
  ({ proof } = await hub.owned.ask('people_prove', PERSON));
  const set = await hub.admin('channels_configure', { channel: 'ops', gate_tier2: true });
  expect(set).toMatchObject({ gate_tier2: true });
  await hub.other.ask('subscribe', { pattern: 'ops' });
});
afterAll(() => hub.close());

const decide = (gate_id: string, decision: string): Promise<Json> =>
  hub.owned.ask('gates_decide', { gate_id, decision, reason: 'so', proof });
const read = async (): Promise<string[]> =>
  (await hub.other.ask('recv', {})).messages.map(({ body }: Json) => body.text);

test('[GT14] a post of tier 2 is delivered when a person approves, and refused when one denies', async () => {
  const first = await hub.agent.ask('send', GRAVE);
  const { gate_id } = first.metadata;
  const gate = await hub.agent.ask('gates_get', { gate_id });
  expect(gate).toMatchObject({ state: 'pending', tier: 2, message_id: first.message_id });
  // The sender is in no turn and goes on; a text of 2 is a 2.
  await hub.agent.ask('send', { channel: 'ops', body: { text: 'small talk' } });
  const second = await hub.agent.ask('send', {
    channel: 'ops',
    body: { ...GRAVE.body, tier: '2' },
  });
  expect(await read()).toEqual(['small talk']);
  const review = { message_id: first.message_id, decision: 'release' };
  expect((await hub.human.refusal('held_review', review)).detail.reason).toBe('gate.pending');
  const unproved = { gate_id, decision: 'approve' };
  expect((await hub.owned.refusal('gates_decide', unproved)).detail.reason).toBe('gate.unproved');
  expect(await decide(gate_id, 'approve')).toMatchObject({ state: 'consumed' });
  await decide(second.metadata.gate_id, 'deny');
  expect(await read()).toEqual(['drop the old tables']);
  const { receipts } = await hub.agent.ask('receipts_get', { message_id: second.message_id });
  expect(receipts[0]).toMatchObject({ agent_id: hub.other.name, state: 'refused' });
});

test('[GT15] the turn that wrote it waits: it may look, is told what for, and goes on when decided', async () => {
  await hub.agent.ask('subscribe', { pattern: 'jobs' });
  const runner = { kind: 'outside' };
  await hub.admin('agents_manage', { agent_id: hub.agent.name, runner });
  await hub.other.ask('send', { channel: 'jobs', body: { text: 'tidy up' } });
  const { turn, token } = await hub.admin('turns_take', { wait_ms: 20_000, lease_ms: 600_000 });
  const inTurn = (operation: string, input: object): Promise<Reply> =>
    hub.post(operation, input, { authorization: `Bearer ${token}` });
  const { gate_id } = (await inTurn('send', GRAVE)).body.metadata;
  const stopped = { reason: 'turn.stopped', gate_id };
  for (const [operation, input] of [
    ['send', { channel: 'talk', body: { text: 'meanwhile' } }],
    ['gates_withdraw', { gate_id }],
    ['claims_take', { task_id: 'a' }],
  ] as const) {
    const { status, body } = await inTurn(operation, input);
    expect([operation, status, body.detail]).toMatchObject([operation, 409, stopped]);
  }
  expect((await inTurn('recv', {})).status).toBe(200);
  const waiting = inTurn('gates_get', { gate_id, wait_ms: 60_000 });
  await decide(gate_id, 'approve');
  expect((await waiting).body).toMatchObject({ state: 'consumed' });
  expect((await inTurn('send', { channel: 'talk', body: {} })).status).toBe(200);
  expect(await read()).toEqual(['drop the old tables']);
  await hub.admin('turns_finish', { turn_id: turn.turn_id, epoch: turn.epoch, outcome: 'done' });
});
