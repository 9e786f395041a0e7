/**
 * Goal: what one token can do to the sessions of others: read them, find out that they are there, write into
 * them, see what a filter hid, take claims by a hand-off, bind or flood somebody, or fill the space.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
let victim: Holder;
let session_id: string;
const items = [{ kind: 'user', content: 'hunter2' }];

beforeAll(async () => {
  hub = await openAttackedHub({ file: { rate_limit: 100_000 } });
  victim = await hub.holder('victim');
  ({ session_id } = await victim.ask('sessions.create', { key: 'secret', seed: items }));
});
afterAll(() => hub.close());

/** Every way to ask for a session. */
const WAYS: readonly (readonly [string, object])[] = [
  ['sessions.get', {}],
  ['sessions.get', { cut: 0 }],
  ['sessions.append', { items }],
  ['sessions.append', { items, expected_length: 9 }],
  ['sessions.fork', { length: 1 }],
  ['sessions.rewind', { length: 0 }],
  ['sessions.compact', { summary: 'x' }],
  ['sessions.share', { agent_id: 'ada', access: 'append' }],
  ['sessions.close', {}],
  ['sessions.handoff', { to: 'ada', why: 'mine' }],
];

test('[SN2] a session answers nobody else, and not whether it is there', async () => {
  for (const thief of [hub.agent, hub.untrusted]) {
    for (const [operation, input] of WAYS) {
      const told = JSON.stringify(
        (await thief.refusal(operation, { ...input, session_id })).message,
      );
      const other = await thief.refusal(operation, { ...input, session_id: 's99' });
      expect(told.replaceAll(session_id, 's99')).toBe(JSON.stringify(other.message));
      expect(told).not.toContain('hunter2');
    }
    const { sessions } = await thief.ask('sessions.list', { all: true, agent_id: 'victim' });
    expect(sessions).toEqual([]);
    const mine = await thief.ask('sessions.create', { key: 'secret' });
    expect([mine.created, mine.length]).toEqual([true, 0]);
  }
  await hub.observer.refusal('sessions.get', { session_id });
  await hub.observer.refusal('sessions.create', {});
  for (const operation of ['sessions.get', 'sessions.list']) {
    const past = { position: 0, operation, input: { session_id } };
    expect((await hub.human.refusal('record.at', past)).detail.reason).toBe('record.operation');
  }
  const { items: left } = await victim.ask('sessions.get', { session_id });
  expect(left).toMatchObject(items);
});

test('[HO3] what a filter hid is found by no operation, by whoever holds the session next', async () => {
  const seed = [...items, { kind: 'assistant', content: 'ok' }];
  const { session_id: id } = await victim.ask('sessions.create', { seed });
  await hub.agent.ask('sessions.list', {});
  await hub.agent.ask('sessions.create', {});
  const given = { session_id: id, to: hub.agent.name, why: 'go on', keep: [[1, 2]] };
  const { session } = await victim.ask('sessions.handoff', given);
  const on = { session_id: id };
  const seen: unknown[] = [await hub.agent.ask('sessions.get', on)];
  for (let cut = 0; cut <= session.last_cut + 2; cut++) {
    seen.push((await hub.agent.post('sessions.get', { ...on, cut })).body);
  }
  seen.push(
    await hub.agent.ask('sessions.fork', on),
    await hub.agent.ask('sessions.rewind', { ...on, length: 0 }),
  );
  seen.push(await hub.agent.ask('sessions.close', on), await hub.agent.ask('sessions.get', on));
  seen.push(await hub.agent.ask('sessions.list', { all: true }));
  expect(JSON.stringify(seen)).not.toContain('hunter2');
  const { items: kept } = await victim.ask('sessions.get', { ...on, cut: session.last_cut });
  expect(kept[0]).toMatchObject({ content: 'hunter2' });
});

test('[HO4] no claim is taken from somebody, or pressed on somebody, by a hand-off', async () => {
  const thief = hub.agent;
  const other = hub.other;
  await victim.ask('claims.take', { task_id: 'vault' });
  const { session_id: id } = await thief.ask('sessions.create', { seed: items });
  await other.ask('sessions.create', {});
  const stolen = { session_id: id, to: other.name, why: 'w', claims: ['vault'] };
  expect((await thief.refusal('sessions.handoff', stolen)).detail.reason).toBe('claim.not-holder');
  await other.ask('channels.heartbeat', { status: 'online' });
  await thief.ask('claims.take', { task_id: 'burden' });
  await thief.ask('sessions.handoff', { session_id: id, to: other.name, why: 'w' });
  const owner = async (task: string) =>
    (await other.ask('claims.list', {})).claims.find(
      (one: { task_id: string }) => one.task_id === task,
    ).owner;
  // Offered alone: whom it is offered to is bound by nothing until it goes on with the session.
  expect([await owner('burden'), await owner('vault')]).toEqual([thief.name, 'victim']);
  await other.ask('sessions.append', { session_id: id, items: [{ kind: 'note', content: 'n' }] });
  expect([await owner('burden'), await owner('vault')]).toEqual([other.name, 'victim']);
});

