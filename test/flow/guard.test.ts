/** Steps and the bus pass the guard that a flow was given: before anything is done, and once. */
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createGuard, type Rail, workflow } from '../../src/flow/index.ts';
import { openKit } from './kit.ts';

function scratch(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'synod-flow-guard-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('[PO15] a step has the guard in its scope, and what that refuses is not tried again', async () => {
  const { open } = await openKit();
  const dir = scratch();
  const guard = createGuard({ write: [join(dir, 'out')] });
  let tries = 0;
  const write = workflow('write', async (ctx, path: string) =>
    ctx.step(
      'file',
      async (scope) => {
        tries++;
        await scope.guard?.writeFile(join(dir, path), 'x', { makeFolders: true });
      },
      { retry: { attempts: 5 } },
    ),
  );
  const flow = open([write], { guard });
  await (await flow.start(write, 'out/a')).result();
  expect(readFileSync(join(dir, 'out/a'), 'utf8')).toBe('x');
  await expect((await flow.start(write, 'secret')).result()).rejects.toThrow(/no-rule|allows/);
  expect([tries, existsSync(join(dir, 'secret'))]).toEqual([2, false]);
});

test('[PO15] a tripped rail: the step did not run, and its file is not there', async () => {
  const { open } = await openKit();
  const dir = scratch();
  const shown: unknown[] = [];
  const rail: Rail = {
    ...{ name: 'no-land', on: 'input' },
    check(value, { name }) {
      shown.push([name, value]);
      return name === 'ship.land' ? 'nobody lands today' : null;
    },
  };
  const ship = workflow('ship', async (ctx) => {
    await ctx.step('build', () => writeFileSync(join(dir, 'built'), ''));
    await ctx.step('land', () => writeFileSync(join(dir, 'landed'), ''), { key: 'k' });
  });
  const flow = open([ship], { guard: createGuard({}, { rails: [rail] }) });
  await expect((await flow.start(ship, null)).result()).rejects.toThrow('nobody lands today');
  expect([existsSync(join(dir, 'built')), existsSync(join(dir, 'landed'))]).toEqual([true, false]);
  expect(shown).toEqual([
    ['ship.build', { step: 'build', key: null, attempt: 1 }],
    ['ship.land', { step: 'land', key: 'k', attempt: 1 }],
  ]);
});

test('[PO15] a request to the bus passes it with what is asked, and is not made when it trips', async () => {
  const { open } = await openKit();
  const asked: unknown[] = [];
  const bus = { request: async (method: string) => asked.push(method) };
  const rail: Rail = {
    ...{ name: 'no-rm', on: 'input' },
    check: (value) => (JSON.stringify(value).includes('rm -rf') ? 'not that' : null),
  };
  const tell = workflow('tell', async (ctx, text: string) => ctx.bus('sh', 'run', { text }));
  const flow = open([tell], { bus, guard: createGuard({}, { rails: [rail] }) });
  await expect((await flow.start(tell, 'rm -rf /')).result()).rejects.toThrow('not that');
  expect(asked).toEqual([]);
  await (await flow.start(tell, 'ls')).result();
  expect(asked).toEqual(['run']);
});

test('[PO15] what is said to agents passes it with its words, and is not said when it trips', async () => {
  const { open, hub } = await openKit();
  await hub.call('channels.subscribe', { pattern: 'review' });
  const shown: unknown[] = [];
  const rail: Rail = {
    ...{ name: 'no-keys', on: 'input' },
    check(value, { name }) {
      shown.push([name, value]);
      return JSON.stringify(value).includes('sk-') ? 'it holds a key' : null;
    },
  };
  const guard = createGuard({}, { rails: [rail] });
  const ways = {
    tell: workflow('tell', async (ctx, text: string) => ctx.tell('ada', text)),
    turn: workflow('turn', async (ctx, text: string) => ctx.turn('ada', { text })),
    collect: workflow('collect', async (ctx, text: string) =>
      ctx.collect('votes', { channel: 'review', body: { text }, count: 1 }),
    ),
  };
  const flow = open(Object.values(ways), { guard });
  for (const run of [
    await flow.start(ways.tell, 'sk-1'),
    await flow.start(ways.turn, 'sk-1'),
    await flow.start(ways.collect, 'sk-1'),
  ]) {
    await expect(run.result()).rejects.toThrow('it holds a key');
  }
  expect(shown.splice(0).sort()).toEqual([
    ['collect.votes', { step: 'votes', key: null, channel: 'review', body: { text: 'sk-1' } }],
    [
      'tell.tell:ada',
      { step: 'tell:ada', key: null, attempt: 1, agent: 'ada', body: { text: 'sk-1' } },
    ],
    ['turn.turn:ada', { step: 'turn:ada', key: null, agent: 'ada', body: { text: 'sk-1' } }],
  ]);
  // What comes next is the first that is there.
  await (await flow.start(ways.tell, 'hello')).result();
  await hub.call('channels.send', { channel: 'review', body: { text: 'first' } });
  for (const [channel, text] of Object.entries({ 'dm/ada~flow': 'hello', review: 'first' })) {
    const { messages } = await hub.call<{ messages: { body: { text: string } }[] }>(
      'channels.replay',
      { channel },
    );
    expect(messages.map(({ body }) => body.text)).toEqual([text]);
  }
});

test('[PO15] an undoing passes it with what it undoes, has it in its scope, and is not done when it trips', async () => {
  const { open } = await openKit();
  const dir = scratch();
  const shown: unknown[] = [];
  const rail: Rail = {
    ...{ name: 'keep', on: 'input' },
    check(value) {
      shown.push(value);
      return JSON.stringify(value).includes('"compensates":"keep"') ? 'that stays' : null;
    },
  };
  const guard = createGuard({ write: [dir] }, { rails: [rail] });
  const make = workflow('make', async (ctx, what: string) => {
    await ctx.step('one', () => what, {
      compensate: (name, scope) => scope.guard?.writeFile(join(dir, `${name}.undone`), ''),
    });
    throw new Error('enough');
  });
  const flow = open([make], { guard });
  await expect((await flow.start(make, 'drop')).result()).rejects.toThrow('enough');
  const kept = await flow.start(make, 'keep');
  await expect(kept.result()).rejects.toThrow('that stays');
  expect((await kept.state()).state).toBe('compensation_failed');
  expect(['drop.undone', 'keep.undone'].map((name) => existsSync(join(dir, name)))).toEqual([
    ...[true, false],
  ]);
  expect(shown.at(-1)).toEqual({ step: 'one', key: null, attempt: 1, compensates: 'keep' });
});
