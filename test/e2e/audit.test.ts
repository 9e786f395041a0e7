/** What was done is on the record and can be asked for, at the doors: by persons, with bounds, without a body. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isDeed } from '../../src/core/law/audit.ts';
import { DURABLE_KINDS } from '../../src/core/law/shape.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { type AttackedHub, type Holder, openAttackedHub } from '../attack/attacked-hub.ts';
import type { Json } from './running-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
});
afterAll(() => hub.close());

const list = async (who: Holder, input: object = {}): Promise<Json[]> =>
  (await who.ask('audit', input)).deeds;

test('[AU1] tokens, refusals, messages, gates and settings are listed with actor, subject and outcome', async () => {
  const body = { text: 'the secret plan' };
  await hub.agent.ask('send', { channel: 'general', body });
  await hub.agent.refusal('tokens_create', { agent_id: 'eve' });
  await hub.agent.ask('gates_ask', { action: 'deploy', subject: 'prod', payload: { to: 'prod' } });
  await hub.owned.ask('channels_configure', { channel: 'general', queue_limit: 10 });
  const [sent] = await list(hub.human, { action: 'message', actor: 'ada' });
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  expect(sent).toMatchObject({
    action: 'message.sent',
    subject: 'general',
    outcome: 'done',
    body_hash: hash,
  });
  expect(await list(hub.human, { outcome: 'access.denied' })).toMatchObject([
    { action: 'refusal.recorded', actor: 'ada', subject: 'tokens_create' },
  ]);
  const [gate] = await list(hub.human, { action: 'gate' });
  expect(gate).toMatchObject({
    actor: 'ada',
    outcome: 'asked',
    detail: { action: 'deploy', subject: 'prod' },
  });
  expect(gate.body_hash).toMatch(/^[0-9a-f]{64}$/);
  expect(await list(hub.human, { action: 'channel.configured', subject: 'general' })).toHaveLength(
    1,
  );
  const tokens = await list(hub.owned, { action: 'token.created' });
  expect(tokens.map(({ detail }) => detail.agent)).toContain('ada');
});

test('[AU1] what a person proved to have decided is found by that person, whoever called', async () => {
  const passphrase = 'a long walk by the sea';
  await hub.owned.ask('people_add', { name: 'mia', passphrase });
  const asked = { action: 'push', subject: 'main', payload: { to: 'main' } };
  const { gate_id } = await hub.agent.ask('gates_ask', asked);
  const { proof } = await hub.owned.ask('people_prove', { name: 'mia', passphrase });
  await hub.owned.ask('gates_decide', { gate_id, decision: 'approve', proof });
  const [found] = await list(hub.owned, { actor: 'mia', action: 'gate' });
  expect(found).toMatchObject({
    action: 'gate.approved',
    subject: gate_id,
    detail: { person: 'mia' },
  });
});

test('[AU1] neither bodies nor secrets nor their hashes are in it', async () => {
  await hub.human.ask('docket_raise', { text: 'a question with secret words' });
  const text = JSON.stringify(await list(hub.owned, { limit: 500 }));
  const exported = await hub.owned.ask('tokens_list', {});
  expect(exported.tokens.length).toBeGreaterThan(0);
  expect(text).not.toMatch(/secret/);
  for (const { detail } of await list(hub.owned, { action: 'token' })) {
    expect(Object.keys(detail).sort()).toEqual(['agent', 'kind', 'tier']);
  }
});

test('[AU1] it is for persons and administrators, and dms are the parties’ own', async () => {
  expect((await hub.agent.refusal('audit')).detail.reason).toBe('access.denied');
  expect((await hub.observer.refusal('audit')).detail.reason).toBe('access.denied');
  await hub.agent.ask('send', { channel: 'dm/ada~bob', body: { text: 'between us' } });
  const subjects = async (who: Holder) =>
    (await list(who, { action: 'message' })).map(({ subject }) => subject);
  expect(await subjects(hub.owned)).toContain('dm/ada~bob');
  expect(await subjects(hub.human)).not.toContain('dm/ada~bob');
});

test('[AU1] pages go back through all of it, each row once, and time cuts it', async () => {
  for (let i = 0; i < 30; i++) await hub.other.ask('send', { channel: 'many', body: { i } });
  const all = (await list(hub.owned, { limit: 500 })).map(({ position }) => position);
  const paged: number[] = [];
  let after: string | undefined;
  do {
    const page = await hub.owned.ask('audit', { limit: 7, after });
    paged.push(...page.deeds.map((one: Json) => one.position));
    after = page.next ?? undefined;
  } while (after !== undefined);
  expect(paged).toEqual(all);
  expect(new Set(paged).size).toBe(paged.length);
  expect(await list(hub.owned, { since: 9e9 })).toEqual([]);
  expect(await list(hub.owned, { until: 1 })).toEqual([]);
  expect(await list(hub.owned, { since: 1, until: 9e9, limit: 500 })).toHaveLength(all.length);
  expect((await hub.owned.refusal('audit', { after: 'x' })).detail.reason).toBe('input.invalid');
  expect(DURABLE_KINDS).toContain('wake.recorded');
});

test('[AU3] what keeps the books and decides nothing is in the log and not in the list', async () => {
  expect(DURABLE_KINDS.filter((kind) => !isDeed(kind)).toSorted()).toEqual(BOOKKEEPING);
  await hub.agent.ask('subscribe', { pattern: 'books' });
  await hub.other.ask('send', { channel: 'books', body: { text: 'one' } });
  expect((await hub.agent.ask('recv', {})).messages).not.toEqual([]);
  const log = await openSqliteLog(join(hub.dir, 'spaces', 'default.sqlite'), { readOnly: true });
  const stored = new Set<string>();
  for await (const { entries } of log.read(0)) {
    for (const entry of entries) stored.add(JSON.parse(entry).type);
  }
  await log.close();
  expect(stored).toContain('inbox.drained');
  const told = new Set<string>();
  for (let after: string | undefined; ; ) {
    const page = await hub.owned.ask('audit', { limit: 500, after });
    for (const { action } of page.deeds) told.add(action);
    if (page.next === null) break;
    after = page.next;
  }
  expect(told).toEqual(new Set([...stored].filter((kind) => !BOOKKEEPING.includes(kind))));
  // Asked for by name it is told apart from what never happened.
  const asked = await hub.owned.refusal('audit', { action: 'inbox.drained' });
  expect([asked.detail.reason, asked.message]).toEqual([
    'input.invalid',
    expect.stringContaining('synod log export'),
  ]);
  expect(await list(hub.owned, { action: 'inbox' })).toEqual([]);
});

/** Leases that go on, what was looked at and when, and steps that lie in a journal of their own. */
const BOOKKEEPING: readonly string[] = [
  'agent.seen',
  'claim.keyed',
  'claim.renewed',
  'docket.noticed',
  'inbox.drained',
  'inbox.lapsed',
  'instance.renewed',
  'presence.changed',
  'run.recorded',
  'run.renewed',
  'run.woken',
  'snapshot.taken',
  'turn.renewed',
];
