/** What becomes of the rest when something fails, is cancelled, or its code is another. */

import { expect, test } from 'vitest';
import { NAME_ALPHABET } from '../../src/core/law/text.ts';
import {
  ERROR_MESSAGE_CHARS_MAX,
  ERROR_NAME_CHARS_MAX,
  STEP_KEY_CHARS_MAX,
  STEP_NAME_CHARS_MAX,
} from '../../src/core/workflows/workflow-limits.ts';
import { node, RunFailedError, workflow } from '../../src/flow/index.ts';
import { createGate, openKit } from './kit.ts';

test('[FW8] a sibling in flight is aborted, waited for, and undone when it was done after all', async () => {
  const { open } = await openKit();
  const undone: string[] = [];
  const release = createGate();
  let told: unknown;
  const compensate = (name: string) => ({ compensate: () => void undone.push(name) });
  const both = workflow('both', async (ctx) => {
    await ctx.step('first', () => 1, compensate('first'));
    await Promise.all([
      ctx.step(
        'late',
        async ({ signal }) => {
          signal.addEventListener('abort', () => {
            told = signal.reason;
            release.resolve();
          });
          await release.promise;
          return 'done after all';
        },
        compensate('late'),
      ),
      ctx.step('breaks', () => {
        throw new Error('broken');
      }),
    ]);
  });
  const run = await open([both]).start(both, null);
  await expect(run.result()).rejects.toThrow(/is compensated: broken/);
  expect(String(told)).toContain('broken');
  expect(undone).toEqual(['late', 'first']);
  const states = Object.fromEntries((await run.steps()).map(({ step, state }) => [step, state]));
  expect(states).toEqual({ first: 'compensated', late: 'compensated', breaks: 'failed' });
});

test('[FW8] what was done is undone in reverse order of completion, not of declaration', async () => {
  const { open } = await openKit();
  const undone: string[] = [];
  const gates = { a: createGate(), b: createGate() };
  const part = (id: 'a' | 'b') =>
    node({
      id,
      async run() {
        if (id === 'a') await gates.a.promise;
        return id;
      },
      rollback: (result) => {
        undone.push(result);
      },
    });
  const after = node({ id: 'after', dependsOn: ['b'], run: () => gates.a.resolve() });
  const last = node({
    id: 'last',
    dependsOn: ['a', 'b', 'after'],
    run: () => Promise.reject(new Error('no')),
    rollback: () => void undone.push('last'),
  });
  const graph = workflow('graph', { nodes: [part('a'), part('b'), after, last] });
  const run = await open([graph]).start(graph, null);
  await expect(run.result()).rejects.toMatchObject({ state: 'compensated' });
  expect(undone).toEqual(['a', 'b']);
});

test('[FW8] two failures at once undo each step once', async () => {
  const { open } = await openKit();
  const undone: string[] = [];
  const fail = (): Promise<never> => Promise.reject(new Error('no'));
  const graph = workflow('graph', {
    nodes: [
      node({ id: 'base', run: () => 1, rollback: () => void undone.push('base') }),
      node({ id: 'x', dependsOn: ['base'], run: fail }),
      node({ id: 'y', dependsOn: ['base'], run: fail }),
    ],
  });
  const run = await open([graph]).start(graph, null);
  await expect(run.result()).rejects.toBeInstanceOf(RunFailedError);
  expect(undone).toEqual(['base']);
});

test('[FW8] one that cannot be undone is tried by its policy, is on record, and the others still are', async () => {
  const { open, time } = await openKit();
  const undone: string[] = [];
  const stubborn = workflow('stubborn', async (ctx) => {
    await ctx.step('one', () => 1, { compensate: () => void undone.push('one') });
    await ctx.step('two', () => 2, {
      compensate(_, { attempt }) {
        undone.push(`two ${attempt}`);
        throw new Error('it will not');
      },
      compensateRetry: { attempts: 3, delayMs: 10_000, jitter: 0 },
    });
    throw new Error('enough');
  });
  const run = await open([stubborn]).start(stubborn, null);
  await time.pass(60_000);
  await expect(run.result()).rejects.toThrow(
    'is compensation_failed: enough; not undone: two: it will not',
  );
  expect(undone).toEqual(['two 1', 'two 2', 'two 3', 'one']);
  const states = Object.fromEntries((await run.steps()).map(({ step, state }) => [step, state]));
  expect(states).toEqual({ one: 'compensated', two: 'compensation_failed' });
});

