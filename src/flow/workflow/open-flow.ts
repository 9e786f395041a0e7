/**
 * Makes this process an executor of workflows, on a hub that runs elsewhere or on one inside. Close it, kill
 * it, start it again: the runs go on.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { formatTraceparent } from '../../core/law/traceparent.ts';
import type { Guard } from '../../guard/guard.ts';
import type { Clock } from '../../server/run/index.ts';
import { currentTrace } from '../../telemetry/scope.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { newSpanId, newTraceId } from '../../telemetry/trace-ids.ts';
import type { Bus } from './bus-step.ts';
import { DefinitionError } from './errors.ts';
import { startExecutor } from './executor.ts';
import { createTeller, type FlowEvent } from './flow-events.ts';
import { type HubLine, openInnerLine, openRemoteLine } from './hub-line.ts';
import { toJson } from './plain-json.ts';
import { declareQueues, placeOf } from './queue.ts';
import { createRun, type Run } from './run-handle.ts';
import type { AnyWorkflow, Workflow } from './workflow-types.ts';

const CLOSE_GRACE_MS = 5_000;

interface CommonOptions {
  /** What this process runs; with none it only starts and watches. */
  readonly workflows?: readonly AnyWorkflow[];
  /** Runs in this process at once. Default 200. */
  readonly concurrency?: number;
  /** For how long this process may be silent before its runs are another's. Default 30,000. */
  readonly leaseMs?: number;
  /** How long a run that only waits is kept in memory. Default 1,000. */
  readonly lingerMs?: number;
  /**
   * How long code that waits for a step has to ask for the next that is on record, before its run is stuck. Code
   * that waits for no step has all the time it takes. Default 2,000.
   */
  readonly replayGraceMs?: number;
  /** What this executor is called. */
  readonly executor?: string;
  /** Where runs and their steps are told as spans. */
  readonly telemetry?: Telemetry;
  /** What steps and `ctx.bus` pass: its rails before and after each, and itself in their scope. */
  readonly guard?: Guard;
  /** For `ctx.bus`. */
  readonly bus?: Bus;
  /** Hears what happens here; what it throws changes nothing. */
  readonly onEvent?: (event: FlowEvent) => unknown;
}

/**
 * Where the journal is kept, and what this process runs.
 *
 * @example
 * ```ts
 * const options: FlowOptions = { store: 'sqlite:///var/lib/app/flow.sqlite', workflows: [land] };
 * ```
 */
export type FlowOptions = CommonOptions &
  (
    | {
        /** A hub: `http://127.0.0.1:8765`. */
        readonly url: string;
        readonly token?: string;
        readonly agent?: string;
        readonly space?: string;
      }
    | {
        /** A hub inside this process: `memory:`, `sqlite:///path`, `file:///dir` or `nats://…`. */
        readonly store: string;
        readonly agent?: string;
        /** Virtual in tests. */
        readonly clock?: Clock;
      }
  );

/**
 * What may be said of a run when it is started.
 *
 * @example
 * ```ts
 * const options: StartOptions = { id: 'land-topic', queue: 'landing', queueKey: 'main' };
 * ```
 */
export interface StartOptions {
  /** Its name for ever: starting it again with the same input is the same run. */
  readonly id?: string;
  readonly queue?: string;
  /** What the queue counts by. */
  readonly queueKey?: string;
  readonly priority?: number;
  readonly delayMs?: number;
  readonly dedup?: string;
}

/**
 * Workflows in this process.
 *
 * @example
 * ```ts
 * const flow: Flow = await openFlow({ store: 'memory:', workflows: [land] });
 * const run = await flow.start(land, { branch: 'topic' });
 * console.log(await run.result());
 * await flow.close();
 * ```
 */
