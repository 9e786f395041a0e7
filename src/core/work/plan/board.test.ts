import { expect, test } from 'vitest';
import { createPlanStory, type PlanStory } from '../../../testing/plan-story.ts';
import { DEPENDENCIES_PER_TASK_MAX, PAGE_BYTES_MAX, PAGE_ROWS_MAX } from '../work-limits.ts';
import { type Board, type BoardQuery, boardPage, progressPage } from './board.ts';

const noClaim = () => null;

/** Every page, joined. */
function walk(story: PlanStory, query: BoardQuery = {}): string[][] {
  const pages: string[][] = [];
  let after: string | null = null;
  do {
    const page: Board<null> = boardPage(
      story.book,
      { ...query, ...(after !== null && { after }) },
      noClaim,
    );
    expect(Buffer.byteLength(JSON.stringify(page.rows))).toBeLessThan(
      (query.bytesMax ?? PAGE_BYTES_MAX) + PAGE_ROWS_MAX + 2,
    );
    pages.push(page.rows.map((row) => row.id));
    after = page.next;
  } while (after !== null);
  return pages;
}

test('[PL10] thousands of tasks come in pages by id, each once', () => {
  const story = createPlanStory();
  const ids = Array.from({ length: 5000 }, (_, i) => `t${(i * 7919) % 5000}`);
  for (const id of ids) story.declare(id);
  const pages = walk(story);
  expect(pages).toHaveLength(10);
  expect(pages.flat()).toEqual([...ids].sort());
  expect(walk(story, { limit: 100_000 })[0]).toHaveLength(PAGE_ROWS_MAX);
  expect(walk(story, { limit: 0 })[0]).toHaveLength(1);
});

test('[PL10] a page fits its bytes, and one row is always given', () => {
  const story = createPlanStory();
  const deps = Array.from(
    { length: DEPENDENCIES_PER_TASK_MAX },
    (_, i) => `${'é'.repeat(250)}${i}`,
  );
  for (let i = 0; i < 20; i++) story.declare(`t${i}`, deps, { description: '"'.repeat(4096) });
  expect(walk(story).flat()).toHaveLength(20);
  expect(walk(story).length).toBeGreaterThan(2);
  expect(boardPage(story.book, { bytesMax: 1 }, noClaim).rows).toHaveLength(1);
});

test('[PL10] a page goes on where the last one ended, whatever was declared in between', () => {
  const story = createPlanStory();
  for (const id of ['b', 'd', 'f']) story.declare(id);
  const first = boardPage(story.book, { limit: 2 }, noClaim);
  expect(first.next).toBe('d');
  for (const id of ['a', 'e']) story.declare(id);
  const second = boardPage(story.book, { limit: 2, after: 'd' }, noClaim);
  expect(second.rows.map((row) => row.id)).toEqual(['e', 'f']);
  expect(second.next).toBeNull();
});

test('[PL10] the board shows the claim on a task, whether it is ready, and totals', () => {
  const story = createPlanStory();
  story.declare('a', [], { project: 'p' });
  story.declare('b', ['a'], { project: 'p' });
  story.declare('c');
  const claimOf = (id: string) => (id === 'a' ? { owner: 'bob' } : null);
  const board = boardPage(story.book, { project: 'p' }, claimOf);
  expect(board.rows).toMatchObject([
    { id: 'a', isReady: true, claim: { owner: 'bob' } },
    { id: 'b', isReady: false, claim: null },
  ]);
  expect(board.totals).toMatchObject({ tasks: 2, open: 2, ready: 1 });
  expect(boardPage(story.book, {}, claimOf).totals).toMatchObject({ tasks: 3, ready: 2 });
  expect(boardPage(story.book, { project: 'x' }, claimOf)).toMatchObject({
    rows: [],
    next: null,
    totals: { tasks: 0 },
  });
});

test('[PL10] the board is narrowed by project, status and readiness', () => {
  const story = createPlanStory();
  story.declare('a', [], { project: 'p' });
  story.declare('b', ['a']);
  story.declare('c');
  story.update('c', 'blocked');
  expect(walk(story, { ready: true }).flat()).toEqual(['a']);
  expect(walk(story, { ready: false }).flat()).toEqual(['b', 'c']);
  expect(walk(story, { status: 'blocked' }).flat()).toEqual(['c']);
  expect(walk(story, { project: 'p', status: 'blocked' }).flat()).toEqual([]);
});

test('[PL9] progress is read in pages, oldest first, of one task or all', () => {
  const story = createPlanStory();
  for (const id of ['a', null, 'a', 'b']) story.note(id);
  const first = progressPage(story.book, { limit: 3 });
  expect(first.rows.map((note) => note.seq)).toEqual([1, 2, 3]);
  expect(first.next).toBe(3);
  expect(progressPage(story.book, { after: 3 }).rows.map((note) => note.seq)).toEqual([4]);
  expect(progressPage(story.book, { taskId: 'a' }).rows.map((note) => note.seq)).toEqual([1, 3]);
  expect(progressPage(story.book, { taskId: null }).rows.map((note) => note.seq)).toEqual([2]);
});

test('[PL9] a cursor older than what is kept goes on at the oldest note there is', () => {
  const story = createPlanStory();
  for (let i = 0; i < 5010; i++) story.note(null);
  expect(progressPage(story.book, { after: 2, limit: 1 }).rows[0]?.seq).toBe(11);
  expect(progressPage(story.book, { after: 5009 }).rows.map((note) => note.seq)).toEqual([5010]);
});
