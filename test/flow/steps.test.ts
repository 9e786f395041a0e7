/** Steps, their replay and their order, on a hub inside the test. */
import { expect, test } from 'vitest';
import { createColours } from '../../src/cli/terminal.ts';
import { type Run, type Step, treeLines } from '../../src/cli/workflow-text.ts';
import {
  node,
  StepFailedError,
  TerminalError,
  type WorkflowContext,
  workflow,
} from '../../src/flow/index.ts';
import { openKit } from './kit.ts';

test('[FW1] a run gives what its code gives, and its steps are on record', async () => {
  const { open } = await openKit();
  const greet = workflow('greet', async (ctx, input: { name: string }) => {
    const length = await ctx.step('measure', () => input.name.length);
    return ctx.step('greet', () => `hello ${input.name} of ${length}`);
  });
  const flow = open([greet]);
  const run = await flow.start(greet, { name: 'ada' }, { id: 'greet-ada' });
  expect(await run.result()).toBe('hello ada of 3');
  expect((await run.steps()).map(({ step, state, result }) => [step, state, result])).toEqual([
    ['measure', 'completed', 3],
    ['greet', 'completed', 'hello ada of 3'],
  ]);
  expect(await run.state()).toMatchObject({ state: 'completed', result: 'hello ada of 3' });
});

test('[FW1] the same start again is the same run; an id in use for something else is refused with it', async () => {
  const { open } = await openKit();
  let ran = 0;
  const once = workflow('once', async (ctx, input: { n: number }) =>
    ctx.step('do', () => {
      ran++;
      return input.n;
    }),
  );
  const flow = open([once]);
  const run = await flow.start(once, { n: 1 }, { id: 'same' });
  expect(await run.result()).toBe(1);
  expect(await (await flow.start(once, { n: 1 }, { id: 'same' })).result()).toBe(1);
  expect(ran).toBe(1);
  await expect(flow.start(once, { n: 2 }, { id: 'same' })).rejects.toMatchObject({
    code: 'workflow.exists',
  });
});

test('[FW2] what is done is not done again when another process takes the run up', async () => {
  const { open, time } = await openKit();
  const done: string[] = [];
  const make = (by: string) =>
    workflow('long', async (ctx) => {
      const steps = ['a', 'b', 'c'].map((key) =>
        ctx.step('part', () => done.push(`${by} ${key}`), { key }),
      );
      await Promise.all(steps);
      await ctx.sleep('night', 8 * 3_600_000);
      await ctx.step('morning', () => done.push(`${by} morning`));
      return done.length;
    });
  const first = open([make('first')]);
  const run = await first.start(make('first'), null, { id: 'r' });
  await time.pass(5_000);
  expect(await run.state()).toMatchObject({ state: 'running', suspended: true });
  await first.close();
  open([make('second')]);
  await time.pass(8 * 3_600_000);
  expect(await run.result()).toBe(4);
  expect(done).toEqual(['first a', 'first b', 'first c', 'second morning']);
});

test('[FW2] a race goes the way it went, whatever ended later', async () => {
  const { open, time } = await openKit();
  const slow = Promise.withResolvers<string>();
  const ways: string[] = [];
  // The one that is slow stands first: in the journal both have ended.
  const race = workflow('race', async (ctx) => {
    const won = await Promise.race([
      ctx.step('slow', () => slow.promise),
      ctx.step('quick', () => 'quick').then((text) => Promise.resolve(text)),
    ]);
    ways.push(won);
    await ctx.step(`after-${won}`, () => null);
    slow.resolve('slow');
    await ctx.sleep('pause', 60_000);
    return won;
  });
  const first = open([race]);
  const run = await first.start(race, null);
  await time.pass(5_000);
  await first.close();
  open([race]);
  await time.pass(60_000);
  expect(await run.result()).toBe('quick');
  expect(ways).toEqual(['quick', 'quick']);
});

test('[FW2] a journal of thousands of steps is read to its end, and told again', async () => {
  const { open, time } = await openKit();
  let ran = 0;
  const long = workflow('long', async (ctx) => {
    let sum = 0;
    for (let i = 0; i < 30; i++) {
      const give = (value: number) => () => {
        ran++;
        return value;
      };
      const some = Array.from({ length: 100 }, (_, j) =>
        ctx.step('n', give(j), { key: `${i}-${j}` }),
      );
      for (const value of await Promise.all(some)) sum += value;
    }
    await ctx.sleep('pause', 60_000);
    return sum;
  });
  const first = open([long]);
  const run = await first.start(long, null);
  await expect.poll(async () => (await run.state()).steps_count).toBe(3_001);
  await time.pass(5_000);
  await first.close();
  open([long]);
  await time.pass(60_000);
  expect(await run.result()).toBe(148_500);
  expect(ran).toBe(3_000);
  expect(await run.steps()).toHaveLength(3_001);
});