export interface Flow extends AsyncDisposable {
  start<Input, Output>(
    workflow: Workflow<Input, Output>,
    input: Input,
    options?: StartOptions,
  ): Promise<Run<Output>>;
  /** A run by its id, whoever started it. */
  run<Output = unknown>(id: string): Run<Output>;
  /** Any operation of the hub; `asOwner` on a hub inside this process. */
  call<T = Record<string, unknown>>(
    operation: string,
    input?: object,
    options?: { readonly asOwner?: boolean },
  ): Promise<T>;
  /**
   * Stops taking runs, waits for steps that run (default: up to 5 s), gives the runs back, and closes the hub
   * inside. What still runs then may have been done, for all that anybody knows.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Opens workflows on a hub, and runs those it is given.
 *
 * @example
 * ```ts
 * const flow = await openFlow({ url: 'http://127.0.0.1:8765', token, workflows: [land] });
 * ```
 */
export async function openFlow(options: FlowOptions): Promise<Flow> {
  checkOptions(options);
  const hub = await openLine(options, createTeller(options.onEvent));
  try {
    await declareQueues(hub, options.workflows ?? []);
  } catch (error) {
    await hub.close();
    throw error;
  }
  return openFlowOn(hub, options);
}

/** The same on a line that is open already, which it closes with itself. */
export function openFlowOn(hub: HubLine, options: CommonOptions): Flow {
  const { workflows = [], concurrency = 200, leaseMs = 30_000, lingerMs = 1_000 } = options;
  const executor = startExecutor({
    ...{ hub, workflows, concurrency, leaseMs, lingerMs, tell: createTeller(options.onEvent) },
    name: options.executor ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    replayGraceMs: options.replayGraceMs ?? 2_000,
    bus: options.bus ?? null,
    guard: options.guard ?? null,
    telemetry: options.telemetry ?? null,
  });
  let closing: Promise<void> | null = null;

  async function shutDown(graceMs: number): Promise<void> {
    await executor.close(graceMs);
    await hub.close();
  }

  const flow: Flow = {
    async start(workflow, input, { delayMs, queue, queueKey, ...rest } = {}) {
      const said = {
        ...(queue !== undefined && { queue }),
        ...(queueKey !== undefined && { queueKey }),
      };
      checkVersion(workflows, workflow);
      const traceparent = currentTrace() ?? newTrace();
      const run = await executor.start({
        ...placeOf(workflow, input, said),
        ...{ ...rest, name: workflow.name, input: toJson(input, `the input of ${workflow.name}`) },
        ...(workflow.version !== null && { version: workflow.version }),
        ...(workflow.steps !== null && { steps: workflow.steps }),
        ...(delayMs !== undefined && { delay_ms: delayMs }),
        traceparent,
      });
      return createRun(hub, run.id);
    },
    run: (id) => createRun(hub, id),
    call: (operation, input = {}, callOptions = {}) => hub.call(operation, input, callOptions),
    close({ graceMs = CLOSE_GRACE_MS } = {}) {
      closing ??= shutDown(graceMs);
      return closing;
    },
    [Symbol.asyncDispose]: () => flow.close(),
  };
  return flow;
}

/** One that has the workflow in other versions alone would never run it, and no other may. */
function checkVersion(own: readonly AnyWorkflow[], { name, version }: AnyWorkflow): void {
  const versions = own.filter((one) => one.name === name).map((one) => one.version);
  if (version === null || versions.length === 0 || versions.includes(version)) return;
  const known = versions.map((one) => one ?? 'one without a version').join(', ');
  throw new DefinitionError(
    'flow.version',
    `this process runs ${name} in other versions than ${version}: ${known}; give it to openFlow({ workflows })`,
  );
}

async function openLine(options: FlowOptions, tell: (event: FlowEvent) => void): Promise<HubLine> {
  if ('url' in options) return openRemoteLine(options);
  return openInnerLine({
    ...options,
    onTrouble: (what, cause) =>
      tell({ kind: 'trouble', run: null, error: new Error(what, { cause }) }),
  });
}

/** Each run is a trace, also one that nobody's trace led to [FW16]. */
function newTrace(): string {
  return formatTraceparent({ traceId: newTraceId(), spanId: newSpanId(), isSampled: true });
}

function checkOptions({ workflows = [], concurrency = 200 }: CommonOptions): void {
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new DefinitionError(
      'flow.concurrency',
      `concurrency is ${concurrency}; give a whole number from 1 on`,
    );
  }
  const seen = new Set<string>();
  for (const { name, version } of workflows) {
    const id = `${name}@${version ?? ''}`;
    if (seen.has(id)) {
      throw new DefinitionError(
        'flow.duplicate',
        `two workflows are called ${name}${version === null ? '' : ` in version ${version}`}; give one another name or version`,
      );
    }
    seen.add(id);
  }
}
