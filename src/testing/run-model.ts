/**
 * Runs told a second time, slowly and plainly, from nothing but the entries of the log: who holds which, what
 * each of their steps came to, what they wait for, and how full their queues are. It throws where an entry
 * breaks the law: a second holder, a word under a stale epoch, a step completed twice, an arrow that is none,
 * one too many in a queue, a run woken for nothing.
 */

// biome-ignore lint/suspicious/noExplicitAny: entries are read as they lie, without the types of core.
type Entry = any;

interface ModelWait {
  readonly kind: string;
  readonly what: string | null;
  readonly until: number | null;
  ended: string | null;
}

interface ModelRun {
  readonly id: string;
  readonly name: string;
  readonly by: string;
  readonly queue: string | null;
  readonly key: string | null;
  readonly parent: string | null;
  state: string;
  epoch: number;
  holder: string | null;
  leaseMs: number;
  leaseUntil: number;
  notBefore: number | null;
  isCalled: boolean;
  isBegun: boolean;
  lapses: number;
  cancelling: string | null;
  readonly steps: Map<string, string>;
  /** In the order they completed. */
  done: string[];
  /** Those with an outcome, which may be that they were skipped, in the order of it. */
  settled: string[];
  readonly waits: Map<string, ModelWait>;
  signals: string[];
}

/** The reason of a cancelling by force, which asks nobody what is to be undone. */
export const FORCED = 'forced';

export interface RunModel {
  readonly counts: Readonly<Record<string, number>>;
  readonly runs: ReadonlyMap<string, ModelRun>;
  add(event: Entry): void;
  /** Whether that step was completed under that epoch. */
  wasCompleted(id: string, epoch: number, step: string): boolean;
  wasTaken(id: string, epoch: number): boolean;
  isReady(run: ModelRun): boolean;
  /** A line for each run that is not over. */
  portray(): string;
  /** What people have to look at. */
  alerts(): string[];
}

const OVER = ['completed', 'failed', 'compensated', 'compensation_failed', 'cancelled'];
const LAPSES = 10;
const UNDOABLE = ['running', 'completed', 'failed', 'cancelled'];

