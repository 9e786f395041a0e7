/**
 * Search has one index for everybody: nobody finds in it what they could not read at another door, and
 * no page, cursor or refusal tells of it. Whatever is written as a query is answered or refused.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../e2e/running-hub.ts';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
});
afterAll(() => hub.close());

const search = async (who: Holder, query: string, more: object = {}): Promise<Json> =>
  who.ask('search', { query, ...more });
const texts = ({ messages }: Json): string[] => messages.map((one: Json) => one.body.text);
const say = (who: Holder, channel: string, text: string): Promise<Json> =>
  who.ask('send', { channel, body: { text } });

test('[FT1] a dm is found by its parties, and by nobody else', async () => {
  await say(hub.agent, 'dm/ada~bob', 'the wombat is ours');
  await say(hub.agent, 'general', 'a wombat for all');
  expect(texts(await search(hub.other, 'wombat'))).toEqual([
    'a wombat for all',
    'the wombat is ours',
  ]);
  for (const who of [hub.owned, hub.spaceAdmin, hub.human, hub.observer, hub.untrusted]) {
    const found = await search(who, 'wombat', { limit: 1 });
    expect([texts(found), found.next]).toEqual([['a wombat for all'], null]);
    expect((await who.refusal('search', { query: 'in:dm/ada~bob' })).detail.reason).toBe(
      'dm.not-party',
    );
  }
});

test('[FT1] a group is found by its members while they are members', async () => {
  const { group_id: group } = await hub.agent.ask('group_create', { group_id: 'plans' });
  await hub.agent.ask('group_invite', { group_id: group, agent_id: 'bob' });
  await say(hub.agent, group, 'numbat in the group');
  expect(texts(await search(hub.other, 'numbat'))).toEqual([]);
  await hub.other.ask('group_join', { group_id: group });
  expect(texts(await search(hub.other, 'numbat'))).toEqual(['numbat in the group']);
  expect(texts(await search(hub.other, `numbat in:${group}`))).toEqual(['numbat in the group']);
  await hub.other.ask('group_leave', { group_id: group });
  expect(texts(await search(hub.other, 'numbat'))).toEqual([]);
  await hub.agent.ask('group_remove', { group_id: group });
  await hub.other.ask('group_create', { group_id: 'plans' });
  await say(hub.other, group, 'another group');
  expect(texts(await search(hub.other, 'numbat'))).toEqual([]);
  expect(texts(await search(hub.agent, 'numbat'))).toEqual([]);
});

test('[FT3] what is held is found when a person released it, and what was refused never', async () => {
  const first = await say(hub.untrusted, 'general', 'quokka one');
  const second = await say(hub.untrusted, 'general', 'quokka two');
  for (const who of [hub.agent, hub.untrusted, hub.human]) {
    expect(texts(await search(who, 'quokka'))).toEqual([]);
  }
  await hub.human.ask('held_review', { message_id: first.message_id, decision: 'release' });
  await hub.human.ask('held_review', { message_id: second.message_id, decision: 'refuse' });
  expect(texts(await search(hub.agent, 'quokka'))).toEqual(['quokka one']);
});

test('[FT1] a past that an administrator closed is found by those it was said to or by', async () => {
  const closed = 'closed/plans';
  await say(hub.agent, closed, 'dingo before');
  await hub.owned.ask('channels_configure', { channel: closed, replay_policy: 'admin_only' });
  const late = await hub.holder('late');
  await late.ask('subscribe', { pattern: closed });
  await say(hub.agent, closed, 'dingo after');
  await say(hub.other, closed, 'dingo by bob');
  expect(texts(await search(late, 'dingo'))).toEqual(['dingo by bob', 'dingo after']);
  expect(texts(await search(late, 'dingo', { channel: closed }))).toEqual([
    'dingo by bob',
    'dingo after',
  ]);
  expect(texts(await search(hub.other, 'dingo'))).toEqual(['dingo by bob']);
  expect(texts(await search(hub.human, 'dingo'))).toEqual([]);
  expect(texts(await search(hub.owned, 'dingo'))).toHaveLength(3);
});

test('[FT3] what was said on a channel goes with the channel', async () => {
  await say(hub.agent, 'brief', 'bilby was here');
  expect(texts(await search(hub.other, 'bilby'))).toEqual(['bilby was here']);
  await hub.owned.ask('retire', { channel: 'brief', force: true });
  await say(hub.agent, 'brief', 'a channel of that name');
  expect(texts(await search(hub.other, 'bilby'))).toEqual([]);
  expect(texts(await search(hub.other, 'in:brief'))).toEqual(['a channel of that name']);
});

const HOSTILE: readonly [what: string, query: string][] = [
  ['operators', 'AND OR NOT NEAR(a b, 2) ^start {col} : col : x'],
  ['a column', 'words:secret'],
  ['our own words', '#1 @1 ~ 7~wombat "7~wombat" "#1"'],
  ['quotes', '"unclosed'],
  ['many quotes', '""""""" "" \' `'],
  ['a NUL', 'a\u0000b \u0000'],
  ['SQL', `'); DROP TABLE shards; --`],
  ['a lone star', '* ** "*" -*'],
  ['one letter', 'a*'],
  ['only without', '-wombat'],
  ['nothing', ''],
  ['blanks', ' \u2003\t\n '],
  ['lone surrogates', '\ud800 \udc00*'],
  ['brackets', '(((((((((((((((((((((((((((('.repeat(20)],
  ['100 KB', 'wombat '.repeat(14_000)],
  ['10,000 terms', Array.from({ length: 10_000 }, (_, i) => `t${i}`).join(' ')],
  ['33 words', Array.from({ length: 33 }, (_, i) => `w${i}`).join(' ')],
  [
    '32 beginnings',
    Array.from({ length: 32 }, (_, i) => `${String.fromCharCode(97 + (i % 26))}*`).join(' '),
  ],
  ['a number', '1e999 0x7fffffffffffffff -0'],
  ['two authors', 'from:ada from:bob x'],
  ['an endless word', 'x'.repeat(999)],
];
test.each(HOSTILE)('[FT2] %s as a query is answered or refused by name', async (_, query) => {
  const { status, body } = await hub.other.post('search', { query });
  if (status !== 200) expect([status, body.detail.reason]).toEqual([400, 'search.query-invalid']);
  else expect(body.messages.every((one: Json) => one.channel !== 'dm/ada~hilda')).toBe(true);
});

test('[FT4] one that asks too much at once is told so, and the others are answered', async () => {
  const flood = Array.from({ length: 200 }, () =>
    hub.untrusted.post('search', { query: 'w* OR a*' }),
  );
  const calm = search(hub.agent, 'wombat');
  const statuses = new Set(
    (await Promise.all(flood)).map(({ status, body }) =>
      status === 200 ? 'found' : body.detail.reason,
    ),
  );
  expect(
    [...statuses].filter((one) => !['found', 'search.busy', 'rate.limited'].includes(one)),
  ).toEqual([]);
  expect(texts(await calm)).toContain('a wombat for all');
});
