/** The arrows of an instance, its leases and its failures, told to the law alone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accepted, codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { isRefusal } from '../law/decider.ts';
import type { StartInstance } from './process-events.ts';
import { ENDED_INSTANCES_MAX, FAILURES_IN_A_ROW } from './process-limits.ts';
import { ARROWS, type InstanceState, instancesOf } from './process-state.ts';

const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
const ada = createPrincipal('ada');
const LIMITS = { capabilities: [], isSingleton: false, limits: {}, card: null };
const STATES = Object.keys(ARROWS) as InstanceState[];

function define(maxInstances = 2): Story {
  const story = createStory();
  story.do(root, { type: 'agent.define', agent: 'ada', ...LIMITS, maxInstances });
  return story;
}

function start(story: Story, by = ada, leaseMs = 86_400_000): string {
  const ask = { agent: 'ada', isHeld: true, host: 'box', leaseMs } as const;
  return accepted(story.do<StartInstance>(by, { type: 'instance.start', ...ask })).id;
}

function report(story: Story, id: string, state: InstanceState | null, epoch = 1, by = ada) {
  const said = { id, epoch, state, pid: null, usage: null, reason: 'r', lines: ['l'] };
  return story.do(by, { type: 'instance.report', ...said });
}

test('[IP3] whatever a host reports, only arrows of the table are told, and others name both', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...STATES), { maxLength: 30 }), (said) => {
      const story = define();
      const id = start(story);
      for (const state of said) {
        const book = story.world.processes;
        const before = book.live.get(id) ?? book.ended.get(id);
        const answer = report(story, id, state);
        const after = book.live.get(id) ?? book.ended.get(id);
        const mayGo = before?.state === state || ARROWS[before?.state ?? 'stopped'].includes(state);
        expect(isRefusal(answer)).toBe(!mayGo);
        if (isRefusal(answer)) {
          expect(answer.detail).toMatchObject({ from: before?.state, to: state });
          expect(after).toEqual(before);
        } else if (after?.state !== state) expect([state, after?.state]).toContain('given_up');
      }
    }),
  );
});

test('[IP4] there are never more than the definition allows, however starts, ends and lapses mix', () => {
  const step = fc.oneof(
    fc.constant('start' as const),
    fc.constant('take' as const),
    fc.constant('stop' as const),
    fc.constant('pass' as const),
    fc.record({
      nth: fc.nat(3),
      state: fc.constantFrom(...STATES),
      epoch: fc.integer({ min: 1, max: 3 }),
    }),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 40 }),
      (most, steps) => {
        const story = define(most);
        for (const one of steps) {
          const hold = { host: null, leaseMs: 1_000 };
          if (one === 'start') {
            story.do(ada, { type: 'instance.start', agent: 'ada', isHeld: true, ...hold });
          } else if (one === 'take')
            story.do(ada, { type: 'instance.take', agents: null, ...hold });
          else if (one === 'stop') {
            story.do(root, { type: 'instance.stop', id: null, agent: 'ada', reason: null });
          } else if (one === 'pass') story.pass(500);
          else {
            const { id = '' } = instancesOf(story.world.processes, 'ada')[one.nth] ?? {};
            report(story, id, one.state, one.epoch);
          }
          expect(instancesOf(story.world.processes, 'ada').length).toBeLessThanOrEqual(most);
        }
      },
    ),
  );
});

test('[IP5] [IP6] a lapsed lease is a failure, another host takes over, and the first is refused', () => {
  const story = define(1);
  const id = start(story, ada, 1_000);
  report(story, id, 'running');
  story.pass(999);
  expect(isRefusal(report(story, id, null))).toBe(false);
  story.pass(1_000);
  expect(story.world.processes.live.get(id)).toMatchObject({ state: 'failed', leaseUntil: null });
  const hold = { agents: null, host: 'other', leaseMs: 1_000 };
  story.do(root, { type: 'instance.take', ...hold });
  expect(story.world.processes.live.get(id)).toMatchObject({ state: 'starting', epoch: 2 });
  expect(codeOf(report(story, id, 'running', 1))).toBe('instance.stale');
  expect(codeOf(report(story, id, 'running', 2))).toBe('instance.stale');
  expect(isRefusal(report(story, id, 'running', 2, root))).toBe(false);
});

test('[IP7] the fifth failure is the last, unless a healthy minute lies between', () => {
  const story = define();
  const id = start(story);
  for (let i = 1; i < FAILURES_IN_A_ROW; i++) {
    report(story, id, 'failed');
    report(story, id, 'starting');
  }
  report(story, id, 'running');
  story.pass(60_000);
  report(story, id, 'failed');
  expect(story.world.processes.live.get(id)).toMatchObject({ state: 'failed', failures: 1 });
  for (let i = 1; i < FAILURES_IN_A_ROW; i++) {
    report(story, id, 'starting');
    report(story, id, 'failed');
  }
  expect(story.world.processes.ended.get(id)).toMatchObject({ state: 'given_up', lines: ['l'] });
});

test('[IP6] of what is over the newest are remembered', () => {
  const story = define();
  for (let i = 0; i <= ENDED_INSTANCES_MAX; i++) {
    const id = start(story);
    report(story, id, 'stopping');
    report(story, id, 'stopped');
  }
  const { ended, live, byAgent } = story.world.processes;
  expect([ended.size, ended.has('i1'), live.size, byAgent.size]).toEqual([1_000, false, 0, 0]);
});
