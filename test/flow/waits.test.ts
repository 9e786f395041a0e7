/** What a run waits for: time, people, signals, other runs, agents, files, a bus. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { StdioBus } from '../../src/bus/sdk/index.ts';
import { workflow } from '../../src/flow/index.ts';
import { openFlowOn } from '../../src/flow/workflow/open-flow.ts';
import { createFolder, createGate, openKit } from './kit.ts';

test('[FW6] a gate suspends with no process alive, and the answer goes on at that line with nothing run again', async () => {
  const { open, time, asOwner, decide } = await openKit();
  const ran: string[] = [];
  const ship = workflow('ship', async (ctx) => {
    await ctx.step('build', () => ran.push('build'));
    const verdict = await ctx.gate('publish', { subject: 'v1.2', deadline: 'never' });
    await ctx.step('push', () => ran.push('push'));
    return verdict;
  });
  const first = open([ship]);
  const run = await first.start(ship, null);
  await time.pass(5_000);
  await first.close();
  await time.pass(3 * 86_400_000);
  expect(await run.state()).toMatchObject({ state: 'running', suspended: true, holder: null });
  const gate_id = await decide('v1.2', 'approve');
  open([ship]);
  expect(await run.result()).toMatchObject({ state: 'approved', gateId: gate_id, by: 'mia' });
  expect(ran).toEqual(['build', 'push']);
  // An approval is used once, by this run.
  const gate = await asOwner('gates.get', { gate_id });
  expect(gate.state).toBe('consumed');
});

test('[FW6] one approval lets one run go on, however alike two of them ask', async () => {
  const { open, time, decide, asOwner } = await openKit();
  const ship = workflow('ship', async (ctx) => {
    const { state } = await ctx.gate('publish', { subject: 'v3', deadline: 'never' });
    return state;
  });
  const flow = open([ship]);
  const runs = [await flow.start(ship, null), await flow.start(ship, null)];
  await time.pass(5_000);
  const { gates } = await asOwner('gates.list', {});
  expect(gates).toHaveLength(2);
  await decide('v3', 'approve');
  await time.pass(5_000);
  const states = await Promise.all(runs.map(async (run) => (await run.state()).state));
  expect(states.sort()).toEqual(['completed', 'running']);
});

/** The pattern of the guide: what is not approved fails the run, which undoes what it did. */
function createShip(ran: string[]) {
  return workflow('ship', async (ctx) => {
    await ctx.step('build', () => ran.push('build'), { compensate: () => void ran.push('undo') });
    const { state } = await ctx.gate('publish', {
      ...{ subject: 'v2', deadline: 'never', payload: { tag: 'v2' } },
    });
    if (state !== 'approved') throw new Error(`it is ${state}`);
    return ctx.step('push', () => ran.push('push'));
  });
}

test('[FW6] [WF20] an approval is there a day after it was given, also for a hub that was opened anew', async () => {
  const store = `sqlite://${join(await createFolder(), 'flow.sqlite')}`;
  const ran: string[] = [];
  const ship = createShip(ran);
  const first = await openKit(store);
  const flow = first.open([ship]);
  const { id } = await flow.start(ship, null);
  await first.time.pass(5_000);
  await flow.close();
  const gate_id = await first.decide('v2', 'approve');
  await first.time.pass(86_400_000);
  await first.hub.close();
  const second = await openKit(store, first.time.now());
  await second.time.pass(86_400_000);
  const run = second.open([ship]).run(id);
  await run.result();
  expect(ran).toEqual(['build', 'push']);
  expect((await second.asOwner('gates.get', { gate_id })).state).toBe('consumed');
});

test('[FW6] hours pass on a disk that takes long, and what was asked before them is stored before them', async () => {
  using slow = slowSyncs(20);
  const store = `sqlite://${join(await createFolder(), 'flow.sqlite')}`;
  const { open, time } = await openKit(store);
  const sleeps = workflow('sleeps', async (ctx) => {
    for (const hour of ['one', 'two', 'three']) {
      await ctx.step(hour, () => 'x'.repeat(100_000));
      await ctx.sleep(`after-${hour}`, 3_600_000);
    }
    return 'rested';
  });
  const run = await open([sleeps]).start(sleeps, null);
  await time.pass(4 * 3_600_000);
  expect(await run.result()).toBe('rested');
  expect(slow.count()).toBeGreaterThan(2);
});

