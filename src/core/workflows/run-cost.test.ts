/** What the law of runs costs where there is much of everything: counted, and in proportion to what there is. */
import { expect, test } from 'vitest';
import { accepted, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import type { RunEntry, StartRun, TakeRuns } from './run-events.ts';
import type { Run, Wait } from './run-state.ts';

const ada = createPrincipal('ada');

function start(story: Story, id: string, more: Partial<StartRun> = {}): void {
  const plain = {
    ...{ version: null, input: undefined, digest: 'd', queue: null, key: null, priority: 0 },
    ...{ delayMs: 0, dedup: null, parent: null, steps: [], traceparent: null },
  };
  accepted(story.do<StartRun>(ada, { type: 'run.start', name: 'job', id, ...plain, ...more }));
}

function take(story: Story, limit: number): string[] {
  const workflows = [{ name: 'job', version: null }];
  const command = { type: 'run.take', workflows, executor: 'box', limit, leaseMs: null } as const;
  return accepted(story.do<TakeRuns>(ada, command)).taken.map(({ id }) => id);
}

const record = (story: Story, id: string, entries: RunEntry[]) =>
  accepted(story.do(ada, { type: 'run.record', id, epoch: 1, entries, leaseMs: null }));

/** How often lists are searched by one element after the other while something is done. */
function countSearched(act: () => void): number {
  const { some } = Array.prototype;
  let count = 0;
  Array.prototype.some = function (this: unknown[], is: (one: unknown) => unknown): boolean {
    return some.call(this, (one) => {
      count++;
      return is(one);
    });
  } as typeof some;
  try {
    act();
  } finally {
    Array.prototype.some = some;
  }
  return count;
}

test('[WF12] taking of two thousand lines looks at each line once, and at each run that it gives', () => {
  const story = createStory();
  const count = 2_000;
  for (let i = 0; i < count; i++) start(story, `a${1_000 + i}`, { key: `k${i}`, priority: i % 7 });
  const { live } = story.world.workflows;
  const get = live.get.bind(live);
  let looks = 0;
  live.get = (id) => {
    looks++;
    return get(id);
  };
  let taken: string[] = [];
  const searched = countSearched(() => {
    taken = take(story, 100);
  });
  live.get = get;
  expect(looks).toBeLessThan(1_000);
  expect(searched).toBeLessThan(10 * count);
  // The highest priority first, and of one the one that has waited longest.
  expect(taken).toEqual(Array.from({ length: 100 }, (_, i) => `a${1_006 + 7 * i}`));
});

test('[WF8] [WF17] what is said of a step looks at each wait of the run a few times', () => {
  const story = createStory();
  start(story, 'a');
  take(story, 1);
  const count = 200;
  const ask = (_: unknown, i: number): RunEntry => ({
    ...{ kind: 'waiting', step: `s${i}`, on: { answer: 'may it?' } },
  });
  record(story, 'a', Array.from({ length: count }, ask));
  const run = story.world.workflows.live.get('a') as Run;
  let looks = 0;
  run.waits = run.waits.map((wait): Wait => {
    const { on } = wait;
    return Object.defineProperty({ ...wait }, 'on', {
      enumerable: true,
      get() {
        looks++;
        return on;
      },
    });
  });
  const skipped = Array.from(
    { length: 10 },
    (_, i) => ({ kind: 'skipped', step: `s${i}` }) as const,
  );
  record(story, 'a', skipped);
  expect(looks).toBeLessThan(20 * skipped.length * count);
  expect(story.world.docket.subjects.size).toBe(count - skipped.length);
});

test('[WF15] new names for many steps are looked up, and not searched for', () => {
  const story = createStory();
  start(story, 'a');
  take(story, 1);
  const count = 1_000;
  const step = (i: number): RunEntry => ({ kind: 'completed', step: `s${i}` });
  for (let i = 0; i < count; i += 250) {
    record(
      story,
      'a',
      Array.from({ length: 250 }, (_, j) => step(i + j)),
    );
  }
  record(story, 'a', [{ kind: 'ended', state: 'failed' }]);
  const map = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`s${999 - i}`, `x${i}`]));
  const searched = countSearched(() => {
    accepted(story.do(ada, { type: 'run.retry', id: 'a', fromStep: null, map }));
  });
  expect(searched).toBeLessThan(10 * count);
});
