/** Goal: rules answer messages, and no message stops the hub. Method: turns, also with a bad pattern. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
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

  test('[RU12] a rule that asks first is done only when a person approves, and says what became of it', async () => {
    const ask = { action: 'deploy', subject: 'to production' };
    const spec = { kind: 'rule', rules: [{ pattern: 'hello', answer: 'deployed', ask }] } as const;
    const { job, asked } = createJob('/tmp', { ...spec, rules: [...spec.rules] });
    expect((await runner.run(job)).replies).toEqual([
      { reply_to: 'm-1', body: { text: 'deploy to production: denied by eve: not in a test' } },
    ]);
    expect(asked).toMatchObject([ask]);
    const approved = {
      ...job,
      askGate: async () => ({ state: 'approved', by: 'eve', reason: null }) as const,
    };
    expect((await runner.run(approved)).replies).toEqual([
      { reply_to: 'm-1', body: { text: 'deployed' } },
    ]);
  });

  test('[RU12] a rule calls operations with the turn’s token; a refusal is a question to a person', async () => {
    const calls = [{ operation: 'claims.take', input: { task_id: 'lexer' } }];
    const heard: unknown[] = [];
    const server = createServer(async (request, response) => {
      heard.push([request.url, request.headers.authorization, await json(request)]);
      response.statusCode = heard.length === 1 ? 200 : 409;
      response.end('{"error":{"message":"bob holds lexer"}}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const spec = { kind: 'rule' as const, rules: [{ pattern: 'hello', answer: 'took it', calls }] };
    const { job } = createJob('/tmp', spec, { hub: { url, token: 'syt_secret' } });
    expect(await runner.run(job)).toMatchObject({
      outcome: 'done',
      replies: [{ body: { text: 'took it' } }],
    });
    expect(await runner.run(job)).toMatchObject({
      outcome: 'gave_up',
      question: 'claims.take: bob holds lexer',
    });
    expect(heard[0]).toEqual(['/v1/ops/claims_take', 'Bearer syt_secret', { task_id: 'lexer' }]);
    server.close();
  });
});