/** Each sync in another thread takes so long. */
function slowSyncs(ms: number): Disposable & { count(): number } {
  const { fdatasync } = fs;
  let count = 0;
  Object.assign(fs, {
    fdatasync(handle: number, done: (error: Error | null) => void) {
      count++;
      const until = performance.now() + ms;
      const again = (): void =>
        fdatasync(handle, (error) => (performance.now() < until ? again() : done(error)));
      again();
    },
  });
  syncBuiltinESMExports();
  return {
    count: () => count,
    [Symbol.dispose]() {
      Object.assign(fs, { fdatasync });
      syncBuiltinESMExports();
    },
  };
}

test('[FW6] [WF20] an approval of something else than the code asks for now is none, however long it is kept', async () => {
  const { open, time, decide } = await openKit();
  const make = (tag: string) =>
    workflow('ship', async (ctx) => {
      const gate = { subject: 'v3', deadline: 'never', payload: { tag } } as const;
      return (await ctx.gate('publish', gate)).state;
    });
  const first = open([make('v3')]);
  const run = await first.start(make('v3'), null);
  await time.pass(5_000);
  await first.close();
  await decide('v3', 'approve');
  await time.pass(86_400_000);
  open([make('v4')]);
  expect(await run.result()).toBe('lapsed');
});

test('[WF20] a gate goes from the docket with the run that waits at it, whether a process has the run or not', async () => {
  const { open, time, asOwner, decide } = await openKit();
  const pending = async (): Promise<unknown[]> =>
    (await asOwner<{ gates: unknown[] }>('gates.list', { state: 'pending' })).gates;
  const items = async (): Promise<unknown[]> =>
    (await asOwner<{ items: unknown[] }>('docket.list', {})).items;
  const ran: string[] = [];
  const ship = createShip(ran);
  for (const isLive of [true, false]) {
    ran.length = 0;
    const flow = open([ship]);
    const run = await flow.start(ship, null);
    await time.pass(isLive ? 0 : 60_000);
    if (!isLive) await flow.close();
    expect([await pending(), await items()]).toMatchObject([{ length: 1 }, { length: 1 }]);
    await run.cancel('not wanted');
    expect([await pending(), await items()]).toEqual([[], []]);
    const next = isLive ? flow : open([ship]);
    await time.pass(1_000);
    expect((await run.state()).state).toBe('compensated');
    expect(ran).toEqual(['build', 'undo']);
    await next.close();
  }
  // One that loses a race goes with the end of the run.
  const over = createGate();
  const race = workflow('race', (ctx) =>
    Promise.race([
      ctx.gate('ask', { subject: 'race', deadline: 'never' }),
      ctx.step('other', () => over.promise),
    ]),
  );
  const raced = await open([race]).start(race, null);
  await time.pass(100);
  expect(await pending()).toHaveLength(1);
  over.resolve();
  await raced.result();
  expect([await pending(), await items()]).toEqual([[], []]);
  // A run that is retried after it was cancelled asks anew.
  const plain = workflow('plain', async (ctx) => {
    await ctx.step('first', () => 1);
    return (await ctx.gate('ask', { subject: 'again', deadline: 'never' })).state;
  });
  const flow = open([plain]);
  const again = await flow.start(plain, null);
  await time.pass(100);
  await again.cancel();
  await time.pass(100);
  expect((await again.state()).state).toBe('cancelled');
  await asOwner('workflows.retry', { id: again.id });
  await time.pass(100);
  await decide('again', 'approve');
  expect(await again.result()).toBe('approved');
});

test('[FW6] no answer is no approval: a gate expires, and a denial says why', async () => {
  const { open, time, decide } = await openKit();
  const ask = workflow('ask', async (ctx) => {
    const [slow, denied] = await Promise.all([
      ctx.gate('slow', { subject: 'nobody comes', deadline: 60 }),
      ctx.gate('denied', { subject: 'no' }),
    ]);
    return [slow.state, denied.state, denied.reason];
  });
  const run = await open([ask]).start(ask, null);
  await time.pass(1_000);
  await decide('no', 'deny', 'not today');
  await time.pass(61_000);
  expect(await run.result()).toEqual(['expired', 'denied', 'not today']);
});

test('[FW6] a signal that came before anybody waited is not lost, and one that never comes times out', async () => {
  const { open, time } = await openKit();
  const wait = workflow('wait', async (ctx) => {
    await ctx.sleep('first', 60_000);
    const early = await ctx.signal<{ n: number }>('go');
    const late = await ctx
      .signal('never', { timeoutMs: 5_000 })
      .catch((error: Error) => error.message);
    return [early.n, late];
  });
  const run = await open([wait]).start(wait, null);
  await run.signal('go', { n: 7 });
  await time.pass(70_000);
  expect(await run.result()).toEqual([7, 'step never failed: nothing came within 5000 ms']);
});

