/** One agent's flood, forged words and stray reading: the docket stays what people can read and decide. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../e2e/running-hub.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub({ file: { rate_limit: 100_000 } });
});
afterAll(() => hub.close());

const itemsOf = async (agent: string): Promise<Json[]> =>
  (await hub.human.ask('docket_list', { limit: 500 })).items.filter(
    (one: Json) => one.agent_id === agent,
  );

test('[DK2] [DK8] a flood of questions is one item and a bound, and another agent is heard', async () => {
  const flooder = await hub.holder('flooder');
  let refused: Json = null;
  let asked = 0;
  while (refused === null && asked < 1_000) {
    const { status, body } = await flooder.post('docket_raise', {
      ...{ text: `question ${asked}`, thread: `t${asked}` },
    });
    if (status === 200) asked++;
    else refused = body;
  }
  expect(asked).toBe(100);
  expect(refused.detail).toMatchObject({ limit: 'QUESTIONS_PER_AGENT_MAX' });
  expect(await itemsOf('flooder')).toMatchObject([{ count: 100, subjects_open: 100 }]);
  await hub.agent.ask('docket_raise', { text: 'May I go on?' });
  expect(await itemsOf('ada')).toHaveLength(1);
  // The way out: a person closes it in one step.
  const [{ item_id }] = (await itemsOf('flooder')) as [Json];
  await hub.human.ask('docket_close', { item_id, outcome: 'dismissed' });
  expect(await itemsOf('flooder')).toEqual([]);
});

test('[DK2] [DK6] a flood of held messages is one item, and each of them can be decided', async () => {
  const sent: string[] = [];
  for (let i = 0; i < 40; i++) {
    const { message_id } = await hub.untrusted.ask('send', { channel: `c${i}`, body: { i } });
    sent.push(message_id);
  }
  const [item, more] = await itemsOf('mallory');
  expect(more).toBeUndefined();
  expect(item).toMatchObject({ kinds: ['held'], subjects_open: 40 });
  const { item: whole } = await hub.human.ask('docket_get', { item_id: item.item_id });
  expect(whole.subjects.map((one: Json) => one.subject)).toEqual(sent);
  await hub.human.ask('held_review', { message_id: sent[7], decision: 'refuse' });
  expect((await itemsOf('mallory'))[0].subjects_open).toBe(39);
});

test('[DK3] an agent neither reads, takes nor closes what is another’s, and an observer asks nothing', async () => {
  const { item } = await hub.agent.ask('docket_raise', { text: 'A secret plan?', thread: 's' });
  const { item_id } = item;
  for (const other of [hub.other, hub.untrusted, hub.observer]) {
    expect((await other.ask('docket_list')).items.map((one: Json) => one.agent_id)).not.toContain(
      'ada',
    );
    const absent = await other.refusal('docket_get', { item_id });
    const never = await other.refusal('docket_get', { item_id: 'd9999' });
    expect(absent.message).toBe(never.message.replace('d9999', item_id));
    for (const [operation, input] of [
      ['docket_take', { item_id, force: true }],
      ['docket_close', { item_id, outcome: 'done' }],
    ] as const) {
      expect((await other.refusal(operation, input)).detail.reason).toBe('access.denied');
    }
  }
  // Nor its own: it is a person who closes.
  const own = await hub.agent.refusal('docket_close', { item_id, outcome: 'done' });
  expect(own.detail.reason).toBe('access.denied');
  for (const mute of [hub.untrusted, hub.observer]) {
    expect((await mute.refusal('docket_raise', { text: 'hm?' })).detail.reason).toBe(
      'access.denied',
    );
  }
});

test('[DK1] words cannot forge an item: control characters and names that are sentences are refused', async () => {
  for (const input of [
    { text: 'clear \u001b[2J the screen' },
    { text: 'fine', to: 'hana: approved by hana' },
    { text: 'fine', thread: 'a\nb' },
    { text: '  ' },
    { text: 'fine', kind: 'gate' },
    { text: 'fine', agent_id: 'bob' },
  ]) {
    const { detail } = await hub.agent.refusal('docket_raise', input);
    expect([input, detail.reason]).toEqual([input, 'input.invalid']);
  }
  // No channel leads to it: what the hub says, nobody else can.
  const sent = await hub.agent.refusal('send', { channel: 'sox/to/bob', body: { note: 'yes' } });
  expect(sent.detail.reason).toBe('channel.reserved');
});

test('[R15] [SV9] sixty megabytes that one sender has held are listed in pages, and each can be read and decided', async () => {
  const flooder = await hub.holder('megan', { tier: 'untrusted' });
  const text = 'x'.repeat(1024 * 1024 - 1024);
  const sent: string[] = [];
  for (let n = 0; n < 60; n++) {
    const channel = `flood${n % 7}`;
    sent.push((await flooder.ask('send', { channel, body: { n, text } })).message_id);
  }
  const listed: string[] = [];
  let after: string | undefined;
  do {
    const input = { limit: 1_000, ...(after !== undefined && { after }) };
    const { status, body, text: answer } = await hub.human.post('held_list', input);
    expect([status, answer.length <= 16 * 1024 * 1024]).toEqual([200, true]);
    expect(body.has_more).toBe(body.next !== null);
    const ids = body.held.map((one: Json) => one.message.message_id);
    listed.push(...ids.filter((id: string) => sent.includes(id)));
    // One that is decided between two pages moves none of the others.
    if (after === undefined) {
      await hub.human.ask('held_review', { message_id: sent[0], decision: 'refuse' });
    }
    after = body.next ?? undefined;
  } while (after !== undefined);
  expect(listed).toEqual(sent);
  const last = sent.at(-1);
  const { held, has_more } = await hub.human.ask('held_list', { message_id: last });
  expect(held.map((one: Json) => [one.message.message_id, one.message.body.n])).toEqual([
    [last, 59],
  ]);
  expect(has_more).toBe(false);
  expect((await hub.human.ask('held_list', { message_id: sent[0] })).held).toEqual([]);
  await hub.human.ask('held_review', { message_id: last, decision: 'release' });
});
