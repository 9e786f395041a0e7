/** What became of a message: receipts by question and by stream, and answers collected. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { within } from '../../../../test/e2e/deadline.ts';
import { openRpcSocket } from '../../../../test/e2e/rpc-socket.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

let hub: RunningHub;
beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

const stateOf = async (agent: string, message_id: string): Promise<string[]> => {
  const { receipts } = await hub.ask(agent, 'receipts_get', { message_id });
  return receipts.map((one: Json) => `${one.agent_id} ${one.state}`);
};

describe('receipts', () => {
  test('[R1] accepted, presented, consumed, acted: the same for sender and recipient, asked or told', async () => {
    await hub.ask('ada', 'subscribe', { pattern: 'life' });
    const bob = await openRpcSocket(hub.url, hub.as('bob'));
    await bob.ask('stream.open', { receipts: true });
    const { message_id } = await bob.ask('channels.send', { channel: 'life', body: {} });
    expect(await stateOf('bob', message_id)).toEqual(['ada accepted']);
    expect(await stateOf('ada', message_id)).toEqual(['ada accepted']);

    const ada = await openRpcSocket(hub.url, hub.as('ada'));
    await ada.ask('stream.open', { from: 'inbox', receipts: true });
    await ada.next('message');
    expect(await stateOf('bob', message_id)).toEqual(['ada presented']);

    await hub.ask('ada', 'recv');
    expect(await stateOf('ada', message_id)).toEqual(['ada consumed']);

    await hub.ask('ada', 'channels_ack', { message_id, status: 'done' });
    expect(await stateOf('bob', message_id)).toEqual(['ada acted']);

    for (const side of [bob, ada]) {
      for (const state of ['consumed', 'acted']) {
        const notice = await side.next('receipt', (one) => one.state === state);
        expect(notice).toEqual({
          message_id,
          channel: 'life',
          agent_id: 'ada',
          state,
          reason: state === 'acted' ? 'ack done' : null,
          at: state === 'acted' ? expect.any(Number) : null,
        });
      }
    }
    expect(await bob.next('receipt', (one) => one.state === 'presented')).toMatchObject({
      message_id,
    });
    await bob.close();
    await ada.close();
  });

  test('[R1] a lease is presented, a nack is refused with its reason, a reply is acted', async () => {
    for (const name of ['lea', 'ned', 'rep']) await hub.ask(name, 'subscribe', { pattern: 'ends' });
    const { message_id } = await hub.ask('bob', 'send', { channel: 'ends', body: {} });
    await hub.ask('lea', 'recv', { lease_ms: 60_000 });
    await hub.ask('ned', 'channels_ack', { message_id, status: 'nack', reason: 'not mine' });
    await hub.ask('rep', 'send', { channel: 'ends', body: {}, reply_to: message_id });
    const { receipts } = await hub.ask('bob', 'receipts_get', { message_id });
    expect(receipts.map((one: Json) => [one.agent_id, one.state, one.reason])).toEqual([
      ['lea', 'presented', expect.stringContaining('lease')],
      ['ned', 'refused', 'not mine'],
      ['rep', 'acted', 'replied'],
    ]);
  });

  test('[R1] a message nobody read in its time is expired, and is not handed out', async () => {
    await hub.ask('late', 'subscribe', { pattern: 'brief' });
    const sent = await hub.ask('bob', 'send', { channel: 'brief', body: {}, ttl_ms: 1 });
    const { messages } = await hub.ask('late', 'recv', { wait_ms: 20 });
    expect(messages).toEqual([]);
    expect(await stateOf('bob', sent.message_id)).toEqual(['late expired']);
  });

  test('[R3] a recipient sees itself, a bystander nothing, the owner all', async () => {
    for (const name of ['r1', 'r2']) await hub.ask(name, 'subscribe', { pattern: 'seen' });
    const { message_id } = await hub.ask('bob', 'send', { channel: 'seen', body: {} });
    expect(await stateOf('r1', message_id)).toEqual(['r1 accepted']);
    const bystander = await hub.post('receipts_get', { message_id }, hub.as('eve'));
    expect([bystander.status, bystander.body.detail.reason]).toEqual([403, 'access.denied']);
    const { receipts } = await hub.admin('receipts_get', { message_id });
    expect(receipts).toHaveLength(2);
  });

  test('[A1] an ack moves forward only, one for each recipient', async () => {
    for (const name of ['f1', 'f2']) await hub.ask(name, 'subscribe', { pattern: 'forward' });
    const { message_id } = await hub.ask('bob', 'send', { channel: 'forward', body: {} });
    const ack = (agent: string, status: string) =>
      hub.post('channels_ack', { message_id, status }, hub.as(agent));
    for (const status of ['received', 'processing', 'done']) {
      expect((await ack('f1', status)).status).toBe(200);
    }
    const back = await ack('f1', 'received');
    expect([back.status, back.body.detail.reason]).toEqual([400, 'ack.backward']);
    expect((await ack('f2', 'received')).status).toBe(200);
    const stranger = await ack('eve', 'done');
    expect([stranger.status, stranger.body.detail.reason]).toEqual([403, 'ack.not-recipient']);
  });
});

describe('collecting', () => {
  test('[CO1] waits until as many answered as were asked for, by ack or by reply', async () => {
    for (const name of ['c1', 'c2', 'c3']) await hub.ask(name, 'subscribe', { pattern: 'poll' });
    const { message_id } = await hub.ask('bob', 'send', { channel: 'poll', body: {} });
    const collecting = hub.ask('bob', 'channels_collect', {
      reply_to: message_id,
      count: 2,
      timeout: 60,
    });
    await hub.ask('c1', 'channels_ack', { message_id, status: 'processing' });
    await hub.ask('c2', 'send', { channel: 'poll', body: {}, reply_to: message_id });
    const { received, timed_out } = await within('the collection', collecting, 2_000);
    expect(timed_out).toBe(false);
    expect(received.map((one: Json) => [one.agent_id, one.status])).toEqual([
      ['c1', 'processing'],
      ['c2', 'done'],
    ]);
    const filtered = await hub.ask('bob', 'channels_collect', {
      reply_to: message_id,
      count: 2,
      timeout: 0.1,
      status_filter: ['processing'],
    });
    expect(filtered.received.map((one: Json) => one.agent_id)).toEqual(['c1']);
    expect(filtered.timed_out).toBe(true);
  });

  test('[CO1] names the members of a group that were not heard from when the time is up', async () => {
    const { group_id } = await hub.ask('bob', 'group_create', { group_id: 'jury' });
    for (const agent_id of ['j1', 'j2']) {
      await hub.ask('bob', 'group_invite', { group_id, agent_id });
      await hub.ask(agent_id, 'group_join', { group_id });
    }
    const { message_id } = await hub.ask('bob', 'send', { channel: group_id, body: {} });
    await hub.ask('j1', 'channels_ack', { message_id, status: 'done' });
    const answer = await hub.ask('bob', 'channels_collect', {
      reply_to: message_id,
      count: 2,
      timeout: 0.1,
    });
    expect(answer).toMatchObject({ missing: ['j2'], timed_out: true });
  });
});
