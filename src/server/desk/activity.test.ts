/** Presence and its evidence over real sockets: what each state rests on, and since when. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../test/e2e/deadline.ts';
import { openEventStream } from '../../../test/e2e/event-stream.ts';
import { openRpcSocket } from '../../../test/e2e/rpc-socket.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';

let hub: RunningHub;
beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

async function rowOf(agent: string): Promise<Json> {
  const { agents } = await hub.ask('watcher', 'presence_list', { limit: 500 });
  return agents.find((row: Json) => row.agent_id === agent) ?? null;
}

function untilRow(agent: string, isWanted: (row: Json) => boolean): Promise<Json> {
  return until(`presence of ${agent}`, () => rowOf(agent), isWanted);
}

test('[PE1] several connections of one agent are counted, whatever door they use, and counted out once', async () => {
  const before = Date.now() / 1000;
  expect(await rowOf('ada')).toBeNull();
  const first = await openRpcSocket(hub.url, hub.as('ada'));
  const second = await openRpcSocket(hub.url, hub.as('ada'));
  const stream = await openEventStream(hub.url, hub.as('ada'), '?channels=news');
  const all = await untilRow('ada', (row) => row?.evidence.connections === 3);
  expect(all).toMatchObject({ state: 'connected', owed: 0, claims: 0 });
  expect(all.since).toBeGreaterThanOrEqual(before - 0.01);
  await first.close();
  stream.close();
  const one = await untilRow('ada', (row) => row?.evidence.connections === 1);
  expect(one.state).toBe('connected');
  expect(one.since).toBe(all.since);
  await second.close();
  await until(
    'nobody left',
    () => rowOf('ada'),
    (row) => !row || row.evidence.connections === 0,
  );
});

test('[PE1] a stream that is refused leaves no connection behind', async () => {
  const stream = await openEventStream(hub.url, hub.as('eve'), '?channels=dm/a~b');
  expect(stream.status).toBe(403);
  expect(await rowOf('eve')).toBeNull();
});

test('[PE2] connected, idle, busy, blocked, stale, gone: each with its evidence and since when', async () => {
  const socket = await openRpcSocket(hub.url, hub.as('bob'));
  const connected = await untilRow('bob', (row) => row?.state === 'connected');
  expect(connected.evidence).toMatchObject({ connections: 1, last_heartbeat: null });

  await socket.ask('channels.heartbeat', { status: 'online', ttl: 60 });
  const idle = await rowOf('bob');
  expect(idle).toMatchObject({
    state: 'idle',
    evidence: { connections: 1, last_operation: 'channels_heartbeat' },
  });
  expect(idle.evidence.last_heartbeat).toBe(idle.since);
  expect(idle.since).toBeGreaterThanOrEqual(connected.since);

  await socket.ask('presence.report', { state: 'busy', note: 'the build', process: 4711, ttl: 60 });
  const busy = await rowOf('bob');
  expect(busy).toMatchObject({ state: 'busy', note: 'the build', evidence: { process: 4711 } });

  await socket.ask('presence.report', { state: 'blocked', note: 'may I deploy?', ttl: 3 });
  const blocked = await rowOf('bob');
  expect(blocked).toMatchObject({ state: 'blocked', note: 'may I deploy?' });
  expect(blocked.since).toBeGreaterThanOrEqual(busy.since);

  // Silent, but the socket is there: it is connected, and that is all one knows.
  const silent = await untilRow('bob', (row) => row.state === 'connected');
  expect(silent).toMatchObject({ note: null, evidence: { connections: 1 } });
  await socket.close();
  const stale = await untilRow('bob', (row) => row.state === 'stale');
  expect(stale.evidence.connections).toBe(0);
  const gone = await untilRow('bob', (row) => row.state === 'gone');
  expect(gone.since).toBeGreaterThan(stale.since);
  expect(gone.evidence.last_heartbeat).toBeGreaterThan(0);
});

test('[PE2] saying the same again keeps since; states are filtered by name', async () => {
  await hub.ask('cem', 'presence_report', { state: 'busy', ttl: 60 });
  const { since } = await rowOf('cem');
  await hub.ask('cem', 'presence_report', { state: 'busy', note: 'still', ttl: 60 });
  expect(await rowOf('cem')).toMatchObject({ since, note: 'still' });
  const { agents } = await hub.ask('watcher', 'presence_list', { state: ['busy'] });
  expect(agents.map((row: Json) => row.agent_id)).toEqual(['cem']);
});

test('[PE1] whoever is connected can be told, though nothing was heard of it before', async () => {
  const zed = await openRpcSocket(hub.url, hub.as('proj/zed'));
  await untilRow('proj/zed', (row) => row?.state === 'connected');
  for (const to of ['proj/zed', 'proj', 'proj/*']) {
    const { recipients } = await hub.ask('ada', 'agents_tell', { to, body: { to } });
    expect(recipients.map((one: Json) => one.agent_id)).toEqual(['proj/zed']);
  }
  const { messages } = await zed.ask('channels.recv', { max_messages: 10 });
  expect(messages.map((one: Json) => one.body.to)).toEqual(['proj/zed', 'proj', 'proj/*']);
  await zed.close();
});
