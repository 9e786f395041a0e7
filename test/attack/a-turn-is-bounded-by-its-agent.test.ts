/** What the token of a turn opens ends with the turn, and the turn with its agent's last token. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { within } from '../e2e/deadline.ts';
import { openEventStream } from '../e2e/event-stream.ts';
import { openRpcSocket } from '../e2e/rpc-socket.ts';
import { fetchReply, type Json } from '../e2e/running-hub.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;

beforeAll(async () => {
  hub = await openAttackedHub();
});
afterAll(() => hub.close());

interface Running {
  readonly held: { readonly turn_id: string; readonly epoch: number };
  readonly headers: { readonly authorization: string };
}

async function manage(name: string, wishes: object = {}): Promise<void> {
  await hub.ask(name, 'subscribe', { pattern: name });
  const runner = { kind: 'outside' };
  await hub.admin('agents_manage', { agent_id: name, runner, ...wishes });
}

async function run(name: string): Promise<Running> {
  await hub.agent.ask('send', { channel: name, body: {} });
  const wishes = { agents: [name], wait_ms: 20_000, lease_ms: 600_000 };
  const { turn, token }: Json = await hub.admin('turns_take', wishes);
  const held = { turn_id: turn.turn_id, epoch: turn.epoch };
  return { held, headers: { authorization: `Bearer ${token}` } };
}

async function listeners({ headers }: Running) {
  const socket = await openRpcSocket(hub.url, headers);
  const events = await openEventStream(hub.url, headers);
  return { socket, events };
}

async function expectEnded({ socket, events }: Awaited<ReturnType<typeof listeners>>) {
  expect((await events.next('end')).body).toEqual({ reason: 'revoked' });
  expect(await within('the close of a socket', socket.closed)).toEqual({
    code: 4001,
    reason: 'revoked',
  });
}

test('[TN7] what was opened with the token of a turn is closed when the turn ends, however it ends', async () => {
  await manage('wes');
  const finished = await run('wes');
  const open = await listeners(finished);
  await hub.admin('turns_renew', finished.held);
  await hub.admin('turns_finish', { ...finished.held, outcome: 'done', consumed: 'all' });
  await expectEnded(open);
  const cancelled = await run('wes');
  const next = await listeners(cancelled);
  await hub.admin('turns_cancel', { turn_id: cancelled.held.turn_id });
  await expectEnded(next);
  const late = await openEventStream(hub.url, cancelled.headers);
  expect([late.status, (await late.refusal()).detail.reason]).toEqual([409, 'turn.stale']);
});

test('[TN16] a revoked agent goes on with nothing: its turn, what that opened, and the next one', async () => {
  const { token_id } = await hub.admin('tokens_create', { agent_id: 'rex' });
  await manage('rex');
  const turn = await run('rex');
  const open = await listeners(turn);
  await hub.admin('tokens_revoke', { token_id });
  await expectEnded(open);
  const late = await hub.post('send', { channel: 'out', body: {} }, turn.headers);
  expect([late.status, late.body.detail.reason]).toEqual([409, 'turn.stale']);
  await hub.agent.ask('send', { channel: 'rex', body: {} });
  const { agents } = await hub.admin('agents_managed');
  expect(agents.find((one: Json) => one.agent_id === 'rex')).toMatchObject({
    state: 'paused',
    reason: expect.stringContaining('revoked'),
    pending: 2,
  });
});

test('[TN17] a turn uses the tools it is given and no others, at every door, and may always ask a person', async () => {
  await manage('tim', { tools: ['send', 'channels.recv', 'send'] });
  const turn = await run('tim');
  const { agents } = await hub.admin('agents_managed');
  const tools = agents.find((one: Json) => one.agent_id === 'tim').tools;
  expect(tools).toEqual(['channels.recv', 'channels.send']);
  const post = (operation: string, input: object) => hub.post(operation, input, turn.headers);
  const denied = await post('subscribe', { pattern: 'x' });
  expect([denied.status, denied.body.detail]).toMatchObject([
    403,
    { reason: 'access.denied', tool: 'channels.subscribe' },
  ]);
  const socket = await openRpcSocket(hub.url, turn.headers);
  const { body, status } = await post('send', { channel: 'out', body: {} });
  expect([status, body.detail]).toEqual([200, undefined]);
  const stream = await socket.call('stream_open', { from: 'now' });
  expect(stream.error.data.detail).toMatchObject({ tool: 'stream.open' });
  const events = await openEventStream(hub.url, turn.headers);
  expect(events.status).toBe(403);
  const asked = { action: 'push', subject: 'main', tier: 1, by: { kinds: ['human'] } };
  expect((await post('gates_ask', asked)).status).toBe(200);
  expect((await post('whoami', {})).status).toBe(200);
  const listed = async (query: string, headers: object = turn.headers): Promise<string[]> => {
    const sent = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const reply = await fetchReply(`${hub.url}/mcp${query}`, {
      ...{ method: 'POST', body: JSON.stringify(sent) },
      headers: { ...headers, 'content-type': 'application/json' },
    });
    return reply.body.result.tools.map(({ name }: Json) => name).sort();
  };
  const always = ['docket__raise', 'gates__ask', 'gates__consume', 'gates__get', 'gates__withdraw'];
  const mine = [...always, 'channels__recv', 'channels__send', 'hub__whoami'].sort();
  expect(await listed('')).toEqual(mine);
  expect(await listed('?tools=all')).toEqual(mine);
  expect(await listed('?tools=work')).toEqual(
    always.filter((name) => name.startsWith('gates')).filter((name) => name !== 'gates__withdraw'),
  );
  expect(await listed('', hub.as('tim'))).toContain('channels__subscribe');
  // Its agent itself, outside of the turn, is not bound; a change holds for the turn that runs.
  await hub.ask('tim', 'subscribe', { pattern: 'more' });
  await manage('tim', { tools: ['recv'] });
  const sent = await socket.call('send', { channel: 'out', body: {} });
  expect(sent.error.data.detail).toMatchObject({ reason: 'access.denied', tool: 'channels.send' });
  await socket.close();
});

test('[TN17] tools that are no operations, or none for agents, are refused by field and change nothing', async () => {
  await hub.ask('tom', 'subscribe', { pattern: 'tom' });
  const mark = await hub.mark();
  const asked = { agent_id: 'tom', runner: { kind: 'outside' } };
  const tools = ['send', 'no.such', 'agents.manage', 'tokens.create', 'gates.decide'];
  const refused = await hub.owned.refusal('agents_manage', { ...asked, tools });
  const fields = refused.detail.violations.map(({ field }: Json) => field);
  expect(fields.slice(0, 3)).toEqual(['tools.1', 'tools.2', 'tools.3']);
  expect(await hub.mark()).toBe(mark);
});
