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
