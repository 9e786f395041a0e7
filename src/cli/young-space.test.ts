import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const MODULE = join(import.meta.dirname, 'young-space.ts');

/** How large it is in a process that keeps much of what it makes for a while, in turns of the event loop. */
function youngMbAfter(held: string, rest = ''): number {
  const script = `
    const { holdYoungSpace, youngMb } = await import(${JSON.stringify(MODULE)});
    async function work() {
      let kept = [];
      for (let turn = 0; turn < 400; turn++) {
        for (let i = 0; i < 5_000; i++) kept.push({ turn, i, text: ['some', i] });
        if (turn % 10 === 9) kept = [];
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    ${held}
    await work();
    ${rest}
    console.log(youngMb());`;
  const args = ['--input-type=module', '--max-semi-space-size=64', '-e', script];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

test('the space for the young grows as far as is asked for and no further', () => {
  const [free, held] = [youngMbAfter(''), youngMbAfter('holdYoungSpace(8);')];
  expect(held).toBeGreaterThanOrEqual(8);
  expect(held).toBeLessThan(free);
});

test('one that V8 took back while the process rested grows as far again, and no further', () => {
  // What V8 does by itself after some seconds without work.
  const rest = `
    const { setFlagsFromString } = await import('node:v8');
    setFlagsFromString('--expose-gc');
    const gc = (await import('node:vm')).runInNewContext('gc');
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    if (youngMb() > 2) throw new Error('it was not taken back');`;
  const [free, held] = [
    youngMbAfter('', rest),
    youngMbAfter('holdYoungSpace(8);', `${rest} await work();`),
  ];
  expect(free).toBeLessThanOrEqual(2);
  expect(held).toBeGreaterThanOrEqual(8);
  expect(held).toBeLessThan(youngMbAfter(''));
});
