/** Ten thousand of anything, by one token: it is refused early, and everybody else goes on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  // Faster than anybody may be by default: the shares are asked for here, not the rate.
  hub = await openAttackedHub({ file: { rate_limit: 100_000 } });
});
afterAll(() => hub.close());

/** Asks until it is refused, and says how often it was not. */
async function untilRefused(
  by: Holder,
  operation: string,
  input: (i: number) => unknown,
): Promise<{ count: number; limit: unknown }> {
  for (let count = 0; count < 1_000; count++) {
    const { status, body } = await by.post(operation, input(count));
    if (status !== 200) return { count, limit: body.detail?.limit };
  }
  throw new Error(`${operation} was never refused`);
}

test('[SH1] [SH2] channels: an untrusted token makes a hundred, and no one else is refused', async () => {
  const flood = (i: number) => ({ channel: `flood/${i}`, body: { text: 'x' } });
  const { count, limit } = await untilRefused(hub.untrusted, 'send', flood);
  expect({ count, limit }).toEqual({ count: 100, limit: 'CHANNELS_MAX' });
  expect(await hub.untrusted.refusal('subscribe', { pattern: 'one-more' })).toMatchObject({
    detail: { limit: 'CHANNELS_MAX' },
    message: expect.stringContaining('channels.retire'),
  });
  await hub.agent.ask('send', { channel: 'work', body: { text: 'on we go' } });
  // The way out: what is taken away counts no more.
  await hub.owned.ask('retire', { channel: 'flood/0', force: true });
  await hub.untrusted.ask('send', { channel: 'flood/0', body: { text: 'x' } });
});

test('[SH1] [SH2] names: nobody fills the list of agents by writing to names that are not there', async () => {
  await hub.owned.ask('retire', { channel: 'flood/1', force: true });
  const taken: unknown[] = [];
  for (let i = 0; i < 30; i++) {
    const name = `mallory~nobody-${i}`;
    const { status, body } = await hub.untrusted.post('send', {
      channel: `dm/${name}`,
      body: { text: 'x' },
    });
    if (status === 200) await hub.owned.ask('retire', { channel: `dm/${name}`, force: true });
    else taken.push(body.detail?.limit);
  }
  expect(taken).toEqual(Array(10).fill('AGENTS_MAX'));
  await hub.agent.ask('send', { channel: 'dm/ada~newcomer', body: { text: 'welcome' } });
});

test('[SH1] [SH2] groups: an untrusted token makes five', async () => {
  for (let i = 2; i < 9; i++) {
    await hub.owned.ask('retire', { channel: `flood/${i}`, force: true });
  }
  const make = (i: number) => ({ group_id: `g${i}` });
  const made = await untilRefused(hub.untrusted, 'group_create', make);
  expect(made).toEqual({ count: 5, limit: 'GROUPS_MAX' });
  await hub.agent.ask('group_create', { group_id: 'ours' });
});

test('[GA2] the owner takes away a token and all that it made in one step', async () => {
  const spammer = await hub.holder('spammer');
  for (let i = 0; i < 30; i++) await spammer.ask('send', { channel: `spam/${i}`, body: { i } });
  const removed = await hub.owned.ask('agents_remove', {
    ...{ agent_id: 'spammer', force: true, with_channels: true },
  });
  expect(removed).toMatchObject({ tokens_revoked: 1, channels_retired: 30 });
  expect(JSON.stringify(await hub.owned.ask('list_channels'))).not.toContain('spam/');
  expect((await spammer.post('group_list')).status).toBe(401);
});

test('[SH4] [CM14] old checkpoints: one token pushes out its own, and there is a way out', async () => {
  const leave = async (by: Holder, task_id: string, checkpoint: string) => {
    await by.ask('claims_take', { task_id });
    await by.ask('claims_checkpoint', { task_id, checkpoint });
    await by.ask('claims_release', { task_id });
  };
  await leave(hub.other, 'honest', 'half done');
  const hoarder = await hub.holder('hoarder');
  const long = 'x'.repeat(65_536);
  for (let i = 0; i < 70; i++) await leave(hoarder, `hoard-${i}`, long);
  const denied = await hoarder.refusal('claims_forget', { task_id: 'honest' });
  expect(denied).toMatchObject({ message: expect.stringContaining('an administrator') });
  // 61 of them are four million characters; the oldest nine went.
  const gone = await hoarder.refusal('claims_forget', { task_id: 'hoard-8' });
  expect(gone).toMatchObject({ message: expect.stringContaining('no claim that is gone') });
  expect(await hoarder.ask('claims_forget', { task_id: 'hoard-9' })).toEqual({ forgotten: 1 });
  expect(await hub.owned.ask('claims_forget', { agent_id: 'hoarder' })).toEqual({ forgotten: 60 });
  const { claim } = await hub.agent.ask('claims_take', { task_id: 'honest' });
  expect(claim).toMatchObject({ checkpoint: 'half done' });
});
