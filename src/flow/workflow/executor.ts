/**
 * Makes this process an executor: takes runs of the workflows it was given, keeps their leases, and hears what
 * becomes of what they wait for. A run has one executor; one whose lease is lost is dropped at once, and what
 * it would still say is refused by its epoch [FW5].
 */
import type { Guard } from '../../guard/guard.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Bus } from './bus-step.ts';
import { type Execution, startExecution } from './execution.ts';
import type { FlowEvent } from './flow-events.ts';
import { codeOf, type HubLine } from './hub-line.ts';
import type { News, RunView, Taken } from './seam.ts';
import type { AnyWorkflow } from './workflow-types.ts';

export interface ExecutorOptions {
  readonly hub: HubLine;
  readonly workflows: readonly AnyWorkflow[];
  readonly name: string;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly lingerMs: number;
  readonly replayGraceMs: number;
  readonly bus: Bus | null;
  readonly guard: Guard | null;
  readonly telemetry: Telemetry | null;
  tell(event: FlowEvent): void;
}

export interface Executor {
  /** Begins a run. */
  start(input: object): Promise<RunView>;
  /** Takes nothing more, waits so long for steps that run, and gives back what it holds. */
  close(graceMs: number): Promise<void>;
}

const TAKE_MAX = 100;
const WAIT_MS = 20_000;
const RETRY_MS = 500;
const RENEW_MAX = 100;
const LOST: Omit<News, 'id' | 'epoch'> = {
  ...{ ok: false, news: 0, cancelling: null, resolved: [], resolved_next: null },
};

export function startExecutor(options: ExecutorOptions): Executor {
  const { hub, name, concurrency, leaseMs, tell } = options;
  const { clock } = hub;
  const byName = new Map<string, AnyWorkflow[]>();
  for (const one of options.workflows) {
    byName.set(one.name, [...(byName.get(one.name) ?? []), one]);
  }
  const wanted = options.workflows.map((one) => ({
    name: one.name,
    ...(one.version !== null && { version: one.version }),
  }));
  const executions = new Map<string, Execution>();
  /** Until when each is ours for sure. */
  const leases = new WeakMap<Execution, number>();
  const closing = new AbortController();
  let repoll = new AbortController();
  let onRoom = (): void => {};

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const stop = clock.after(ms, resolve);
      closing.signal.addEventListener('abort', () => {
        stop();
        resolve();
      });
    });

  function begin(taken: Taken, until: number): void {
    const workflow = find(taken.run.name, taken.run.version);
    if (workflow === undefined || closing.signal.aborted) return;
    // We had it before and were not heard of in time: that one is over.
    executions.get(taken.run.id)?.onNews(LOST);
    const execution = startExecution({
      ...{ hub, workflow, taken, tell, bus: options.bus, telemetry: options.telemetry },
      guard: options.guard,
      replayGraceMs: options.replayGraceMs,
      // Where room is short those that only wait make room.
      lingerMs: () => (executions.size * 2 > concurrency ? 0 : options.lingerMs),
      chance: Math.random,
    });
    executions.set(taken.run.id, execution);
    leases.set(execution, until);
    tell({ kind: 'run.taken', run: taken.run.id, epoch: taken.epoch });
    // The poll for news must know of it.
    repoll.abort();
    void execution.over.then(() => {
      if (executions.get(taken.run.id) === execution) executions.delete(taken.run.id);
      onRoom();
    });
  }

  function find(workflow: string, version: string | null): AnyWorkflow | undefined {
    const all = byName.get(workflow) ?? [];
    return (
      all.find((one) => one.version === version) ??
      all.find((one) => one.version === null) ??
      all[0]
    );
  }

  async function takeOn(): Promise<void> {
    while (!closing.signal.aborted) {
      const room = concurrency - executions.size;
      if (room <= 0) {
        await new Promise<void>((resolve) => {
          onRoom = resolve;
          closing.signal.addEventListener('abort', () => resolve());
        });
        continue;
      }
      await attempt(async () => {
        const { runs } = await hub.call<{ runs: Taken[] }>(
          'workflows.take',
          {
            ...{ workflows: wanted, executor: name, limit: Math.min(room, TAKE_MAX) },
            ...{ lease_ms: leaseMs, wait_ms: WAIT_MS },
          },
          { signal: closing.signal },
        );
        // The lease began a little before we heard of it; a third of it is kept in reserve.
        for (const taken of runs) begin(taken, clock.now() + leaseMs);
      });
    }
  }

  /** It hands out nothing, so that it can be asked again whenever there is more to hear about. */
  async function listenOn(): Promise<void> {
    while (!closing.signal.aborted) {
      repoll = new AbortController();
      if (executions.size === 0) {
        await new Promise<void>((resolve) => {
          repoll.signal.addEventListener('abort', () => resolve());
          closing.signal.addEventListener('abort', () => resolve());
        });
        continue;
      }
      await attempt(async () => {
        const holding = [...executions.values()].map((one) => one.holding);
        const signal = AbortSignal.any([repoll.signal, closing.signal]);
        const answer = await hub
          .call<{ news: News[] }>(
            'workflows.take',
            {
              ...{ workflows: wanted, executor: name, limit: 0 },
              ...{ lease_ms: leaseMs, wait_ms: WAIT_MS, holding },
            },
            { signal },
          )
          .catch((error: unknown) => {
            if (signal.aborted) return { news: [] };
            throw error;
          });
        for (const one of answer.news) {
          const execution = executions.get(one.id);
          if (execution?.epoch === one.epoch) execution.onNews(one);
        }
      });
    }
  }

  async function renewOn(): Promise<void> {
    while (!closing.signal.aborted) {
      await pause(leaseMs / 3);
      const all = [...executions.values()];
      for (let from = 0; from < all.length && !closing.signal.aborted; from += RENEW_MAX) {
        const some = all.slice(from, from + RENEW_MAX);
        const until = clock.now() + leaseMs;
        await attempt(async () => {
          const { runs } = await hub.call<{
            runs: (Omit<News, 'resolved' | 'resolved_next'> & { id: string })[];
          }>('workflows.renew', {
            ...{ executor: name, lease_ms: leaseMs },
            runs: some.map(({ id, epoch }) => ({ id, epoch })),
          });
          for (const one of runs) {
            const execution = some.find(({ id }) => id === one.id);
            if (execution === undefined) continue;
            if (one.ok) leases.set(execution, until);
            else execution.onNews(LOST);
          }
        });
      }
      // Whoever cannot reach the hub must stop before another begins.
      const safe = clock.now() + leaseMs / 3;
      for (const execution of all) {
        if ((leases.get(execution) ?? 0) <= safe) execution.onNews(LOST);
      }
    }
  }

  /** A hub that is away comes back; nothing is lost meanwhile but time. */
  async function attempt(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (closing.signal.aborted) return;
      tell({ kind: 'trouble', run: null, error });
      await pause(RETRY_MS);
    }
  }

  const loops = wanted.length === 0 ? [] : [takeOn(), listenOn(), renewOn()];
  const start = (input: object) => hub.call<RunView>('workflows.start', input);
  return {
    async start(input) {
      try {
        return await start(input);
      } catch (error) {
        if (wanted.length === 0 || codeOf(error) !== 'workflow.no-version') throw error;
        // Our own first word may not have reached the hub yet: what we run is known after this.
        await hub.call('workflows.take', { workflows: wanted, executor: name, limit: 0 });
        return start(input);
      }
    },
    async close(graceMs) {
      closing.abort();
      await Promise.all(loops);
      await Promise.all([...executions.values()].map((execution) => execution.release(graceMs)));
    },
  };
}
