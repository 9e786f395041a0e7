/** Goal: rules answer messages, and no message stops the hub. Method: turns, also with a bad pattern. */
import { afterAll, describe, expect, test } from 'vitest';
import type { SpecOf } from '../../wire/operations/runner-spec.ts';
import { createJob } from './job.fixture.ts';
import { createRuleRunner } from './rule.ts';
import { runnerContract } from './runner.contract.ts';
import type { GivenMessage } from './runner.ts';

const rules = [
  { pattern: '^hello', answer: 'hi' },
  { pattern: 'what is the (\\w+)', answer: 'ask a $1 piece', wants_reply: true },
];

runnerContract<SpecOf<'rule'>>({
  name: 'rule',
  async open() {
    const runner = createRuleRunner(200);
    return {
      runner,
      good: { kind: 'rule', rules },
      unusable: {
        spec: { kind: 'rule', rules: [{ pattern: '(', answer: '' }] },
        code: 'runner.unusable',
      },
      failing: { kind: 'rule', rules: [{ pattern: '(?:.|.|.|.|.)+#', answer: 'never' }] },
      hanging: null,
      close: async () => runner.close(),
    };
  },
});

describe('rules', () => {
  const runner = createRuleRunner();
  afterAll(() => runner.close());
  const run = (spec: Omit<SpecOf<'rule'>, 'kind'>, messages?: GivenMessage[]) =>
    runner.run(createJob('/tmp', { kind: 'rule', ...spec }, messages && { messages }).job);

  test('[RU12] each message is answered by the first rule that is found in it', async () => {
    expect(await run({ rules })).toEqual({
      ...{ outcome: 'done', consumed: 'all' },
      replies: [
        { reply_to: 'm-1', body: { text: 'hi' } },
        { reply_to: 'm-2', body: { text: 'ask a time piece' }, wants_reply: true },
      ],
    });
  });

  test('[RU12] what no rule matches is read and answered by `otherwise`, or not at all', async () => {
    expect(await run({ rules: [] })).toEqual({ outcome: 'nothing', consumed: 'all' });
    const { outcome, replies } = await run({ rules: [], otherwise: 'no idea' });
    expect([outcome, replies?.length]).toEqual(['done', 2]);
  });

  test('[RU12] a rule may send elsewhere, say nothing, or give up with a question', async () => {
    const elsewhere = [{ pattern: 'hello', answer: 'seen', channel: 'log' }];
    expect((await run({ rules: elsewhere })).replies).toEqual([
      { channel: 'log', body: { text: 'seen' } },
    ]);
    const silent = [{ pattern: 'hello', answer: '' }];
    expect(await run({ rules: silent })).toEqual({ outcome: 'done', consumed: 'all' });
    const stuck = [{ pattern: 'hello', answer: 'may I?', outcome: 'gave_up' as const }];
    expect(await run({ rules: stuck })).toMatchObject({ outcome: 'gave_up', question: 'may I?' });
  });
});
