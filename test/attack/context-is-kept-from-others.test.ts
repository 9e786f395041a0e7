/**
 * Goal: what one token can do to the context of others: read it, write it, find out that it is there, wait
 * for it, be let in under a name that was somebody else's, or fill it so that nobody else has room.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
let victim: Holder;
beforeAll(async () => {
  hub = await openAttackedHub();
  victim = await hub.holder('victim');
  await victim.ask('context.set', { ns: 'private/victim', key: 'secret', value: 'hunter2' });
});
afterAll(() => hub.close());

const ns = 'private/victim';

/** Every way to ask for what lies there. */
const WAYS: readonly (readonly [string, object])[] = [
  ['context.get', { ns, key: 'secret' }],
  ['context.get', { ns, key: 'secret', at: 1 }],
  ['context.list', { ns }],
  ['context.list', { ns, values: true, at: 1 }],
  ['context.snapshot', { ns }],
  ['context.diff', { ns, from: 0, values: true }],
  ['context.watch', { ns, since: 0, values: true }],
  ['context.set', { ns, key: 'secret', value: 1 }],
  ['context.set', { ns, key: 'new', value: 1, if_version: 0 }],
  ['context.delete', { ns, key: 'secret' }],
  ['context.delete', { ns, prefix: '' }],
];

test('[CX2] a private namespace answers nobody else, and not whether anything is in it', async () => {
  const nobodys = 'private/nobody-at-all';
  for (const thief of [hub.agent, hub.untrusted, hub.observer, hub.human]) {
    for (const [operation, input] of WAYS) {
      const { detail, ...said } = await thief.refusal(operation, input);
      const other = await thief.refusal(operation, { ...input, ns: nobodys });
      const told = JSON.stringify([detail.reason, said]);
      expect(told.replaceAll('victim', 'nobody-at-all').replaceAll(/"[\w-]{36}"/g, '""')).toBe(
        JSON.stringify([other.detail.reason, { ...other, detail: undefined }]).replaceAll(
          /"[\w-]{36}"/g,
          '""',
        ),
      );
      expect(told).not.toContain('hunter2');
    }
    const { namespaces } = await thief.ask('context.list', {});
    expect(JSON.stringify(namespaces)).not.toContain('victim');
  }
  expect(await victim.ask('context.get', { ns, key: 'secret' })).toMatchObject({
    value: 'hunter2',
  });
});

test('[CX2] a name that only looks like the prefix of another is not let in', async () => {
  const short = await hub.holder('vic');
  const nested = await hub.holder('victim/sub');
  await nested.ask('context.set', { ns: 'private/victim/sub', key: 'k', value: 'nested' });
  for (const thief of [short, nested]) await thief.refusal('context.get', { ns, key: 'secret' });
  await victim.refusal('context.get', { ns: 'private/victim/sub', key: 'k' });
});

test('[CX2] people who look back see no more than they may now', async () => {
  const { status } = await hub.human.post('record.at', {
    ...{ position: 3, operation: 'context.get', input: { ns, key: 'secret' } },
  });
  expect(status).toBe(403);
  const all = { position: 3, operation: 'context.list', input: {} };
  expect((await hub.human.refusal('record.at', all)).detail.reason).toBe('record.operation');
  const { deeds } = await hub.human.ask('audit.list', { limit: 100 });
  expect(JSON.stringify(deeds)).not.toContain(ns);
  const own = await hub.owned.ask('audit.list', { limit: 100 });
  expect(JSON.stringify(own.deeds)).toContain(ns);
  expect(JSON.stringify(own.deeds)).not.toContain('hunter2');
});

test('[CX7] who gets the name of an agent that was removed finds nothing of it, at no snapshot', async () => {
  const first = await hub.holder('heir');
  const own = 'private/heir';
  await first.ask('context.set', { ns: own, key: 'k', value: 'of the first' });
  const { snapshot } = await first.ask('context.snapshot', {});
  await hub.admin('agents.remove', { agent_id: 'heir', force: true });
  const second = await hub.holder('heir');
  expect(await second.ask('context.get', { ns: own, key: 'k' })).toMatchObject({ version: 0 });
  await second.ask('context.set', { ns: own, key: 'k', value: 'of the second' });
  for (const [operation, input] of [
    ['context.get', { ns: own, key: 'k', at: snapshot }],
    ['context.list', { ns: own, at: snapshot }],
    ['context.diff', { ns: own, from: snapshot }],
    ['context.watch', { ns: own, since: snapshot }],
  ] as const) {
    expect((await second.refusal(operation, input)).detail.reason).toBe('context.forgotten');
  }
});

test('[CX7] who leaves a group reads its context no more, also while it waits', async () => {
  const group_id = 'team';
  const group = { ns: 'group/team' };
  await victim.ask('group.create', { group_id, id_mode: 'client' });
  await victim.ask('context.set', { ...group, key: 'k', value: 'ours' });
  await hub.agent.refusal('context.get', { ...group, key: 'k' });
  await victim.ask('group.invite', { group_id, agent_id: hub.agent.name });
  await hub.agent.ask('group.join', { group_id });
  expect(await hub.agent.ask('context.get', { ...group, key: 'k' })).toMatchObject({
    value: 'ours',
  });
  const { snapshot } = await hub.agent.ask('context.snapshot', {});
  const waiting = hub.agent.post('context.watch', { ...group, since: snapshot, wait_ms: 30_000 });
  await hub.agent.ask('group.leave', { group_id });
  await victim.ask('context.set', { ...group, key: 'k', value: 'without you' });
  const { status, text } = await waiting;
  expect([status, text.includes('without you')]).toEqual([403, false]);
});

test('[CX3] one token fills a namespace, and the others make room in it', async () => {
  const flood = Array.from({ length: 40 }, (_, n) =>
    hub.untrusted.post('context.set', { ns: 'open', key: `spam${n}`, value: 1 }),
  );
  expect((await Promise.all(flood)).every(({ status }) => status === 403)).toBe(true);
  const spam = Array.from({ length: 60 }, (_, n) =>
    hub.agent.ask('context.set', { ns: 'open', key: `spam${n}`, value: 1 }),
  );
  await Promise.all(spam);
  expect(await victim.ask('context.delete', { ns: 'open', prefix: 'spam' })).toEqual({
    ...{ deleted: 60, more: false },
  });
});
