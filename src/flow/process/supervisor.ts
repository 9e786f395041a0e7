/**
 * A program kept alive as an instance of a defined agent. It is there when the hub gave it a place and
 * its process runs and is ready [SU1]; it is started again with growing waits, and given up by the hub's
 * law [SU4]; stopping it stops everything, a pending restart too [SU2]. States and arrows are the law's.
 */
import { hostname } from 'node:os';
import { timerMs } from '../../bus/process/deadline.ts';
import { NO_RESTARTS, planRestart, type RestartHistory } from '../../bus/process/restart.ts';
import type { RestartLimits } from '../../bus/process/spec.ts';
import {
  HEALTHY_AFTER_MS,
  HOST_CHARS_MAX,
  INSTANCE_LEASE_MS,
} from '../../core/processes/process-limits.ts';
import { type InstanceLease, leftOfLeaseMs, openLease } from './instance-lease.ts';
import type { ProgramPlan } from './plan-program.ts';
import {
  attempt,
  beginSupervisedRun,
  planRun,
  type RunEnd,
  type SupervisedRun,
} from './supervised-run.ts';
import {
  checkSupervisorOptions,
  hasDecided,
  type InstanceView,
  type Running,
  SupervisorError,
  type SupervisorOptions,
  type SupervisorState,
  type SupervisorStatus,
  sentenceOf,
} from './supervisor-options.ts';

const WAIT_MS_MIN = 500;
const WAIT_MS_MAX = 30_000;
/** What was said to the hub is waited for so long when it is out of reach. */
const SETTLE_MS = 5_000;
/** The law gives up first; this keeps the list of restarts short. */
const RESTARTS_REMEMBERED = 1_000;

interface Wanted {
  readonly promise: Promise<Running>;
  resolve(running: Running): void;
  reject(error: SupervisorError): void;
}

/**
 * Runs a program as an instance of an agent, and keeps it running.
 *
 * @example
 * const hub = await connect({ url, token });
 * const supervisor = new Supervisor({ hub, agent: 'indexer', command: ['node', 'indexer.js'], ready: /listening/ });
 * const { pid } = await supervisor.start(); // it runs and has said that it listens
 * await supervisor.stop();
 */
export class Supervisor implements AsyncDisposable {
  readonly #options: SupervisorOptions;
  #state: SupervisorState = 'defined';
  #reason: string | null = null;
  #lines: readonly string[] = [];
  #starts = 0;
  #lease: InstanceLease | null = null;
  #run: SupervisedRun | null = null;
  #history: RestartHistory = NO_RESTARTS;
  #restart: { readonly timer: NodeJS.Timeout; readonly at: number } | null = null;
  /** Grows with each start and stop that was asked for: what began before is not gone on with. */
  #generation = 0;
  #beginning: Promise<void> = Promise.resolve();
  #wanted: Wanted | null = null;
  #stopping: Promise<void> | null = null;

  constructor(options: SupervisorOptions) {
    checkSupervisorOptions(options);
    this.#options = options;
  }

  get state(): SupervisorState {
    return this.#state;
  }

  /** The process, or null while there is none. */
  get pid(): number | null {
    return this.#run?.pid ?? null;
  }

