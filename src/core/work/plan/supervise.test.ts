import { describe, expect, test } from 'vitest';
import { createPlanStory, type PlanStory } from '../../../testing/plan-story.ts';
import { createPrincipal } from '../../../testing/story.ts';
import { SERVER } from '../../law/principal.ts';
import { REOFFERS_MAX, STALLED_AFTER_MS, SUPERVISED_AT_ONCE_MAX } from '../work-limits.ts';
import { freezePlan, thawPlan } from './plan.ts';
import { superviseDue } from './supervise.ts';
import { type ClaimOutcome, onClaimEnded, onClaimTaken } from './task-claim.ts';

const mia = createPrincipal('mia', { kind: 'human', tier: 'owner' });
const nobody = () => false;

const take = (story: PlanStory, taskId: string) =>
  story.record(onClaimTaken(story.book, { taskId, agent: 'bob', at: story.at }));

const end = (story: PlanStory, taskId: string, outcome: ClaimOutcome, note?: string) =>
  story.record(
    onClaimEnded(story.book, {
      taskId,
      agent: 'bob',
      at: story.at,
      outcome,
      ...(note !== undefined && { note }),
    }),
  );

const look = (story: PlanStory, leaseAlive: (id: string) => boolean = nobody) =>
  story.record(superviseDue(story.book, leaseAlive, story.at));

/** In progress by somebody's word alone, without a claim. */
function stall(story: PlanStory, id: string): void {
  story.update(id, 'in_progress');
  story.at += STALLED_AFTER_MS;
}

describe('the plan follows the claims', () => {
  test('[PL11] a claim starts its task, and its end ends it', () => {
    const story = createPlanStory();
    story.declare('a');
    story.declare('b', ['a']);
    take(story, 'a');
    expect(story.task('a')).toMatchObject({ status: 'in_progress', version: 2 });
    expect(take(story, 'a')).toEqual([]);
    end(story, 'a', 'done');
    expect(story.task('a').status).toBe('done');
    expect(story.book.totals.ready).toBe(1);
  });

  test('[PL11] what has ended is not reopened by a claim, and an id off the plan changes nothing', () => {
    const story = createPlanStory();
    story.declare('a');
    story.update('a', 'cancelled');
    expect(take(story, 'a')).toEqual([]);
    for (const outcome of ['done', 'failed', 'released', 'expired'] as const) {
      expect(end(story, 'a', outcome)).toEqual([]);
      expect(end(story, 'ghost', outcome)).toEqual([]);
    }
    expect(take(story, 'ghost')).toEqual([]);
  });

  test('[PL11] a failed claim blocks its task and says why', () => {
    const story = createPlanStory();
    story.declare('a');
    take(story, 'a');
    expect(end(story, 'a', 'failed', 'no disk')).toEqual(['progress.noted', 'task.updated']);
    expect(story.task('a').status).toBe('blocked');
    expect(story.book.notes[0]).toMatchObject({
      taskId: 'a',
      kind: 'blocked',
      author: 'bob',
      text: 'the claim failed: no disk',
    });
  });

  test.each(['released', 'expired'] as const)(
    '[PL11] a claim that is %s gives the task back',
    (outcome) => {
      const story = createPlanStory();
      story.declare('a');
      take(story, 'a');
      end(story, 'a', outcome);
      expect(story.task('a').status).toBe('open');
      expect(story.book.totals.ready).toBe(1);
      story.update('a', 'blocked');
      expect(end(story, 'a', outcome)).toEqual([]);
    },
  );

  test('[PL13] a task that outlives holder after holder still comes back, and a person is told once', () => {
    const story = createPlanStory();
    story.declare('a');
    const seen: string[] = [];
    for (let i = 0; i < REOFFERS_MAX + 3; i++) {
      take(story, 'a');
      seen.push(...end(story, 'a', 'expired'));
      expect(story.task('a').status).toBe('open');
    }
    expect(seen.filter((type) => type === 'task.escalated')).toHaveLength(1);
    expect(seen.indexOf('task.escalated')).toBe(REOFFERS_MAX + 1);
  });
});

