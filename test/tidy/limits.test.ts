/**
 * Every bound of the law has a way out, every way out that names an operation or a setting names one
 * that exists, and a refusal at a bound says it. The bounds are found in the sources, not in the table.
 */
import { expect, test } from 'vitest';
import { isRefusal } from '../../src/core/law/decider.ts';
import * as limits from '../../src/core/law/limits.ts';
import { roomBesidesOwner, SHARES } from '../../src/core/law/shares.ts';
import type { World } from '../../src/core/law/state.ts';
import { type BoundName, WAYS_OUT } from '../../src/core/law/ways-out.ts';
import type { Command } from '../../src/core/law/world.ts';
import { OFFERS_MAX } from '../../src/core/work/work-limits.ts';
import { createPrincipal, createStory } from '../../src/testing/story.ts';
import { OPERATIONS } from '../../src/wire/operations/table.ts';
import { listFiles, readText } from './repository.ts';

const sources = listFiles('src/core', '.ts').filter((path) => !path.endsWith('.test.ts'));
/** Bounds of one field's form, told where the field is refused. */
const ELSEWHERE: readonly RegExp[] = [
  /^AGENT_NAME_CHARS_MAX$/,
  // A scope that is too long or too complex is refused with a code of its own.
  /^(SCOPE|PATHS?|PATTERN|ALTERNATIVES|SET|GLOB|WORKTREE|BRANCH)_/,
];

test('[GA7] every bound that the law exports has its way out', () => {
  const exported = sources.flatMap((path) =>
    [...readText(path).matchAll(/^export const ([A-Z_]+_MAX)\b/gm)].map(
      ([, name]) => name as string,
    ),
  );
  expect(exported.length).toBeGreaterThan(60);
  const missing = exported.filter(
    (name) => !(name in WAYS_OUT) && !ELSEWHERE.some((known) => known.test(name)),
  );
  expect(missing).toEqual([]);
});

test('[GA7] what a way out names exists', () => {
  const settings = Object.keys(OPERATIONS['spaces.configure'].input.shape);
  for (const wayOut of Object.values(WAYS_OUT)) {
    for (const [name] of wayOut.matchAll(/\b[a-z]+\.[a-z_]+\b/g))
      expect(OPERATIONS).toHaveProperty([name]);
    for (const [name] of wayOut.matchAll(/\b[a-z]+(?:_[a-z]+)*_ms\b/g))
      expect(settings).toContain(name);
  }
});

test('[GA7] every bound that the law refuses by name can be left by an operation', () => {
  const refused = sources.flatMap((path) =>
    [...readText(path).matchAll(/(?:refuseFull|checkShare)\(\s*'([A-Z_]+)'/g)].map(
      ([, name]) => name as BoundName,
    ),
  );
  expect(new Set(refused).size).toBeGreaterThan(15);
  expect(refused.filter((name) => !/[a-z]+\.[a-z_]+/.test(WAYS_OUT[name]))).toEqual([]);
});

const ada = createPrincipal('ada');
const eve = createPrincipal('eve', { tier: 'untrusted' });
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });

/** Stuffs a map up to a bound with the thing that is there already. */
function fill<K, V>(map: Map<K, V>, max: number, key: (i: number) => K, value: V): void {
  for (let i = 0; map.size < max; i++) map.set(key(i), value);
}

type Bare = Omit<Command, 'by' | 'at'> & { readonly type: Command['type'] };
const send = (channel: string, key: string | null = null): Bare =>
  ({
    ...{ type: 'message.send', channel, body: '{}', correlationId: null, replyTo: null },
    ...{ key, ttlMs: null, schemaVersion: 0 },
  }) as Bare;
const group = { type: 'group.create', group: 'group/g', displayName: null, replayPolicy: null };
const token = { type: 'token.create', id: 'new', agent: 'ada', kind: 'agent', tier: 'standard' };
const offer = { type: 'offer.make', kind: 'llm', name: 'm', capacity: 1, meta: null, ttlMs: null };

const CASES: readonly [BoundName, typeof ada, Bare, (world: World) => void][] = [
  ['CHANNELS_MAX', ada, send('new'), (world) => fillLike(world.channels, limits.CHANNELS_MAX)],
  [
    'CHANNELS_MAX',
    ada,
    { type: 'subscription.add', pattern: 'new' } as Bare,
    (world) => fillLike(world.channels, limits.CHANNELS_MAX),
  ],
  [
    'AGENTS_MAX',
    root,
    { type: 'agent.assign', agent: 'eve', roles: ['x'] } as Bare,
    (world) => fillLike(world.agents, limits.AGENTS_MAX),
  ],
  [
    'GROUPS_MAX',
    ada,
    group as Bare,
    (world) => fill(world.groups, limits.GROUPS_MAX, (i) => `group/${i}`, {} as never),
  ],
  [
    'TOKENS_MAX',
    root,
    { ...token, hash: 'h', label: null, roles: [], expiresAt: null } as Bare,
    (world) => fill(world.tokens, limits.TOKENS_MAX, String, { revokedAt: null } as never),
  ],
  [
    'SUBSCRIPTIONS_PER_AGENT_MAX',
    ada,
    { type: 'subscription.add', pattern: 'x/*' } as Bare,
    (world) => {
      for (let i = 0; i < limits.SUBSCRIPTIONS_PER_AGENT_MAX; i++)
        world.agents.get('ada')?.patterns.add(`p${i}`);
    },
  ],
  [
    'IDEMPOTENCY_KEYS_MAX',
    ada,
    send('a', 'k'),
    (world) =>
      fill(world.keys, limits.IDEMPOTENCY_KEYS_MAX, String, { position: 0, seq: 1, at: 1_000_000 }),
  ],
  [
    'HELD_MESSAGES_MAX',
    eve,
    send('a'),
    (world) =>
      fill(world.held, limits.HELD_MESSAGES_MAX, (i) => 1_000 + i, {
        by: 'x',
        channel: 'x',
        seq: 1,
        since: 1_000_000,
      }),
  ],
  [
    'OFFERS_MAX',
    ada,
    offer as Bare,
    (world) => void Object.assign(world.offers, { count: OFFERS_MAX }),
  ],
];

function fillLike<V>(map: Map<string, V>, max: number): void {
  const [one] = map.values();
  fill(map, max, (i) => `filler ${i}`, one as V);
}

test('[SH1] every bound that is filled together is refused by share, and for no more than the whole', () => {
  const asked = sources.flatMap((path) =>
    [...readText(path).matchAll(/checkShare\(\s*'([A-Z_]+)'/g)].map(([, name]) => name),
  );
  expect(new Set(asked)).toEqual(new Set(Object.keys(SHARES)));
  for (const { max, each, untrusted } of Object.values(SHARES)) {
    expect(untrusted).toBeLessThanOrEqual(each);
    expect(each).toBeLessThan(roomBesidesOwner(max));
  }
});

test.each(CASES)(
  '[GA7] a refusal at %s names it and what makes room',
  (bound, by, command, stuff) => {
    const story = createStory();
    story.send(ada, 'a');
    stuff(story.world);
    const outcome = story.do(by, command as never);
    expect(isRefusal(outcome) && outcome).toMatchObject({
      refused: 'limit.reached',
      detail: { limit: bound },
      message: expect.stringContaining(WAYS_OUT[bound]),
    });
  },
);
