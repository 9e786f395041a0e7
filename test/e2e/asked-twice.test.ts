/**
 * What is asked twice under one key, as a client asks after a break: done once, and answered as before.
 * Without the key each of these is refused, or done again.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { OPERATIONS, type OperationId } from '../../src/wire/operations/table.ts';
import { type Json, openRunningHub, type RunningHub } from './running-hub.ts';

let hub: RunningHub;
beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

type Keyed = Exclude<OperationId, 'channels.send'>;

/** What must be there first, and then what is asked; null is the owner. */
const ASKED: Partial<Record<Keyed, () => Promise<[agent: string | null, input: Json]>>> = {
  'claims.take': async () => ['ada', { task_id: 'taken' }],
  'claims.release': async () => ['ada', await claimed('ada', 'released')],
  'claims.checkpoint': async () => [
    'ada',
    { ...(await claimed('ada', 'kept')), checkpoint: 'here' },
  ],
  'claims.update': async () => [
    'ada',
    { ...(await claimed('ada', 'told')), status: 'working', expected_version: 0 },
  ],
  'claims.handoff': async () => {
    await hub.ask('bob', 'presence.report', { state: 'idle' });
    return ['ada', { ...(await claimed('ada', 'given')), to: 'bob' }];
  },
  'plan.declare': async () => ['ada', { task_id: 'new', title: 'new', expected_version: 0 }],
  'plan.update': async () => {
    const { task } = await hub.ask('ada', 'plan.declare', { task_id: 'old', title: 'old' });
    return ['ada', { task_id: 'old', status: 'cancelled', expected_version: task.version }];
  },
  'plan.remove': async () => ['ada', { task_id: 'old' }],
  'plan.progress': async () => ['ada', { text: 'half' }],
  'offers.withdraw': async () => {
    await hub.ask('ada', 'offers.make', { kind: 'gpu', name: 'a100' });
    return ['ada', { kind: 'gpu', name: 'a100' }];
  },
  'cards.withdraw': async () => {
    await hub.ask('ada', 'cards.advertise', { card: { name: 'ada', skills: [] } });
    return ['ada', {}];
  },
  'group.remove': async () => {
    const { group_id } = await hub.ask('ada', 'group.create', { group_id: 'g', id_mode: 'client' });
    return ['ada', { group_id }];
  },
  'channels.retire': async () => {
    await hub.ask('ada', 'channels.send', { channel: 'over', body: {} });
    return ['ada', { channel: 'over' }];
  },
  'tokens.revoke': async () => {
    const { token_id } = await hub.admin('tokens_create', { agent_id: 'eve' });
    return [null, { token_id }];
  },
  'agents.remove': async () => {
    await hub.ask('mal', 'channels.subscribe', { pattern: 'x' });
    return [null, { agent_id: 'mal', force: true }];
  },
  'threads.mark': async () => {
    const sent = await hub.ask('ada', 'channels.send', { channel: 'marked', body: {} });
    return ['ada', { message_id: sent.message_id, mark: 'close', note: 'n', expected_version: 0 }];
  },
  'docket.raise': async () => ['ada', { text: 'Which port?' }],
  'docket.close': async () => {
    const { item } = await hub.ask('eli', 'docket.raise', { text: 'Which host?' });
    return [null, { item_id: item.item_id, outcome: 'answered', note: 'this one' }];
  },
  'gates.ask': async () => ['ada', { action: 'push', subject: 'asked' }],
  'gates.withdraw': async () => ['ada', { gate_id: await gate('withdrawn') }],
  'gates.decide': async () => [
    null,
    { gate_id: await gate('decided'), decision: 'approve', proof: await prove() },
  ],
  'gates.consume': async () => {
    const gate_id = await gate('used');
    await hub.admin('gates_decide', { gate_id, decision: 'approve', proof: await prove() });
    return ['ada', { gate_id }];
  },
  'agents.unmanage': async () => [null, await managed('una')],
  'agents.undefine': async () => [null, await defined('udo')],
  'agents.start': async () => [null, await defined('sam')],
  'agents.stop': async () => {
    const { instance_id } = await hub.admin('agents_start', await defined('sid'));
    return [null, { instance_id }];
  },
  'context.set': async () => ['ada', { ns: 'twice', key: 'set', value: 1, if_version: 0 }],
  'context.delete': async () => {
    const { version } = await hub.ask('ada', 'context.set', { ns: 'twice', key: 'gone', value: 1 });
    return ['ada', { ns: 'twice', key: 'gone', if_version: version }];
  },
  'sessions.create': async () => ['ada', {}],
  'sessions.append': async () => [
    'ada',
    { ...(await talk()), items: [{ kind: 'note', content: 'n' }] },
  ],
  'sessions.fork': async () => ['ada', await talk()],
  'sessions.rewind': async () => ['ada', { ...(await talk()), length: 0 }],
  'sessions.compact': async () => ['ada', { ...(await talk()), summary: 'so far' }],
  'sessions.close': async () => ['ada', await talk()],
  'sessions.handoff': async () => {
    await hub.ask('bob', 'sessions.create');
    return ['ada', { ...(await talk()), to: 'bob', why: 'yours' }];
  },
  'workflows.start': async () => ['ada', { name: 'job', input: 1 }],
  'workflows.signal': async () => ['ada', { ...(await started('told')), name: 'go' }],
  'workflows.retry': async () => {
    await hub.ask('ada', 'workflows.cancel', await started('again'));
    return ['ada', { id: 'again' }];
  },
  'workflows.fork': async () => {
    const run = { ...(await started('forked')), epoch: 1 };
    await hub.ask('ada', 'workflows.take', { workflows: [{ name: 'forked' }], executor: 'box' });
    const entries = [{ kind: 'completed', step: 'one' }];
    await hub.ask('ada', 'workflows.record', { ...run, entries });
    return ['ada', { id: 'forked', at_step: { step: 'one' } }];
  },
  'turns.cancel': async () => [null, { turn_id: (await taken('cal')).turn_id }],
  'turns.retry': async () => {
    const { turn_id } = await taken('ray');
    await hub.admin('turns_cancel', { turn_id });
    return [null, { turn_id }];
  },
  'turns.finish': async () => [null, { ...(await taken('fay')), outcome: 'done' }],
  'people.remove': async () => [null, { name: 'mia', proof: await prove() }],
};

