/** What claims leave behind: how much of it, who takes it away, and that no count goes astray. */
import { expect, test } from 'vitest';
import { createClaimStory } from '../../../testing/claim-story.ts';
import { codeOf } from '../../../testing/story.ts';
import {
  INHERITED_CHARS_MAX,
  INHERITED_CHARS_PER_AGENT_MAX,
  INHERITED_MAX,
  INHERITED_PER_AGENT_MAX,
} from './claim-limits.ts';
import { freezeClaims, thawClaims } from './claim-snapshot.ts';
import { type ClaimBook, createClaimBook } from './claim-state.ts';
import { decideForget, inherit, outlived } from './inheritance.ts';

function leave(book: ClaimBook, from: string, id: string, checkpoint = 'x', at = 1): void {
  inherit(book, id, { checkpoint, from, at });
}

/** The counts as they would be found by counting. */
function expectCounted(book: ClaimBook): void {
  const all = [...book.inherited];
  const chars = (of: typeof all) => of.reduce((sum, [, left]) => sum + left.checkpoint.length, 0);
  expect(book.inheritedChars).toBe(chars(all));
  expect(new Set(book.legacies.keys())).toEqual(new Set(all.map(([, { from }]) => from)));
  for (const [agent, legacy] of book.legacies) {
    const mine = all.filter(([, { from }]) => from === agent);
    expect([...legacy.ids]).toEqual(mine.map(([id]) => id));
    expect(legacy.chars).toBe(chars(mine));
  }
}

test('[CM7] [SH4] an agent keeps so many old checkpoints and so much of them, and gives up its own oldest', () => {
  const book = createClaimBook();
  leave(book, 'bob', 'bobs');
  for (let i = 0; i <= INHERITED_PER_AGENT_MAX; i++) leave(book, 'ada', `t${i}`);
  expect(book.legacies.get('ada')?.ids.size).toBe(INHERITED_PER_AGENT_MAX);
  expect([book.inherited.has('t0'), book.inherited.has('t1')]).toEqual([false, true]);
  const long = 'x'.repeat(INHERITED_CHARS_PER_AGENT_MAX / 50);
  for (let i = 0; i < 60; i++) leave(book, 'eve', `e${i}`, long);
  expect(book.legacies.get('eve')?.chars).toBe(INHERITED_CHARS_PER_AGENT_MAX);
  expect([book.inherited.has('e9'), book.inherited.has('e10')]).toEqual([false, true]);
  expect(book.inherited.get('bobs')?.from).toBe('bob');
  expectCounted(book);
});

test('[CM7] [SH4] where all of them are too many, those who left the most give up theirs', () => {
  const book = createClaimBook();
  leave(book, 'bob', 'bobs');
  const long = 'x'.repeat(INHERITED_CHARS_PER_AGENT_MAX / 10);
  for (let i = 0; i < INHERITED_CHARS_MAX / long.length; i++) {
    leave(book, `a${i % 9}`, `t${i}`, long);
  }
  expect(book.inheritedChars).toBeLessThanOrEqual(INHERITED_CHARS_MAX);
  for (let i = 0; i < INHERITED_MAX; i++) leave(book, `b${i % 11}`, `u${i}`);
  expect(book.inherited.size).toBeLessThanOrEqual(INHERITED_MAX);
  expect(book.inherited.has('bobs')).toBe(true);
  expectCounted(book);
});

test('[CM14] who left a checkpoint takes it away, a person or an administrator anybody’s', () => {
  const story = createClaimStory();
  for (const id of ['a', 'b', 'c', 'd']) leave(story.book, id === 'd' ? 'bob' : 'ada', id);
  const denied = [{ id: 'a' }, { id: null, from: 'ada' }];
  for (const wish of denied) {
    expect(codeOf(story.do('bob', 'claim.forget', wish))).toBe('access.denied');
  }
  expect(codeOf(story.do('ada', 'claim.forget', { id: 'zzz' }))).toBe('claim.not-found');
  expect(codeOf(story.do('ada', 'claim.forget', { id: 'a b' }))).toBe('claim.id-invalid');
  expect(story.book.inherited.size).toBe(4);
  expect(story.ask('ada', 'claim.forget', { id: 'a' })).toEqual({ forgotten: 1 });
  expect(story.do('mia', 'claim.forget', { id: 'b' }, 'human')).toEqual({ forgotten: 1 });
  expect(story.do('root', 'claim.forget', { id: null, from: 'bob' }, 'admin')).toEqual({
    forgotten: 1,
  });
  expect([...story.book.inherited.keys()]).toEqual(['c']);
  expect(story.ask('ada', 'claim.forget', { id: null })).toEqual({ forgotten: 1 });
  const events = story.events.length;
  expect(story.ask('ada', 'claim.forget', { id: null })).toEqual({ forgotten: 0 });
  expect(story.events.length).toBe(events);
  expectCounted(story.book);
});

test('[CM14] what is older than the space keeps is told as gone, and nothing is told of nothing', () => {
  const book = createClaimBook();
  leave(book, 'ada', 'old', 'x', 100);
  leave(book, 'ada', 'new', 'x', 200);
  expect(outlived(book, null, 1_000)).toEqual([]);
  expect(outlived(book, 900, 1_000)).toEqual([]);
  expect(outlived(book, 850, 1_000)).toMatchObject([{ type: 'claim.forgotten', before: 150 }]);
});

test('[L3] a book is thawed with what was left, and its counts', () => {
  const book = createClaimBook();
  for (const id of ['a', 'b', 'c']) leave(book, id === 'b' ? 'bob' : 'ada', id, id.repeat(3));
  const thawed = thawClaims(JSON.parse(JSON.stringify(freezeClaims(book))));
  expect([...thawed.inherited]).toEqual([...book.inherited]);
  expectCounted(thawed);
  const by = { id: 'ada', kind: 'agent', tier: 'standard' } as const;
  const asked = {
    type: 'claim.forget',
    by,
    at: 2,
    id: null,
    from: null,
    idempotency: null,
  } as const;
  expect(decideForget(thawed, asked)).toMatchObject({ answer: { forgotten: 2 } });
});
