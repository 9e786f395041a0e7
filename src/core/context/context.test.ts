/** The bounds of context, told to the law alone; whatever is refused has changed nothing. */
import { describe, expect, test } from 'vitest';
import { portray } from '../../testing/compare.ts';
import { accepted, codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { isRefusal } from '../law/decider.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
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
