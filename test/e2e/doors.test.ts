/**
 * Every operation once at each of the two plain doors, HTTP and WebSocket, with its output held to
 * its own schema, where no field may be extra, and to SOX's shape where it is one of the fifteen.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS, type OperationId } from '../../src/wire/operations/table.ts';
import { shapeFaults } from '../conformance/sox/outputs.ts';
import { openRpcSocket, type RpcSocket } from './rpc-socket.ts';
import { type Json, openRunningHub, type RunningHub } from './running-hub.ts';

/** SOX's fifteen, by the name of the operation. */
const SOX = new Set([
  'send',
  'recv',
  'subscribe',
  'unsubscribe',
  'list_channels',
  'list_agents',
  'channels_ack',
  'channels_heartbeat',
  'replay',
  'channels_collect',
  'group_create',
  'group_invite',
  'group_join',
  'group_leave',
  'group_list_members',
]);

const HANDLERS = new URL('../../src/server/desk/handlers/', import.meta.url);
const WORK_TESTS = [
  ...['claims', 'plan', 'offers', 'findings', 'presence', 'gates', 'turns', 'processes', 'context'],
  ...['guard', 'record', 'passkeys', 'thread-doors', 'sessions', 'workflows'],
].map((noun) => `${noun}.test.ts`);

interface Door {
  /** What an agent asks; null is the owner, who administers. */
  call(
    agent: string | null,
    id: OperationId,
    input: unknown,
  ): Promise<{ ok: Json } | { error: Json }>;
  close(): Promise<void>;
}

async function openHttpDoor(hub: RunningHub): Promise<Door> {
  return {
    async call(agent, id, input) {
      const headers = agent === null ? { authorization: `Bearer ${hub.owner}` } : hub.as(agent);
      const { status, body } = await hub.post(OPERATIONS[id].name, input, headers);
      return status === 200 ? { ok: body } : { error: body };
    },
    close: async () => {},
  };
}

async function openWebSocketDoor(hub: RunningHub): Promise<Door> {
  const sockets = new Map<string | null, RpcSocket>();
  return {
    async call(agent, id, input) {
      let socket = sockets.get(agent);
      if (socket === undefined) {
        const headers = agent === null ? { authorization: `Bearer ${hub.owner}` } : hub.as(agent);
        socket = await openRpcSocket(hub.url, headers);
        sockets.set(agent, socket);
      }
      const { result, error } = await socket.call(id, input);
      return error === undefined ? { ok: result } : { error: error.data };
    },
    async close() {
      await Promise.all([...sockets.values()].map((socket) => socket.close()));
    },
  };
}

