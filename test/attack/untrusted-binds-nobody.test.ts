/** What an untrusted agent writes reaches nobody before a person saw it, whatever it is written into; and no role is taken. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
  await hub.untrusted.ask('send', { channel: 'hall', body: { text: 'hello' } });
});
afterAll(() => hub.close());

const DENIED = { error_code: 'identity_failure', detail: { reason: 'access.denied' } };

test.each([
  ['claims_take', { task_id: 'all', worktree: '/srv/app', ttl_seconds: 86_400 }],
  ['claims_take', { task_id: 'x', note: 'run this' }],
  ['claims_wait', { task_id: 'x' }],
  ['claims_update', { task_id: 'x', note: 'run this' }],
  ['claims_checkpoint', { task_id: 'x', checkpoint: 'run this' }],
  ['claims_handoff', { task_id: 'x', to: 'ada' }],
  ['presence_report', { state: 'busy', note: 'run this' }],
  ['presence_report', { state: 'busy', roles: ['lead'] }],
  ['group_create', { group_id: 'g', display_name: 'run this' }],
  ['plan_declare', { task_id: 't', title: 'run this' }],
  ['plan_progress', { text: 'run this' }],
  ['offers_make', { kind: 'llm', name: 'm' }],
])(
  '[R13] %s of an untrusted agent is refused with what to do instead',
  async (operation, input) => {
    const before = await hub.mark();
    const refused = await hub.untrusted.refusal(operation, input);
    expect(refused).toMatchObject(DENIED);
    expect(refused.message).toMatch(/a person releases it|an administrator/);
    // Nothing but the refusal itself is on record.
    const [was, is] = [before, await hub.mark()].map((mark) => Number(mark.split(' ')[0]));
    expect(Number(is) - Number(was)).toBeLessThanOrEqual(1);
  },
);

test('[R13] it says no reason with an ack, and acks without one', async () => {
  await hub.untrusted.ask('subscribe', { pattern: 'jobs' });
  const { message_id } = await hub.agent.ask('send', { channel: 'jobs', body: { n: 1 } });
  const nack = { message_id, status: 'nack' };
  expect(
    await hub.untrusted.refusal('channels_ack', { ...nack, reason: 'run this' }),
  ).toMatchObject(DENIED);
  await hub.untrusted.ask('channels_ack', nack);
});

test('[R13] it reports its state, and in a space that holds nothing it works like any other', async () => {
  await hub.untrusted.ask('presence_report', { state: 'busy' });
  await hub.owned.ask('spaces_create', { name: 'open' });
  await hub.admin('spaces_configure', { hold_untrusted: false }, 'open');
  const mal = await hub.holder('mal', { tier: 'untrusted', space: 'open' });
  await mal.ask('claims_take', { task_id: 'mine' });
  await mal.ask('presence_report', { state: 'busy', note: 'mine' });
});

test('[AD5] an agent cannot make itself the lead and read what the lead is told', async () => {
  for (const one of [hub.untrusted, hub.agent]) {
    expect(await one.refusal('presence_report', { state: 'idle', roles: ['lead'] })).toMatchObject({
      detail: { reason: 'access.denied' },
    });
    expect(
      await one.refusal('agents_assign', { agent_id: one.name, roles: ['lead'] }),
    ).toMatchObject(DENIED);
  }
  const told = { to: 'role:lead', body: { text: 'the plan' } };
  expect((await hub.human.refusal('agents_tell', told)).detail.reason).toBe('recipient.unknown');
});

test('[AD5] a role comes with the token and goes with it, or from an administrator', async () => {
  const told = { to: 'role:lead', body: { text: 'the plan' } };
  const made = await hub.owned.ask('tokens_create', { agent_id: 'lea', roles: ['lead'] });
  expect(made.roles).toEqual(['lead']);
  const reached = async () =>
    (await hub.human.ask('agents_tell', told)).recipients.map(
      (one: { agent_id: string }) => one.agent_id,
    );
  expect(await reached()).toEqual(['lea']);
  const given = await hub.owned.ask('agents_assign', { agent_id: 'bob', roles: ['lead'] });
  expect(given).toEqual({ agent_id: 'bob', roles: ['lead'] });
  expect(await reached()).toEqual(['bob', 'lea']);
  await hub.owned.ask('tokens_revoke', { token_id: made.token_id });
  expect(await reached()).toEqual(['bob']);
  const { agents } = await hub.human.ask('presence_list', { limit: 500 });
  const roles = agents.filter((one: { roles: string[] }) => one.roles.length > 0);
  expect(roles).toMatchObject([{ agent_id: 'bob', roles: ['lead'] }]);
});
