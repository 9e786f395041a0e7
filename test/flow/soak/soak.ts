/**
 * kill -9 in the midst of workflows, again and again, with other code in every other round, and then the count: no
 * completion lost, none made again once it was on record, what was done undone from the last on, and runs that the
 * other code left stuck finished under the new name of their step. What is held against what is in check.ts.
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
import { type Flow, openFlow } from '../../../src/flow/index.ts';
import { createChance } from '../../../src/testing/chance.ts';
import { type Checked, checkEffects, type Effect, type Look, type Seen } from './check.ts';

export interface SoakReport extends Checked {
  readonly runs: number;
  readonly kills: number;
  readonly states: Readonly<Record<string, number>>;
  /** Runs that other code left stuck, and that went on when they were told the step's new name. */
  readonly mapped: number;
}

interface Wanted {
  readonly kind: string;
  readonly id: string;
  readonly n: number;
}

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
  const wanted = Array.from(
    { length: runs },
    (_, n): Wanted => ({
      ...{ kind: kinds[n % kinds.length] as string, id: `run-${n}`, n },
    }),
  );
  const started = new Set<string>();
  const looks: Looked[] = [];
  // Starting a process is what takes the time.
  const size = Math.max(4, Math.ceil(runs / 40));
  let kills = 0;
  try {
    for (; started.size < runs; kills++) {
      const { child, started: here, say } = await openRound(store, effects, kills);
      const some = wanted.filter(({ id }) => !started.has(id)).slice(0, chance.int(size, 3 * size));
      for (const one of some) say(JSON.stringify(one));
      // Killed at any moment of its work, so there is none to wait for.
      await new Promise((resolve) => setTimeout(resolve, chance.int(50, 800)));
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      for (const id of here) started.add(id);
      looks.push(await withFlow(store, (flow) => look(flow, wanted, kills, true)));
    }
    // The last code is that which most of those that still go on have not begun with.
    const round = kills + ((kills + otherThan(looks)) % 2);
    const name = nameIn(round);
    let mapped: readonly string[] = [];
    for (const tries of [0, 1]) {
      await settle(store, await openRound(store, effects, round + 2 * tries));
      await withFlow(store, async (flow) => {
        looks.push(await look(flow, wanted, round + 2 * tries, false));
        if (tries === 0) mapped = await goOn(flow, wanted, name);
      });
    }
    const { states, faults } = await withFlow(store, (flow) => countStates(flow, wanted));
    if (mapped.length === 0) faults.push('no run was stuck: other code was not met');
    const checked = checkEffects(await readEffects(effects), looks);
    faults.push(...checked.faults);
    return { ...checked, runs, kills, states, mapped: mapped.length, faults };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function withFlow<T>(store: string, act: (flow: Flow) => Promise<T>): Promise<T> {
  const flow = await openFlow({ store });
  try {
    return await act(flow);
  } finally {
    await flow.close();
  }
}

const nameIn = (round: number): string => (round % 2 === 0 ? 'old-name' : 'new-name');

/** Whatever the step is called now, it is the same one. */
const sameKey = (key: string): string => key.replace(/:(old|new)-name$/, ':either-name');

/** 0 or 1: the parity of the rounds whose code is another for more of the runs that are on record. */
function otherThan(looks: readonly Looked[]): number {
  const steps = looks.at(-1)?.steps ?? [];
  const last = new Set(steps.filter(({ key }) => key.endsWith(':last')).map(({ run }) => run));
  const going = steps.filter(({ run }) => !last.has(run));
  const count = (name: string): number => going.filter(({ said }) => said === name).length;
  return count('old-name') >= count('new-name') ? 1 : 0;
}

interface NamedSeen extends Seen {
  /** What it was called. */
  readonly said: string;
}

interface Looked extends Look {
  readonly steps: readonly NamedSeen[];
}

async function look(
  flow: Flow,
  wanted: readonly Wanted[],
  round: number,
  wasKilled: boolean,
): Promise<Looked> {
  const steps: NamedSeen[] = [];
  for (const { id: run } of wanted) {
    for (const step of await flow
      .run(run)
      .steps()
      .catch(() => [])) {
      if (step.order === null || step.state === 'failed' || step.kind !== 'step') continue;
      const key = [run, step.step, step.key].filter((part) => part !== null).join(':');
      const isUndone = step.state === 'compensated';
      steps.push({ ...{ run, order: step.order, isUndone, said: step.step }, key: sameKey(key) });
    }
  }
  return { round, wasKilled, steps };
}

async function readEffects(path: string): Promise<Effect[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const { key, round } = JSON.parse(line) as Effect;
    return { key: sameKey(key), round };
  });
}

/** Lets the last worker finish: it is asked to stop when nothing moved for a while, and silence is waited for. */
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

/**
 * What a person does for runs that are stuck. One that was killed too often without getting anywhere goes on as it
 * is; one whose step has another name now is told it. Gives those that were.
 */
async function goOn(flow: Flow, wanted: readonly Wanted[], name: string): Promise<string[]> {
  const mapped: string[] = [];
  for (const { id } of wanted) {
    const run = flow.run(id);
    if ((await run.state()).stuck === null) continue;
    const names = (await run.steps()).map(({ step }) => step);
    const before = names.find((one) => /^(old|new)-name$/.test(one) && one !== name);
    await run.retry(before === undefined ? {} : { map: { [before]: name } });
    if (before !== undefined) mapped.push(id);
  }
  return mapped;
}

async function countStates(
  flow: Flow,
  wanted: readonly Wanted[],
): Promise<{ readonly states: Record<string, number>; readonly faults: string[] }> {
  const faults: string[] = [];
  const states: Record<string, number> = {};
  for (const { kind, id, n } of wanted) {
    const run = await flow
      .run(id)
      .state()
      .catch(() => null);
    if (run === null) {
      faults.push(`${id} is lost`);
      continue;
    }
    const { state, result, error, stuck } = run;
    states[`${kind} ${state}`] = (states[`${kind} ${state}`] ?? 0) + 1;
    const isRight =
      kind === 'steady'
        ? state === 'completed' && /^\d+ abc (slow|quick)$/.test(String(result))
        : kind === 'undone'
          ? state === 'compensated' && error?.message === `enough of ${n}`
          : state === 'completed' && result === 'last';
    const why = `${stuck?.difference} ${JSON.stringify(error)} ${JSON.stringify(result)}`;
    if (!isRight) faults.push(`${id} (${kind}) is ${state}: ${why}`);
  }
  return { states, faults };
}

if (process.argv[1] === import.meta.filename) {
  const [, , runs = '600', seed = '1'] = process.argv;
  const report = await soak(Number(runs), Number(seed));
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}
