/** Sessions and hand-offs at both doors. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

const user = (content: string) => ({ kind: 'user', content });
const call = (call_id: string, more = {}) => ({
  ...{ kind: 'tool_call', call_id, name: 'pay', arguments: { eur: 5 }, ...more },
});
const result = (call_id: string, output: unknown = 'paid') => ({
  ...{ kind: 'tool_result', call_id, output },
});

describe.each(DOORS)('sessions over %s', (name) => {
  let hub: RunningHub;
  let door: Door;

  beforeAll(async () => {
    hub = await openRunningHub();
    door = createDoor(hub, name);
  });
  afterAll(async () => {
    await door.close();
    await hub.close();
  });

  test('[SN1] [SN3] created once under a key, appended to as long as one believed', async () => {
    const seed = [user('hello'), { kind: 'assistant', content: [{ type: 'text', text: 'hi' }] }];
    const made = await door.ask('ada', 'sessions.create', { key: 'chat', seed, ttl_ms: 0 });
    expect(made).toMatchObject({ created: true, length: 2, state: 'open', expires_at: null });
    const again = await door.ask('ada', 'sessions.create', { key: 'chat' });
    expect(again).toMatchObject({ created: false, session_id: made.session_id, length: 2 });
    const other = await door.ask('bob', 'sessions.create', { key: 'chat' });
    expect(other.session_id).not.toBe(made.session_id);
    const { session_id } = made;
    const items = [{ kind: 'note', content: 'n', data: { __proto__x: 1, deep: { a: [1] } } }];
    const more = { session_id, items };
    const late = await door.refusal('ada', 'sessions.append', { ...more, expected_length: 1 });
    expect(late.detail).toMatchObject({ reason: 'session.length', length: 2 });
    await door.ask('ada', 'sessions.append', { ...more, expected_length: 2 });
    const { session, items: read } = await door.ask('ada', 'sessions.get', { session_id });
    expect(session).toMatchObject({ length: 3, version: 2, agent_id: 'ada' });
    expect(read).toMatchObject([...seed, ...items]);
    const page = await door.ask('ada', 'sessions.get', { session_id, from: 1, limit: 1 });
    expect(page).toMatchObject({ items: [{ index: 1 }], next: 2 });
    const last = await door.ask('ada', 'sessions.get', { session_id, last: 1 });
    expect(last).toMatchObject({ items: [{ index: 2 }], next: null });
    const listed = await door.ask('ada', 'sessions.list', { key: 'chat' });
    expect(listed.sessions).toMatchObject([{ session_id }]);
    expect((await door.ask(null, 'sessions.list', { agent_id: 'bob' })).sessions).toHaveLength(1);
  });

  test('[SN4] a call without a result reads as unknown, with the key to ask by', async () => {
    const made = await door.ask('ada', 'sessions.create', { seed: [user('pay'), call('c1')] });
    const { session_id } = made;
    const [{ key }] = made.open_calls;
    const torn = await door.ask('ada', 'sessions.get', { session_id });
    expect(torn.items.slice(1)).toMatchObject([
      { kind: 'tool_call', call_id: 'c1', key, index: 1 },
      { kind: 'tool_result', call_id: 'c1', state: 'unknown', key, index: null },
    ]);
    const spoken = { session_id, items: [user('and?')] };
    const early = await door.refusal('ada', 'sessions.append', spoken);
    expect(early.detail).toMatchObject({ reason: 'session.open-call', open: ['c1'] });
    const own = { session_id, items: [call('c2', { key: 'order-7' })] };
    const { session } = await door.ask('ada', 'sessions.append', own);
    expect(session.open_calls).toMatchObject([{ key }, { key: 'order-7', name: 'pay' }]);
    await door.ask('ada', 'sessions.append', { session_id, items: [result('c2'), result('c1')] });
    const twice = await door.refusal('ada', 'sessions.append', {
      ...{ session_id, items: [result('c1')] },
    });
    expect(twice.detail).toMatchObject({ reason: 'session.no-call' });
    const whole = await door.ask('ada', 'sessions.get', { session_id });
    expect(whole.items).toHaveLength(5);
    const cut = { session_id, length: 4 };
    expect((await door.refusal('ada', 'sessions.rewind', cut)).detail).toMatchObject({
      ...{ reason: 'session.split', below: 1, above: 5 },
    });
  });

  test('[SN5] [SN6] fork, rewind, compact and close delete nothing', async () => {
    const seed = ['a', 'b', 'c', 'd'].map(user);
    const { session_id } = await door.ask('ada', 'sessions.create', { seed });
    const fork = await door.ask('ada', 'sessions.fork', { session_id, length: 2 });
    expect(fork).toMatchObject({ length: 2, forked_from: { session_id, length: 2 } });
    const rewound = await door.ask('ada', 'sessions.rewind', { session_id, length: 3 });
    const texts = async (id: string, more = {}) => {
      const { items } = await door.ask('ada', 'sessions.get', { session_id: id, ...more });
      return items.map(({ content }: Json) => content);
    };
    expect(await texts(session_id, { cut: rewound.last_cut })).toEqual(['d']);
    await door.ask('ada', 'sessions.compact', { session_id, summary: 'a and b', keep: 1 });
    expect(await texts(session_id)).toEqual(['a and b', 'c']);
    const { session } = await door.ask('ada', 'sessions.get', { session_id });
    expect(await texts(session_id, { cut: session.last_cut })).toEqual(['a', 'b']);
    const asked = { session_id, cut: session.last_cut };
    expect((await door.ask('ada', 'sessions.get', asked)).previous_cut).toBe(rewound.last_cut);
    const wrong = await door.refusal('ada', 'sessions.get', { session_id, cut: 0 });
    expect(wrong.detail).toMatchObject({ reason: 'session.not-found' });
    const closed = await door.ask('ada', 'sessions.close', { session_id, reason: 'done' });
    expect(closed).toMatchObject({ state: 'closed', reason: 'done', length: 2 });
    expect(await texts(session_id)).toEqual(['a and b', 'c']);
    expect(await texts(fork.session_id)).toEqual(['a', 'b']);
    const over = await door.refusal('ada', 'sessions.append', { session_id, items: [user('e')] });
    expect(over.detail).toMatchObject({ reason: 'session.over', how: 'closed' });
    const revived = await door.ask('ada', 'sessions.fork', { session_id });
    expect(await texts(revived.session_id)).toEqual(['a and b', 'c']);
    await door.refusal('bob', 'sessions.fork', { session_id });
    const { sessions } = await door.ask('ada', 'sessions.list', { all: true });
    expect(sessions.find((one: Json) => one.session_id === session_id).state).toBe('closed');
  });

  test('[HO1] [HO3] [HO4] handed on: told, filtered for good, and the claims taken with the first append', async () => {
    await door.ask('bob', 'channels.heartbeat', { status: 'online' });
    const seed = [user('secret'), call('c1'), result('c1'), { kind: 'assistant', content: 'ok' }];
    const { session_id } = await door.ask('ada', 'sessions.create', { seed });
    await door.ask('ada', 'claims.take', { task_id: `build-${name}` });
    const half = { session_id, to: 'bob', why: 'review it', keep: [[1, 2]] };
    expect((await door.refusal('ada', 'sessions.handoff', half)).detail).toMatchObject({
      reason: 'session.split',
    });
    const handed = await door.ask('ada', 'sessions.handoff', {
      ...{ session_id, to: 'bob', why: 'review it', input: { pr: 7 }, keep: [[1, 4]] },
    });
    expect(handed).toMatchObject({ parked: false, claims: [`build-${name}`] });
    expect(handed.session).toMatchObject({ agent_id: 'bob', length: 4 });
    const { items, previous_cut: cut } = await door.ask('bob', 'sessions.get', { session_id });
    expect(items.map(({ kind }: Json) => kind)).toEqual([
      ...['tool_call', 'tool_result', 'assistant', 'handoff'],
    ]);
    expect(items.at(-1)).toMatchObject({
      from: 'ada',
      to: 'bob',
      why: 'review it',
      input: { pr: 7 },
    });
    const hidden = await door.refusal('bob', 'sessions.get', { session_id, cut });
    expect(hidden.detail).toMatchObject({ reason: 'session.not-found' });
    const shown = await door.ask('ada', 'sessions.get', { session_id, cut });
    expect(shown.items[0]).toMatchObject({ content: 'secret' });
    const told = await door.ask('bob', 'channels.recv', {});
    const mail = told.messages.map(({ body }: Json) => body);
    expect(mail).toContainEqual(
      expect.objectContaining({ event: 'session_handed_off', session_id }),
    );
    const first = { session_id, items: [{ kind: 'assistant', content: 'looking' }] };
    const { claims } = await door.ask('bob', 'sessions.append', first);
    expect(claims).toEqual([{ claim_id: `build-${name}`, taken: true, reason: null }]);
    const held = await door.ask('bob', 'claims.list', {});
    const build = held.claims.find((one: Json) => one.task_id === `build-${name}`);
    expect(build.owner).toBe('bob');
    const next = { session_id, items: [{ kind: 'assistant', content: 'still' }] };
    expect((await door.ask('bob', 'sessions.append', next)).claims).toEqual([]);
  });

  test('[SN2] shared to read, to append, and taken back', async () => {
    const { session_id } = await door.ask('ada', 'sessions.create', { seed: [user('x')] });
    const share = (access: string) =>
      door.ask('ada', 'sessions.share', { session_id, agent_id: 'cat', access });
    expect((await door.refusal('cat', 'sessions.get', { session_id })).detail).toMatchObject({
      reason: 'session.not-found',
    });
    expect(await share('read')).toMatchObject({ shared: [{ agent_id: 'cat', access: 'read' }] });
    expect((await door.ask('cat', 'sessions.get', { session_id })).items).toHaveLength(1);
    const items = [{ kind: 'note', content: 'n' }];
    await door.refusal('cat', 'sessions.append', { session_id, items }, 'recorded');
    await share('append');
    await door.ask('cat', 'sessions.append', { session_id, items });
    await share('none');
    await door.refusal('cat', 'sessions.append', { session_id, items });
  });
});