test('[FW8] an undoing that never ends has its time, by default too, and the run ends on the docket', async () => {
  const { open, time, asOwner } = await openKit();
  const told: string[] = [];
  const hang = workflow('hang', async (ctx) => {
    const hanging = (name: string) => (_: unknown, scope: { signal: AbortSignal }) => {
      scope.signal.addEventListener('abort', () => told.push(name));
      return new Promise<void>(() => {});
    };
    const compensateRetry = { attempts: 1 };
    await ctx.step('usual', () => 1, { compensate: hanging('usual'), compensateRetry });
    await ctx.step('short', () => 2, {
      ...{ compensate: hanging('short'), compensateRetry, compensateTimeoutMs: 5_000 },
    });
    throw new Error('enough');
  });
  const run = await open([hang]).start(hang, null, { id: 'h' });
  await time.pass(4_000);
  expect([(await run.state()).state, told]).toEqual(['compensating', []]);
  await time.pass(2_000);
  expect(told).toEqual(['short']);
  await time.pass(600_000);
  await expect(run.result()).rejects.toThrow(
    'not undone: short: it took longer than 5000 ms, usual: it took longer than 600000 ms',
  );
  expect(told).toEqual(['short', 'usual']);
  const { items } = await asOwner<{ items: unknown[] }>('docket.list', {});
  const text = JSON.stringify(items);
  expect(text).toContain('not all of it could be undone (usual, short)');
  expect(text).toContain('synod workflow retry h');
});

test('[FW8] the rollback of a node has the time that the node says', async () => {
  const { open, time } = await openKit();
  const graph = workflow('graph', {
    nodes: [
      node({
        ...{ id: 'slow', run: () => 1, rollbackTimeoutMs: 3_600_000 },
        rollback: () => new Promise<void>((resolve) => void time.after(1_800_000, resolve)),
      }),
      node({ id: 'no', dependsOn: ['slow'], run: () => Promise.reject(new Error('no')) }),
    ],
  });
  const run = await open([graph]).start(graph, null);
  await time.pass(1_700_000);
  expect((await run.state()).state).toBe('compensating');
  await time.pass(200_000);
  expect((await run.state()).state).toBe('compensated');
});

test('[FW8] a process that dies while it undoes leaves the rest to another, with what the steps gave', async () => {
  const { open, time } = await openKit();
  const undone: unknown[] = [];
  const make = (isFirst: boolean) =>
    workflow('undo', async (ctx) => {
      for (const [name, value] of Object.entries({ one: 1, two: { n: 2 }, three: [3] })) {
        await ctx.step<unknown>(name, () => value, {
          compensate(result) {
            undone.push(result);
            // The first process dies here, as far as anybody can tell.
            return isFirst && name === 'two' ? new Promise(() => {}) : undefined;
          },
        });
      }
      throw new Error('enough');
    });
  const first = open([make(true)]);
  const run = await first.start(make(true), null);
  await time.pass(1_000);
  expect((await run.state()).state).toBe('compensating');
  await first.close();
  open([make(false)]);
  await time.pass(1_000);
  await expect(run.result()).rejects.toThrow('is compensated: enough');
  expect(undone).toEqual([[3], { n: 2 }, { n: 2 }, 1]);
});

test('[FW8] a sibling that heeds nothing is waited for no longer than the grace', async () => {
  const { open, time } = await openKit();
  const deaf = workflow(
    'deaf',
    async (ctx) => {
      await Promise.all([
        ctx.step('deaf', () => new Promise<never>(() => {})),
        ctx.step('breaks', () => Promise.reject(new Error('broken'))),
      ]);
    },
    { graceMs: 3_000 },
  );
  const run = await open([deaf]).start(deaf, null);
  await time.pass(2_000);
  expect((await run.state()).state).toBe('running');
  await time.pass(1_500);
  await expect(run.result()).rejects.toMatchObject({ state: 'failed' });
  const states = Object.fromEntries((await run.steps()).map(({ step, state }) => [step, state]));
  expect(states).toEqual({ deaf: 'cancelled', breaks: 'failed' });
});