describe('the supervisor', () => {
  test('[PL12] a task in progress that nobody moves is offered again, with a note', () => {
    const story = createPlanStory();
    story.declare('a');
    story.update('a', 'in_progress');
    story.at += STALLED_AFTER_MS - 1;
    expect(look(story)).toEqual([]);
    story.at += 1;
    expect(look(story)).toEqual(['progress.noted', 'task.updated']);
    expect(story.task('a')).toMatchObject({ status: 'open', version: 3 });
    expect(story.book.notes[0]).toMatchObject({
      kind: 'assessment',
      author: '__server__',
      taskId: 'a',
    });
    expect(look(story)).toEqual([]);
  });

  test('[PL12] progress counts as movement', () => {
    const story = createPlanStory();
    story.declare('a');
    stall(story, 'a');
    story.note('a', 'blocked');
    expect(look(story)).toEqual([]);
  });

  test('[PL12] a task whose lease is alive is left alone, in progress or blocked', () => {
    const story = createPlanStory();
    story.declare('a');
    story.declare('b');
    story.update('b', 'blocked');
    stall(story, 'a');
    expect(look(story, () => true)).toEqual([]);
    expect(look(story, (id) => id === 'a')).toHaveLength(2);
    expect(story.task('b').status).toBe('open');
  });

  test('[PL12] a blocked task is offered as soon as what it waited for has ended', () => {
    const story = createPlanStory();
    story.declare('a');
    story.declare('b', ['a']);
    story.update('b', 'blocked');
    story.at += STALLED_AFTER_MS;
    expect(look(story)).toEqual([]);
    story.note('b', 'blocked');
    story.at += 1;
    story.update('a', 'cancelled');
    expect(look(story)).toEqual(['progress.noted', 'task.updated']);
    expect(story.task('b').status).toBe('open');
  });

  test('[PL12] a task blocked by something the plan does not know is left a while', () => {
    const story = createPlanStory();
    story.declare('a');
    story.update('a', 'blocked');
    story.at += STALLED_AFTER_MS - 1;
    expect(look(story)).toEqual([]);
    story.at += 1;
    expect(look(story)).toHaveLength(2);
  });

  test('[PL13] after so many tries a person is told, once, and the task is left as it is', () => {
    const story = createPlanStory();
    story.declare('a');
    for (let i = 0; i < REOFFERS_MAX; i++) {
      stall(story, 'a');
      expect(look(story)).toHaveLength(2);
    }
    stall(story, 'a');
    expect(look(story)).toEqual(['task.escalated']);
    expect(story.events.at(-1)).toMatchObject({
      id: 'a',
      tries: REOFFERS_MAX,
      status: 'in_progress',
    });
    story.at += STALLED_AFTER_MS;
    expect(look(story)).toEqual([]);
    expect(story.task('a').status).toBe('in_progress');
  });

  test('[PL13] a task that fails whoever takes it ends with a person', () => {
    const story = createPlanStory();
    story.declare('a');
    const seen: string[] = [];
    for (let i = 0; i < 10 && !seen.includes('task.escalated'); i++) {
      take(story, 'a');
      end(story, 'a', 'failed');
      story.at += STALLED_AFTER_MS;
      seen.push(...look(story));
    }
    expect(seen.filter((type) => type === 'task.updated')).toHaveLength(REOFFERS_MAX);
    expect(seen.at(-1)).toBe('task.escalated');
  });

  test.each([
    ['a note', (story: PlanStory) => story.note('a')],
    ['an end', (story: PlanStory) => story.update('a', 'done')],
    ['a person', (story: PlanStory) => story.update('a', 'in_progress', { by: mia })],
  ])('[PL14] %s starts the count anew', (_, act) => {
    const story = createPlanStory();
    story.declare('a');
    for (let i = 0; i <= REOFFERS_MAX; i++) {
      stall(story, 'a');
      look(story);
    }
    expect(story.book.nodes.get('a')?.isEscalated).toBe(true);
    act(story);
    expect(story.book.nodes.get('a')).toMatchObject({ isEscalated: false, tries: 0 });
    story.update('a', 'open');
    stall(story, 'a');
    expect(look(story)).toHaveLength(2);
  });

  test('[PL14] being stuck, taken by one more agent, or spoken of by the hub is no progress', () => {
    const story = createPlanStory();
    story.declare('a');
    stall(story, 'a');
    look(story);
    story.note('a', 'blocked');
    story.update('a', 'blocked');
    take(story, 'a');
    const { at } = story;
    const note = { taskId: 'a', kind: 'note', text: 'still there' } as const;
    story.record([{ type: 'progress.noted', at, by: SERVER.id, ...note }]);
    expect(story.book.nodes.get('a')?.tries).toBe(1);
  });

  test('[PL12] one look handles a bounded number, the next the rest', () => {
    const story = createPlanStory();
    for (let i = 0; i < SUPERVISED_AT_ONCE_MAX + 5; i++) {
      story.declare(`t${i}`);
      story.update(`t${i}`, 'in_progress');
    }
    story.at += STALLED_AFTER_MS;
    expect(look(story)).toHaveLength(SUPERVISED_AT_ONCE_MAX * 2);
    expect(look(story)).toHaveLength(10);
    expect(look(story)).toEqual([]);
  });

  test('[PL16] a thawed plan is supervised like the one that was frozen', () => {
    const story = createPlanStory();
    story.declare('a');
    story.declare('b', ['a']);
    story.update('b', 'blocked');
    stall(story, 'a');
    look(story);
    story.update('a', 'done');
    const thawed = thawPlan(JSON.parse(JSON.stringify(freezePlan(story.book))));
    expect(superviseDue(thawed, nobody, story.at)).toEqual(
      superviseDue(story.book, nobody, story.at),
    );
    expect(superviseDue(thawed, nobody, story.at)).toHaveLength(2);
  });
});