test('[SN2] [SN7] an untrusted token reaches nobody by a session, and fills a small share', async () => {
  const { untrusted } = hub;
  const { session_id: own } = await untrusted.ask('sessions.create', { seed: items });
  const share = { session_id: own, agent_id: hub.agent.name };
  expect((await untrusted.refusal('sessions.share', share)).detail.reason).toBe('access.denied');
  const handed = { session_id: own, to: hub.agent.name, why: 'read this' };
  expect((await untrusted.refusal('sessions.handoff', handed)).detail.reason).toBe('access.denied');
  await victim.ask('sessions.share', { session_id, agent_id: untrusted.name, access: 'append' });
  const written = await untrusted.refusal('sessions.append', { session_id, items });
  expect(written.detail.reason).toBe('access.denied');
  let made = 0;
  for (; made < 100; made++) {
    const { status, body } = await untrusted.post('sessions.create', {});
    if (status === 200) continue;
    expect(body).toMatchObject({ detail: { limit: 'SESSIONS_MAX' } });
    expect(body.message).toContain('sessions.close');
    break;
  }
  expect(made).toBeLessThanOrEqual(50);
  await hub.agent.ask('sessions.create', {});
  // The way out.
  await untrusted.ask('sessions.close', { session_id: own });
  await untrusted.ask('sessions.create', {});
});

test('[SN3] what is too much, too deep or no item changes nothing, and what is odd comes back as it was', async () => {
  const { session_id: id } = await victim.ask('sessions.create', {});
  let deep: unknown = 'x';
  for (let i = 0; i < 80; i++) deep = [deep];
  const note = { kind: 'note', content: 'n' };
  const bad: [unknown, string][] = [
    [[{ ...note, content: 'x'.repeat(1_100_000) }], 'body.too-large'],
    [[{ ...note, content: [deep] }], 'body.too-deep'],
    [Array.from({ length: 101 }, () => note), 'input.invalid'],
    [[{ kind: 'handoff', from: 'a', to: 'b', why: 'w', input: 1 }], 'input.invalid'],
    [[{ kind: 'tool_result', call_id: 'x', output: 1 }], 'session.no-call'],
    [[{ ...note, by: 'root' }], 'input.invalid'],
    [[{ kind: 'tool_call', call_id: 'a\nb', name: 'n', arguments: {} }], 'input.invalid'],
    [[note, { kind: 'tool_result', call_id: 'x', output: 1 }], 'session.no-call'],
  ];
  for (const [some, reason] of bad) {
    const refused = await victim.refusal('sessions.append', { session_id: id, items: some });
    expect(refused.detail.reason).toBe(reason);
  }
  expect((await victim.ask('sessions.get', { session_id: id })).session.length).toBe(0);
  const text = `{"session_id":"${id}","items":[{"kind":"user","content":[{"__proto__":{"a":1},"constructor":1,"\\u0000":"\\ud800"}]}]}`;
  await victim.ask('sessions.append', JSON.parse(text));
  const { items: read } = await victim.ask('sessions.get', { session_id: id });
  expect(JSON.stringify(read[0].content)).toBe(JSON.stringify(JSON.parse(text).items[0].content));
});

test('[HO5] two that throw a session to each other stop, and a third goes on', async () => {
  const { session_id: id } = await hub.agent.ask('sessions.create', { seed: items });
  const pair = [hub.agent, hub.other] as const;
  let count = 0;
  for (; count < 50; count++) {
    const [from, to] = count % 2 === 0 ? pair : ([pair[1], pair[0]] as const);
    const wish = { session_id: id, to: to.name, why: 'no, yours', claims: [] };
    if ((await from.ask('sessions.handoff', wish)).parked) break;
  }
  expect(count).toBeLessThan(12);
  const { items: waiting } = await hub.owned.ask('docket.list', {});
  expect(JSON.stringify(waiting)).toContain(id);
  await victim.ask('sessions.append', { session_id, items });
});