test('[FW13] cancelling reaches a step that runs, undoes what was done, and ends the run', async () => {
  const { open } = await openKit();
  const undone: string[] = [];
  const begun = createGate();
  const long = workflow('long', async (ctx) => {
    await ctx.step('before', () => 1, { compensate: () => void undone.push('before') });
    await ctx.step('work', async ({ signal }) => {
      begun.resolve();
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    });
  });
  const run = await open([long]).start(long, null);
  await begun.promise;
  await run.cancel('not wanted any more');
  await expect(run.result()).rejects.toThrow('not wanted any more');
  expect(undone).toEqual(['before']);
});

test('[FW13] a run that sleeps is cancelled without waking for long, and undoes what it did', async () => {
  const { open, time } = await openKit();
  const undone: string[] = [];
  const long = workflow('long', async (ctx) => {
    await ctx.step('before', () => 1, { compensate: () => void undone.push('before') });
    await ctx.sleep('year', 300 * 86_400_000);
  });
  const run = await open([long]).start(long, null);
  await time.pass(10_000);
  expect((await run.state()).suspended).toBe(true);
  await run.cancel();
  await time.pass(10_000);
  await expect(run.result()).rejects.toMatchObject({ state: 'compensated' });
  expect(undone).toEqual(['before']);
});

test('[FW7] a step that is gone or renamed makes the run stuck, with the difference and three ways out', async () => {
  const { open, time } = await openKit();
  const make = (name: string, ran: string[] = []) =>
    workflow('ship', async (ctx) => {
      await ctx.step('build', () => ran.push('build'));
      await ctx.step(name, () => ran.push(name));
      await ctx.sleep('pause', 60_000);
      return ctx.step('push', () => ran);
    });
  const first = open([make('test')]);
  const run = await first.start(make('test'), null, { id: 'r' });
  await time.pass(5_000);
  await first.close();
  const ran: string[] = [];
  open([make('tests', ran)]);
  await time.pass(60_000);
  const error = await run.result().catch((thrown: RunFailedError) => thrown);
  expect(error).toMatchObject({ state: 'stuck' });
  const { message } = error as RunFailedError;
  expect(message).toContain('not asked for within 50 ms: step test; perhaps it is tests now');
  expect(message).toContain('asked for, and not on record: tests');
  for (const way of ['workflow retry r"', 'retry r --map test=tests"', 'fork r --at STEP']) {
    expect(message).toContain(way);
  }
  expect(ran).toEqual([]);
  // One of the ways out: what the step is called now.
  await run.retry({ map: { test: 'tests' } });
  await time.pass(60_000);
  expect(await run.result()).toEqual(['push'].slice(1));
});

test('[WF16] [FW7] a fork is run from its step on, by the code there is now, with what was done before', async () => {
  const { open, time } = await openKit();
  const ran: string[] = [];
  const make = (review: string) =>
    workflow('ship', async (ctx, input: { to: string }) => {
      const built = await ctx.step('build', () => ran.push('build'), { key: 'all' });
      await ctx.step(review, () => ran.push(review));
      await ctx.sleep('pause', 60_000);
      return ctx.step('push', ({ key }) => `${built} to ${input.to} as ${key}`);
    });
  const first = open([make('look')]);
  const run = await first.start(make('look'), { to: 'main' }, { id: 'r' });
  await time.pass(5_000);
  await first.close();
  open([make('review')]);
  await time.pass(60_000);
  await expect(run.result()).rejects.toMatchObject({ state: 'stuck' });
  const same = await run.fork({ at: 'look', id: 'same' });
  const other = await run.fork({ at: 'build', key: 'all', input: { to: 'next' } });
  await expect(run.fork({ at: 'never' })).rejects.toThrow('never');
  await time.pass(120_000);
  expect(same.id).toBe('same');
  expect(await same.result()).toBe('1 to main as same:push');
  expect(await other.result()).toMatch(/^\d to next as r\d+:push$/);
  // The first run built and looked, each fork reviewed, and only the one from before it built again.
  expect(ran.toSorted()).toEqual(['build', 'build', 'look', 'review', 'review']);
  expect((await run.state()).state).toBe('stuck');
});

