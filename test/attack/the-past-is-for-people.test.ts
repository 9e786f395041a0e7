/**
 * Looking back opens nothing: it is for people, shows what the rules of then and of now both show, and
 * one person who asks without end waits for itself while the hub and the others go on.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../e2e/running-hub.ts';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  // A store that no other thread can open: its entries go through the hub.
  hub = await openAttackedHub({ flags: { store: 'memory:' } });
});
afterAll(() => hub.close());

const length = async (): Promise<number> => (await hub.admin('status')).entries;

/** What a holder reads on a channel at a moment. */
async function read(who: Holder, channel: string, position: number): Promise<string[]> {
  const input = { channel, since: 0, limit: 50 };
  const { answer } = await who.ask('record_at', { position, operation: 'channels.replay', input });
  return answer.messages.map((one: Json) => one.body.said);
}

async function refusedRead(who: Holder, channel: string, position: number): Promise<string> {
  const input = { channel, since: 0, limit: 50 };
  const asked = { position, operation: 'channels.replay', input };
  return (await who.refusal('record_at', asked)).detail.reason;
}

test('[PA4] agents, observers and strangers do not look back', async () => {
  for (const who of [hub.agent, hub.untrusted, hub.observer]) {
    for (const [operation, input] of [
      ['record_at', { position: 1, operation: 'plan.board' }],
      ['record_span', { buckets: 2 }],
    ] as const) {
      expect((await who.refusal(operation, input)).detail.reason).toBe('access.denied');
    }
  }
  // A person asks there what a person may ask here.
  const tokens = { position: 1, operation: 'tokens.list' };
  expect((await hub.human.refusal('record_at', tokens)).detail.reason).toBe('access.denied');
  expect((await hub.spaceAdmin.ask('record_at', tokens)).answer).toHaveProperty('tokens');
});

test('[PA4] what was closed since is closed in the past too', async () => {
  await hub.agent.ask('send', { channel: 'plans', body: { said: 'open then' } });
  const then = await length();
  expect(await read(hub.human, 'plans', then)).toEqual(['open then']);
  await hub.owned.ask('channels_configure', { channel: 'plans', replay_policy: 'admin_only' });
  expect(await read(hub.human, 'plans', then)).toEqual([]);
  expect(await read(hub.owned, 'plans', then)).toEqual(['open then']);
  // And what was closed then stays so, though it is open now.
  const closed = await length();
  await hub.owned.ask('channels_configure', { channel: 'plans', replay_policy: 'subscriber' });
  expect(await refusedRead(hub.human, 'plans', closed)).toBe('replay.forbidden');
});

test('[PA4] who left a group reads nothing of it, and a name that is used anew inherits nothing', async () => {
  await hub.human.ask('group_create', { group_id: 'council' });
  await hub.human.ask('send', { channel: 'group/council', body: { said: 'among us' } });
  await hub.agent.ask('send', { channel: 'dm/ada~hilda', body: { said: 'to hilda' } });
  const then = await length();
  expect(await read(hub.human, 'group/council', then)).toEqual(['among us']);
  expect(await read(hub.human, 'dm/ada~hilda', then)).toEqual(['to hilda']);
  expect(await refusedRead(hub.owned, 'dm/ada~hilda', then)).toBe('dm.not-party');
  await hub.human.ask('group_leave', { group_id: 'council' });
  expect(await read(hub.human, 'group/council', then)).toEqual([]);
  await hub.owned.ask('retire', { channel: 'dm/ada~hilda', force: true });
  expect(await read(hub.human, 'dm/ada~hilda', then)).toEqual([]);
});

test('[PA5] a thousand questions of one person: a few wait, the rest are refused, the others go on', async () => {
  const position = await length();
  const asked = { position, operation: 'plan.board' };
  const flood = Array.from({ length: 1_000 }, () => hub.human.post('record_at', asked));
  const other = hub.spaceAdmin.post('record_at', asked);
  const sent = hub.agent.post('send', { channel: 'talk', body: {} });
  expect((await sent).status).toBe(200);
  expect((await other).status).toBe(200);
  const replies = await Promise.all(flood);
  const reasons = new Set(
    replies.map(({ status, body }) => (status === 200 ? 'ok' : body.detail.reason)),
  );
  expect(reasons.has('ok')).toBe(true);
  expect(reasons.has('record.busy') || reasons.has('rate.limited')).toBe(true);
  for (const reason of reasons) expect(['ok', 'record.busy', 'rate.limited']).toContain(reason);
  // It is over: the next one is answered.
  expect((await hub.spaceAdmin.ask('record_at', asked)).position).toBe(position);
});
