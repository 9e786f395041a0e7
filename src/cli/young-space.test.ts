import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const MODULE = join(import.meta.dirname, 'young-space.ts');

/** How large it is in a process that keeps much of what it makes for a while, in turns of the event loop. */
function youngMbAfter(held: string): number {
  const script = `
    const { holdYoungSpace, youngMb } = await import(${JSON.stringify(MODULE)});
    ${held}
    let kept = [];
    for (let turn = 0; turn < 400; turn++) {
      for (let i = 0; i < 5_000; i++) kept.push({ turn, i, text: ['some', i] });
      if (turn % 10 === 9) kept = [];
      await new Promise((resolve) => setImmediate(resolve));
    }
    console.log(youngMb());`;
  const args = ['--input-type=module', '--max-semi-space-size=64', '-e', script];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

test('the space for the young grows as far as is asked for and no further', () => {
  const [free, held] = [youngMbAfter(''), youngMbAfter('holdYoungSpace(8);')];
  expect(held).toBeGreaterThanOrEqual(8);
  expect(held).toBeLessThan(free);
});