test('[FW6] a child is a run of its own; its result comes back, its failure fails the step, and it is cancelled with its parent', async () => {
  const { open, time } = await openKit();
  const child = workflow('child', async (ctx, input: { n: number }) => {
    if (input.n < 0) throw new Error('too small');
    if (input.n > 9) await ctx.sleep('long', 1e9);
    return ctx.step('double', () => input.n * 2);
  });
  const parent = workflow('parent', async (ctx, input: { long: boolean }) => {
    const good = await ctx.child('good', child, { n: 4 });
    const bad = await ctx.child('bad', child, { n: -1 }).catch((error: Error) => error.message);
    if (input.long) await ctx.child('long', child, { n: 10 });
    return { good, bad };
  });
  const flow = open([parent, child]);
  const run = await flow.start(parent, { long: false }, { id: 'p' });
  await time.pass(1_000);
  expect(await run.result()).toEqual({
    good: 8,
    bad: 'step bad failed: run p.bad is failed: too small',
  });
  const cut = await flow.start(parent, { long: true }, { id: 'q' });
  await time.pass(5_000);
  await cut.cancel('enough');
  await time.pass(5_000);
  expect((await flow.run('q.long').state()).state).toBe('cancelled');
});

test('[FW6] answers of agents are collected, and a turn is the answer of one', async () => {
  const { open, time, hub } = await openKit();
  await hub.call('channels.subscribe', { pattern: 'review' });
  const ask = workflow('ask', async (ctx) => {
    const all = await ctx.collect('votes', { channel: 'review', body: { text: 'ok?' }, count: 2 });
    const one = await ctx.turn('ada', 'and you?', { timeoutMs: 60_000 });
    return [all.map(({ body }) => body.text), one.body.text];
  });
  const run = await open([ask]).start(ask, null);
  await time.pass(100);
  const messages = async (channel: string) =>
    (await hub.call<{ messages: { message_id: string }[] }>('channels.replay', { channel }))
      .messages;
  const [question] = await messages('review');
  for (const text of ['yes', 'no']) {
    const reply_to = question?.message_id;
    await hub.call(
      'channels.send',
      { channel: 'review', body: { text }, reply_to },
      { asOwner: text === 'no' },
    );
  }
  await time.pass(100);
  const [asked] = await messages('dm/ada~flow');
  await hub.call('channels.send', {
    ...{ channel: 'dm/ada~flow', body: { text: 'fine' }, reply_to: asked?.message_id },
  });
  await time.pass(100);
  expect(await run.result()).toEqual([['yes', 'no'], 'fine']);
});

test('[FW6] a turn of a managed agent gives its reply and its cost, or why there is none', async () => {
  const { open, time, asOwner, hub } = await openKit();
  await hub.call('channels.subscribe', { pattern: 'jobs' }, { agent: 'wes' });
  await asOwner('agents.manage', { agent_id: 'wes', runner: { kind: 'outside' } });
  const ask = workflow('ask', async (ctx, text: string) => (await ctx.turn('wes', text)).body.text);
  const flow = open([ask]);
  const take = async () => {
    await time.pass(1_000);
    const { turn, messages } = await asOwner<{
      turn: { turn_id: string; epoch: number };
      messages: { message_id: string }[];
    }>('turns.take', {});
    return { turn_id: turn.turn_id, epoch: turn.epoch, reply_to: messages[0]?.message_id };
  };
  const good = await flow.start(ask, 'how many?', { id: 'good' });
  const { reply_to, ...one } = await take();
  const body = { text: 'four' };
  await hub.call('channels.send', { channel: 'dm/flow~wes', body, reply_to }, { agent: 'wes' });
  await time.pass(100);
  expect((await good.state()).state).toBe('running');
  const cost = { usd: 0.25, tokens_in: 10, tokens_out: 2 };
  await asOwner('turns.finish', { ...one, outcome: 'done', cost });
  await time.pass(100);
  expect(await good.result()).toBe('four');
  expect((await good.steps())[0]?.cost).toEqual(cost);
  const bad = await flow.start(ask, 'and now?', { id: 'bad' });
  const { reply_to: _none, ...two } = await take();
  await asOwner('turns.finish', { ...two, outcome: 'gave_up', note: 'the model is gone' });
  await time.pass(100);
  const why = `turn ${two.turn_id} is gave_up, without a reply: the model is gone`;
  await expect(bad.result()).rejects.toThrow(why);
});

