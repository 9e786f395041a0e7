/**
 * An agent says what posts of its channel must be, as a JSON Schema, and whoever posts there has the hub
 * check it. No schema and no body makes that checking long, often, or its answer large.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../e2e/running-hub.ts';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
});
afterAll(() => hub.close());

const describe = (who: Holder, channel: string, schema: object): Promise<Json> =>
  who.ask('channels_describe', { channel, post_schema: schema });
const post = (channel: string, body: object): Json => ({
  channel,
  body: { kind: 'post', title: 'hello', type: 'note', tier: 0, ...body },
});
const reasonOf = async (who: Holder, input: Json): Promise<string> =>
  (await who.refusal('send', input)).detail.reason;

/** Each takes seconds, and a few characters more take years. */
const ENDLESS: readonly [what: string, schema: object, body: object][] = [
  [
    'a pattern that tries every way',
    { properties: { body: { pattern: '^(a+)+$' } } },
    { body: `${'a'.repeat(31)}!` },
  ],
  ['references that double at each step', doubling(25), { body: 'x' }],
  [
    'choices for each of very many items',
    { properties: { items: { items: { enum: Array.from({ length: 5_000 }, (_, i) => i) } } } },
    { items: Array.from({ length: 200_000 }, () => 4_999) },
  ],
];

function doubling(steps: number): object {
  const $defs: Record<string, object> = { s0: { type: 'object' } };
  for (let i = 1; i <= steps; i++) {
    const $ref = `#/$defs/s${i - 1}`;
    $defs[`s${i}`] = { allOf: [{ $ref }, { minProperties: 1, $ref }] };
  }
  return { $defs, $ref: `#/$defs/s${steps}` };
}

test.each(ENDLESS)('[T5] %s: the check is called off', async (what, schema, body) => {
  const who = await hub.holder(what.split(' ')[1] ?? '');
  const channel = `of-${who.name}`;
  await describe(who, channel, schema);
  expect(await reasonOf(who, post(channel, body))).toBe('schema.slow');
});

test('[T5] who goes on asking waits for itself, and the others are answered', async () => {
  const evelyn = await hub.holder('evelyn');
  await describe(hub.agent, 'posts', { required: ['body'] });
  await describe(evelyn, 'evil', { properties: { body: { pattern: '^(b+)+$' } } });
  const evil = post('evil', { body: `${'b'.repeat(31)}!` });
  const reasons: string[] = [];
  while (reasons.length < 40 && reasons.at(-1) !== 'rate.limited') {
    reasons.push(await reasonOf(evelyn, evil));
  }
  expect([reasons[0], reasons.at(-1)]).toEqual(['schema.slow', 'rate.limited']);
  expect(await hub.other.ask('send', post('posts', { body: 'fine' }))).toHaveProperty('message_id');
});

test('[T5] of very many violations the first are named, and how many there are', async () => {
  const who = await hub.holder('counting');
  await describe(who, 'counted', { properties: { items: { items: { type: 'string' } } } });
  const items = Array.from({ length: 5_000 }, (_, i) => i);
  const { detail } = await who.refusal('send', post('counted', { items }));
  expect(detail.reason).toBe('post.invalid');
  expect([detail.violations.length, detail.violation_count]).toEqual([100, 5_000]);
});

test('[T5] a schema that an administrator set is held to it, too', async () => {
  const schema = { properties: { mail: { pattern: '^([a-z]+)+@x$' } } };
  await hub.owned.ask('channels_configure', { channel: 'typed', schema });
  await hub.other.ask('send', { channel: 'typed', body: { mail: 'bob@x' } });
  const input = { channel: 'typed', body: { mail: 'a'.repeat(31) } };
  expect(await reasonOf(hub.other, input)).toBe('schema.slow');
});
