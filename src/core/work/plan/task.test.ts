import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPlanStory } from '../../../testing/plan-story.ts';
import { codeOf, createPrincipal } from '../../../testing/story.ts';
import type { Refusal } from '../../law/decider.ts';
import {
  CYCLE_NAMED_MAX,
  DEPENDENCIES_MAX,
  DEPENDENCIES_PER_TASK_MAX,
  NOTE_CHARS_MAX,
  NOTES_KEPT_MAX,
  PLAN_CHARS_MAX,
  TASK_DESCRIPTION_CHARS_MAX,
  TASKS_MAX,
  TASKS_PER_PROJECT_MAX,
} from '../work-limits.ts';
import { boardPage } from './board.ts';
import {
  createPlan,
  freezePlan,
  isReady,
  type PlanBook,
  TASK_STATUSES,
  type Task,
  type TaskNode,
  type TaskStatus,
  thawPlan,
} from './plan.ts';
import { decidePlan, evolvePlan } from './task.ts';

const bob = createPrincipal('bob');
const eve = createPrincipal('eve', { tier: 'untrusted' });
const eye = createPrincipal('eye', { kind: 'observer' });

const readyOf = (book: PlanBook) =>
  book.ids.filter((id) => isReady(book.nodes.get(id) as TaskNode));

describe('declaring', () => {
  test('[PL1] declares, and declaring again replaces the words but keeps status and origin', () => {
    const story = createPlanStory();
    story.declare(' a ', [], { project: 'p', suggestedOwner: 'ada', causalParent: 'm1' });
    story.update('a', 'in_progress');
    story.at += 10;
    story.declare('a', ['b'], { title: 'anew', description: 'more', by: bob, suggestedOwner: '' });
    expect(story.task('a')).toEqual({
      id: 'a',
      title: 'anew',
      description: 'more',
      project: 'p',
      dependsOn: ['b'],
      status: 'in_progress',
      suggestedOwner: null,
      version: 3,
      createdBy: 'ada',
      createdAt: 1_000_000,
      updatedAt: 1_000_010,
      causalParent: 'm1',
    } satisfies Task);
  });

  test('[PL1] declaring what is already so is no event', () => {
    const story = createPlanStory();
    story.declare('a', ['b']);
    story.at += 10;
    expect(story.declare('a', ['b'])).toMatchObject({ task: { version: 1, updatedAt: 1_000_000 } });
    expect(story.events).toHaveLength(1);
  });

  test('[PL1] the answer is the task that is there afterwards', () => {
    const story = createPlanStory();
    expect(story.declare('a', ['b'])).toMatchObject({ task: story.task('a') });
    expect(story.update('a', 'done')).toMatchObject({ task: story.task('a') });
  });

  test('[PL2] a cycle is refused and named, and nothing changes', () => {
    const story = createPlanStory();
    story.declare('a', ['b']);
    story.declare('b', ['c']);
    const before = freezePlan(story.book);
    const refusal = story.declare('c', ['x', 'a']);
    expect(refusal).toMatchObject({ refused: 'task.cycle', detail: { cycle: 'c -> a -> b -> c' } });
    expect(refusal).toMatchObject({ message: expect.stringContaining('c -> a -> b -> c') });
    expect(freezePlan(story.book)).toEqual(before);
  });

  test('[PL2] a cycle through a task that is only named so far is refused when it is declared', () => {
    const story = createPlanStory();
    story.declare('a', ['later']);
    expect(story.declare('later', ['a'])).toMatchObject({
      detail: { cycle: 'later -> a -> later' },
    });
  });

  test('[PL2] a long cycle is named by its beginning and its end', () => {
    const story = createPlanStory();
    for (let i = 0; i < 1000; i++) story.declare(`t${i}`, [`t${i + 1}`]);
    const refusal = story.declare('t1000', ['t0']);
    expect(codeOf(refusal)).toBe('task.cycle');
    const names = String((refusal as Refusal).detail?.cycle).split(' -> ');
    expect(names).toHaveLength(CYCLE_NAMED_MAX + 1);
    expect([names[0], names.at(-1)]).toEqual(['t1000', 't1000']);
    expect(names).toContain(`(${1002 - CYCLE_NAMED_MAX} more)`);
  });

  test('[PL3] the task itself and repetitions are dropped; what nobody declared is unmet and named', () => {
    const story = createPlanStory();
    story.declare('b');
    const answer = story.declare('a', ['a', ' b', 'b', 'ghost']);
    expect(answer).toMatchObject({ unmet: ['b', 'ghost'], unknown: ['ghost'] });
    expect(story.task('a').dependsOn).toEqual(['b', 'ghost']);
    expect(readyOf(story.book)).toEqual(['b']);
  });

  test('[PL8] what is not an id, a title or text is refused, and a dependency on nothing too', () => {
    const story = createPlanStory();
    for (const id of ['', '  ', 'a\nb', 'a\u200bb', 'x'.repeat(257), '\ud800']) {
      expect(codeOf(story.declare(id))).toBe('input.invalid');
      expect(codeOf(story.declare('a', [id]))).toBe('input.invalid');
    }
    for (const title of ['', ' ', 'two\nlines', 'x'.repeat(513)]) {
      expect(codeOf(story.declare('a', [], { title }))).toBe('input.invalid');
    }
    expect(codeOf(story.declare('a', [], { description: 'nul\0' }))).toBe('input.invalid');
    expect(codeOf(story.declare('a', [], { project: 'p\t' }))).toBeNull();
    expect(codeOf(story.declare('a', [], { project: 'p\tq' }))).toBe('input.invalid');
    expect(codeOf(story.declare('a', [], { suggestedOwner: 'a\u0007' }))).toBe('input.invalid');
    expect(codeOf(story.declare('a', [], { description: 'lines\n\tand 👩‍🚀' }))).toBeNull();
  });
});

