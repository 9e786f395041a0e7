/**
 * Goal: a pool of the bus runs turns, asked by a method or spoken to over ACP.
 * Method: a real bus whose workers are functions that play each part.
 */
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Bus } from '../../bus/router/bus.ts';
import { createBus } from '../../bus/router/create-bus.ts';
import { parseBusDocument } from '../../bus/router/parse-config.ts';
import { openFunctionWorker, type WorkerFunction } from '../../bus/sdk/function-worker.ts';
import type { SpecOf } from '../../wire/operations/runner-spec.ts';
import { createJob } from './job.fixture.ts';
import { createPoolRunner } from './pool.ts';
import { runnerContract } from './runner.contract.ts';

const seen: { method: string; params: unknown }[] = [];

const acp: WorkerFunction = async ({ method, params }, context) => {
  seen.push({ method, params });
  if (method === 'initialize') {
    return { protocolVersion: 1, agentCapabilities: { mcpCapabilities: { http: true } } };
  }
  if (method === 'session/new') return { sessionId: 'a-1' };
  const answer = await context.request('session/request_permission', {
    sessionId: 'a-1',
    toolCall: { toolCallId: 'c', title: 'rm -r build', kind: 'execute', rawInput: { rm: 1 } },
    options: [
      { optionId: 'yes', kind: 'allow_once', name: 'Allow' },
      { optionId: 'no', kind: 'reject_once', name: 'Reject' },
    ],
  });
  for (const text of ['I was told ', JSON.stringify(answer)]) {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
    await context.notify('session/update', { sessionId: 'a-1', update });
  }
  return { stopReason: 'end_turn' };
};

const turns: WorkerFunction = ({ method, params }, { signal }) => {
  seen.push({ method, params });
  if (method === 'fail') throw new Error('the worker is out of ideas');
  if (method === 'lie') return { outcome: 'done', consumed: ['m-9'] };
  if (method === 'hang') return new Promise((resolve) => signal.addEventListener('abort', resolve));
  return { outcome: 'done', note: 'done by a worker' };
};

const workers: Record<string, WorkerFunction> = { acp, turns };
let bus: Bus;
beforeAll(async () => {
  const pools = Object.keys(workers).map((id) => ({ id, command: 'function', instances: 1 }));
  bus = createBus({
    config: parseBusDocument({ pools }, 'test', true),
    openWorker: ({ id }, index, events) =>
      openFunctionWorker(id, index, workers[id] as WorkerFunction, events),
  });
  await bus.start();
});
afterAll(() => bus.stop());

const runner = createPoolRunner(() => bus);
const spec = (pool: string, method?: string): SpecOf<'pool'> => ({
  ...{ kind: 'pool', pool },
  ...(method !== undefined && { method }),
});

runnerContract<SpecOf<'pool'>>({
  name: 'pool',
  open: async () => ({
    runner,
    good: spec('turns', 'turn'),
    unusable: { spec: spec('none'), code: 'runner.unusable' },
    failing: spec('turns', 'fail'),
    hanging: spec('turns', 'hang'),
    close: async () => {},
  }),
});

describe('a pool', () => {
  test('[RU15] that is asked by a method is given the turn and answers its result', async () => {
    seen.length = 0;
    const { job } = createJob(tmpdir(), spec('turns', 'turn'));
    expect(await runner.run(job)).toEqual({ outcome: 'done', note: 'done by a worker' });
    const { turn, messages, hub } = job;
    expect(seen).toEqual([{ method: 'turn', params: { turn, messages, hub } }]);
    const lie = await runner.run(createJob(tmpdir(), spec('turns', 'lie')).job);
    expect(lie).toMatchObject({ outcome: 'failed', note: expect.stringContaining('consumed.0') });
  });

  test.each([
    ['approved', 'yes'],
    ['denied', 'no'],
    ['expired', 'no'],
    ['withdrawn', 'no'],
  ] as const)('[RU15] over ACP its permission is a gate: %s is %s', async (state, optionId) => {
    seen.length = 0;
    const asked: unknown[] = [];
    const { job, said } = createJob(tmpdir(), spec('acp'), {
      async askGate(ask) {
        asked.push(ask);
        return { state, by: 'eve', reason: null };
      },
    });
    const { outcome, replies } = await runner.run(job);
    const text = `I was told ${JSON.stringify({ outcome: { outcome: 'selected', optionId } })}`;
    expect({ outcome, replies }).toEqual({
      outcome: 'done',
      replies: [{ reply_to: 'm-2', body: { text } }],
    });
    expect(said).toEqual([text]);
    expect(asked).toEqual([{ action: 'execute', subject: 'rm -r build', payload: { rm: 1 } }]);
    const [, opened, prompted] = seen.map(({ params }) => JSON.stringify(params));
    expect(opened).toContain('Bearer syt_secret');
    expect(prompted).toContain('| what is the time?');
  });

  test('[RU15] of a hub without a bus is refused', async () => {
    const refusal = await createPoolRunner(() => null).check(spec('turns'));
    expect(refusal).toMatchObject({ refused: 'runner.unusable', detail: { field: 'pool' } });
  });
});