export function createRunModel(): RunModel {
  const runs = new Map<string, ModelRun>();
  const queues = new Map<string, Entry>();
  const takes = new Set<string>();
  const completions = new Set<string>();
  const counts: Record<string, number> = {};
  const gates = new Map<string, string>();
  /** What was raised and not settled. */
  const alerts = new Set<string>();

  const fail = (why: string): never => {
    throw new Error(why);
  };
  const isOver = ({ state }: ModelRun): boolean => OVER.includes(state);
  const live = (id: string): ModelRun => {
    const run = runs.get(id) ?? fail(`there is no run ${id}`);
    if (isOver(run)) fail(`${id} is ${run.state}, and something happens to it`);
    return run;
  };
  const isReady = (run: ModelRun): boolean => {
    if (isOver(run) || run.holder !== null || run.state === 'stuck') return false;
    if (run.notBefore !== null) return false;
    const ended = [...run.waits.values()].some((wait) => wait.ended !== null);
    return run.state === 'queued' || run.isCalled || run.waits.size === 0 || ended;
  };
  const say = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };

  function end(run: ModelRun, state: string): void {
    run.state = state;
    run.holder = null;
    run.notBefore = null;
    run.signals = [];
    run.waits.clear();
    for (const other of runs.values()) finish(other, 'child', run.id, state);
  }

  function finish(run: ModelRun, kind: string, what: string, how: string): void {
    if (isOver(run)) return;
    for (const wait of run.waits.values()) {
      if (wait.kind === kind && wait.what === what && wait.ended === null) wait.ended = how;
    }
  }

  function checkQueue(run: ModelRun): void {
    const queue = run.queue === null ? undefined : queues.get(run.queue);
    if (queue === undefined || run.isBegun) return;
    const others = [...runs.values()].filter(
      (one) => one !== run && one.queue === run.queue && one.isBegun && !isOver(one),
    );
    const same = others.filter(({ key }) => key !== null && key === run.key);
    const mine = others.filter(({ by }) => by === run.by);
    if (queue.concurrency !== null && others.length >= queue.concurrency) {
      fail(`${run.id} is one too many in ${run.queue}`);
    }
    if (queue.perKey !== null && same.length >= queue.perKey) fail(`${run.id}: a key too many`);
    if (queue.perAgent !== null && mine.length >= queue.perAgent) fail(`${run.id}: one starter’s`);
  }

  function recordStep(run: ModelRun, entry: Entry, at: number): void {
    const { step, kind } = entry;
    const before = run.steps.get(step) ?? 'pending';
    const isOpen = before === 'pending' || before === 'running';
    const isUndo = kind.startsWith('compensat');
    if (isUndo && !UNDOABLE.includes(before) && before !== 'compensation_failed') {
      fail(`${run.id} ${step} is ${before} and ${kind}`);
    }
    if (!isUndo && !isOpen) fail(`${run.id} ${step} is ${before} and ${kind}`);
    run.waits.delete(step);
    if (kind === 'started') run.steps.set(step, 'running');
    else if (kind === 'compensating') {
      run.steps.set(step, before === 'compensation_failed' ? 'completed' : before);
    } else if (kind === 'waiting') wait(run, step, entry.on, entry.timeoutMs ?? null, at);
    else if (kind === 'failed' && entry.retryMs !== undefined) {
      run.steps.set(step, 'pending');
      run.waits.set(step, { kind: 'retry', what: null, until: at + entry.retryMs, ended: null });
      run.lapses = 0;
    } else run.steps.set(step, kind);
    if (kind === 'failed') run.lapses = 0;
    if (kind === 'skipped' || kind === 'completed') run.settled.push(step);
    if (kind !== 'completed') return;
    run.lapses = 0;
    run.done.push(step);
    completions.add(`${run.id} ${run.epoch} ${step}`);
  }

  function wait(
    run: ModelRun,
    step: string,
    on: Entry,
    timeoutMs: number | null,
    at: number,
  ): void {
    run.steps.set(step, 'pending');
    const [kind = '', value] = Object.entries(on)[0] ?? [];
    const ms = kind === 'timer' || kind === 'retry' ? (value as number) : timeoutMs;
    const what = kind === 'answer' || ms === value ? null : String(value);
    let ended: string | null = null;
    if (kind === 'signal' && run.signals.includes(String(value))) {
      run.signals.splice(run.signals.indexOf(String(value)), 1);
      ended = 'signal';
    }
    if (kind === 'child') {
      const child = runs.get(String(value));
      if (child !== undefined && isOver(child)) ended = child.state;
    }
    if (kind === 'gate') ended = gates.get(String(value)) ?? null;
    run.waits.set(step, { kind, what, until: ms === null ? null : at + ms, ended });
  }

  const told: Record<string, (event: Entry) => void> = {
    'run.started'({ id, name, by, queue, key, parent, notBefore, fork }) {
      const known = runs.get(id);
      if (known !== undefined && !isOver(known)) fail(`${id} is started twice`);
      const steps = new Map<string, string>();
      for (const row of fork?.packed ? String(fork.packed).split(';') : []) {
        steps.set(row.split(',')[0] ?? '', 'completed');
      }
      const from = fork === undefined ? undefined : runs.get(fork.id);
      for (const step of steps.keys()) {
        if (from?.steps.get(step) !== 'completed') fail(`${id} has ${step}, which is not done`);
      }
      runs.set(id, {
        ...{ id, name, by, queue, key, parent: parent?.id ?? null, state: 'queued', epoch: 0 },
        ...{ holder: null, leaseMs: 0, leaseUntil: 0, notBefore, isCalled: false },
        ...{ isBegun: false, lapses: 0, cancelling: null, steps, done: [...steps.keys()] },
        settled: [...steps.keys()],
        ...{ waits: new Map(), signals: [] },
      });
    },
    'run.taken'({ id, by, epoch, leaseMs, at }) {
      const run = live(id);
      if (run.holder !== null) fail(`${id} is taken, and ${run.holder} holds it`);
      if (epoch !== run.epoch + 1) fail(`${id} goes from epoch ${run.epoch} to ${epoch}`);
      if (!isReady(run)) fail(`${id} is taken, and is not ready`);
      checkQueue(run);
      if (run.state === 'queued') run.state = 'running';
      Object.assign(run, { epoch, holder: by, leaseMs, leaseUntil: at + leaseMs });
      Object.assign(run, { isCalled: false, isBegun: true });
      takes.add(`${id} ${epoch}`);
    },
    'run.recorded'({ id, by, epoch, entries, leaseMs, at }) {
      const run = live(id);
      if (run.holder !== by || run.epoch !== epoch) fail(`${by} records ${id} at ${epoch}`);
      if (at >= run.leaseUntil) fail(`${id} is recorded after its lease`);
      run.leaseMs = leaseMs ?? run.leaseMs;
      run.leaseUntil = at + run.leaseMs;
      for (const entry of entries) {
        say(`entry ${entry.kind}`);
        if (entry.step !== undefined) recordStep(run, entry, at);
        else if (entry.kind === 'compensate') run.state = 'compensating';
        else if (entry.kind === 'released') run.holder = null;
        else if (entry.kind === 'stuck') {
          Object.assign(run, { holder: null, state: 'stuck' });
          alerts.add(`run ${id}`);
        } else {
          const isUndoing = run.state === 'compensating';
          if (isUndoing && !/^compens/.test(entry.state)) fail(`${id} ends ${entry.state}`);
          alerts.delete(`run ${id}`);
          end(run, entry.state);
          if (entry.state === 'compensation_failed') alerts.add(`run ${id}`);
        }
      }
    },
    'run.renewed'({ ids, by, leaseMs, at }) {
      for (const id of ids) {
        const run = live(id);
        if (run.holder !== by || at >= run.leaseUntil) fail(`${by} renews ${id}, not its own`);
        Object.assign(run, { leaseMs, leaseUntil: at + leaseMs });
      }
    },
    'run.lapsed'({ id, epoch, at }) {
      const run = live(id);
      if (run.holder === null || run.epoch !== epoch) fail(`${id} lapses at ${epoch}, not held`);
      if (at < run.leaseUntil) fail(`${id} lapses before its time`);
      Object.assign(run, { holder: null, isCalled: true, lapses: run.lapses + 1 });
      if (run.lapses < LAPSES) return;
      run.state = 'stuck';
      alerts.add(`run ${id}`);
    },
    'run.woken'({ ids, at }) {
      for (const id of ids) {
        const run = live(id);
        let isWoken = run.notBefore !== null && run.notBefore <= at;
        if (isWoken) run.notBefore = null;
        for (const one of run.waits.values()) {
          if (one.ended !== null || one.until === null || one.until > at) continue;
          one.ended = 'time';
          isWoken = true;
        }
        if (!isWoken) fail(`${id} is woken for nothing`);
      }
    },
    'run.signalled'({ id, name }) {
      const run = live(id);
      const one = [...run.waits.values()].find(
        ({ kind, what, ended }) => kind === 'signal' && what === name && ended === null,
      );
      if (one === undefined) run.signals.push(name);
      else one.ended = 'signal';
    },
    'run.cancelled'({ id, reason, isOver: isDone }) {
      const run = live(id);
      alerts.delete(`run ${id}`);
      run.cancelling = reason ?? '';
      if (isDone) {
        const isBusy = run.holder !== null || run.done.length > 0;
        if (isBusy && reason !== FORCED) fail(`${id} is over at once, and did something`);
        return end(run, 'cancelled');
      }
      if (run.state === 'stuck') run.state = 'running';
      run.isCalled = true;
    },
    'run.retried'({ id, fromStep }) {
      const run = runs.get(id) ?? fail(`there is no run ${id} to retry`);
      if (!/^(failed|stuck|cancelled|compensation_failed)$/.test(run.state)) {
        fail(`${id} is ${run.state} and retried`);
      }
      alerts.delete(`run ${id}`);
      const isUndoing = run.state === 'compensation_failed';
      const wasOver = isOver(run);
      retry(run, fromStep?.step ?? null, isUndoing);
      run.state = isUndoing ? 'compensating' : run.epoch === 0 ? 'queued' : 'running';
      Object.assign(run, { isCalled: true, lapses: 0, cancelling: null });
      if (wasOver) run.waits.clear();
    },
    'run.answered'({ id, step, answer }) {
      const one = live(id).waits.get(step);
      if (one?.kind !== 'answer' || one.ended !== null) fail(`${id} ${step} asked nobody`);
      else one.ended = answer;
    },
    'queue.declared': ({ name, fields }) => queues.set(name, fields),
    'gate.ended': ({ id, state }) => gateOver(id, state),
    'gate.denied': ({ id }) => gateOver(id, 'denied'),
  };

  function gateOver(id: string, state: string): void {
    gates.set(id, state);
    for (const run of runs.values()) finish(run, 'gate', id, state);
  }

  function retry(run: ModelRun, from: string | null, isUndoing: boolean): void {
    if (isUndoing) {
      for (const [step, state] of run.steps) {
        if (state === 'compensation_failed') run.steps.set(step, 'completed');
      }
      return;
    }
    const place = from === null || !run.done.includes(from) ? -1 : run.settled.indexOf(from);
    const gone = new Set(place < 0 ? [] : run.settled.slice(place));
    if (from !== null) gone.add(from);
    for (const [step, state] of [...run.steps]) {
      const isKept = ['completed', 'skipped', 'pending'].includes(state) && !gone.has(step);
      if (isKept) continue;
      run.steps.delete(step);
      run.waits.delete(step);
    }
    run.done = run.done.filter((step) => run.steps.has(step));
    run.settled = run.settled.filter((step) => run.steps.has(step));
  }

  return {
    counts,
    runs,
    add(event) {
      const tell = told[event.type];
      if (tell === undefined) return;
      say(event.type);
      tell(event);
    },
    wasCompleted: (id, epoch, step) => completions.has(`${id} ${epoch} ${step}`),
    wasTaken: (id, epoch) => takes.has(`${id} ${epoch}`),
    isReady,
    portray: () =>
      [...runs.values()]
        .filter((run) => !isOver(run))
        .map((run) =>
          runLine({
            ...{ id: run.id, state: run.state, epoch: run.epoch, holder: run.holder },
            leaseUntil: run.holder === null ? null : run.leaseUntil,
            ...{ isReady: isReady(run), cancelling: run.cancelling, signals: run.signals },
            steps: [...run.steps].map(([step, state]) => `${step} ${state}`),
            waits: [...run.waits].map(([step, { ended }]) => `${step} ${ended !== null}`),
          }),
        )
        .sort()
        .join('\n'),
    alerts() {
      const asked = [...runs.values()].flatMap((run) =>
        [...run.waits].flatMap(([step, { kind, ended }]) =>
          kind === 'answer' && ended === null && !isOver(run) ? [`step ${run.id} ${step}`] : [],
        ),
      );
      return [...alerts, ...asked].sort();
    },
  };
}

export interface RunLine {
  readonly id: string;
  readonly state: string;
  readonly epoch: number;
  readonly holder: string | null;
  readonly leaseUntil: number | null;
  readonly isReady: boolean;
  readonly cancelling: string | null;
  readonly signals: readonly string[];
  readonly steps: readonly string[];
  readonly waits: readonly string[];
}

export function runLine(run: RunLine): string {
  const { id, state, epoch, holder, leaseUntil, isReady, cancelling, signals } = run;
  const head = `${id} ${state} epoch ${epoch} of ${holder} until ${leaseUntil} ready ${isReady}`;
  const steps = [...run.steps].sort().join(', ');
  return `${head} cancelling ${cancelling}: ${steps}; ${[...run.waits].sort()}; ${signals}`;
}
