/**
 * Goal: the packed index of threads knows what the plain list of replies, posts and marks says, before
 * and after a snapshot. Method: random histories against a model that is a list, looked through each time.
 */
import { expect, test } from 'vitest';
import { createChance } from '../../testing/chance.ts';
import { writeText } from '../law/frozen-text.ts';
import { ThreadIndex, type ThreadMarks, UNMARKED } from './thread-index.ts';

interface Said {
  readonly root: number;
  readonly isPost: boolean;
}

function textOf(frozen: unknown): string {
  const slices = writeText(frozen);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
  }
}

const thawed = (index: ThreadIndex): ThreadIndex =>
  ThreadIndex.thaw(JSON.parse(textOf(index.freeze())));

/** Some thousand messages: more than a chunk, with threads that reach over several. */
function tell(seed: number): { index: ThreadIndex; said: Said[]; marks: Map<number, ThreadMarks> } {
  const chance = createChance(seed);
  const index = new ThreadIndex();
  const said: Said[] = [];
  const marks = new Map<number, ThreadMarks>();
  for (let seq = 1; seq <= 3_000; seq++) {
    const isReply = seq > 1 && chance.isLikely(0.5);
    const isPost = !isReply && chance.isLikely(0.1);
    const parent = isReply ? chance.int(Math.max(1, seq - 1_500), seq - 1) : seq;
    if (isReply) index.addReply(seq, parent);
    else if (isPost) index.addPost(seq);
    said.push({ root: isReply ? (said[parent - 1]?.root ?? parent) : seq, isPost });
    if (!chance.isLikely(0.05)) continue;
    const root = said[chance.int(1, seq) - 1]?.root ?? seq;
    const before = marks.get(root) ?? UNMARKED;
    const after: ThreadMarks = {
      version: before.version + 1,
      isClosed: chance.isLikely(0.5),
      isResolved: chance.isLikely(0.5),
      isPinned: chance.isLikely(0.5),
      last: 10_000 + seq,
      closing: chance.isLikely(0.5) ? seq : null,
    };
    index.mark(root, after, 'ada');
    marks.set(root, after);
  }
  return { index, said, marks };
}

test.each([1, 2, 3])(
  '[TM14] [L3] the index is what the list of replies says, also thawed: seed %i',
  (seed) => {
    const { index: live, said, marks } = tell(seed);
    const replies = Map.groupBy(
      said.map((_, i) => i + 1),
      (seq) => said[seq - 1]?.root ?? seq,
    );
    const isThread = (seq: number): boolean =>
      (replies.get(seq)?.length ?? 0) > 1 || marks.has(seq) || said[seq - 1]?.isPost === true;
    for (const index of [live, thawed(live)]) {
      expect([...index.facts()]).toEqual([...live.facts()]);
      const roots: number[] = [];
      for (let seq = 1; seq <= said.length; seq++) {
        const root = said[seq - 1]?.root ?? seq;
        expect(index.rootOf(seq)).toBe(root);
        if (root !== seq) continue;
        const members = (replies.get(seq) ?? []).slice(1);
        expect(index.countOf(seq)).toBe(members.length);
        expect(index.lastOf(seq)).toBe(members.at(-1) ?? 0);
        const walked: number[] = [];
        for (let at = index.after(seq); at !== 0; at = index.after(at)) walked.push(at);
        expect(walked).toEqual(members);
        expect(index.marksOf(seq)).toEqual(marks.get(seq) ?? UNMARKED);
        if (isThread(seq)) roots.push(seq);
      }
      const all = { isMarked: false, isWanted: () => true, limit: 7, stepsMax: 100 };
      const found: number[] = [];
      for (let next = said.length + 1; next > 0; ) {
        const page = index.find(next, all);
        expect(page.steps).toBeLessThanOrEqual(100);
        found.push(...page.seqs);
        next = page.next;
      }
      expect(found).toEqual(roots.reverse());
      const pinned = index.find(Number.POSITIVE_INFINITY, {
        ...{ isMarked: true, limit: 9_999, stepsMax: 9_999 },
        isWanted: (_, { isPinned }) => isPinned,
      });
      expect(new Set(pinned.seqs)).toEqual(new Set(index.pins.keys()));
    }
  },
);

test('[L3] what is frozen is the index as it was, however it grows while it is written', () => {
  const { index } = tell(4);
  const expected = [...index.facts()];
  const frozen = index.freeze();
  for (let seq = 3_001; seq <= 3_500; seq++) index.addReply(seq, seq - 7);
  for (let root = 1; root <= 3_000; root += 3) {
    if (index.rootOf(root) === root) index.mark(root, { ...UNMARKED, version: 9 }, 'bob');
  }
  expect([...ThreadIndex.thaw(JSON.parse(textOf(frozen))).facts()]).toEqual(expected);
});

test('[TM14] a message costs twelve bytes, a marked root at most 64 more, and a channel without threads nothing', () => {
  const bytesOf = (fill: (index: ThreadIndex) => void): number => {
    const index = new ThreadIndex();
    fill(index);
    return index.bytes;
  };
  const COUNT = 10_240;
  const replies = bytesOf((index) => {
    for (let seq = 2; seq <= COUNT; seq++) index.addReply(seq, 1);
  });
  expect(replies / COUNT).toBeLessThanOrEqual(12.1);
  const marked = bytesOf((index) => {
    for (let seq = 1; seq <= COUNT; seq++) index.mark(seq, { ...UNMARKED, version: 1 }, 'ada');
  });
  // Rows grow by doubling.
  expect(marked / COUNT).toBeLessThanOrEqual(12 + 2 * 32);
  // One thread far up in a long channel costs its own part of it alone.
  expect(bytesOf((index) => index.addReply(1_000_000, 999_999))).toBeLessThan(32 * 1024);
  expect(bytesOf((index) => index.addReply(2, 1))).toBeLessThan(128);
});