test('[FW7] of steps that are not reached only the first is told, and names are fit for a shell', async () => {
  const { open, time } = await openKit();
  const make = (...names: string[]) =>
    workflow('ship', async (ctx) => {
      for (const name of names) await ctx.step(name, () => null);
      await ctx.sleep('pause', 60_000);
    });
  const first = open([make('build', 'a&b', 'sign', 'upload')]);
  const run = await first.start(make(), null, { id: 'r' });
  await time.pass(5_000);
  await first.close();
  const second = open([make('build', 'other', 'sign', 'upload')]);
  await time.pass(60_000);
  const message = await run.result().catch((error: Error) => error.message);
  await second.close();
  expect(message).toContain('on record, and not asked for within 50 ms: step a&b; perhaps');
  expect(message).toContain(`"synod workflow retry r --map 'a&b=other'"`);
  expect(message).not.toMatch(/sign|upload|pause/);
  await run.retry();
  // This code ends, and asks for none of them.
  open([workflow('ship', async () => null)]);
  await time.pass(60_000);
  const ended = await run.result().catch((error: Error) => error.message);
  expect(ended).toContain('on record, and not asked for any more: step build\n');
});

test('[FW7] code that is slow between its steps is waited for, and slow beside a wait says how long', async () => {
  const { open, time } = await openKit();
  let slow: Promise<unknown> = Promise.resolve();
  const code = workflow('slow', async (ctx, isBeside: boolean) => {
    await ctx.step('one', () => 1);
    const nap = isBeside ? ctx.sleep('nap', 60_000) : null;
    await slow;
    const two = await ctx.step('two', () => 2);
    await (nap ?? ctx.sleep('nap', 60_000));
    return two;
  });
  const first = open([code]);
  const alone = await first.start(code, false, { id: 'alone' });
  const beside = await first.start(code, true, { id: 'beside' });
  await time.pass(5_000);
  await first.close();
  const gate = createGate();
  slow = gate.promise;
  open([code], { replayGraceMs: 1 });
  await time.pass(60_000);
  const stuck = await beside.result().catch((error: Error) => error.message);
  expect(stuck).toContain('on record, and not asked for within 1 ms: step two');
  expect(stuck).toContain('openFlow({ replayGraceMs })');
  // By then the other has been waited for as long.
  expect(await alone.state()).toMatchObject({ state: 'running', stuck: null });
  gate.resolve();
  expect(await alone.result()).toBe(2);
});

test('[FW7] a step of another kind, and a result of another shape, make the run stuck and run nothing', async () => {
  const { open, time } = await openKit();
  const schema = {
    parse(value: unknown): { n: number } {
      if (typeof value === 'object') return value as { n: number };
      throw new Error('want an object');
    },
  };
  let pushed = 0;
  const make = (second: 'step' | 'sleep', isStrict: boolean) =>
    workflow('ship', async (ctx) => {
      await ctx.step('count', () => 7 as never, isStrict ? { schema } : {});
      if (second === 'step') await ctx.step('middle', () => null);
      else await ctx.sleep('middle', 1);
      await ctx.sleep('pause', 60_000);
      await ctx.step('push', () => ++pushed);
    });
  const first = open([make('step', false)]);
  const kind = await first.start(make('step', false), null, { id: 'kind' });
  const shape = await first.start(make('step', false), null, { id: 'shape' });
  await time.pass(5_000);
  await first.close();
  const second = open([make('sleep', false)], { concurrency: 1 });
  await time.pass(60_000);
  await second.close();
  const stuck = await kind.result().catch((error: Error) => error.message);
  expect(stuck).toContain('middle is on record as step, and is sleep now');
  await shape.retry();
  open([make('step', true)]);
  await time.pass(60_000);
  const reshaped = await shape.result().catch((error: Error) => error.message);
  expect(reshaped).toContain('the result of count on record is of another shape: want an object');
  expect(pushed).toBe(0);
});