describe.each([
  ['HTTP', openHttpDoor],
  ['WebSocket', openWebSocketDoor],
] as const)('over %s', (_, openDoor) => {
  let hub: RunningHub;
  let door: Door;
  const asked = new Set<string>();

  beforeAll(async () => {
    hub = await openRunningHub();
    door = await openDoor(hub);
  });
  afterAll(async () => {
    await door.close();
    await hub.close();
  });

  /** The output, when it is exactly what the operation promises. */
  async function ask(agent: string | null, id: OperationId, input: unknown = {}): Promise<Json> {
    asked.add(id);
    const answer = await door.call(agent, id, input);
    if ('error' in answer) throw new Error(`${id} was refused: ${JSON.stringify(answer.error)}`);
    const { name, output } = OPERATIONS[id];
    // Parsing drops what the schema does not name, so equality means that nothing is extra.
    expect(output.parse(answer.ok)).toEqual(answer.ok);
    if (SOX.has(name)) expect(shapeFaults(name as never, false, answer.ok)).toEqual([]);
    return answer.ok;
  }

  async function refusal(agent: string | null, id: OperationId, input: unknown): Promise<Json> {
    const answer = await door.call(agent, id, input);
    if ('ok' in answer) throw new Error(`${id} was not refused: ${JSON.stringify(answer.ok)}`);
    expect(shapeFaults('send', true, answer.error)).toEqual([]);
    return answer.error;
  }

  test('[O1] channels: subscribe, send, receive, reply, replay, list, unsubscribe', async () => {
    expect(await ask('ada', 'channels.subscribe', { pattern: 'team/*' })).toEqual({
      subscribed: [],
    });
    const sent = await ask('bob', 'channels.send', {
      channel: 'team/plan',
      body: { text: 'hello' },
      correlation_id: 'c-1',
    });
    expect(sent).toMatchObject({
      seq: 1,
      backpressure: { queue_depth: 0, threshold: 1000, state: 'ok' },
    });
    const { messages } = await ask('ada', 'channels.recv');
    expect(messages).toEqual([
      {
        channel: 'team/plan',
        sender: 'bob',
        body: { text: 'hello' },
        sent_at: sent.sent_at,
        message_id: sent.message_id,
        seq: 1,
        correlation_id: 'c-1',
        ts: expect.any(Number),
        reply_to: null,
        delivered_to: ['ada'],
        origin_server: null,
        ancestors: null,
        _meta: {
          trace_id: expect.any(String),
          middleware_timings: expect.arrayContaining([expect.stringMatching(/^auth:\d+ms$/)]),
          server_node_id: expect.any(String),
          standing: 'agent/trusted',
        },
      },
    ]);
    expect((await ask('ada', 'channels.recv')).messages).toEqual([]);
    const reply = { channel: 'team/plan', body: { text: 'hi' }, reply_to: sent.message_id };
    await ask('ada', 'channels.send', reply);
    const own = await ask('ada', 'channels.recv', { thread_depth: -1, include_meta: false });
    expect(own.messages[0]).not.toHaveProperty('_meta');
    expect(own.messages[0].ancestors).toMatchObject([{ message_id: sent.message_id, seq: 1 }]);
    const replayed = await ask('ada', 'channels.replay', {
      channel: 'team/plan',
      since: 2,
      limit: 1,
    });
    expect(replayed.messages.map((one: Json) => one.seq)).toEqual([2]);
    expect(replayed.has_more).toBe(false);
    const found = await ask('bob', 'search.messages', { query: 'hi', since: 1, until: 9e9 });
    expect(found.messages).toMatchObject([
      { channel: 'team/plan', excerpt: 'hi', found: [[0, 2]] },
    ]);
    expect(found).toMatchObject({ next: null, complete: true });
    const { deeds } = await ask(null, 'audit.list', { action: 'message', limit: 1 });
    expect(deeds).toMatchObject([{ action: 'message.sent', actor: 'ada', subject: 'team/plan' }]);
    const listed = await ask('ada', 'channels.list_channels');
    expect(listed).toEqual({
      channels: [{ name: 'team/plan', subscriber_count: 1 }],
      _sox_protocol: {
        server_version: '1.0',
        supported_versions: ['1.0'],
        min_client_version: '1.0',
      },
    });
    await ask('bob', 'channels.send', { channel: 'team/plan', body: {} });
    expect(await ask('ada', 'inbox.peek')).toEqual({
      owed: 1,
      channels: [{ channel: 'team/plan', owed: 1 }],
      leased: 0,
    });
    expect(await ask('ada', 'channels.unsubscribe', { channels: ['team/*'] })).toEqual({
      unsubscribed: ['team/*'],
      pending_cleared: 1,
    });
  });

  test('[O1] answers: ack, collect, receipts, and the read cursor', async () => {
    await ask('ada', 'channels.subscribe', { pattern: 'work' });
    const { message_id } = await ask('bob', 'channels.send', { channel: 'work', body: {} });
    const { receipts } = await ask('bob', 'receipts.get', { message_id });
    expect(receipts).toEqual([{ agent_id: 'ada', state: 'accepted', reason: null, at: null }]);
    await ask('ada', 'channels.recv');
    const acked = await ask('ada', 'channels.ack', { message_id, status: 'done' });
    expect(acked).toMatchObject({ message_id, status: 'done' });
    const collected = await ask('bob', 'channels.collect', {
      reply_to: message_id,
      count: 1,
      timeout: 5,
    });
    expect(collected).toEqual({
      received: [{ agent_id: 'ada', message_id, status: 'done', acked_at: acked.acked_at }],
      missing: [],
      timed_out: false,
    });
    const question = await ask('bob', 'channels.send', {
      channel: 'work',
      body: { question: 'Is it done?' },
    });
    expect(await ask('bob', 'receipts.waits')).toEqual({
      waits: [
        {
          ...{ agent_id: 'bob', waits_for: ['ada'], delivered_to: [], deadlocked: false },
          ...{ message_id: question.message_id, channel: 'work', since: question.sent_at },
        },
      ],
      deadlocked: [],
      has_more: false,
    });
    await ask('ada', 'channels.recv');
    const next = await ask('bob', 'channels.send', { channel: 'work', body: {} });
    const through = Number(next.message_id.slice(1));
    expect(await ask('ada', 'inbox.commit', { through })).toEqual({ committed: 1 });
    expect((await ask('ada', 'channels.recv')).messages).toEqual([]);
  });

  test('[O1] agents: heartbeat, list, who am I', async () => {
    const beat = await ask('ada', 'channels.heartbeat', { status: 'busy', ttl: 60 });
    expect(beat).toMatchObject({ agent_id: 'ada', status: 'busy' });
    expect(beat.expires_at - beat.recorded_at).toBeCloseTo(60, 3);
    const { agents } = await ask('bob', 'channels.list_agents', { status_filter: ['busy'] });
    expect(agents).toEqual([
      {
        agent_id: 'ada',
        presence_state: 'busy',
        last_heartbeat_at: expect.any(Number),
        namespace: 'default',
      },
    ]);
    expect(await ask('ada', 'hub.whoami')).toEqual({
      agent_id: 'ada',
      kind: 'agent',
      tier: 'trusted',
      space: 'default',
      subscriptions: ['work'],
    });
    expect(await ask('ada', 'hub.status')).toMatchObject({ store_ok: true, space: 'default' });
  });

  test('[O1] groups: create, invite, join, list, leave', async () => {
    const { group_id } = await ask('ada', 'group.create', {
      group_id: 'core',
      display_name: 'Core',
    });
    expect(group_id).toBe('group/core');
    expect(
      await ask('ada', 'group.invite', { group_id, agent_id: 'bob', message: 'come' }),
    ).toEqual({
      invited: true,
      agent_id: 'bob',
      invited_at: expect.any(Number),
    });
    const { groups } = await ask('bob', 'group.list');
    expect(groups).toEqual([
      { group_id, display_name: 'Core', status: 'invited', member_count: 1 },
    ]);
    const joined = await ask('bob', 'group.join', { group_id });
    expect(joined).toMatchObject({ joined: true, group_id, member_count: 2 });
    const { members } = await ask('bob', 'group.list_members', {
      group_id,
      include_presence: true,
    });
    expect(members.map((one: Json) => [one.agent_id, one.status, one.presence_state])).toEqual([
      ['ada', 'active', 'busy'],
      ['bob', 'active', 'offline'],
    ]);
    expect(await ask('bob', 'group.leave', { group_id })).toMatchObject({ left: true, group_id });
  });

  test('[O1] [GA1] [GA2] [GR8] what goes away: channels, groups, agents', async () => {
    await ask('gus', 'channels.subscribe', { pattern: 'passing' });
    await ask('bob', 'channels.send', { channel: 'passing', body: {} });
    const inUse = await refusal('gus', 'channels.retire', { channel: 'passing' });
    expect(inUse.detail).toMatchObject({ reason: 'channel.in-use', owed: 1 });
    expect(await ask(null, 'channels.retire', { channel: 'passing', force: true })).toEqual({
      channel: 'passing',
      retired: true,
      messages: 1,
    });
    const gone = await refusal(null, 'channels.replay', { channel: 'passing', since: 0 });
    expect(gone.detail.reason).toBe('channel.retired');
    const { group_id } = await ask('gus', 'group.create', {});
    expect(await ask('gus', 'group.remove', { group_id })).toEqual({
      removed: true,
      group_id,
      member_count: 1,
    });
    await ask('gus', 'channels.heartbeat', { status: 'online' });
    const given = await ask(null, 'agents.assign', { agent_id: 'gus', roles: ['lead'] });
    expect(given).toEqual({ agent_id: 'gus', roles: ['lead'] });
    const there = await refusal(null, 'agents.remove', { agent_id: 'gus' });
    expect(there.detail.reason).toBe('agent.in-use');
    expect(await ask(null, 'agents.remove', { agent_id: 'gus', force: true })).toEqual({
      agent_id: 'gus',
      removed: true,
      subscriptions: 0,
      tokens_revoked: 0,
      channels_retired: 0,
    });
    const { agents } = await ask('bob', 'channels.list_agents');
    expect(agents.map((one: Json) => one.agent_id)).not.toContain('gus');
  });

  test('[O1] administration: tokens, spaces, channel settings, held messages', async () => {
    const made = await ask(null, 'tokens.create', {
      agent_id: 'carl',
      tier: 'untrusted',
      label: 'x',
    });
    expect(made.token).toMatch(/^syn_default\.[0-9a-f]+\../);
    const rotated = await ask(null, 'tokens.rotate', { token_id: made.token_id });
    expect(rotated.token).not.toBe(made.token);
    expect(await ask(null, 'record.head')).toMatchObject({ anchor: null });
    expect(await ask(null, 'hub.vitals')).toMatchObject({ store: { ok: true }, bus: null });
    const { tokens } = await ask(null, 'tokens.list');
    expect(tokens).toHaveLength(1);
    expect(tokens[0]).not.toHaveProperty('token');
    const lab = await ask(null, 'spaces.create', { name: 'lab' });
    expect(lab).toEqual({ name: 'lab', created: true });
    expect(await ask(null, 'spaces.create', { name: 'lab' })).toEqual({
      name: 'lab',
      created: false,
    });
    const { spaces } = await ask(null, 'spaces.list');
    expect(spaces.map((one: Json) => one.name)).toEqual(['default', 'lab']);
    const removed = await ask(null, 'spaces.remove', { name: 'lab', delete: true });
    expect(removed).toMatchObject({ name: 'lab', kept: null });
    expect((await ask(null, 'spaces.list')).spaces).toHaveLength(1);
    const schema = { type: 'object', required: ['n'] };
    expect(
      await ask(null, 'channels.configure', { channel: 'typed', schema, queue_limit: 5 }),
    ).toEqual({
      channel: 'typed',
      schema,
      replay_policy: 'subscriber',
      replay_allow: [],
      backpressure_mode: null,
      queue_limit: 5,
      message_retention_ms: null,
      gate_tier2: false,
    });
    expect((await ask(null, 'spaces.configure', { hold_untrusted: true })).hold_untrusted).toBe(
      true,
    );
    await ask('ada', 'channels.subscribe', { pattern: 'inbound' });
    const carl = { authorization: `Bearer ${rotated.token}` };
    const held = (await hub.post('send', { channel: 'inbound', body: { n: 1 } }, carl)).body;
    const list = await ask(null, 'held.list');
    expect(list.held.map((one: Json) => one.message.message_id)).toEqual([held.message_id]);
    expect((await ask('ada', 'channels.recv')).messages).toEqual([]);
    const review = { message_id: held.message_id, decision: 'release' };
    expect(await ask(null, 'held.review', review)).toEqual(review);
    expect((await ask('ada', 'channels.recv')).messages).toHaveLength(1);
    const revoked = { token_id: made.token_id, revoked: true };
    expect(await ask(null, 'tokens.revoke', { token_id: made.token_id })).toEqual(revoked);
  });

  test('[WD1] [WD2] links and sessions of the window', async () => {
    const link = await ask(null, 'web.link', { name: 'mia' });
    expect((await fetch(link.url, { redirect: 'manual' })).status).toBe(303);
    const { sessions } = await ask(null, 'web.sessions');
    expect(sessions).toEqual([expect.objectContaining({ name: 'mia', device: 'a browser' })]);
    const { session_id } = sessions[0];
    const revoked = { session_id, revoked: true };
    expect(await ask(null, 'web.revoke', { session_id })).toEqual(revoked);
    expect((await ask(null, 'web.sessions')).sessions).toEqual([]);
    const phone = await ask(null, 'web.phone_open', { host: '127.0.0.1', link: false });
    expect(phone).toMatchObject({ url: null, origin: expect.stringContaining('https://') });
    expect(await ask(null, 'web.phone_close')).toEqual({ closed: true });
  });

  test('[O1] [DK7] the docket: an agent asks, a person takes, looks and answers', async () => {
    const wish = { text: 'Which port?', thread: 'release', until: Date.now() / 1000 + 3_600 };
    const { item, question } = await ask('ada', 'docket.raise', wish);
    const { item_id } = item;
    expect(item).toMatchObject({ state: 'open', kinds: ['question'], agent_id: 'ada', count: 1 });
    const list = await ask(null, 'docket.list', { kind: 'question' });
    expect(list).toEqual({ items: [item], next: null, open: list.open });
    expect(await ask(null, 'docket.get', { item_id })).toEqual({ item, next: null });
    const taken = await ask(null, 'docket.take', { item_id });
    expect(taken.item).toMatchObject({ state: 'taken', taken: { by: 'owner' } });
    const answer = { item_id, subject: question, outcome: 'answered', note: '8080' };
    const closed = { by: 'owner', outcome: 'answered', note: '8080' };
    expect((await ask(null, 'docket.close', answer)).item).toMatchObject({ closed });
    const heard = (await ask('ada', 'channels.recv')).messages.at(-1);
    expect(heard).toMatchObject({ channel: 'sox/to/ada', body: { note: '8080', by: 'owner' } });
    expect((await refusal(null, 'docket.close', answer)).detail.reason).toBe('docket.closed');
    expect((await refusal('bob', 'docket.get', { item_id })).detail.reason).toBe(
      'docket.not-found',
    );
    expect((await refusal('bob', 'docket.take', { item_id })).detail.reason).toBe('access.denied');
  });

  test('[O1] refusals carry the SOX code and the finer reason', async () => {
    const cases: [string | null, OperationId, unknown, string, string][] = [
      [
        'ada',
        'channels.send',
        { channel: 'sox/x', body: {} },
        'identity_failure',
        'channel.reserved',
      ],
      [
        'ada',
        'channels.send',
        { channel: 'dm/b~a', body: {} },
        'validation_error',
        'dm.not-canonical',
      ],
      [
        'eve',
        'channels.send',
        { channel: 'dm/ada~bob', body: {} },
        'identity_failure',
        'dm.not-party',
      ],
      [
        'eve',
        'channels.send',
        { channel: 'group/core', body: {} },
        'identity_failure',
        'group.not-member',
      ],
      [
        'eve',
        'channels.recv',
        { channels: ['work'] },
        'subscription_not_found',
        'subscription.not-found',
      ],
      ['eve', 'channels.subscribe', { pattern: 'dm/*' }, 'validation_error', 'pattern.reserved'],
      [
        'eve',
        'channels.replay',
        { channel: 'work', since: 0 },
        'subscription_not_found',
        'subscription.not-found',
      ],
      [
        'eve',
        'channels.ack',
        { message_id: 'm999999', status: 'done' },
        'validation_error',
        'message.not-found',
      ],
      ['eve', 'receipts.get', { message_id: 'x' }, 'validation_error', 'message.not-found'],
      ['eve', 'group.join', { group_id: 'group/core' }, 'identity_failure', 'group.not-invited'],
      ['ada', 'group.create', { group_id: 'core' }, 'validation_error', 'group.exists'],
      ['ada', 'channels.send', { channel: 'typed', body: {} }, 'validation_error', 'body.invalid'],
      ['ada', 'tokens.list', {}, 'identity_failure', 'access.denied'],
      ['ada', 'held.list', {}, 'identity_failure', 'access.denied'],
      [null, 'tokens.revoke', { token_id: 'nope' }, 'validation_error', 'token.not-found'],
      [
        null,
        'held.review',
        { message_id: 'm0', decision: 'release' },
        'validation_error',
        'message.not-found',
      ],
      [null, 'spaces.create', { name: 'No!' }, 'validation_error', 'input.invalid'],
      [null, 'cluster.status', {}, 'validation_error', 'cluster.none'],
    ];
    for (const [agent, id, input, code, reason] of cases) {
      const error = await refusal(agent, id, input);
      expect([id, error.error_code, error.detail.reason]).toEqual([id, code, reason]);
    }
  });

  test('[O1] that was every operation that this door carries out', () => {
    // Those of work are asked at both doors beside their handlers, through both-doors.ts.
    const atWork = WORK_TESTS.map((name) => readFileSync(new URL(name, HANDLERS), 'utf8')).join();
    const rest = Object.values(OPERATIONS).flatMap(({ id, isStreaming }) =>
      isStreaming || asked.has(id) || atWork.includes(`'${id}'`) ? [] : [id],
    );
    // A hub that is alone refuses what is asked of a cluster; test/nats has several.
    expect(rest.filter((id) => !id.startsWith('cluster.'))).toEqual([]);
  });
});

test('[O1] what needs a connection that stays open is refused over HTTP, and says where it is served', async () => {
  const hub = await openRunningHub();
  const { status, body } = await hub.post('stream_open', {}, hub.as('ada'));
  expect([status, body.error_code]).toEqual([404, 'validation_error']);
  expect(body.message).toContain('/ws');
  await hub.close();
});