test('[FW6] files are held while the run is under way and given back when it ends, however it ends', async () => {
  const { open, time, asOwner } = await openKit();
  const worktree = await createFolder();
  const held: number[] = [];
  const count = async (): Promise<number> =>
    (await asOwner<{ claims: unknown[] }>('claims.list', {})).claims.length;
  const edit = workflow('edit', async (ctx, input: { fails: boolean }) => {
    await ctx.claim(['src/**'], { worktree });
    held.push(await count());
    if (input.fails) throw new Error('no');
    return 'edited';
  });
  const flow = open([edit]);
  for (const fails of [false, true]) {
    const run = await flow.start(edit, { fails });
    await run.result().catch(() => null);
    await time.pass(100);
    expect(await count()).toBe(0);
  }
  expect(held).toEqual([1, 1]);
});

test('[FW6] a request to the bus is a step: asked once, under the key of the step', async () => {
  const { open } = await openKit();
  const keys: string[] = [];
  await using bus = new StdioBus({
    config: { pools: [{ id: 'sum', function: async ({ params }: { params: unknown }) => params }] },
  } as never);
  await bus.start();
  const recorded = {
    request: (...args: Parameters<typeof bus.request>) => {
      keys.push(String(args[2]?.idempotencyKey));
      return bus.request(...args);
    },
  };
  const ask = workflow('ask', (ctx) => ctx.bus('sum', 'echo', { a: 1 }));
  const run = await open([ask], { bus: recorded as never }).start(ask, null, { id: 'b' });
  expect(await run.result()).toEqual({ a: 1 });
  expect(keys).toEqual(['b:bus:sum:echo']);
  const none = await open([workflow('none', (ctx) => ctx.bus('sum', 'echo'))]);
  const alone = await none.start(
    workflow('none', async () => null),
    null,
  );
  await expect(alone.result()).rejects.toThrow('give one to openFlow({ bus })');
});

test('[FW6] [WF22] values that are more than a page are all given, to who holds the run and to who takes it', async () => {
  const { hub, time } = await openKit();
  const names = Array.from({ length: 40 }, (_, i) => `go${i}`);
  const fill = 'y'.repeat(40_000);
  const hear = workflow('hear', async (ctx) => {
    const heard = names.map((name) => ctx.signal<string>(name));
    return (await Promise.all(heard)).map((value) => value.slice(fill.length));
  });
  let largest = 0;
  const counted: typeof hub = {
    ...hub,
    async call<T>(...asked: Parameters<typeof hub.call>) {
      const answer = await hub.call<T>(...asked);
      const isTake = asked[0] === 'workflows.take';
      if (isTake) largest = Math.max(largest, JSON.stringify(answer).length);
      return answer;
    },
    close: async () => {},
  };
  const send = (id: string, name: string) =>
    hub.call('workflows.signal', { id, name, value: `${fill}${name}` });
  const options = { workflows: [hear], lingerMs: 600_000 };
  const first = openFlowOn(counted, options);
  const { id } = await first.start(hear, null);
  await time.pass(1_000);
  // At once, so that one answer would have to hold them all.
  await Promise.all(names.slice(0, 10).map((name) => send(id, name)));
  await time.pass(1_000);
  await first.close({ graceMs: 0 });
  for (const name of names.slice(10)) await send(id, name);
  const second = openFlowOn(counted, options);
  onTestFinished(() => second.close({ graceMs: 0 }));
  expect(await second.run(id).result()).toEqual(names);
  // A page of the journal and one of values.
  expect(largest).toBeLessThan(800_000);
});

test('[FW2] [WF22] a journal longer than a page is replayed to its end, and nothing of it is done again', async () => {
  const { open } = await openKit();
  const keys = Array.from({ length: 120 }, (_, i) => `${i}`);
  const fill = 'z'.repeat(20_000);
  let ran = 0;
  const long = workflow('long', async (ctx) => {
    const part = (key: string): string => {
      ran++;
      return `${fill}${key}`;
    };
    const parts = await Promise.all(keys.map((key) => ctx.step('part', () => part(key), { key })));
    await ctx.signal('go');
    return parts.map((one) => one.slice(fill.length));
  });
  const first = open([long]);
  const run = await first.start(long, null);
  await expect.poll(async () => (await run.state()).waiting_on.length).toBe(1);
  await first.close();
  await run.signal('go');
  open([long]);
  expect(await run.result()).toEqual(keys);
  expect(ran).toBe(keys.length);
  expect(await run.steps()).toHaveLength(keys.length + 1);
});
