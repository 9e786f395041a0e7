/**
 * What is said between two, or within a group, reaches nobody else by any way there is: sending,
 * draining, subscribing, replaying, streaming, listing, receipts, replies and acks.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEventStream } from '../../../test/e2e/event-stream.ts';
import { openRpcSocket } from '../../../test/e2e/rpc-socket.ts';
import {
  type Json,
  openRunningHub,
  type Reply,
  type RunningHub,
} from '../../../test/e2e/running-hub.ts';

let hub: RunningHub;
const DM = 'dm/ada~bob';
let GROUP: string;
let dmMessage: string;
let groupMessage: string;
const SECRET = 'the-secret-text';

beforeAll(async () => {
  hub = await openRunningHub();
  dmMessage = (await hub.ask('ada', 'send', { channel: DM, body: { SECRET } })).message_id;
  GROUP = (await hub.ask('ada', 'group_create', { group_id: 'inner' })).group_id;
  await hub.ask('ada', 'group_invite', { group_id: GROUP, agent_id: 'bob' });
  await hub.ask('bob', 'group_join', { group_id: GROUP });
  await hub.ask('ada', 'group_invite', { group_id: GROUP, agent_id: 'ivy' });
  groupMessage = (await hub.ask('ada', 'send', { channel: GROUP, body: { SECRET } })).message_id;
});
afterAll(() => hub.close());

const byEve = (operation: string, input: unknown): Promise<Reply> =>
  hub.post(operation, input, hub.as('eve'));

describe('eve, who is no party and no member', () => {
  test('[C5] can neither send, subscribe, drain nor replay', async () => {
    for (const channel of [DM, GROUP]) {
      const reason = channel === DM ? 'dm.not-party' : 'group.not-member';
      for (const [operation, input] of [
        ['send', { channel, body: {} }],
        ['subscribe', { pattern: channel }],
        ['replay', { channel, since: 0 }],
      ] as const) {
        const { status, body } = await byEve(operation, input);
        expect([operation, status, body.detail.reason]).toEqual([operation, 403, reason]);
      }
      const drain = await byEve('recv', { channels: [channel] });
      expect([drain.status, drain.body.error_code]).toEqual([404, 'subscription_not_found']);
    }
  });

  test('[C4] sees nothing through a glob, however wide, drained or streamed', async () => {
    for (const pattern of ['*', '?m/*', 'd*', '[dg]*', '*~*', '**']) {
      await hub.ask('eve', 'subscribe', { pattern });
    }
    for (const pattern of ['dm/*', 'group/*', 'dm/ada~*', 'sox/*']) {
      expect((await byEve('subscribe', { pattern })).body.detail.reason).toBe('pattern.reserved');
    }
    const mine = await openRpcSocket(hub.url, hub.as('eve'));
    await mine.ask('stream.open', { from: 0 });
    await mine.ask('stream.open', { from: 0, channels: ['*', 'd*', '?roup/*'] });
    const events = await openEventStream(hub.url, hub.as('eve'), '?channels=*&from=0&receipts=1');
    await hub.ask('ada', 'send', { channel: DM, body: { SECRET } });
    await hub.ask('bob', 'send', { channel: GROUP, body: { SECRET } });
    await hub.ask('ada', 'send', { channel: 'open', body: { done: true } });
    await mine.next('message', ({ channel }) => channel === 'open');
    await events.next('message');
    const seen = [...mine.said.map((one) => one.params), ...events.events.map(({ body }) => body)];
    expect(new Set(seen.map((one) => one.channel))).toEqual(new Set(['open']));
    const { messages } = await hub.ask('eve', 'recv');
    expect(messages.map((one: Json) => one.channel)).toEqual(['open']);
    events.close();
    await mine.close();
  });

  test('[C5] cannot name them in a stream', async () => {
    const eve = await openRpcSocket(hub.url, hub.as('eve'));
    for (const channel of [DM, GROUP]) {
      const { error } = await eve.call('stream.open', { channels: [channel] });
      expect(error.data.error_code).toBe('identity_failure');
    }
    await eve.close();
  });

  test('[C5] is told of messages there what one is told of messages that do not exist', async () => {
    for (const id of [dmMessage, groupMessage]) {
      for (const [operation, input, field] of [
        ['receipts_get', { message_id: id }, 'message_id'],
        ['channels_ack', { message_id: id, status: 'done' }, 'message_id'],
        ['channels_collect', { reply_to: id, count: 1, timeout: 0.1 }, 'reply_to'],
        ['send', { channel: 'open', body: {}, reply_to: id }, 'reply_to'],
      ] as const) {
        const known = await byEve(operation, input);
        const unknown = await byEve(operation, { ...input, [field]: 'm888888' });
        expect(known.status).toBe(404);
        expect(known.text.replaceAll(id, '?')).toBe(unknown.text.replaceAll('m888888', '?'));
      }
    }
  });

  test('[C5] does not find them in the list of channels, nor the members of the group', async () => {
    const { channels } = await hub.ask('eve', 'list_channels');
    const names = channels.map((one: Json) => one.name);
    expect(names).not.toContain(DM);
    expect(names).not.toContain(GROUP);
    const members = await byEve('group_list_members', { group_id: GROUP });
    expect([members.status, members.body.detail.reason]).toEqual([403, 'group.not-member']);
    expect((await hub.ask('eve', 'group_list')).groups).toEqual([]);
  });
});

describe('those who belong', () => {
  test('[D3] both parties of a dm are owed it without having prepared', async () => {
    const { messages } = await hub.ask('bob', 'recv', { channels: [DM] });
    expect(messages.length).toBeGreaterThanOrEqual(1);
    const { channels } = await hub.ask('bob', 'list_channels');
    const dm = channels.find((one: Json) => one.name === DM);
    expect(dm.subscriber_count).toBe(2);
  });

  test('[GR3] an invited agent is no member before it joins, and none after it has left', async () => {
    const before = await hub.post('replay', { channel: GROUP, since: 0 }, hub.as('ivy'));
    expect(before.status).toBe(403);
    await hub.ask('ivy', 'group_join', { group_id: GROUP });
    await hub.ask('ada', 'send', { channel: GROUP, body: { n: 1 } });
    expect((await hub.ask('ivy', 'recv', { channels: [GROUP] })).messages).toHaveLength(1);
    const ivy = await openRpcSocket(hub.url, hub.as('ivy'));
    await ivy.ask('stream.open', { channels: [GROUP, 'open'] });
    await hub.ask('ivy', 'group_leave', { group_id: GROUP });
    await hub.ask('ada', 'send', { channel: GROUP, body: { SECRET } });
    await hub.ask('ada', 'send', { channel: 'open', body: { end: true } });
    // A stream that was open when she left shows nothing that was said after.
    expect((await ivy.next('message')).channel).toBe('open');
    expect(ivy.said).toHaveLength(1);
    const after = await hub.post('send', { channel: GROUP, body: {} }, hub.as('ivy'));
    expect(after.body.detail.reason).toBe('group.not-member');
    await ivy.close();
  });

  test('[C5] nobody writes to sox/, and presence is there for all', async () => {
    const { status, body } = await byEve('send', { channel: 'sox/presence', body: {} });
    expect([status, body.detail.reason]).toEqual([403, 'channel.reserved']);
    await hub.ask('eve', 'subscribe', { pattern: 'sox/presence' });
    await hub.ask('ada', 'channels_heartbeat', { status: 'online' });
    const { messages } = await hub.ask('eve', 'recv', { channels: ['sox/presence'] });
    expect(messages[0]).toMatchObject({
      sender: '__server__',
      body: { event: 'agent_online', agent_id: 'ada', state: 'online' },
    });
  });
});
