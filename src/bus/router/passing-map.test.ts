import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PassingMap } from './passing-map.ts';

test('what was put in is there, in order, until it is taken out', () => {
  const map = new PassingMap<number, string>();
  for (let n = 0; n < 2_000; n += 1) {
    map.set(n, `value ${n}`);
    if (n >= 10) expect(map.delete(n - 10)).toBe(true);
    expect(map.delete(n - 10)).toBe(false);
    expect(map.get(n)).toBe(`value ${n}`);
    expect(map.size).toBe(Math.min(n + 1, 10));
  }
  expect([...map.values()]).toEqual(Array.from({ length: 10 }, (_, at) => `value ${1_990 + at}`));
  map.clear();
  expect([map.size, map.get(1_999), [...map.values()]]).toEqual([0, undefined, []]);
});

/** Megabytes that became old while so much came and went. */
function agedMb(map: string): number {
  const module = join(import.meta.dirname, 'passing-map.ts');
  const script = `
    const { PassingMap } = await import(${JSON.stringify(module)});
    const { getHeapSpaceStatistics } = await import('node:v8');
    const oldBytes = () =>
      getHeapSpaceStatistics().find((one) => one.space_name === 'old_space').space_used_size;
    const map = new ${map}();
    // Whatever lives through two collections is old.
    gc({ type: 'minor' });
    gc({ type: 'minor' });
    let aged = 0;
    for (let n = 0, before = oldBytes(); n < 100_000; n++) {
      map.set('key ' + n, { n, text: ['some', n] });
      map.delete('key ' + (n - 8));
      if (n % 1_000 > 0) continue;
      gc({ type: 'minor' });
      const now = oldBytes();
      aged += Math.max(0, now - before);
      before = now;
    }
    console.log(aged / 2 ** 20);`;
  const args = ['--expose-gc', '--input-type=module', '-e', script];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

test('what has left it does not become old with what comes after it', () => {
  // Each collection that is asked for leaves a little by itself.
  expect(agedMb('PassingMap')).toBeLessThan(agedMb('Map') / 4);
});