test('[FW4] a step that may have run goes by its policy: again with its key, not at all, or as a person says', async () => {
  const { open, time, asOwner } = await openKit();
  const keys: string[] = [];
  const make = (isFirst: boolean, uncertain: 'retry' | 'ask' | 'fail') =>
    workflow(`pay-${uncertain}`, async (ctx) =>
      ctx.step(
        'pay',
        ({ key }) => {
          keys.push(`${uncertain} ${key}`);
          return isFirst ? new Promise<string>(() => {}) : 'paid';
        },
        { uncertain },
      ),
    );
  const all = (isFirst: boolean) =>
    (['retry', 'ask', 'fail'] as const).map((one) => make(isFirst, one));
  const first = open(all(true), { leaseMs: 5_000 });
  const runs = await Promise.all(all(true).map((one) => first.start(one, null, { id: one.name })));
  await time.pass(1_000);
  // It gives its runs back while their steps run: nobody knows what became of them.
  await first.close();
  open(all(false));
  await time.pass(10_000);
  const [retried, asked, failed] = runs;
  expect(await retried?.result()).toBe('paid');
  await expect(failed?.result()).rejects.toThrow('nobody knows whether it was done');
  expect((await asked?.state())?.state).toBe('running');
  await asOwner('workflows.answer', { id: 'pay-ask', step: 'pay', answer: 'retry' });
  await time.pass(10_000);
  expect(await asked?.result()).toBe('paid');
  const count = (what: string): number => keys.filter((key) => key === what).length;
  expect(count('retry pay-retry:pay')).toBe(2);
  expect(count('ask pay-ask:pay')).toBe(2);
  expect(count('fail pay-fail:pay')).toBe(1);
});

test('[FW8] what is thrown is kept as the hub keeps it, under whatever name and however long', async () => {
  const { open } = await openKit();
  const odd = workflow('odd', async (ctx, name: string) =>
    ctx.step('throw', () => {
      throw Object.assign(new Error('x'.repeat(ERROR_MESSAGE_CHARS_MAX + 1)), { name });
    }),
  );
  const parent = workflow('parent', async (ctx, name: string) => ctx.child('odd', odd, name));
  const flow = open([odd, parent]);
  for (const name of ['two\nlines', 'n'.repeat(ERROR_NAME_CHARS_MAX + 1), '']) {
    const run = await flow.start(odd, name);
    await run.result().catch(() => {});
    const { error } = await run.state();
    expect([error?.name, error?.message.length]).toEqual(['Error', ERROR_MESSAGE_CHARS_MAX]);
  }
  const above = await flow.start(parent, 'OddError');
  await above.result().catch(() => {});
  expect((await above.state()).error?.name).toBe('OddError');
});

test('[FW12] a step is named as the hub names steps, and a refusal says all that may be used', async () => {
  const { open } = await openKit();
  const named = workflow('named', async (ctx, [name, key]: [string, string]) =>
    ctx.step(name, () => 'done', { key }),
  );
  const flow = open([named]);
  expect(await (await flow.start(named, ['größe#1+2', 'k'])).result()).toBe('done');
  for (const [name, key, words] of [
    ['two words', 'k', NAME_ALPHABET],
    ['x'.repeat(STEP_NAME_CHARS_MAX + 1), 'k', NAME_ALPHABET],
    ['fine', 'a\u200bb', 'to be seen'],
    ['fine', 'x'.repeat(STEP_KEY_CHARS_MAX + 1), 'to be seen'],
  ] as const) {
    await expect((await flow.start(named, [name, key])).result()).rejects.toThrow(words);
  }
});

test('[FW5] a run whose step is tried again is not given back under it, and nothing is done twice', async () => {
  const { open, time } = await openKit();
  let ran = 0;
  const again = workflow('again', async (ctx) =>
    ctx.step(
      'flaky',
      async ({ attempt }) => {
        ran++;
        if (attempt === 1) throw new Error('once');
        await new Promise<void>((resolve) => void time.after(500, resolve));
        return attempt;
      },
      { retry: { attempts: 3, delayMs: 900, jitter: 0 } },
    ),
  );
  const run = await open([again], { lingerMs: 1_000 }).start(again, null);
  await time.pass(10_000);
  expect([await run.result(), ran]).toEqual([2, 2]);
});
