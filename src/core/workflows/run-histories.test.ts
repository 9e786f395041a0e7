/**
 * Goal: whatever is asked of runs, in whatever order and at whatever time, the law's state is the one that a
 * second, plain telling of its entries gives, a thawed world is the same world, and a journal is what was packed.
 * Method: random histories against the model of the simulator. SYNOD_HISTORIES says how many.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { portray } from '../../testing/compare.ts';
import { createRunModel } from '../../testing/run-model.ts';
import { portrayRuns } from '../../testing/run-simulator.ts';
import { createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
import type { RunEntry, WaitAsked } from './run-events.ts';
import { packSteps, type Step, stepId, unpackSteps } from './steps.ts';

const numRuns = Number(process.env.SYNOD_HISTORIES ?? 300);
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
const ada = createPrincipal('ada');
const bob = createPrincipal('bob', { tier: 'trusted' });
const STEPS = ['one', 'two', 'three'];
const ERROR = { name: 'Error', message: 'm', terminal: false };
const QUEUE = { concurrency: 2, perKey: 1, perAgent: null, rate: null, executors: [] };

const id = fc.nat(4).map((n) => `a${n}`);
const step = fc.constantFrom(...STEPS);
const on: fc.Arbitrary<WaitAsked> = fc.oneof(
  fc.nat(3_000).map((timer) => ({ timer })),
  fc.constantFrom('go', 'stop').map((signal) => ({ signal })),
  id.map((child) => ({ child })),
  fc.constant({ answer: 'it may have run' }),
);
const entry: fc.Arbitrary<RunEntry> = fc.oneof(
  step.map((one): RunEntry => ({ kind: 'started', step: one, policy: 'ask' })),
  step.map((one): RunEntry => ({ kind: 'completed', step: one, result: one })),
  step.map((one): RunEntry => ({ kind: 'failed', step: one, error: ERROR, retryMs: 1_000 })),
  step.map((one): RunEntry => ({ kind: 'failed', step: one, error: ERROR })),
  fc.tuple(step, on).map(([one, what]): RunEntry => ({ kind: 'waiting', step: one, on: what })),
  fc
    .tuple(step, fc.constantFrom('skipped', 'cancelled', 'compensating', 'compensated'))
    .map(([one, kind]) => ({ kind, step: one }) as RunEntry),
  step.map((one): RunEntry => ({ kind: 'compensation_failed', step: one, error: ERROR })),
  fc.constantFrom(
    ...([{ kind: 'released' }, { kind: 'released' }, { kind: 'compensate' }] as const),
    ...([
      { kind: 'stuck', difference: 'd' },
      { kind: 'ended', state: 'completed' },
    ] as const),
    ...([{ kind: 'ended', state: 'failed' }] as const),
    ...([{ kind: 'ended', state: 'compensation_failed' }] as const),
  ),
) as fc.Arbitrary<RunEntry>;

type Act = (story: Story) => void;
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.tuple(id, fc.boolean(), fc.constantFrom('k', null)).map(
    ([one, isQueued, key]): Act =>
      (story) =>
        story.do(ada, {
          ...{ type: 'run.start', id: one, name: 'job', version: null, input: 1, digest: 'd' },
          ...{ queue: isQueued ? 'q' : null, key, priority: 0, delayMs: isQueued ? 0 : 500 },
          ...{ dedup: null, parent: null, steps: [], traceparent: null },
        } as never),
  ),
  fc.integer({ min: 1, max: 3 }).map(
    (limit): Act =>
      (story) => {
        const workflows = [{ name: 'job', version: null }];
        story.do(bob, { type: 'run.take', workflows, executor: 'box', limit, leaseMs: 2_000 });
      },
  ),
  fc.tuple(id, fc.array(entry, { minLength: 1, maxLength: 3 }), fc.boolean()).map(
    ([one, entries, isStale]): Act =>
      (story) => {
        const epoch = (story.world.workflows.live.get(one)?.epoch ?? 1) + (isStale ? -1 : 0);
        story.do(bob, { type: 'run.record', id: one, epoch, entries, leaseMs: null });
      },
  ),
  fc.tuple(id, fc.constantFrom('go', 'stop')).map(
    ([one, name]): Act =>
      (story) => {
        story.do(ada, { type: 'run.signal', id: one, name, value: 1 });
      },
  ),
  id.map(
    (one): Act =>
      (story) =>
        story.do(ada, { type: 'run.cancel', id: one, reason: null, isForced: false }),
  ),
  fc.tuple(id, fc.option(step)).map(
    ([one, from]): Act =>
      (story) => {
        const fromStep = from === null ? null : { step: from, key: null };
        story.do(ada, { type: 'run.retry', id: one, fromStep, map: {} });
      },
  ),
  fc.tuple(id, step, fc.constantFrom('retry', 'fail')).map(
    ([one, asked, answer]): Act =>
      (story) => {
        const about = { asked: { step: asked, key: null }, answer } as const;
        story.do(root, { type: 'run.answer', id: one, ...about });
      },
  ),
  fc.nat(1_500).map(
    (ms): Act =>
      (story) =>
        story.pass(ms),
  ),
);

test('[WF3] [WF4] [WF5] [WF7] [WF8] [WF11] [L3] random histories are told alike by the law and by a plain telling', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const story = createStory();
      const model = createRunModel();
      let told = 0;
      story.do(root, { type: 'queue.declare', name: 'q', fields: QUEUE });
      for (const one of acts) {
        one(story);
        for (; told < story.entries.length; told++)
          model.add(JSON.parse(story.entries[told] ?? ''));
        expect(portrayRuns(story.world)).toBe(model.portray());
      }
      const thawed = thawWorld(freezeWorld(story.world));
      if (thawed === null) throw new Error('the snapshot is of another version');
      expect(portray(thawed)).toBe(portray(story.world));
    }),
    { numRuns },
  );
});

const anyStep: fc.Arbitrary<Step> = fc.record({
  step: fc.stringMatching(/^[a-z%./_-]{1,8}$/),
  key: fc.option(fc.string({ minLength: 1, maxLength: 8 })),
  kind: fc.constantFrom('step', 'gate', 'child'),
  state: fc.constantFrom('pending', 'running', 'completed', 'failed', 'compensation_failed'),
  attempts: fc.nat(99),
  startedAt: fc.option(fc.integer({ min: -5, max: 1e12 })),
  endedAt: fc.option(fc.nat(1e12)),
  position: fc.nat(),
  entry: fc.nat(255),
  order: fc.nat(9_999),
  epoch: fc.nat(99),
  policy: fc.constantFrom(null, 'retry', 'ask', 'fail'),
  isCompensating: fc.boolean(),
}) as fc.Arbitrary<Step>;

test('[WF2] a journal is unpacked as it was packed, whatever is in a key', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 5 }), fc.nat(1e9), (list, base) => {
      const steps = new Map(list.map((one) => [stepId(one.step, one.key), one]));
      expect(unpackSteps(packSteps(steps, base), base)).toEqual(steps);
    }),
  );
});
