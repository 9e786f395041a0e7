/**
 * The list of deeds is made from the log, in which everything is: no row, and no hash of a body that could
 * be guessed, tells a person of what it may not read; neither now nor by looking back.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/wire/operations/table.ts';
import type { Json } from '../e2e/running-hub.ts';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub({ flags: { store: 'memory:' } });
});
afterAll(() => hub.close());

const deeds = async (who: Holder, subject: string): Promise<Json[]> =>
  (await who.ask('audit', { subject })).deeds;
const deedsThen = async (who: Holder, position: number, subject: string): Promise<Json[]> => {
  const asked = { position, operation: 'audit.list', input: { subject } };
  return (await who.ask('record_at', asked)).answer.deeds;
};
const kinds = (rows: Json[]): string[] => rows.map(({ action }) => action);
const length = async (): Promise<number> => (await hub.admin('status')).entries;

test('[AU1] who makes a group anew learns nothing of the one that was dissolved', async () => {
  const group_id = 'plans';
  const group = 'group/plans';
  await hub.agent.ask('group_create', { group_id });
  await hub.agent.ask('group_invite', { group_id: group, agent_id: 'bob' });
  await hub.agent.ask('send', { channel: group, body: { text: 'yes' } });
  await hub.agent.ask('group_remove', { group_id: group });
  // A moment later: rows are told apart by their time.
  const { deeds: last } = await hub.owned.ask('audit', { limit: 1 });
  await expect.poll(() => Date.now() / 1000).toBeGreaterThan(last[0].at);
  await hub.human.ask('group_create', { group_id });
  await hub.human.ask('send', { channel: group, body: { text: 'ours' } });
  expect(kinds(await deeds(hub.human, group))).toEqual(['message.sent', 'group.created']);
  expect(kinds(await deeds(hub.owned, group))).toContain('group.invited');
});

test('[AU1] the hash of a body is told to who may read the body', async () => {
  await hub.agent.ask('send', { channel: 'closed', body: { text: 'no' } });
  const open = await length();
  const hash = async (who: Holder): Promise<unknown> =>
    (await deeds(who, 'closed')).find(({ action }) => action === 'message.sent')?.body_hash;
  expect(await hash(hub.human)).toMatch(/^[0-9a-f]{64}$/);
  await hub.owned.ask('channels_configure', { channel: 'closed', replay_policy: 'admin_only' });
  expect(await hash(hub.human)).toBeNull();
  expect(await hash(hub.owned)).toMatch(/^[0-9a-f]{64}$/);
  const [then] = await deedsThen(hub.human, open, 'closed');
  expect([then.action, then.body_hash]).toEqual(['message.sent', null]);
  const [byOwner] = await deedsThen(hub.owned, open, 'closed');
  expect(byOwner.body_hash).toMatch(/^[0-9a-f]{64}$/);
});

test('[PA4] what was said in a group that one left is not listed by looking back', async () => {
  await hub.human.ask('group_create', { group_id: 'council' });
  await hub.human.ask('group_invite', { group_id: 'group/council', agent_id: 'ada' });
  await hub.agent.ask('group_join', { group_id: 'group/council' });
  await hub.agent.ask('send', { channel: 'group/council', body: { text: 'among us' } });
  const then = await length();
  expect(kinds(await deedsThen(hub.human, then, 'group/council'))).toContain('message.sent');
  await hub.human.ask('group_leave', { group_id: 'group/council' });
  expect(kinds(await deedsThen(hub.human, then, 'group/council'))).not.toContain('message.sent');
});

test('[PA3] what can be asked of the past is answered or refused, and never fails', async () => {
  const position = await length();
  const failed: string[] = [];
  for (const { id, hints } of Object.values(OPERATIONS)) {
    if (!hints.readOnlyHint) continue;
    const { status } = await hub.owned.post('record_at', { position, operation: id });
    if (status >= 500) failed.push(id);
  }
  expect(failed).toEqual([]);
});