async function claimed(agent: string, task_id: string): Promise<Json> {
  await hub.ask(agent, 'claims.take', { task_id });
  return { task_id };
}

async function started(id: string): Promise<Json> {
  await hub.ask('ada', 'workflows.start', { id, name: id });
  return { id };
}

async function managed(agent_id: string): Promise<Json> {
  await hub.ask(agent_id, 'channels.subscribe', { pattern: `to/${agent_id}` });
  await hub.admin('agents_manage', { agent_id, runner: { kind: 'outside' } });
  return { agent_id };
}

async function defined(agent_id: string): Promise<Json> {
  await hub.admin('agents_define', { agent_id });
  return { agent_id };
}

async function talk(): Promise<Json> {
  const seed = [{ kind: 'user', content: 'hello' }];
  const { session_id } = await hub.ask('ada', 'sessions.create', { seed });
  return { session_id };
}

/** A turn of an agent that a supervisor outside runs. */
async function taken(agent: string): Promise<Json> {
  await managed(agent);
  await hub.ask('ada', 'channels.send', { channel: `to/${agent}`, body: { go: true } });
  const { turn } = await hub.admin('turns_take', { agents: [agent], wait_ms: 30_000 });
  return { turn_id: turn.turn_id, epoch: turn.epoch };
}

async function gate(subject: string): Promise<string> {
  return (await hub.ask('ada', 'gates.ask', { action: 'push', subject })).gate_id;
}

async function prove(): Promise<string> {
  const mia = { name: 'mia', passphrase: 'correct horse battery' };
  if ((await hub.admin('people_list')).people.length === 0) await hub.admin('people_add', mia);
  return (await hub.admin('people_prove', mia)).proof;
}

const keyed = (Object.keys(OPERATIONS) as OperationId[]).filter((id) => {
  const { input } = OPERATIONS[id] as { input: unknown };
  return id !== 'channels.send' && input instanceof z.ZodObject && 'idempotency_key' in input.shape;
}) as Keyed[];

test.each(keyed)('[CM12] %s, asked twice under one key, is done once', async (id) => {
  const prepare = ASKED[id];
  if (prepare === undefined) throw new Error(`say here how ${id} is asked`);
  const [agent, input] = await prepare();
  const headers = agent === null ? { authorization: `Bearer ${hub.owner}` } : hub.as(agent);
  const ask = (more: Json) => hub.post(OPERATIONS[id].name, { ...input, ...more }, headers);
  const first = await ask({ idempotency_key: 'retry:1' });
  expect(first.body).toMatchObject({});
  expect(first.status, JSON.stringify(first.body)).toBe(200);
  const before = await hub.mark();
  const second = await ask({ idempotency_key: 'retry:1' });
  expect(second).toMatchObject({ status: 200, body: first.body });
  expect(await hub.mark()).toBe(before);
});

test('[CM12] a key for one request is refused for another', async () => {
  await hub.ask('ada', 'plan.progress', { text: 'one', idempotency_key: 'k' });
  const other = { text: 'two', idempotency_key: 'k' };
  const { body } = await hub.post('plan_progress', other, hub.as('ada'));
  expect(body.detail.reason).toBe('claim.key-reused');
  // Another sender's key is its own.
  await hub.ask('bob', 'plan.progress', other);
});
