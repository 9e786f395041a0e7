/** Sessions for programs, over a real hub. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import { type Client, connect } from '../../client/client.ts';
import type { Sink } from '../../telemetry/record.ts';
import { createTelemetry } from '../../telemetry/telemetry.ts';
import { newest, withoutTools } from './filter.ts';
import { type HandoffOptions, openSession } from './session.ts';

let running: RunningHub;
let ada: Client;
let bob: Client;

beforeAll(async () => {
  running = await openRunningHub();
  ada = await connect({ url: running.url, token: running.owner, agent: 'ada' });
  bob = await connect({ url: running.url, token: running.owner, agent: 'bob' });
  await bob.call('channels.heartbeat', { status: 'online' });
});
afterAll(async () => {
  await ada.close();
  await bob.close();
  await running.close();
});

test('[SN1] [SN9] the one of a key is the same wherever it is opened, to the byte', async () => {
  const first = await openSession(ada, { key: 'one', seed: [{ kind: 'user', content: 'hi' }] });
  const many = Array.from({ length: 250 }, (_, i) => ({ kind: 'note', content: `${i}` }) as const);
  await first.append(many, { expectedLength: 1 });
  const other = await connect({ url: running.url, token: running.owner, agent: 'ada' });
  const second = await openSession(other, { key: 'one' });
  expect(second.id).toBe(first.id);
  expect(JSON.stringify(await second.items())).toBe(JSON.stringify(await first.items()));
  expect(await second.items({ last: 2 })).toMatchObject([{ content: '248' }, { content: '249' }]);
  await other.close();
  await expect(openSession(ada, { id: 's99' })).rejects.toMatchObject({
    code: 'session.not-found',
  });
});

test('[SN4] a tool is stored before it runs, with its result or its error after it', async () => {
  const session = await openSession(ada);
  const keys: string[] = [];
  const answer = await session.tool('add', { a: 1 }, async ({ key }) => {
    keys.push(key);
    expect(await session.items()).toMatchObject([
      { kind: 'tool_call', name: 'add', key },
      { kind: 'tool_result', state: 'unknown', key },
    ]);
    return 3;
  });
  expect(answer).toBe(3);
  const failing = session.tool('fail', {}, () => Promise.reject(new Error('no such parcel')));
  await expect(failing).rejects.toThrow('no such parcel');
  expect(await session.items()).toMatchObject([
    { kind: 'tool_call', key: keys[0], arguments: { a: 1 } },
    { kind: 'tool_result', state: 'ok', output: 3 },
    { kind: 'tool_call' },
    { kind: 'tool_result', state: 'error', output: 'no such parcel' },
  ]);
});

test('[TL1] a tool of a session is a span that names the session', async () => {
  const spans: unknown[] = [];
  const sink: Sink = {
    name: 'test',
    write(records) {
      spans.push(...records);
    },
  };
  const telemetry = createTelemetry({ sinks: [sink] });
  const session = await openSession(ada);
  await telemetry.within({}, () => session.tool('track', {}, () => 1));
  await telemetry.close();
  const about = { name: 'execute_tool track', ids: { session: session.id } };
  expect(spans).toContainEqual(expect.objectContaining(about));
});

test('[SN4] what nobody knows is settled as unknown, and one goes on', async () => {
  const session = await openSession(ada);
  await session.append({ kind: 'tool_call', call_id: 'c', name: 't', arguments: {}, key: 'k7' });
  const spoken = session.append({ kind: 'user', content: 'hello?' });
  await expect(spoken).rejects.toMatchObject({ code: 'session.open-call' });
  expect((await session.settle()).open_calls).toEqual([]);
  await session.append({ kind: 'user', content: 'hello?' });
  expect((await session.items())[1]).toMatchObject({ state: 'unknown', output: { key: 'k7' } });
  const { version } = await session.view();
  expect((await session.settle()).version).toBe(version);
});

test('[HO3] a filter chooses once; what it makes up is refused here, and what it splits by the hub', async () => {
  const session = await openSession(ada, { seed: [{ kind: 'user', content: 'hi' }] });
  await session.tool('t', {}, () => 1);
  await session.append({ kind: 'assistant', content: 'done' });
  const made = { why: 'w', filter: () => [{ kind: 'user', content: 'x', index: 0 } as never] };
  await expect(session.handoff('bob', made)).rejects.toThrow('goes into input');
  const split: HandoffOptions = { why: 'w', filter: (items) => items.slice(0, 2) };
  await expect(session.handoff('bob', split)).rejects.toMatchObject({ code: 'session.split' });
  expect(await session.handoff('bob', { why: 'w', input: 7, filter: withoutTools })).toBe(true);
  const theirs = await openSession(bob, { id: session.id });
  const kinds = async () => (await theirs.items()).map(({ kind }) => kind);
  expect(await kinds()).toEqual(['user', 'assistant', 'handoff']);
  await theirs.tool('u', {}, () => 2);
  expect(await theirs.handoff('ada', { why: 'back', filter: newest(1) })).toBe(true);
  // The call came along with its result, and no earlier filter was applied again.
  expect((await session.items()).map(({ kind }) => kind)).toEqual([
    ...['tool_call', 'tool_result', 'handoff'],
  ]);
});

test('[HO4] [HO5] claims go along, and a session that goes round waits for a person', async () => {
  const session = await openSession(ada, { seed: [{ kind: 'user', content: 'hi' }] });
  await ada.call('claims.take', { task_id: 'docs' });
  expect(await session.handoff('bob', { why: 'yours' })).toBe(true);
  const theirs = await openSession(bob, { id: session.id });
  await theirs.append({ kind: 'assistant', content: 'mine now' });
  const { claims } = await bob.call('claims.list', {});
  expect(claims.find(({ task_id }) => task_id === 'docs')?.owner).toBe('bob');
  const rounds: boolean[] = [];
  for (let i = 0; i < 20 && rounds.at(-1) !== false; i++) {
    const mine = i % 2 === 0 ? theirs : session;
    rounds.push(await mine.handoff(i % 2 === 0 ? 'ada' : 'bob', { why: 'no, yours', claims: [] }));
  }
  expect(rounds).toEqual([...Array.from({ length: 8 }, () => true), false]);
  const { items } = await running.admin('docket.list');
  expect(JSON.stringify(items)).toContain(session.id);
  const stuck = theirs.append({ kind: 'note', content: 'x' });
  await expect(stuck).rejects.toMatchObject({ code: 'session.parked' });
});

test('[SN5] fork, rewind, compact, share and close are what they are called', async () => {
  const seed = ['a', 'b', 'c'].map((content) => ({ kind: 'user', content }) as const);
  const session = await openSession(ada, { seed });
  const fork = await session.fork({ length: 1 });
  await session.rewind(2);
  await session.compact('a', { keep: 1 });
  const said = async (one: typeof session) =>
    (await one.items()).map((item) => 'content' in item && item.content);
  expect([await said(fork), await said(session)]).toEqual([['a'], ['a', 'b']]);
  await session.share('bob');
  expect(await said(await openSession(bob, { id: session.id }))).toEqual(['a', 'b']);
  expect(await session.close('enough')).toMatchObject({ state: 'closed', reason: 'enough' });
});
