import { afterEach, expect, test } from 'vitest';
import {
  InternalError,
  PolicyDeniedError,
  StdioBus,
  type StdioBusOptions,
  TransportError,
  type WorkerFunction,
} from './index.ts';

const open: StdioBus[] = [];
afterEach(async () => {
  for (const bus of open.splice(0)) await bus.stop(1);
});

async function start(options: StdioBusOptions): Promise<StdioBus> {
  const bus = new StdioBus({ onLog() {}, ...options });
  open.push(bus);
  await bus.start();
  return bus;
}

test('[SD17] a function answers; what it throws is the error', async () => {
  const bus = await start({
    functions: {
      sums: async ({ method, params }) => {
        const { a, b } = params as { a: number; b: number };
        if (method === 'sum') return a + b;
        if (method === 'nothing') return undefined;
        if (method === 'deny') throw new PolicyDeniedError('not you');
        if (method === 'circle') return { n: 1n };
        throw Object.assign(new Error('no such sum'), { code: -32_601, data: { method } });
      },
    },
  });
  expect(await bus.request('sum', { a: 1, b: 2 })).toBe(3);
  expect(await bus.request('nothing', { a: 1 })).toBeNull();
  await expect(bus.request('deny', { a: 1 })).rejects.toBeInstanceOf(PolicyDeniedError);
  const unknown = await bus.request('product', { a: 1 }).catch((caught) => caught);
  expect(unknown).toBeInstanceOf(InternalError);
  expect(unknown).toMatchObject({ rpcCode: -32_601, data: { method: 'product' } });
  await expect(bus.request('circle', { a: 1 })).rejects.toMatchObject({ rpcCode: -32_603 });
  expect(await bus.getWorkerCount()).toBe(1);
});

test('[SD17] functions stream side by side, each to its own request, also in one session', async () => {
  const say: WorkerFunction = async ({ params }, ctx) => {
    for (const text of (params as { words: string[] }).words) {
      const content = { type: 'text', text };
      await ctx.notify('session/update', {
        update: { sessionUpdate: 'agent_message_chunk', content },
      });
      await new Promise(setImmediate);
    }
    return {};
  };
  const bus = await start({
    config: { pools: [{ id: 'left', function: say, instances: 2 }] },
    functions: { right: say },
  });
  const session = bus.session();
  const texts = await Promise.all(
    ['left', 'right'].flatMap((pool) =>
      ['a', 'b', 'c'].map(async (word) => {
        const host = pool === 'left' ? session : bus;
        const words = [pool, word, word];
        const { text } = await host.request<{ text: string }>('say', { words }, { pool });
        return text === words.join('');
      }),
    ),
  );
  expect(texts).toEqual(Array(6).fill(true));
  expect(await bus.getWorkerCount()).toBe(3);
});

test('[SD17] a function asks the client, and hears the refusal', async () => {
  const bus = await start({
    functions: { asks: async (_, ctx) => ({ said: await ctx.request('may-i', { what: 'go' }) }) },
  });
  await expect(bus.request('do')).rejects.toMatchObject({ rpcCode: -32_601 });
  bus.onRequest(({ method, params }) => ({ method, params }));
  expect(await bus.request('do')).toEqual({ said: { method: 'may-i', params: { what: 'go' } } });
});

test('[SD17] a cancel aborts the signal of that request only', async () => {
  const ended: unknown[] = [];
  const begun = Promise.withResolvers<void>();
  const bus = await start({
    functions: {
      waits: ({ params }, { signal }) => {
        if ((params as { n: number }).n === 2) begun.resolve();
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            ended.push(params);
            resolve(null);
          });
        });
      },
    },
  });
  const controller = new AbortController();
  const one = bus.request('wait', { n: 1 }, { signal: controller.signal });
  const two = bus.request('wait', { n: 2 }).catch((caught) => caught);
  await begun.promise;
  controller.abort();
  await expect(one).rejects.toMatchObject({ name: 'CancelledError' });
  await new Promise(setImmediate);
  expect(ended).toEqual([{ n: 1 }]);
  await bus.stop(0.05);
  expect(await two).toBeInstanceOf(TransportError);
  expect(ended).toEqual([{ n: 1 }, { n: 2 }]);
});

test('[SD17] notifications reach the function, and one it fails on hurts nobody', async () => {
  const seen: unknown[] = [];
  const bus = await start({
    functions: {
      hears: (request, ctx) => {
        if (!request.isNotification) return 'well';
        seen.push([request.method, request.params, request.agentId, request.sessionId]);
        if (request.method === 'bad') throw new Error('no');
        return ctx.notify('heard', { at: ctx.worker });
      },
    },
  });
  const heard = bus.notifications();
  bus.notify('bad', { n: 0 });
  bus.notify('good', { n: 1 }, { agentId: 'ada', sessionId: 's' });
  expect((await heard.next()).value).toMatchObject({ sessionId: 's', params: { at: 'hears/0' } });
  expect(seen[1]).toEqual(['good', { n: 1 }, 'ada', 's']);
  expect(await bus.request('how')).toBe('well');
});

test('[TL10] a request brings its trace to the worker, over the bus', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const bus = await start({ functions: { traced: async ({ ext }) => ext.traceparent ?? 'none' } });
  expect(await bus.request('look', {}, { traceparent })).toBe(traceparent);
  expect(await bus.request('look', {}, { traceparent: null })).toBe('none');
});
