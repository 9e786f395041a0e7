/** Who does not believe it: the review runs what was written with what nobody meant, QA runs its tests and its command. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Craft } from './craft.ts';
import { moduleOf, readFacts } from './facts.ts';

const run = promisify(execFile);
const NO_NUMBERS: readonly unknown[] = ['seven', Number.NaN, undefined];

export const review: Craft = async ({ dir }) => {
  const { conversions } = await readFacts(dir);
  const remarks: string[] = [];
  for (const one of conversions) {
    const file = moduleOf(one);
    // Asked for anew each time: it may have been mended.
    const { there } = await import(`${pathToFileURL(join(dir, file)).href}?at=${Date.now()}`);
    const taken = NO_NUMBERS.filter((what) => {
      try {
        there(what);
        return true;
      } catch {
        return false;
      }
    });
    if (taken.length > 0)
      remarks.push(`${file}: takes ${taken.map(String).join(', ')} for a number`);
  }
  if (remarks.length === 0) return { text: `${conversions.length} modules, no objection` };
  return { ok: false, text: `not yet: ${remarks.length} remarks`, remarks };
};

export const unitTests: Craft = async ({ dir }) => {
  try {
    const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap'], { cwd: dir });
    const [, passed = '0'] = /^# pass (\d+)$/m.exec(stdout) ?? [];
    return { text: `${passed} tests pass`, tests: Number(passed) };
  } catch (error) {
    return {
      ok: false,
      text: `not yet: tests fail: ${String((error as Error).message).slice(0, 500)}`,
    };
  }
};

/** As a customer would use it. */
export const commandTests: Craft = async ({ dir }) => {
  const { conversions } = await readFacts(dir);
  for (const { from, to, factor } of conversions) {
    const { stdout } = await run(process.execPath, ['bin/convert.js', '3', from, to], { cwd: dir });
    if (Number(stdout) !== 3 * factor) {
      return { ok: false, text: `not yet: 3 ${from} is said to be ${stdout.trim()} ${to}` };
    }
  }
  return { text: `${conversions.length} conversions as a customer types them` };
};
