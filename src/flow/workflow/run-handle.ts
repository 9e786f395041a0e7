/** A run, from the outside: what it is, what became of it, and what can be said to it. */
import { type RecordedError, RunFailedError } from './errors.ts';
import type { HubLine } from './hub-line.ts';
import { toJson } from './plain-json.ts';
import { readSteps } from './read-steps.ts';
import type { RunView, StepView } from './seam.ts';

/**
 * A handle of a run. It is only a name for it: the run goes on without it, and any process can have another.
 *
 * @example
 * ```ts
 * const run = await flow.start(land, { branch: 'topic' }, { id: 'land-topic' });
 * await run.signal('reviewed', { by: 'ada' });
 * console.log((await run.state()).state, await run.result());
 * ```
 */
export interface Run<Output = unknown> {
  readonly id: string;
  /** What it gave; throws a `RunFailedError` when it ended otherwise, or `timeoutMs` are over. */
  result(options?: { readonly timeoutMs?: number }): Promise<Output>;
  /** As it is now. */
  state(): Promise<RunView>;
  steps(): Promise<StepView[]>;
  signal(name: string, value?: unknown): Promise<void>;
  cancel(reason?: string): Promise<void>;
  /** Runs it again from a step on, or at all when it is stuck. */
  retry(options?: {
    readonly fromStep?: { readonly step: string; readonly key?: string };
    readonly map?: Readonly<Record<string, string>>;
  }): Promise<void>;
  /**
   * Another run from a step on: what completed before that step is not done again. This one stays as it is.
   *
   * @example
   * ```ts
   * const again = await run.fork({ at: 'review', id: 'land-topic-again' });
   * console.log(await again.result());
   * ```
   */
  fork(options: ForkOptions): Promise<Run<Output>>;
}

/**
 * Where a fork begins, and what is different in it.
 *
 * @example
 * ```ts
 * const options: ForkOptions = { at: 'review', input: { branch: 'other' } };
 * ```
 */
export interface ForkOptions {
  /** The first step that is done anew. */
  readonly at: string;
  /** The key of that step, when it has one. */
  readonly key?: string;
  /** Another input; else that of the run. */
  readonly input?: unknown;
  /** The id of the new run; else the hub gives one. */
  readonly id?: string;
  /** Only a workflow of this version takes it. */
  readonly version?: string;
}

const WAIT_MS = 20_000;

export function createRun<Output>(hub: HubLine, id: string): Run<Output> {
  async function result({ timeoutMs = Infinity }: { readonly timeoutMs?: number } = {}) {
    const until = performance.now() + timeoutMs;
    for (;;) {
      const leftMs = until - performance.now();
      const wait_ms = Math.max(0, Math.min(WAIT_MS, Math.ceil(leftMs)));
      const run = await hub.call<RunView>('workflows.wait', { id, timeout_ms: wait_ms });
      if (run.state === 'completed') return (run.result ?? null) as Output;
      if (run.over || run.state === 'stuck') throw new RunFailedError(id, run.state, errorOf(run));
      if (leftMs <= 0) throw new RunFailedError(id, run.state, late(timeoutMs));
    }
  }

  return {
    id,
    result,
    state: () => hub.call<RunView>('workflows.get', { id }),
    steps: () => readSteps(hub, id),
    async signal(name, value) {
      await hub.call('workflows.signal', { id, name, value: toJson(value, `signal ${name}`) });
    },
    async cancel(reason) {
      await hub.call('workflows.cancel', { id, ...(reason !== undefined && { reason }) });
    },
    async retry({ fromStep, map } = {}) {
      await hub.call('workflows.retry', {
        ...{ id, ...(fromStep && { from_step: fromStep }), ...(map && { map }) },
      });
    },
    async fork({ at, key, input, id: newId, version }) {
      const made = await hub.call<RunView>('workflows.fork', {
        ...{ id, at_step: { step: at, ...(key !== undefined && { key }) } },
        ...(input !== undefined && { input: toJson(input, `the input of a fork of ${id}`) }),
        ...(newId !== undefined && { new_id: newId }),
        ...(version !== undefined && { version }),
      });
      return createRun(hub, made.id);
    },
  };
}

function errorOf(run: RunView): RecordedError {
  if (run.stuck !== null) return { name: 'Stuck', message: run.stuck.difference, terminal: true };
  return run.error ?? { name: 'Error', message: 'no reason is on record', terminal: true };
}

function late(timeoutMs: number): RecordedError {
  return { name: 'TimeoutError', message: `not over within ${timeoutMs} ms`, terminal: false };
}
