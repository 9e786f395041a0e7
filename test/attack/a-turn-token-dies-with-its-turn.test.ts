/** The token of a turn after its end: no call, no wait, and no stream that was opened before goes on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until, within } from '../e2e/deadline.ts';
import { openEventStream } from '../e2e/event-stream.ts';
import { openRpcSocket } from '../e2e/rpc-socket.ts';
import type { Json } from '../e2e/running-hub.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub({ file: { turns_parallel_max: 20 } });
});
afterAll(() => hub.close());

async function begin(agent: string): Promise<{ turn: Json; headers: Record<string, string> }> {
  await hub.ask(agent, 'subscribe', { pattern: `to/${agent}` });
  await hub.owned.ask('agents_manage', { agent_id: agent, runner: { kind: 'outside' } });
  await hub.agent.ask('send', { channel: `to/${agent}`, body: { text: 'go' } });
  const { turn, token } = await hub.owned.ask('turns_take', { agents: [agent], wait_ms: 20_000 });
  return { turn, headers: { authorization: `Bearer ${token}` } };
}

const finish = ({ turn_id, epoch }: Json): Promise<Json> =>
  hub.owned.ask('turns_finish', { turn_id, epoch, outcome: 'done', consumed: 'all' });

test('[TN7] a stream over a WebSocket ends with the turn that opened it', async () => {
  const { turn, headers } = await begin('wes');
  const socket = await openRpcSocket(hub.url, headers);
  await socket.ask('stream.open', { from: 'now', turns: true, gates: true });
  await finish(turn);
  await hub.agent.ask('send', { channel: 'to/wes', body: { text: 'a secret' } });
  const { code } = await within('the end of the connection', socket.closed);
  expect(code).toBe(4001);
  expect(JSON.stringify(socket.said)).not.toContain('a secret');
});

test('[TN7] so does one of server-sent events, whoever ended the turn', async () => {
  const { turn, headers } = await begin('sue');
  const stream = await openEventStream(hub.url, headers);
  await hub.owned.ask('turns_cancel', { turn_id: turn.turn_id });
  await within('the end of the stream', stream.ended);
  expect(stream.events.at(-1)).toMatchObject({ event: 'end' });
});

test('[TN7] a wait that was begun in time gives nothing that came afterwards', async () => {
  const { turn, headers } = await begin('ron');
  await hub.post('recv', {}, headers);
  const asked = { action: 'push', subject: 'main', wait_ms: 20_000 };
  const waits = [
    hub.post('recv', { wait_ms: 20_000 }, headers),
    hub.post('gates_ask', asked, headers),
  ];
  await until(
    'the gate is asked',
    async () => (await hub.owned.ask('gates_list')).gates.length,
    (count: number) => count > 0,
  );
  await finish(turn);
  await hub.agent.ask('send', { channel: 'to/ron', body: { text: 'a secret' } });
  const answers = await within('the ends of the waits', Promise.all(waits));
  for (const { body, text } of answers) {
    expect([body.detail?.reason, text.includes('a secret')]).toEqual(['turn.stale', false]);
  }
});

test('[TN7] an agent that is less than others is so in its turns, also without a token', async () => {
  const { headers } = await begin('mallory');
  expect((await hub.post('whoami', {}, headers)).body.tier).toBe('untrusted');
  const { tokens } = await hub.owned.ask('tokens_list');
  const { token_id } = tokens.find((one: Json) => one.agent_id === 'mallory');
  await hub.owned.ask('tokens_revoke', { token_id });
  const { body } = await hub.post('whoami', {}, headers);
  expect(body.tier ?? 'refused').not.toBe('standard');
});