describe('moving', () => {
  test('[PL6] a writer moves a task from any status to any', () => {
    const story = createPlanStory();
    story.declare('a');
    for (const from of TASK_STATUSES) {
      for (const to of TASK_STATUSES) {
        story.update('a', from);
        story.update('a', to, { by: bob });
        expect(story.task('a').status).toBe(to);
      }
    }
    expect(codeOf(story.update('a', 'lost' as TaskStatus))).toBe('input.invalid');
    expect(codeOf(story.update('b', 'done'))).toBe('task.not-found');
  });

  test('[PL6] neither an observer nor, where its messages are held, an untrusted agent writes', () => {
    const story = createPlanStory();
    story.declare('a');
    for (const by of [eye, eve]) {
      expect(codeOf(story.declare('b', [], { by }))).toBe('access.denied');
      expect(codeOf(story.update('a', 'done', { by }))).toBe('access.denied');
    }
    expect(story.events).toHaveLength(1);
    const note = { type: 'progress.post', by: eve, at: 1, taskId: 'a', kind: 'note' } as const;
    const free = { doesHoldUntrusted: false };
    expect(codeOf(decidePlan(story.book, { ...note, text: 'hi' }, free))).toBeNull();
  });

  test('[PL7] a stale version is refused with the one there is; 0 means not there yet', () => {
    const story = createPlanStory();
    expect(codeOf(story.declare('a', [], { expectedVersion: 1 }))).toBe('task.version');
    expect(codeOf(story.declare('a', [], { expectedVersion: 0 }))).toBeNull();
    expect(codeOf(story.declare('a', ['b'], { expectedVersion: 0 }))).toBe('task.version');
    expect(codeOf(story.update('a', 'done', { expectedVersion: 1 }))).toBeNull();
    expect(story.update('a', 'open', { expectedVersion: 1 })).toMatchObject({
      refused: 'task.version',
      detail: { expected: 1, actual: 2 },
    });
    expect(codeOf(story.update('a', 'open', { expectedVersion: Number.NaN }))).toBe('task.version');
    expect(story.task('a').status).toBe('done');
  });

  test('[PL6] an empty suggested owner clears, an absent one keeps', () => {
    const story = createPlanStory();
    story.declare('a', [], { suggestedOwner: 'bob' });
    story.update('a', 'blocked');
    expect(story.task('a').suggestedOwner).toBe('bob');
    story.update('a', 'blocked', { suggestedOwner: '' });
    expect(story.task('a')).toMatchObject({ suggestedOwner: null, version: 3 });
  });

  test('[PL15] only what has ended and nobody waits for is removed', () => {
    const story = createPlanStory();
    const remove = (id: string) => codeOf(story.do({ type: 'task.remove', by: bob, at: 1, id }));
    story.declare('a');
    story.declare('b', ['a']);
    expect(remove('a')).toBe('task.needed');
    story.update('a', 'done');
    expect(remove('a')).toBe('task.needed');
    story.update('b', 'cancelled');
    expect(remove('a')).toBeNull();
    expect(remove('a')).toBe('task.not-found');
    expect(story.book.ids).toEqual(['b']);
    expect(remove('b')).toBeNull();
    expect(story.book).toEqual(createPlan());
  });
});

