/** The bounds of context, told to the law alone; whatever is refused has changed nothing. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { portray } from '../../testing/compare.ts';
import { accepted, codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { isRefusal } from '../law/decider.ts';
import { decodeEvent } from '../law/entry.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
import { createWorld } from '../law/state.ts';
import { evolve } from '../law/world.ts';
import type { DeleteContext, SetContext } from './context-events.ts';
import {
  BYTES_PER_NAMESPACE_MAX,
  CONTEXT_VALUE_BYTES_MAX,
  DELETED_AT_ONCE_MAX,
  EMPTY_NAMESPACES_MAX,
  KEYS_PER_NAMESPACE_MAX,
} from './context-limits.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });

function set(story: Story, ns: string, key: string, more: Partial<SetContext> = {}, by = ada) {
  const said = { ns, key, value: 1, ifVersion: null, ttlMs: null, ...more };
  return story.do<SetContext>(by, { type: 'context.set', ...said });
}

function clear(story: Story, ns: string, prefix = '', by = ada) {
  const said = { ns, key: null, prefix, ifVersion: null };
  return story.do<DeleteContext>(by, { type: 'context.delete', ...said });
}

describe('[CX3] a bound', () => {
  test('of keys is told, and deleting with a prefix makes room, so many at once', () => {
    const story = createStory();
    for (let n = 0; n < KEYS_PER_NAMESPACE_MAX; n++) accepted(set(story, 'full', `k${n}`));
    const full = set(story, 'full', 'more');
    expect(codeOf(full)).toBe('limit.reached');
    expect(isRefusal(full) && full.message).toContain('context.delete');
    accepted(set(story, 'full', 'k1', { value: 2 }));
    expect(accepted(clear(story, 'full', 'k1', bob))).toEqual({
      ...{ deleted: DELETED_AT_ONCE_MAX, hasMore: true },
    });
    accepted(set(story, 'full', 'more'));
  });

  test('of bytes of a namespace counts what is there, not what was', () => {
    const story = createStory();
    const value = 'x'.repeat(CONTEXT_VALUE_BYTES_MAX - 2);
    const many = Math.floor(BYTES_PER_NAMESPACE_MAX / CONTEXT_VALUE_BYTES_MAX);
    for (let n = 0; n < many; n++) accepted(set(story, 'full', `k${n}`, { value }));
    for (let n = 0; n < 5; n++) accepted(set(story, 'full', 'k0', { value }));
    expect(codeOf(set(story, 'full', 'more'))).toBe('limit.reached');
    accepted(set(story, 'full', 'k0', { value: 0 }));
    accepted(set(story, 'full', 'more'));
    expect(story.world.context.bytesOf.get('ada')).toBe(story.world.context.bytes);
    accepted(clear(story, 'full'));
    expect(story.world.context).toMatchObject({ keys: 0, bytes: 0 });
  });

  test('of one writer leaves room for others, and counts a key for who wrote it last', () => {
    const story = createStory();
    for (let n = 0; n < 20_000; n++) accepted(set(story, `ns${n % 4}`, `k${n}`));
    const used = set(story, 'mine', 'k');
    expect(isRefusal(used) && used.detail).toMatchObject({ limit: 'CONTEXT_KEYS_MAX' });
    accepted(set(story, 'mine', 'k', {}, bob));
    // What bob takes over is bob's from then on.
    accepted(set(story, 'ns0', 'k0', {}, bob));
    accepted(set(story, 'mine', 'more'));
    expect(story.world.context.keysOf.get('bob')).toBe(2);
    const remove = { type: 'agent.remove', agent: 'ada', isForced: true, takesMade: true } as const;
    story.do(root, remove);
    expect(story.world.context.keysOf.get('ada')).toBe(10_000);
  });
});

test('[CX3] of namespaces that are empty so many are remembered, and whoever made the most gives up its own', () => {
  const story = createStory();
  set(story, 'ours', 'k', {}, bob);
  clear(story, 'ours', '', bob);
  for (let n = 0; n <= EMPTY_NAMESPACES_MAX; n++) {
    set(story, `ns${n}`, 'k');
    clear(story, `ns${n}`);
  }
  const { namespaces, empty, forgotten } = story.world.context;
  expect(empty.size).toBeLessThanOrEqual(EMPTY_NAMESPACES_MAX);
  expect(namespaces.size).toBe(empty.size);
  expect(namespaces.has('ours')).toBe(true);
  expect(forgotten.has('ns0')).toBe(true);
});

test('[CX4] what is kept is a copy of what was handed over, and only what JSON can say', () => {
  const story = createStory();
  const value = { list: [1], gone: undefined, when: new Date(0) };
  accepted(set(story, 'plan', 'k', { value }));
  value.list.push(2);
  const kept = { list: [1], when: '1970-01-01T00:00:00.000Z' };
  const bytes = JSON.stringify(kept).length;
  expect(JSON.parse(story.entries[0] ?? '')).toMatchObject({ value: kept, bytes });
  const circle: unknown[] = [];
  circle.push(circle);
  for (const odd of [undefined, () => 1, Symbol('x'), Number.NaN, [Infinity], circle]) {
    expect(codeOf(set(story, 'plan', 'k', { value: odd }))).toBe('input.invalid');
  }
  expect(story.entries).toHaveLength(1);
});

test('[CX6] a world that was thawed lets go at the same time', () => {
  const story = createStory();
  accepted(set(story, 'plan', 'short', { ttlMs: 5_000 }));
  accepted(set(story, 'plan', 'long', { ttlMs: 9_000 }));
  const thawed = createStory(thawWorld(freezeWorld(story.world)) ?? undefined, story.at);
  for (const one of [story, thawed]) {
    one.pass(5_000);
    expect([...(one.world.context.namespaces.get('plan')?.entries.keys() ?? [])]).toEqual(['long']);
    one.pass(4_000);
  }
  expect(portray(thawed.world)).toBe(portray(story.world));
});

test('[CX7] an agent with context in its own name does not lapse, one without does', () => {
  const story = createStory();
  accepted(set(story, 'private/ada', 'k'));
  accepted(set(story, 'open', 'k', {}, bob));
  story.pass(60 * 86_400_000);
  expect([...story.world.agents.keys()]).toEqual(['ada']);
  expect(story.world.context.namespaces.get('open')?.entries.has('k')).toBe(true);
});

const CAST = [ada, bob, createPrincipal('eve', { tier: 'untrusted' }), root];
const NAMESPACES = ['plan', 'private/ada', 'by/bob', 'group/g'] as const;
const KEYS = ['a', 'b', '__proto__'] as const;
const step = fc.record({
  by: fc.constantFrom(...CAST),
  ns: fc.constantFrom(...NAMESPACES),
  key: fc.constantFrom(...KEYS),
  act: fc.constantFrom(
    'set',
    'set',
    'set',
    'late',
    'delete',
    'clear',
    'found',
    'dissolve',
    'remove',
  ),
  ttlMs: fc.constantFrom(null, null, 1_000, 3_000),
  passMs: fc.integer({ min: 0, max: 1_500 }),
});

test('[CX1] [CX6] [CX7] told by any history, what is stored makes the world, and chains hold', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const story = createStory();
      for (const { by, ns, key, act, ttlMs, passMs } of steps) {
        const version = story.world.context.namespaces.get(ns)?.entries.get(key)?.version ?? 0;
        const before = story.entries.length;
        if (act === 'set') set(story, ns, key, { ttlMs, ifVersion: version }, by);
        else if (act === 'late') {
          expect(isRefusal(set(story, ns, key, { ifVersion: version + 1 }, by))).toBe(true);
          expect(story.entries.length).toBe(before);
        } else if (act === 'delete') {
          const one = { ns, key, prefix: null, ifVersion: version };
          story.do(by, { type: 'context.delete', ...one });
        } else if (act === 'clear') clear(story, ns, '', by);
        else if (act === 'found') {
          const group = { group: 'group/g', displayName: null, replayPolicy: null };
          story.do(by, { type: 'group.create', ...group });
        } else if (act === 'dissolve') story.do(by, { type: 'group.remove', group: 'group/g' });
        else {
          const gone = { agent: by.id, isForced: true, takesMade: true };
          story.do(root, { type: 'agent.remove', ...gone });
        }
        story.pass(passMs);
      }
      const replayed = createWorld();
      for (const [position, entry] of story.entries.entries()) {
        const event = decodeEvent(entry);
        if (event.type === 'context.written' || event.type === 'context.deleted') {
          const space = replayed.context.namespaces.get(event.ns);
          expect(event.prior).toBe(space?.head ?? 0);
          expect(event.was).toBe(space?.entries.get(event.key)?.version ?? 0);
        }
        evolve(replayed, event, position);
      }
      expect(portray(replayed, 'durable')).toBe(portray(story.world, 'durable'));
      const thawed = thawWorld(freezeWorld(story.world));
      expect(thawed === null ? null : portray(thawed)).toBe(portray(story.world));
      const { context: book } = story.world;
      const entries = [...book.namespaces.values()].flatMap((one) => [...one.entries.values()]);
      expect(book.keys).toBe(entries.length);
      expect(book.bytes).toBe(entries.reduce((sum, { bytes }) => sum + bytes, 0));
      for (const { expiresAt } of entries)
        expect(expiresAt ?? story.at + 1).toBeGreaterThan(story.at);
    }),
    { numRuns: 200 },
  );
});
