/**
 * `npm run bench:against -- DIR [--only NAME]… [--rounds N]`: this checkout beside another one, in one
 * run. Both take turns, scenario by scenario, under the same load from this checkout, and the order is
 * turned round each time. What is printed is the median over the rounds of this checkout's figure by
 * the other's of the same round; above 1 is better for this one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { median } from './percentiles.ts';
import type { Report } from './report.ts';

const HERE = join(import.meta.dirname, '..');
const MAIN = join(import.meta.dirname, 'main.ts');
/** Figures of which less is better. */
const LESS_IS_BETTER: ReadonlySet<string> = new Set(['ms', 'KB', 'B', 'MB']);

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true, default: ['sends'] },
    rounds: { type: 'string', default: '5' },
  },
});

interface Row {
  readonly unit: string;
  readonly here: number[];
  readonly there: number[];
}

async function main(): Promise<void> {
  const [other] = positionals;
  if (other === undefined) {
    process.stderr.write('name the checkout to compare with: npm run bench:against -- DIR\n');
    process.exitCode = 2;
    return;
  }
  const rows = new Map<string, Row>();
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const scenario of flags.only) {
      const order = [HERE, resolve(other)];
      if (round % 2 === 1) order.reverse();
      for (const root of order) await takeTurn(root, scenario, rows);
    }
    process.stderr.write(`round ${round + 1} of ${flags.rounds}\n`);
  }
  process.stdout.write(
    '| what | unit | this | other | this : other, better above 1 |\n|---|---|--:|--:|--:|\n',
  );
  for (const [what, { unit, here, there }] of rows) {
    const better = here.map((value, at) => {
      const ratio = value / (there[at] as number);
      return LESS_IS_BETTER.has(unit) ? 1 / ratio : ratio;
    });
    const cells = [what, unit, show(median(here)), show(median(there)), show(median(better))];
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
  }
}

async function takeTurn(root: string, scenario: string, rows: Map<string, Row>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'synod-against-'));
  try {
    const out = join(dir, 'report.json');
    const child = spawn(
      process.execPath,
      [MAIN, '--only', scenario, '--rounds', '1', '--out', out],
      { env: { ...process.env, SYNOD_BENCH_HUB: root }, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`${scenario} of ${root} ended with ${code}`);
    const { measures } = JSON.parse(await readFile(out, 'utf8')) as Report;
    for (const { what, unit, sides } of measures) {
      const row = rows.get(what) ?? { unit, here: [], there: [] };
      rows.set(what, row);
      row[root === HERE ? 'here' : 'there'].push(...(sides.hub ?? []));
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function show(value: number): string {
  return Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)));
}

await main();