describe('progress', () => {
  test('[PL9] notes are kept in order, the newest of them, about any id or none', () => {
    const story = createPlanStory();
    for (let i = 0; i < NOTES_KEPT_MAX + 3; i++)
      story.note(i % 2 ? 'ghost' : null, 'note', `n${i}`);
    expect(story.book.notes).toHaveLength(NOTES_KEPT_MAX);
    expect(story.book.notes[0]).toEqual({
      seq: 4,
      taskId: 'ghost',
      kind: 'note',
      text: 'n3',
      author: 'ada',
      at: 1_000_000,
    });
    expect(story.book.notes.at(-1)?.seq).toBe(NOTES_KEPT_MAX + 3);
  });

  test('[PL9] a note has text, of a bounded length, and a known kind', () => {
    const story = createPlanStory();
    const post = (text: string, kind = 'note') =>
      codeOf(
        story.do({
          type: 'progress.post',
          by: bob,
          at: 1,
          taskId: 'a',
          kind: kind as 'note',
          text,
        }),
      );
    expect([
      post(''),
      post(' \n'),
      post('x'.repeat(NOTE_CHARS_MAX + 1)),
      post('x', 'rant'),
    ]).toEqual(Array(4).fill('input.invalid'));
    expect(post('x'.repeat(NOTE_CHARS_MAX))).toBeNull();
  });
});

const owner = createPrincipal('owner', { kind: 'admin', tier: 'owner' });

describe('bounds', () => {
  test('[PL8] a project, a plan, and the dependencies of a task are bounded', () => {
    const story = createPlanStory();
    const many = Array.from({ length: DEPENDENCIES_PER_TASK_MAX + 1 }, (_, i) => `d${i}`);
    expect(story.declare('a', many)).toMatchObject({
      detail: { limit: 'DEPENDENCIES_PER_TASK_MAX' },
    });
    for (let i = 0; i < TASKS_MAX; i++) {
      story.declare(`t${i}`, [], {
        by: owner,
        project: `p${Math.floor(i / TASKS_PER_PROJECT_MAX)}`,
      });
    }
    expect(story.declare('more')).toMatchObject({ detail: { limit: 'TASKS_MAX' } });
    expect(story.declare('t0', [], { project: 'p1' })).toMatchObject({
      refused: 'limit.reached',
      detail: { limit: 'TASKS_PER_PROJECT_MAX' },
    });
    expect(codeOf(story.declare('t0', ['t1'], { by: owner, project: 'p0' }))).toBeNull();
    expect(story.book.nodes.size).toBe(TASKS_MAX);
  });

  test('[PL8] all dependencies together, and all text together, are bounded', () => {
    const story = createPlanStory();
    const deps = Array.from({ length: DEPENDENCIES_PER_TASK_MAX }, (_, i) => `d${i}`);
    const fits = Math.floor(DEPENDENCIES_MAX / DEPENDENCIES_PER_TASK_MAX);
    for (let i = 0; i < fits; i++) story.declare(`t${i}`, deps, { by: owner });
    expect(story.declare('more', deps, { by: owner })).toMatchObject({
      detail: { limit: 'DEPENDENCIES_MAX' },
    });
    expect(codeOf(story.declare('t0', []))).toBeNull();
    expect(codeOf(story.declare('more', deps, { by: owner }))).toBeNull();
    const description = 'x'.repeat(TASK_DESCRIPTION_CHARS_MAX);
    let refusal = null;
    for (let i = 0; refusal === null && i < TASKS_MAX; i++) {
      const answer = story.declare(`u${i}`, [], { by: owner, description });
      if (codeOf(answer) !== null) refusal = answer;
    }
    expect(refusal).toMatchObject({ detail: { limit: 'PLAN_CHARS_MAX' } });
    expect(story.book.chars).toBeLessThanOrEqual(PLAN_CHARS_MAX);
  });
});