  status(): SupervisorStatus {
    const usage = this.#run?.usage() ?? null;
    return {
      ...{ state: this.#state, reason: this.#reason, starts: this.#starts, pid: this.pid },
      instanceId: this.#lease?.id ?? null,
      epoch: this.#lease?.epoch ?? null,
      lines: this.#run?.lines() ?? this.#lines,
      restartInMs:
        this.#restart === null ? null : Math.max(0, this.#restart.at - performance.now()),
      usage: usage && {
        ...{ memoryMb: usage.memoryMb, cpuSeconds: usage.cpuSeconds, files: usage.files },
      },
    };
  }

  /**
   * Resolves when the program runs and is ready, however many starts that takes; rejects when it was
   * given up, refused by the hub, or stopped meanwhile. While it is there the answer is the same.
   */
  start(): Promise<Running> {
    if (this.#wanted !== null && this.#stopping === null) return this.#wanted.promise;
    const wanted = Promise.withResolvers<Running>();
    // Who does not wait for it is told by `onChange`.
    wanted.promise.catch(() => {});
    const before = [this.#stopping, this.#beginning];
    this.#wanted = wanted;
    this.#generation += 1;
    const generation = this.#generation;
    this.#starts = 0;
    this.#history = NO_RESTARTS;
    this.#beginning = (async () => {
      // Two processes of one supervisor are never there at once.
      await Promise.all(before);
      if (generation === this.#generation) await this.#begin(generation);
    })();
    return wanted.promise;
  }

  /** Ends the program and every restart of it; resolves when nothing of it is left. */
  stop(reason = 'stopped by its host'): Promise<void> {
    if (this.#stopping !== null) this.#revoke(reason);
    this.#stopping ??= this.#end(reason).finally(() => {
      this.#stopping = null;
    });
    return this.#stopping;
  }

  /** It has nothing to do, for people to see. */
  idle(): void {
    if (this.#state === 'running') this.#move('idle');
  }

  /** It has something to do again. */
  busy(): void {
    if (this.#state === 'idle') this.#move('running');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #begin(generation: number): Promise<void> {
    const isStale = (): boolean => generation !== this.#generation;
    this.#restart = null;
    if (this.#lease === null) {
      try {
        this.#set('starting', null);
        this.#lease = await this.#hold();
      } catch (error) {
        if (isStale()) return this.#set('stopped', null);
        // It ran here before, and the hub may be back in a moment.
        if (this.#starts > 0 && !hasDecided(error)) {
          const reason = sentenceOf(error);
          this.#schedule({ reason, lines: this.#lines, isClean: false, readyForMs: null });
          return this.#set('failed', reason);
        }
        return this.#giveUp('supervisor.refused', sentenceOf(error), error);
      }
    } else {
      // The hub may have given it up while we waited.
      await this.#lease.settled(SETTLE_MS);
      if (isStale() || this.#state !== 'failed') return;
      this.#move('starting');
    }
    let plan: ProgramPlan;
    try {
      plan = await planRun(this.#options);
    } catch (error) {
      if (isStale()) return;
      // A typo does not heal, nor does a policy: one failure is told, and no other follows.
      const reason = sentenceOf(error);
      return this.#failed({ reason, isClean: false, readyForMs: null, lines: [] }, true);
    }
    if (isStale()) return plan.close();
    this.#launch(this.#lease, plan);
  }

  #hold(): Promise<InstanceLease> {
    const { hub, agent, leaseMs = INSTANCE_LEASE_MS } = this.#options;
    const host = this.#options.host ?? `${hostname()} (process ${process.pid})`;
    let lease: InstanceLease | null = null;
    const isOurs = (): boolean => lease !== null && this.#lease === lease;
    const opening = openLease(
      {
        ...{ hub, agent, leaseMs, host: host.slice(0, HOST_CHARS_MAX) },
        usage: () => {
          const now = this.#run?.usage() ?? null;
          return now === null
            ? undefined
            : { memory_mb: now.memoryMb, cpu_seconds: now.cpuSeconds, files: now.files };
        },
      },
      {
        onView: (view) => void (isOurs() && this.#heard(view)),
        onLost: (reason) => void (isOurs() && this.#lost(reason)),
      },
    );
    return opening.then((opened) => {
      lease = opened;
      return opened;
    });
  }

  #launch(lease: InstanceLease, plan: ProgramPlan): void {
    const run = beginSupervisedRun(this.#options, plan, lease.limits);
    this.#run = run;
    this.#starts += 1;
    // A run that is not the present one any more says nothing here [SU3].
    void run.ready.then((isReady) => {
      if (!isReady || this.#run !== run || this.#state !== 'starting' || run.pid === null) return;
      this.#move('running', { pid: run.pid });
      this.#wanted?.resolve({ pid: run.pid, instanceId: lease.id });
    });
    void run.ended.then((end) => {
      if (this.#run !== run || this.#state === 'stopping') return;
      this.#run = null;
      this.#ended(end);
    });
  }

  #ended(end: RunEnd): void {
    const { restart = 'on-failure' } = this.#options;
    this.#lines = end.lines;
    if (!end.isClean || restart === 'always') return this.#failed(end, restart === 'never');
    this.#lease?.tell({ state: 'stopping', reason: end.reason });
    this.#lease?.tell({ state: 'stopped', reason: end.reason, lines: end.lines });
    this.#wanted = null;
    const lease = this.#lease;
    this.#lease = null;
    void lease?.settled(SETTLE_MS).then(() => lease.close());
    this.#set('stopped', end.reason);
  }

  #failed(end: RunEnd, isLast: boolean): void {
    this.#lines = end.lines;
    this.#lease?.tell({ state: 'failed', reason: end.reason, lines: end.lines });
    if (isLast) {
      const lease = this.#lease;
      // The next start waits for it, or it would take the place that is being given up.
      if (lease !== null) {
        this.#beginning = lease.settled(SETTLE_MS).then(() => lease.giveUp(end.reason));
      }
      return this.#giveUp('supervisor.given-up', end.reason);
    }
    this.#schedule(end);
    this.#set('failed', end.reason);
  }

  #schedule(end: RunEnd): void {
    const {
      minMs = WAIT_MS_MIN,
      maxMs = WAIT_MS_MAX,
      healthyMs = HEALTHY_AFTER_MS,
    } = this.#options.backoff ?? {};
    const limits: RestartLimits = {
      policy: 'always',
      ...{ restartsMax: RESTARTS_REMEMBERED, windowMs: healthyMs },
      ...{ waitMsMin: minMs, waitMsMax: Math.max(minMs, maxMs), healthyAfterMs: healthyMs },
    };
    const ended = { at: performance.now(), isClean: end.isClean, readyForMs: end.readyForMs };
    const { history, waitMs } = planRestart(limits, this.#history, ended, Math.random);
    this.#history = history;
    const generation = this.#generation;
    const afterMs = timerMs(waitMs ?? maxMs);
    const timer = setTimeout(() => {
      this.#beginning = this.#begin(generation);
    }, afterMs);
    this.#restart = { timer, at: performance.now() + afterMs };
  }

  /** What the hub makes of it: somebody may have stopped it there, or its law gave it up. */
  #heard({ state, reason }: InstanceView): void {
    if (state === 'stopping' && (this.#state === 'starting' || this.#isUp())) {
      void this.stop(reason ?? 'stopped at the hub');
    } else if (state === 'given_up' && this.#state === 'failed') {
      this.#cancelRestart();
      this.#giveUp('supervisor.given-up', reason ?? this.#reason ?? 'it was given up');
    }
  }

  /** The place is another's, or the hub could not be reached: our process ends before theirs begins. */
  #lost(reason: string): void {
    this.#lease = null;
    this.#generation += 1;
    this.#cancelRestart();
    const run = this.#run;
    this.#run = null;
    run?.stop(reason, leftOfLeaseMs(this.#options.leaseMs ?? INSTANCE_LEASE_MS));
    const generation = this.#generation;
    this.#beginning = (async () => {
      const end = await run?.ended;
      if (generation !== this.#generation) return;
      const lines = end?.lines ?? this.#lines;
      this.#lines = lines;
      this.#schedule({ reason, lines, isClean: false, readyForMs: end?.readyForMs ?? null });
      this.#set('failed', reason);
    })();
  }

  async #end(reason: string): Promise<void> {
    // A start that is asked for while we stop waits for us: not for that one do we wait.
    const beginning = this.#beginning;
    const isPending = this.#restart !== null;
    this.#revoke(reason);
    this.#cancelRestart();
    if (this.#state === 'starting' || this.#isUp()) this.#move('stopping', { reason });
    const run = this.#run;
    run?.stop(reason);
    const end = await run?.ended;
    if (end !== undefined) this.#lines = end.lines;
    await beginning.catch(() => {});
    this.#run = null;
    const lease = this.#lease;
    this.#lease = null;
    if (lease !== null && (isPending || this.#state === 'failed')) {
      await lease.settled(SETTLE_MS);
      await lease.giveUp(reason);
      lease.close();
      return this.#set('given_up', reason);
    }
    if (lease === null) {
      if (this.#state === 'failed') this.#set('given_up', reason);
      if (this.#state === 'stopping' || this.#state === 'starting') this.#set('stopped', reason);
      return;
    }
    // It may have got its place only after we were asked to stop.
    lease.tell({ state: 'stopping', reason });
    lease.tell({ state: 'stopped', reason });
    await lease.settled(SETTLE_MS);
    lease.close();
    this.#set('stopped', reason);
  }

  /** What was asked for is asked for no more. */
  #revoke(reason: string): void {
    this.#generation += 1;
    const wanted = this.#wanted;
    this.#wanted = null;
    wanted?.reject(new SupervisorError('supervisor.stopped', `it was stopped: ${reason}`));
  }

  #giveUp(
    code: 'supervisor.given-up' | 'supervisor.refused',
    reason: string,
    cause?: unknown,
  ): void {
    const lease = this.#lease;
    this.#lease = null;
    void lease?.settled(SETTLE_MS).then(() => lease.close());
    const wanted = this.#wanted;
    this.#wanted = null;
    this.#set('given_up', reason);
    wanted?.reject(new SupervisorError(code, reason, this.#lines, cause));
  }

  #isUp(): boolean {
    return this.#state === 'running' || this.#state === 'idle';
  }

  #cancelRestart(): void {
    if (this.#restart !== null) clearTimeout(this.#restart.timer);
    this.#restart = null;
  }

  #move(
    state: InstanceView['state'],
    { pid, reason }: { readonly pid?: number; readonly reason?: string } = {},
  ): void {
    const told = {
      state,
      ...(pid !== undefined && { pid }),
      ...(reason !== undefined && { reason }),
    };
    this.#lease?.tell(told);
    this.#set(state, reason ?? null);
  }

  #set(state: SupervisorState, reason: string | null): void {
    this.#state = state;
    this.#reason = reason;
    attempt(() => this.#options.onChange?.(this.status()));
  }
}
