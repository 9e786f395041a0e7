/** A run that waits for an agent's turn, told to the law alone: it goes on with the end of that turn. */
import { expect, test } from 'vitest';
import { accepted, type Story } from '../../testing/story.ts';
import { ada, finish, kim, taken, tell, wes } from '../../testing/turn-story.ts';
import type { RunEntry, StartRun, TakeRuns } from './run-events.ts';
import { findRun, type Wait } from './run-state.ts';

const HOUR = 3_600_000;

/** Ada's run has asked wes, who is managed, and sleeps. */
function asked(isBusyFirst = false): { story: Story; position: number } {
  const story = tell();
  const plain = {
    ...{ version: null, input: undefined, digest: 'd', queue: null, key: null, priority: 0 },
    ...{ delayMs: 0, dedup: null, parent: null, steps: [], traceparent: null },
  };
  accepted(story.do<StartRun>(ada, { type: 'run.start', name: 'job', id: 'a', ...plain }));
  takeRun(story);
  const { position } = story.send(ada, 'jobs');
  if (!isBusyFirst) sleep(story, position);
  return { story, position };
}

function takeRun(story: Story): string[] {
  const workflows = [{ name: 'job', version: null }];
  const command = {
    type: 'run.take',
    workflows,
    executor: 'box',
    limit: 1,
    leaseMs: HOUR,
  } as const;
  return accepted(story.do<TakeRuns>(ada, command)).taken.map(({ id }) => id);
}

function sleep(story: Story, replies: number): void {
  const on = { replies, count: 1, as: 'turn' } as const;
  const entries: RunEntry[] = [{ kind: 'waiting', step: 't', on }, { kind: 'released' }];
  const epoch = findRun(story.world.workflows, 'a')?.epoch as number;
  accepted(story.do(ada, { type: 'run.record', id: 'a', epoch, entries, leaseMs: null }));
}

const waitOf = (story: Story): Wait | undefined => findRun(story.world.workflows, 'a')?.waits[0];

test('[WF8] a reply within the turn is the answer when the turn ends, with what it cost', () => {
  const { story, position } = asked();
  const turn = taken(story);
  story.send(wes, 'jobs', { replyTo: position });
  expect(takeRun(story)).toEqual([]);
  expect(waitOf(story)?.had).toHaveLength(1);
  accepted(finish(story, turn, 'done'));
  expect(takeRun(story)).toEqual(['a']);
  expect(waitOf(story)?.ended).toMatchObject({ by: 'event', word: 'done', who: turn.turn.id });
});

test('[WF8] a reply from outside any turn is the answer at once', () => {
  const { story, position } = asked();
  story.send(wes, 'jobs', { replyTo: position });
  expect(takeRun(story)).toEqual(['a']);
  expect(waitOf(story)?.ended).toMatchObject({ word: null, who: null });
});

test.each(['done', 'nothing', 'gave_up'])(
  '[WF8] a turn that is %s without a reply ends it',
  (outcome) => {
    const { story } = asked();
    const turn = taken(story);
    accepted(finish(story, turn, outcome));
    expect(takeRun(story)).toEqual(['a']);
    expect(waitOf(story)).toMatchObject({ had: [], ended: { word: outcome, who: turn.turn.id } });
  },
);

test('[WF8] a turn that is cancelled ends it; one that is paused begins again, and it waits', () => {
  const { story, position } = asked();
  const paused = taken(story);
  accepted(story.do(kim, { type: 'agent.pause', agent: 'wes', reason: null }));
  expect(takeRun(story)).toEqual([]);
  accepted(story.do(kim, { type: 'agent.resume', agent: 'wes' }));
  const next = taken(story);
  expect(next.turn.id).not.toBe(paused.turn.id);
  expect(next.turn.messages.map((one) => one.position)).toContain(position);
  accepted(story.do(kim, { type: 'turn.cancel', id: next.turn.id, reason: 'enough' }));
  expect(takeRun(story)).toEqual(['a']);
  expect(waitOf(story)?.ended).toMatchObject({ word: 'cancelled', who: next.turn.id });
});

test('[WF8] a turn that was over before the wait began ends it at once', () => {
  const { story, position } = asked(true);
  const turn = taken(story);
  accepted(finish(story, turn, 'gave_up'));
  sleep(story, position);
  expect(takeRun(story)).toEqual(['a']);
  expect(waitOf(story)?.ended).toMatchObject({ word: 'gave_up', who: turn.turn.id });
});

test('[WF8] of two turns that a run waits for each ends its own wait', () => {
  const { story, position } = asked(true);
  const other = story.send(ada, 'elsewhere').position;
  const on = (replies: number) => ({ replies, count: 1, as: 'turn' }) as const;
  const entries: RunEntry[] = [
    { kind: 'waiting', step: 't', on: on(position) },
    { kind: 'waiting', step: 'u', on: on(other) },
    { kind: 'released' },
  ];
  const epoch = findRun(story.world.workflows, 'a')?.epoch as number;
  accepted(story.do(ada, { type: 'run.record', id: 'a', epoch, entries, leaseMs: null }));
  const turn = taken(story);
  accepted(finish(story, turn, 'done'));
  expect(takeRun(story)).toEqual(['a']);
  const ends = findRun(story.world.workflows, 'a')?.waits.map(({ step, ended }) => [step, ended]);
  expect(ends).toEqual([
    ['t', expect.objectContaining({ who: turn.turn.id })],
    ['u', null],
  ]);
});
