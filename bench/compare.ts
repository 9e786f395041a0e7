/**
 * `npm run bench -- --compare REF [--only NAME]… [--rounds N]`: this checkout beside another commit, in
 * one run. REF, anything that git calls a commit, is checked out beside, installed and built; then both
 * take turns, scenario by scenario, under the same load from this checkout, and the order is turned
 * round each time. README.md says how to read what is printed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, openCheckout } from '../test/checkout.ts';
import { median } from './percentiles.ts';
import { type Report, show, spreadOf } from './report.ts';

const HERE = join(import.meta.dirname, '..');
const MAIN = join(import.meta.dirname, 'main.ts');
/** Figures of which more is better; of all others less is. */
const MORE_IS_BETTER: ReadonlySet<string> = new Set(['/s']);

export interface Comparison {
  readonly ref: string;
  readonly only: readonly string[];
  readonly rounds: number;
  readonly isQuick: boolean;
}

interface Row {
  readonly unit: string;
  readonly here: number[];
  readonly there: number[];
}

export async function compare({ ref, only, rounds, isQuick }: Comparison): Promise<void> {
  await using checkout = await openCheckout(ref);
  const there = checkout.root;
  build(HERE);
  const dir = await mkdtemp(join(tmpdir(), 'synod-compare-'));
  const rows = new Map<string, Row>();
  /** Not taken again: a commit may lack what a scenario asks for. The others are compared all the same. */
  const failed = new Set<string>();
  try {
    for (let round = 0; round < rounds; round++) {
      for (const scenario of only) {
        const order = [HERE, there];
        if (round % 2 === 1) order.reverse();
        for (const root of order) {
          if (failed.has(scenario)) continue;
          const out = join(dir, 'report.json');
          if (!(await takeTurn(root, { scenario, out, isQuick }, rows))) failed.add(scenario);
        }
      }
      process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  process.stdout.write(tableOf(ref, rows));
  if (failed.size === 0) return;
  process.stderr.write(`not compared: ${[...failed].join(', ')}, which failed at one of the two\n`);
  process.exitCode = 1;
}

/** False: the scenario failed, and has said why. */
async function takeTurn(
  root: string,
  { scenario, out, isQuick }: { scenario: string; out: string; isQuick: boolean },
  rows: Map<string, Row>,
): Promise<boolean> {
  const args = [MAIN, '--only', scenario, '--rounds', '1', '--out', out];
  const child = spawn(process.execPath, [...args, ...(isQuick ? ['--quick'] : [])], {
    env: { ...process.env, SYNOD_BENCH_HUB: root },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) return false;
  const { measures } = JSON.parse(await readFile(out, 'utf8')) as Report;
  for (const { what, unit, sides } of measures) {
    const row = rows.get(what) ?? { unit, here: [], there: [] };
    rows.set(what, row);
    row[root === HERE ? 'here' : 'there'].push(...(sides.hub ?? []));
  }
  return true;
}

function tableOf(ref: string, rows: ReadonlyMap<string, Row>): string {
  const lines = [
    `| what | unit | this | ${ref} | better × | spread |`,
    '|---|---|--:|--:|--:|---|',
  ];
  for (const [what, { unit, here, there }] of rows) {
    if (here.length === 0 || here.length !== there.length) continue;
    const better = here.map((value, at) => {
      const ratio = value / (there[at] as number);
      return MORE_IS_BETTER.has(unit) ? ratio : 1 / ratio;
    });
    const cells = [what, unit, show(median(here)), show(median(there)), show(median(better))];
    lines.push(`| ${[...cells, spreadOf(better)].join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}