test('[FW2] a failure that was caught, and a step that was skipped, are told in their place', async () => {
  const { open, time } = await openKit();
  const ran: string[] = [];
  const careful = workflow('careful', async (ctx) => {
    const go = (name: string) => ctx.step(name, () => ran.push(name));
    await go('a');
    const why = await ctx
      .step('breaks', () => Promise.reject(new Error('broken')))
      .catch((error: StepFailedError) => error.error.message);
    await go('b');
    await ctx.skip('not');
    await go('c');
    await ctx.sleep('pause', 60_000);
    await go('d');
    return [why, ...ran];
  });
  const first = open([careful]);
  const run = await first.start(careful, null);
  await time.pass(5_000);
  await first.close();
  open([careful]);
  await time.pass(60_000);
  expect(await run.result()).toEqual(['broken', 'a', 'b', 'c', 'd']);
});

test('[FW12] a name used twice without a key is an error in the first run, also where it is caught', async () => {
  const { open } = await openKit();
  const twice = workflow('twice', async (ctx) => {
    await ctx.step('send', () => 1);
    await ctx.step('send', () => 2).catch(() => null);
    return 'it went on';
  });
  const run = await open([twice]).start(twice, null);
  await expect(run.result()).rejects.toThrow("give each a key, ctx.step('send', …, { key })");
  expect((await run.state()).state).toBe('failed');
});

test('[FW12] with keys a name is used as often as one likes, and a name that is a sentence is refused', async () => {
  const { open } = await openKit();
  const many = workflow('many', async (ctx) => {
    const all = Array.from({ length: 300 }, (_, i) => ctx.step('n', () => i, { key: `${i}` }));
    const sum = (await Promise.all(all)).reduce((a, b) => a + b);
    const refused = await ctx.step('send the letter', () => 1).catch((error) => error.code);
    const empty = await ctx.step('x', () => 1, { key: '' }).catch((error) => error.code);
    return { sum, refused, empty };
  });
  const run = await open([many]).start(many, null);
  expect(await run.result()).toEqual({
    sum: 44_850,
    refused: 'step.name-invalid',
    empty: 'step.key-invalid',
  });
});

test('[FW3] a result that JSON cannot say fails its step for good, and so does one that is too large', async () => {
  const { open } = await openKit();
  const bad = workflow('bad', async (ctx) => {
    const tries: string[] = [];
    for (const [key, value] of Object.entries({ date: new Date(0), big: 'x'.repeat(2 ** 20) })) {
      await ctx
        .step('give', () => value, { key, retry: { attempts: 5 } })
        .catch((error: StepFailedError) => tries.push(error.error.message));
    }
    return tries;
  });
  const run = await open([bad]).start(bad, null);
  const [date = '', big = ''] = await run.result();
  expect(date).toContain('is of the class Date; give plain JSON');
  expect(big).toContain('may be 1048576; keep it elsewhere');
  expect((await run.steps()).map(({ attempts }) => attempts)).toEqual([1, 1]);
});

test('[FW3] a result of the run that JSON cannot say fails the run', async () => {
  const { open } = await openKit();
  const bad = workflow('bad', async () => new Map());
  const run = await open([bad]).start(bad, null);
  await expect(run.result()).rejects.toThrow('the result of bad is of the class Map');
  await expect(open([]).start(bad, () => {})).rejects.toMatchObject({ code: 'json.impossible' });
});

test('[FW11] a step is tried again as its policy says, over a restart', async () => {
  const { open, time } = await openKit();
  const attempts: number[] = [];
  const flaky = workflow('flaky', async (ctx) =>
    ctx.step(
      'try',
      ({ attempt }) => {
        attempts.push(attempt);
        if (attempt < 4) throw new Error(`no ${attempt}`);
        return attempt;
      },
      { retry: { attempts: 5, delayMs: 60_000, factor: 2, jitter: 0, limitMs: 600_000 } },
    ),
  );
  const first = open([flaky]);
  const run = await first.start(flaky, null);
  await time.pass(61_000);
  expect(attempts).toEqual([1, 2]);
  await first.close();
  open([flaky]);
  await time.pass(120_000);
  expect(attempts).toEqual([1, 2, 3]);
  await time.pass(240_000);
  expect(await run.result()).toBe(4);
});

test('[FW11] a terminal error ends a step at once, and the code may go on without it', async () => {
  const { open } = await openKit();
  let tries = 0;
  const one = workflow('one', async (ctx) => {
    try {
      return await ctx.step(
        'charge',
        () => {
          tries++;
          throw new TerminalError('the card is blocked');
        },
        { retry: { attempts: 9 } },
      );
    } catch (error) {
      if (!(error instanceof StepFailedError)) throw error;
      return `${error.error.name}: ${error.error.message}`;
    }
  });
  const run = await open([one]).start(one, null);
  expect(await run.result()).toBe('TerminalError: the card is blocked');
  expect(tries).toBe(1);
});

