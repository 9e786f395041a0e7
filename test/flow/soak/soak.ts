/**
 * kill -9 in the midst of workflows, again and again, and then the count: no completion lost, none doubled, every
 * effect of a completed step made, and none made again once its completion was on record.
 *
 * `npx node test/flow/soak/soak.ts [RUNS] [SEED]` for a long one; a short one is a test.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openFlow } from '../../../src/flow/index.ts';
import { createChance } from '../../../src/testing/chance.ts';

export interface SoakReport {
  readonly runs: number;
  readonly kills: number;
  readonly states: Readonly<Record<string, number>>;
  readonly completions: number;
  /** Effects that were made more than once, because the process died before they were on record. */
  readonly again: number;
  readonly faults: readonly string[];
}

/** The hub stamps with whole milliseconds. */
const CLOCK_MS = 2;
const WORKER = join(import.meta.dirname, 'worker.ts');

interface Round {
  readonly child: ChildProcess;
  readonly started: Set<string>;
  say(line: string): void;
}

async function openRound(store: string, effects: string, round: number): Promise<Round> {
  const child = spawn(process.execPath, [WORKER, store, effects, String(round)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const started = new Set<string>();
  const ready = Promise.withResolvers<void>();
  createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).on(
    'line',
    (line) => {
      if (line === 'ready') ready.resolve();
      else if (line.startsWith('started ')) started.add(line.slice(8));
    },
  );
  child.once('exit', () => ready.resolve());
  child.stdin?.on('error', () => {});
  await ready.promise;
  return { child, started, say: (line) => child.stdin?.write(`${line}\n`) };
}

export async function soak(runs: number, seed: number): Promise<SoakReport> {
  const dir = await mkdtemp(join(tmpdir(), 'soak-'));
  const store = `sqlite://${join(dir, 'flow.sqlite')}`;
  const effects = join(dir, 'effects');
  const chance = createChance(seed);
  const kinds = ['steady', 'undone', 'changing'];
  const wanted = Array.from({ length: runs }, (_, n) => ({
    ...{ kind: kinds[n % kinds.length] as string, id: `run-${n}`, n },
  }));
  const started = new Set<string>();
  // Starting a process is what takes the time.
  const size = Math.max(4, Math.ceil(runs / 40));
  let kills = 0;
  try {
    for (let round = 0; started.size < runs; round++) {
      const { child, started: here, say } = await openRound(store, effects, round);
      const some = wanted.filter(({ id }) => !started.has(id)).slice(0, chance.int(size, 3 * size));
      for (const one of some) say(JSON.stringify(one));
      await new Promise((resolve) => setTimeout(resolve, chance.int(50, 800)));
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      for (const id of here) started.add(id);
      kills++;
    }
    for (let tries = 0; tries < 2; tries++) {
      await settle(store, await openRound(store, effects, kills + (kills % 2)));
      // One that was killed too often without getting anywhere waits for a person, who says: go on.
      await goOn(store, wanted);
    }
    return { ...(await count(store, effects, wanted)), runs, kills };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Lets the last worker finish: it is asked to stop when nothing moved for a while. */
async function settle(store: string, { child, say }: Round): Promise<void> {
  const path = store.slice('sqlite://'.length);
  let before = '';
  for (let quiet = 0; quiet < 6; ) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { mtimeMs, size } = await import('node:fs').then(({ statSync }) =>
      statSync(existsSync(`${path}-wal`) ? `${path}-wal` : path),
    );
    const now = `${mtimeMs} ${size}`;
    quiet = now === before ? quiet + 1 : 0;
    before = now;
  }
  say('stop');
  if (child.exitCode === null) await once(child, 'exit');
}

async function goOn(store: string, wanted: readonly { readonly id: string }[]): Promise<void> {
  const flow = await openFlow({ store });
  for (const { id } of wanted) {
    const run = flow.run(id);
    const { stuck } = await run.state();
    if (stuck?.difference.includes('executors were lost')) await run.retry();
  }
  await flow.close();
}

async function count(
  store: string,
  effects: string,
  wanted: readonly { readonly kind: string; readonly id: string; readonly n: number }[],
): Promise<Omit<SoakReport, 'runs' | 'kills'>> {
  const faults: string[] = [];
  const states: Record<string, number> = {};
  const made = new Map<string, number>();
  const latest = new Map<string, number>();
  for (const line of (await readFile(effects, 'utf8')).split('\n')) {
    if (line === '') continue;
    const { key, at } = JSON.parse(line) as { key: string; at: number };
    latest.set(key, Math.max(at, latest.get(key) ?? 0));
    made.set(key, (made.get(key) ?? 0) + 1);
  }
  let completions = 0;
  const flow = await openFlow({ store });
  for (const { kind, id, n } of wanted) {
    const run = await flow
      .run(id)
      .state()
      .catch(() => null);
    if (run === null) {
      faults.push(`${id} is lost`);
      continue;
    }
    states[`${kind} ${run.state}`] = (states[`${kind} ${run.state}`] ?? 0) + 1;
    const isRight =
      kind === 'steady'
        ? run.state === 'completed' && /^\d+ abc (slow|quick)$/.test(String(run.result))
        : kind === 'undone'
          ? run.state === 'compensated' && run.error?.message === `enough of ${n}`
          : run.state === 'completed' || run.state === 'stuck';
    if (!isRight)
      faults.push(
        `${id} (${kind}) is ${run.state}: ${run.stuck?.difference} ${JSON.stringify(run.error)} ${JSON.stringify(run.result)}`,
      );
    for (const step of await flow.run(id).steps()) {
      const isDone = step.order !== null && step.state !== 'failed' && step.kind === 'step';
      if (!isDone) continue;
      completions++;
      const key = [id, step.step, step.key].filter((part) => part !== null).join(':');
      if (!made.has(key)) faults.push(`${key} is completed, and was never done`);
      if ((latest.get(key) ?? 0) > (step.ended_at ?? 0) * 1_000 + CLOCK_MS) {
        faults.push(`${key} was done again after it was on record`);
      }
      if (step.state === 'compensated' && !made.has(`${key}:compensate`)) {
        faults.push(`${key} is compensated, and was never undone`);
      }
    }
  }
  await flow.close();
  const again = [...made.values()].reduce((sum, times) => sum + times - 1, 0);
  return { states, completions, again, faults };
}

if (process.argv[1] === import.meta.filename) {
  const [, , runs = '600', seed = '1'] = process.argv;
  const report = await soak(Number(runs), Number(seed));
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}
