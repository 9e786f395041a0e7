/** Several executors of one hub, one that is cut off, and a hub that is a server. */
import { expect, onTestFinished, test } from 'vitest';
import { SynodError } from '../../src/client/index.ts';
import { openFlow, workflow } from '../../src/flow/index.ts';
import type { HubLine } from '../../src/flow/workflow/hub-line.ts';
import { openFlowOn } from '../../src/flow/workflow/open-flow.ts';
import { openRunningHub } from '../e2e/running-hub.ts';
import { createGate, openKit } from './kit.ts';

test('[FW5] an executor that lost its lease stops, and what it would still say is refused', async () => {
  const { open, time, hub } = await openKit();
  const late = createGate<string>();
  const signals: AbortSignal[] = [];
  const make = (by: string) =>
    workflow('one', (ctx) =>
      ctx.step('do', ({ signal }) => {
        signals.push(signal);
        return by === 'first' ? late.promise : by;
      }),
    );
  // Its renewals and polls do not arrive; it does not know.
  let taken = 0;
  const cut: HubLine = {
    ...hub,
    call(operation, input, options) {
      const isLost =
        operation === 'workflows.renew' || (operation === 'workflows.take' && ++taken > 1);
      if (isLost) return Promise.reject(new SynodError('connection.lost', 'cut off'));
      return hub.call(operation, input, options);
    },
    close: async () => {},
  };
  const first = openFlowOn(cut, { workflows: [make('first')], leaseMs: 5_000 });
  const run = await first.start(make('first'), null);
  await time.pass(1_000);
  open([make('second')]);
  await time.pass(6_000);
  expect(await run.result()).toBe('second');
  // It could not renew, and stopped by itself before the other began.
  expect(signals[0]?.aborted).toBe(true);
  late.resolve('first');
  await time.pass(1_000);
  expect(await run.steps()).toMatchObject([{ step: 'do', state: 'completed', result: 'second' }]);
  await first.close({ graceMs: 0 });
});

test('[FW5] what was said when the answer was lost is said again, and counts once', async () => {
  const { time, hub, troubles } = await openKit();
  let lost = 0;
  const weak: HubLine = {
    ...hub,
    async call(operation, input, options) {
      const answer = await hub.call(operation, input, options);
      if (operation !== 'workflows.record' || lost++ % 2 === 1) return answer as never;
      throw new SynodError('connection.lost', 'the answer did not arrive');
    },
    close: async () => {},
  };
  const undone: string[] = [];
  const ran: string[] = [];
  const do_ = (name: string) => () => ran.push(name);
  const fine = workflow('fine', async (ctx) => {
    await Promise.all(['a', 'b'].map((key) => ctx.step('part', do_(key), { key })));
    await ctx.step('sure', do_('sure'), { uncertain: 'fail' });
    await ctx.skip('not');
    await ctx.sleep('nap', 1_000);
    return ran;
  });
  const bad = workflow('bad', async (ctx) => {
    await ctx.step('done', do_('done'), { compensate: () => void undone.push('done') });
    await ctx.step('breaks', () => Promise.reject(new Error('no')));
  });
  const flow = openFlowOn(weak, {
    workflows: [fine, bad],
    onEvent: (event) => event.kind === 'trouble' && troubles.push(event.error),
  });
  const runs = [await flow.start(fine, null), await flow.start(bad, null)] as const;
  await time.pass(60_000);
  expect(await runs[0].state()).toMatchObject({ state: 'completed' });
  expect(await runs[1].state()).toMatchObject({ state: 'compensated' });
  expect(ran.toSorted()).toEqual(['a', 'b', 'done', 'sure']);
  expect(undone).toEqual(['done']);
  expect(lost).toBeGreaterThan(10);
  await flow.close({ graceMs: 0 });
});

test('[FW4] closing waits for a step that runs, begins no other, and nothing of it is uncertain', async () => {
  const { open, time } = await openKit();
  const ran: string[] = [];
  const finish = createGate();
  const begun = createGate();
  const two = workflow('two', async (ctx) => {
    const once = async (name: string, wait?: Promise<void>) => {
      ran.push(name);
      begun.resolve();
      await wait;
    };
    await ctx.step('one', () => once('one', finish.promise), { uncertain: 'fail' });
    await ctx.step('two', () => once('two'), { uncertain: 'fail' });
  });
  const first = open([two]);
  const run = await first.start(two, null);
  await begun.promise;
  const closing = first.close({ graceMs: 5_000 });
  finish.resolve();
  await closing;
  expect(ran).toEqual(['one']);
  expect(await run.state()).toMatchObject({ state: 'running', holder: null });
  open([two]);
  await time.pass(1_000);
  expect((await run.state()).state).toBe('completed');
  expect(ran).toEqual(['one', 'two']);
});

test('[FW5] many executors share the runs, and each run is in one of them', async () => {
  const { open, time } = await openKit();
  const ran = new Map<string, string[]>();
  const make = (by: string) =>
    workflow('shared', (ctx) =>
      ctx.step('do', ({ key }) => {
        ran.set(key, [...(ran.get(key) ?? []), by]);
        return by;
      }),
    );
  const flows = ['a', 'b', 'c'].map((by) => open([make(by)], { concurrency: 5 }));
  const runs = await Promise.all(
    Array.from({ length: 60 }, () => flows[0]?.start(make('a'), null)),
  );
  await time.pass(1_000);
  await Promise.all(runs.map((run) => run?.result()));
  expect(ran.size).toBe(60);
  expect([...ran.values()].every((all) => all.length === 1)).toBe(true);
});

test('[FW1] a flow on a hub elsewhere does the same, over a socket', async () => {
  const server = await openRunningHub();
  onTestFinished(() => server.close());
  const { url, owner: token } = server;
  const add = workflow('add', async (ctx, input: { a: number; b: number }) => {
    const sum = await ctx.step('sum', () => input.a + input.b);
    const word = await ctx.signal<string>('word');
    await ctx.sleep('blink', 20);
    return `${word} ${sum}`;
  });
  await using flow = await openFlow({ url, token, agent: 'builder', workflows: [add] });
  const run = await flow.start(add, { a: 1, b: 2 }, { id: 'add-1' });
  await server.ask('builder', 'workflows_signal', { id: 'add-1', name: 'word', value: 'sum' });
  expect(await run.result({ timeoutMs: 20_000 })).toBe('sum 3');
});