/** Ten ids, so that random dependencies meet often. */
const id = fc.integer({ min: 0, max: 9 }).map((n) => `t${n}`);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ id, deps: fc.array(id, { maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ id, status: fc.constantFrom(...TASK_STATUSES) }) },
  { weight: 1, arbitrary: fc.record({ id, isRemoval: fc.constant(true) }) },
);

function isAcyclic(book: PlanBook): boolean {
  const left = new Map([...book.nodes].map(([key, node]) => [key, new Set(node.task.dependsOn)]));
  for (;;) {
    const free = [...left].find(([, deps]) => [...deps].every((dep) => !left.has(dep)));
    if (free === undefined) return left.size === 0;
    left.delete(free[0]);
  }
}

/** Readiness as the rule says it, without any index. */
function readyByRule(book: PlanBook): string[] {
  const tasks = [...book.nodes.values()].map((node) => node.task);
  const ended = (key: string) => {
    const status = tasks.find((task) => task.id === key)?.status;
    return status === 'done' || status === 'cancelled';
  };
  return tasks
    .filter((task) => task.status === 'open' && task.dependsOn.every(ended))
    .map((task) => task.id)
    .sort();
}

test('[PL2] [PL4] [PL5] [PL16] no history makes a cycle, an index that lies, or a book that does not thaw', () => {
  let cycles = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
      const story = createPlanStory();
      for (const one of steps) {
        story.at += 7;
        const before = JSON.stringify(freezePlan(story.book));
        const outcome =
          'deps' in one
            ? story.declare(one.id, one.deps, { project: one.deps.length > 1 ? 'p' : '' })
            : 'status' in one
              ? story.update(one.id, one.status)
              : story.do({ type: 'task.remove', by: bob, at: story.at, id: one.id });
        if (codeOf(outcome) === 'task.cycle') cycles++;
        if (codeOf(outcome) !== null) expect(JSON.stringify(freezePlan(story.book))).toBe(before);
        expect(isAcyclic(story.book)).toBe(true);
        expect(readyOf(story.book)).toEqual(readyByRule(story.book));
      }
      const { book } = story;
      const tasks = [...book.nodes.values()].map((node) => node.task);
      for (const status of TASK_STATUSES) {
        expect(book.totals[status]).toBe(tasks.filter((task) => task.status === status).length);
      }
      expect(book.totals.ready).toBe(readyByRule(book).length);
      expect(book.projects.get('p')?.tasks ?? 0).toBe(
        tasks.filter((task) => task.project === 'p').length,
      );
      expect(book.edges).toBe(tasks.flatMap((task) => task.dependsOn).length);
      expect(boardPage(book, {}, () => null).rows.map((row) => row.id)).toEqual(
        tasks.map((task) => task.id).sort(),
      );
      expect(thawPlan(JSON.parse(JSON.stringify(freezePlan(book))))).toEqual(book);
    }),
    { numRuns: 300 },
  );
  expect(cycles).toBeGreaterThan(20);
});

test('[PL16] the same events make the same plan, and an event about what is not there is harmless', () => {
  const story = createPlanStory();
  story.declare('a', ['b']);
  story.note('a');
  story.update('a', 'blocked');
  const again = createPlan();
  for (const event of JSON.parse(JSON.stringify(story.events))) evolvePlan(again, event);
  expect(again).toEqual(story.book);
  const at = 1;
  evolvePlan(again, { type: 'task.removed', at, by: 'x', id: 'ghost' });
  evolvePlan(again, { type: 'task.escalated', at, by: 'x', id: 'ghost', status: 'open', tries: 3 });
  expect(again).toEqual(story.book);
});
