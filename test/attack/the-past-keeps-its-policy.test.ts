/**
 * What an administrator closed stays closed at every way to it: a channel's past (replay, streams,
 * ancestors), the receipts of other people's dms, and a group that has members.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../e2e/running-hub.ts';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
const CLOSED = 'closed/plans';
let before = '';
beforeAll(async () => {
  hub = await openAttackedHub();
  await hub.owned.ask('channels_configure', { channel: CLOSED, replay_policy: 'admin_only' });
  const sent = await hub.agent.ask('send', { channel: CLOSED, body: { said: 'before' } });
  before = sent.message_id;
});
afterAll(() => hub.close());

const READERS: [string, () => Holder][] = [
  ['an agent', () => hub.other],
  ['an observer', () => hub.observer],
  ['a person', () => hub.human],
];

/** What a stream shows up to a message that is sent when it is open. */
async function shownTo(who: Holder, params: object): Promise<Json[]> {
  const socket = await who.socket();
  const { error } = await socket.call('stream.open', params);
  if (error !== undefined) {
    await socket.close();
    throw new Error(error.data.detail.reason);
  }
  await hub.agent.ask('send', { channel: CLOSED, body: { said: 'now' } });
  await socket.next('message', ({ body }) => body.said === 'now');
  const said = socket.said.map(({ params: { body } }) => body.said);
  await socket.close();
  return said;
}

test.each(READERS)('[RP3] %s neither replays nor streams a past that is closed', async (_, who) => {
  const replayed = await who().refusal('replay', { channel: CLOSED, since: 0 });
  expect(replayed.detail.reason).toBe('replay.forbidden');
  await expect(shownTo(who(), { from: 0, channels: [CLOSED] })).rejects.toThrow('replay.forbidden');
  // By a glob it is shown what comes, and that alone.
  expect(await shownTo(who(), { from: 0, channels: ['closed/*'] })).toEqual(['now']);
  expect(await shownTo(who(), { from: 'now', channels: [CLOSED] })).toEqual(['now']);
});

test('[RP3] an administrator streams it, and a subscriber what it is owed', async () => {
  const all = await shownTo(hub.owned, { from: 0, channels: [CLOSED] });
  expect([all[0], all.at(-1)]).toEqual(['before', 'now']);
  const late = await hub.holder('late');
  await late.ask('subscribe', { pattern: CLOSED });
  expect(await shownTo(late, { from: 0 })).toEqual(['now']);
  expect(await shownTo(late, { from: 0 })).toEqual(['now', 'now']);
  await late.ask('recv', {});
  expect(await shownTo(late, { from: 0 })).toEqual(['now']);
});

test('[RP3] an answer does not bring the closed past along as its ancestor', async () => {
  const late = await hub.holder('later');
  await late.ask('subscribe', { pattern: CLOSED });
  await hub.agent.ask('send', { channel: CLOSED, body: { said: 'reply' }, reply_to: before });
  const { messages } = await late.ask('recv', { thread_depth: -1 });
  expect(messages.map((one: Json) => [one.body.said, one.ancestors])).toEqual([['reply', []]]);
});

test('[R3] a person sees receipts where it may read, and of others’ dms none', async () => {
  const open = await hub.agent.ask('send', { channel: 'open', body: {} });
  const secret = await hub.agent.ask('send', { channel: 'dm/ada~bob', body: {} });
  await hub.human.ask('receipts_get', { message_id: open.message_id });
  for (const [operation, input] of [
    ['receipts_get', { message_id: secret.message_id }],
    ['channels_collect', { reply_to: secret.message_id, count: 1, timeout: 0.1 }],
    ['held_review', { message_id: secret.message_id, decision: 'release' }],
  ] as const) {
    const refused = await hub.human.refusal(operation, input);
    expect([operation, refused.detail.reason]).toEqual([operation, 'message.not-found']);
  }
  const all = await hub.owned.ask('receipts_get', { message_id: secret.message_id });
  expect(all.receipts).toHaveLength(1);
});

test('[R7] a person still decides on what an untrusted agent said in a dm', async () => {
  const { message_id } = await hub.untrusted.ask('send', { channel: 'dm/bob~mallory', body: {} });
  expect(await hub.human.ask('held_review', { message_id, decision: 'release' })).toEqual({
    message_id,
    decision: 'release',
  });
});

test('[GR7] an administrator brings neither itself nor a puppet into a group with members', async () => {
  await hub.agent.ask('group_create', { group_id: 'council' });
  for (const admin of [hub.owned, hub.spaceAdmin]) {
    for (const agent_id of [admin.name, 'puppet']) {
      const refused = await admin.refusal('group_invite', { group_id: 'council', agent_id });
      expect(refused.detail.reason).toBe('group.not-member');
    }
  }
  await hub.agent.ask('group_leave', { group_id: 'council' });
  await hub.spaceAdmin.ask('group_invite', { group_id: 'council', agent_id: 'bob' });
  await hub.other.ask('group_join', { group_id: 'council' });
});
