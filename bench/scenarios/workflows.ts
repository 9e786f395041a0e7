/**
 * Workflows on the hub inside the process: steps a second over many runs, how long one step takes, and how
 * soon 100,000 runs that wait are there again after a restart.
 *
 * Beside a bare loop that commits one SQLite row a step, as durable, and with no rules; and DBOS over a
 * PostgreSQL of its own, where one is installed.
 */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { openFlow, workflow } from '../../src/flow/index.ts';
import { openPostgres, type Postgres } from '../baseline/postgres.ts';
import { percentiles } from '../percentiles.ts';
import { type Measure, type Scenario, type Sides, takeTurns } from '../scenario.ts';
import { createScratch } from '../server.ts';

const takenMs: number[] = [];

const many = workflow('many', async (ctx, count: number) => {
  for (let i = 0; i < count; i++) await ctx.step(`s${i}`, () => i);
  return count;
});
const alone = workflow('alone', async (ctx, count: number) => {
  for (let i = 0; i < count; i++) {
    const from = performance.now();
    await ctx.step(`s${i}`, () => i);
    takenMs.push(performance.now() - from);
  }
});
const waits = workflow('waits', async (ctx) => {
  await ctx.sleep('long', 30 * 86_400_000);
});

interface Size {
  readonly runs: number;
  readonly steps: number;
  readonly one: number;
}

async function ours(store: string, { runs, steps, one }: Size): Promise<Record<string, number>> {
  const flow = await openFlow({ store, workflows: [many, alone] });
  try {
    await (await flow.start(many, 50)).result();
    const from = performance.now();
    const started = await Promise.all(Array.from({ length: runs }, () => flow.start(many, steps)));
    await Promise.all(started.map((run) => run.result()));
    const perSecond = (1_000 * runs * steps) / (performance.now() - from);
    takenMs.length = 0;
    await (await flow.start(alone, one)).result();
    return { perSecond, p50: percentiles(takenMs).p50 };
  } finally {
    await flow.close();
  }
}

/** One commit a step, nothing else. */
function bare(path: string, { runs, steps, one }: Size): Record<string, number> {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
    CREATE TABLE IF NOT EXISTS step(run TEXT, name TEXT, result TEXT, PRIMARY KEY (run, name))`);
  const insert = db.prepare('INSERT OR REPLACE INTO step VALUES (?, ?, ?)');
  const from = performance.now();
  for (let run = 0; run < runs; run++) {
    for (let i = 0; i < steps; i++) insert.run(`r${run}`, `s${i}`, String(i));
  }
  const perSecond = (1_000 * runs * steps) / (performance.now() - from);
  const taken: number[] = [];
  for (let i = 0; i < one; i++) {
    const begun = performance.now();
    insert.run('one', `s${i}`, String(i));
    taken.push(performance.now() - begun);
  }
  db.close();
  return { perSecond, p50: percentiles(taken).p50 };
}

async function dbos(
  { url }: Postgres,
  { runs, steps, one }: Size,
): Promise<Record<string, number>> {
  const program = join(import.meta.dirname, '../baseline/dbos-loop.ts');
  const args = [program, url, ...[runs, steps, one].map(String)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 300_000 });
  const line = stdout.trim().split('\n').at(-1) ?? '{}';
  return JSON.parse(line) as Record<string, number>;
}

async function measureOpen(dir: string, count: number): Promise<number> {
  const store = `sqlite://${join(dir, 'waiting.sqlite')}`;
  const first = await openFlow({ store, workflows: [waits], lingerMs: 0 });
  for (let from = 0; from < count; from += 1_000) {
    const size = Math.min(1_000, count - from);
    await Promise.all(Array.from({ length: size }, () => first.start(waits, null)));
  }
  for (;;) {
    const { runs } = await first.call<{ runs: unknown[] }>('workflows.list', {
      state: 'queued',
      limit: 1,
    });
    if (runs.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await first.close();
  const from = performance.now();
  const again = await openFlow({ store, workflows: [waits] });
  await again.call('workflows.list', { limit: 1 });
  const openMs = performance.now() - from;
  await again.close();
  return openMs;
}

export const workflows: Scenario = {
  name: 'workflows',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const dir = await createScratch();
    const size = setting.isQuick
      ? { runs: 10, steps: 20, one: 50 }
      : { runs: 100, steps: 100, one: 1_000 };
    const waiting = setting.isQuick ? 1_000 : 100_000;
    const postgres = await openPostgres(dir).catch(() => null);
    if (postgres === null)
      process.stderr.write('workflows: no PostgreSQL here, DBOS is left out\n');
    let round = 0;
    const sides: Sides = {
      hub: () => ours(`sqlite://${join(dir, `hub${++round}.sqlite`)}`, size),
      bare: async () => bare(join(dir, 'bare.sqlite'), size),
      ...(postgres && { dbos: () => dbos(postgres, size) }),
    };
    try {
      const figures = await takeTurns(setting.rounds, sides);
      const openMs = await measureOpen(dir, waiting);
      return [
        {
          what: `durable steps, ${size.runs} runs of ${size.steps} steps at once`,
          unit: '/s',
          sides: figures('perSecond'),
          goal: { atLeast: 5_000 },
        },
        {
          what: 'one durable step alone, p50',
          unit: 'ms',
          sides: figures('p50'),
          goal: { atMost: 1 },
        },
        {
          what: `${waiting} runs that wait, opened again`,
          unit: 'ms',
          sides: { hub: [openMs] },
          goal: { atMost: 1_000 },
        },
      ];
    } finally {
      await postgres?.close();
      await rm(dir, { recursive: true, force: true });
    }
  },
};