test('[FW11] an attempt and a step have their time, and an attempt that is silent too long is over', async () => {
  const { open, time } = await openKit();
  const never = (): Promise<never> => new Promise(() => {});
  const slow = workflow('slow', async (ctx) => {
    const told = (run: Promise<unknown>) => run.catch((e: StepFailedError) => e.error.message);
    return Promise.all([
      told(ctx.step('attempt', never, { timeoutMs: 1_000 })),
      told(ctx.step('silent', never, { heartbeatMs: 2_000 })),
      told(
        ctx.step('whole', never, {
          ...{ timeoutMs: 4_000, deadlineMs: 10_000 },
          retry: { attempts: 100, delayMs: 1_000, jitter: 0 },
        }),
      ),
    ]);
  });
  const run = await open([slow]).start(slow, null);
  await time.pass(20_000);
  expect(await run.result()).toEqual([
    'it took longer than 1000 ms',
    'no heartbeat for 2000 ms',
    expect.stringMatching(/it took longer than|it was not done within/),
  ]);
});

test('[FW14] dependants are given results, width is kept, and what is not wanted is skipped', async () => {
  const { open } = await openKit();
  let running = 0;
  let most = 0;
  const slowly = async <T>(value: T): Promise<T> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return value;
  };
  const leaves = ['a', 'b', 'c', 'd', 'e'].map((id) => node({ id, run: () => slowly(id) }));
  const never = node({ id: 'never', run: () => 'ran', when: () => false });
  const all = node({
    id: 'all',
    dependsOn: [...leaves.map(({ id }) => id), never],
    run: (results) => Object.values(results).join('-'),
  });
  const graph = workflow('graph', { nodes: [...leaves, never, all], concurrency: 2 });
  const run = await open([graph]).start(graph, null);
  const result = (await run.result()) as Record<string, unknown>;
  expect(result.all).toBe('a-b-c-d-e-');
  expect(most).toBe(2);
  expect(Object.fromEntries((await run.steps()).map(({ step, state }) => [step, state]))).toEqual({
    ...{ a: 'completed', b: 'completed', c: 'completed', d: 'completed', e: 'completed' },
    ...{ never: 'skipped', all: 'completed' },
  });
});

test('[FW9] a listener that throws, or whose promise fails, changes nothing', async () => {
  const { open } = await openKit();
  let ran = 0;
  const fine = workflow('fine', (ctx: WorkflowContext) => ctx.step('do', () => ++ran));
  const flow = open([fine], {
    onEvent(event) {
      if (event.kind === 'step.completed') throw new Error('the listener');
      return Promise.reject(new Error('the listener'));
    },
  });
  const run = await flow.start(fine, null);
  expect(await run.result()).toBe(1);
  expect(ran).toBe(1);
  expect((await run.state()).state).toBe('completed');
});

test('[FW17] what a step says it cost is on record, added over its attempts, and shown', async () => {
  const { open, time, asOwner } = await openKit();
  const dear = workflow('dear', async (ctx) => {
    await ctx.step(
      'draft',
      ({ attempt, cost }) => {
        cost({ usd: 0.25, tokensIn: 100 });
        cost({ tokensOut: 20 });
        if (attempt === 1) throw new Error('again');
        return 'text';
      },
      { retry: { attempts: 2, delayMs: 10 } },
    );
    await ctx.step('free', () => null);
    return ctx.step('odd', ({ cost }) => cost({ usd: -1 })).catch((error) => error.message);
  });
  const run = await open([dear]).start(dear, null, { id: 'dear-1' });
  await time.pass(1_000);
  expect(await run.result()).toContain('usd is -1; a cost is a number from 0 on');
  const { steps } = await asOwner<{ steps: Step[] }>('workflows.steps', { id: 'dear-1' });
  expect(steps.map(({ step, cost }) => [step, cost])).toEqual([
    ['draft', { usd: 0.5, tokens_in: 200, tokens_out: 40 }],
    ['free', null],
    ['odd', null],
  ]);
  const tree = { run: (await run.state()) as Run, steps, hasMore: false, children: [] };
  const [head, , draft] = treeLines(tree, createColours(false));
  expect(head).toContain('$0.5, 240 tokens)');
  expect(draft).toContain('$0.5, 240 tokens');
});

test('[WF21] a version that this process does not run is refused at once; its own is known before its first word', async () => {
  const { open, hub } = await openKit();
  const make = (version: string) => workflow('ship', async () => version, { version });
  const one = open([make('1')]);
  expect(await (await one.start(make('1'), null)).result()).toBe('1');
  await expect(one.start(make('3'), null)).rejects.toMatchObject({ code: 'flow.version' });
  // Whoever runs nothing is told by the hub.
  await expect(open([]).start(make('3'), null)).rejects.toMatchObject({
    code: 'workflow.no-version',
  });
  const fork = (version: string) =>
    hub.call('workflows.fork', { id: 'done', at_step: { step: 'only' }, version });
  const done = workflow('ship', async (ctx) => ctx.step('only', () => 1), { version: '2' });
  const two = open([done]);
  expect(await (await two.start(done, null, { id: 'done' })).result()).toBe(1);
  await expect(fork('3')).rejects.toMatchObject({ code: 'workflow.no-version' });
  await expect(fork('2')).resolves.toMatchObject({ state: expect.any(String) });
  await expect(hub.call('workflows.start', { name: 'shop' })).resolves.toMatchObject({
    unoffered: 'no executor has asked for shop yet; perhaps ship is meant',
  });
});
