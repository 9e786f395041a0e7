/** What a supervisor is told, and what it tells: everything in it is checked before anything is started. */
import type { Client } from '../../client/client.ts';
import { isPassing, SynodError } from '../../client/error.ts';
import type { CallOutput } from '../../client/operations.ts';
import type { Guard } from '../../guard/guard.ts';

/**
 * The hub, as `connect()` of `synod` gives it; the credential is the agent's own, or a person's.
 *
 * @example
 * ```ts
 * const who = async (hub: HubCalls): Promise<string> =>
 *   (await hub.call('hub.whoami', {})).agent_id;
 * ```
 */
export type HubCalls = Pick<Client, 'call'>;

/** An instance as the hub tells of it. */
export type InstanceView = CallOutput<'agents.report'>;

/**
 * How a supervised program stands.
 *
 * @example
 * ```ts
 * const isThere = (state: SupervisorState): boolean => state === 'running' || state === 'idle';
 * ```
 */
export type SupervisorState = InstanceView['state'] | 'defined';

/**
 * How a program is run as an instance of an agent.
 *
 * @example
 * const options: SupervisorOptions = { hub, agent: 'indexer', command: ['node', 'indexer.js'], ready: /listening/ };
 */
export interface SupervisorOptions {
  readonly hub: HubCalls;
  /** The agent, as it was defined with `agents.define`; its limits hold for the process. */
  readonly agent: string;
  /** Program and arguments. No shell reads them. */
  readonly command: readonly string[];
  /** Where it runs; left out, where we do. */
  readonly cwd?: string;
  /** Variables that are set. It inherits no others but what a program needs to run at all. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of variables of ours that it is given too; `LC_*` is all that begin so. */
  readonly inheritEnv?: readonly string[];
  /** What the program may do: it is started through it, in the sandbox where there is one, or not at all. */
  readonly guard?: Guard;
  /** The line, of stdout or stderr, that says it is ready; left out, it is ready when its program runs. */
  readonly ready?: RegExp | ((line: string) => boolean);
  /** Not ready for so long, and it has failed. Default 30 s. */
  readonly readyTimeoutMs?: number;
  /** What follows when it ends by itself. Default `on-failure`: an exit with 0 is an end. */
  readonly restart?: 'always' | 'on-failure' | 'never';
  readonly backoff?: Backoff;
  /** Between being asked to end and being killed. Default 5 s. */
  readonly graceMs?: number;
  /** How long the hub believes in it without a word from here. Default 30 s. */
  readonly leaseMs?: number;
  /** What this host calls itself. Default: the machine's name and our process. */
  readonly host?: string;
  /** Every line that it prints. What it throws changes nothing. */
  onLine?(line: string, from: 'out' | 'err'): void;
  /** Every step. What it throws changes nothing. */
  onChange?(status: SupervisorStatus): void;
}

/**
 * How long is waited before a program that failed is started again.
 *
 * @example
 * ```ts
 * const patient: Backoff = { minMs: 1_000, maxMs: 120_000 };
 * ```
 */
export interface Backoff {
  /** The first wait; it doubles from failure to failure, with jitter. Default 500 ms. */
  readonly minMs?: number;
  /** Default 30 s. */
  readonly maxMs?: number;
  /** After so long in health the waits begin anew. Default one minute. */
  readonly healthyMs?: number;
}

/**
 * Where a supervised program is, and what is known of it.
 *
 * @example
 * ```ts
 * const told = ({ state, reason }: SupervisorStatus): string => `${state}: ${reason ?? 'well'}`;
 * ```
 */
export interface SupervisorStatus {
  /** `defined`: not started yet. `given_up`: it is not started again; `reason` and `lines` say why. */
  readonly state: SupervisorState;
  readonly instanceId: string | null;
  readonly epoch: number | null;
  readonly pid: number | null;
  /** How often it was started since `start()`. */
  readonly starts: number;
  /** Why it is where it is, in a sentence; null when there is nothing to say. */
  readonly reason: string | null;
  /** The last lines that it wrote. */
  readonly lines: readonly string[];
  /** When it is started again, in milliseconds; null when no restart is pending. */
  readonly restartInMs: number | null;
  /** As it was measured last; null where the system does not tell. */
  readonly usage: SupervisorUsage | null;
}

/**
 * What a program uses, as it was measured last.
 *
 * @example
 * ```ts
 * const isLarge = ({ memoryMb }: SupervisorUsage): boolean => memoryMb > 500;
 * ```
 */
export interface SupervisorUsage {
  readonly memoryMb: number;
  readonly cpuSeconds: number;
  readonly files: number;
}

/**
 * A program that runs and is ready.
 *
 * @example
 * ```ts
 * const line = ({ pid, instanceId }: Running): string => `${instanceId} is process ${pid}`;
 * ```
 */
export interface Running {
  readonly pid: number;
  readonly instanceId: string;
}

/**
 * Why a program is not running, in a word.
 *
 * @example
 * ```ts
 * const isOurDoing = (code: SupervisorErrorCode): boolean => code === 'supervisor.stopped';
 * ```
 */
export type SupervisorErrorCode =
  | 'supervisor.invalid'
  | 'supervisor.stopped'
  | 'supervisor.given-up'
  | 'supervisor.refused';

/**
 * Why a program is not running: what was wrong with how it was asked for, that it was stopped, that the
 * hub refused it, or that it would not live; then with the last lines it wrote.
 *
 * @example
 * await supervisor.start().catch((error) => console.error(error.code, error.lines));
 */
export class SupervisorError extends Error {
  override readonly name = 'SupervisorError';
  readonly code: SupervisorErrorCode;
  readonly lines: readonly string[];

  constructor(
    code: SupervisorErrorCode,
    message: string,
    lines: readonly string[] = [],
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.lines = lines;
  }
}

const POSITIVE = ['readyTimeoutMs', 'leaseMs'] as const;

export function checkSupervisorOptions(options: SupervisorOptions): void {
  const { agent, command, cwd, env = {}, graceMs = 0, backoff = {} } = options;
  const wrong = (what: string): SupervisorError => new SupervisorError('supervisor.invalid', what);
  if (typeof agent !== 'string' || agent === '')
    throw wrong('agent is the name of a defined agent');
  if (!isWords(command) || command[0] === '') {
    throw wrong('command is a list of texts: the program and its arguments');
  }
  if (cwd !== undefined && (typeof cwd !== 'string' || cwd === ''))
    throw wrong('cwd is a directory');
  const odd = Object.entries(env).find(
    ([name, value]) => /^$|=|\0/.test(name) || typeof value !== 'string' || value.includes('\0'),
  );
  if (odd !== undefined) throw wrong(`env: ${JSON.stringify(odd[0])} cannot be set to that`);
  for (const name of POSITIVE) {
    const value = options[name];
    if (value !== undefined && !(Number.isFinite(value) && value > 0)) {
      throw wrong(`${name} is a number of milliseconds above 0`);
    }
  }
  if (!(Number.isFinite(graceMs) && graceMs >= 0)) throw wrong('graceMs is a number from 0');
  const { minMs = 1, maxMs = minMs, healthyMs = 0 } = backoff;
  const isSane = [minMs, maxMs, healthyMs].every(Number.isFinite) && minMs > 0 && healthyMs >= 0;
  if (!isSane || maxMs < minMs) {
    throw wrong('backoff has minMs above 0, maxMs not below it, and healthyMs from 0');
  }
}

function isWords(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one === 'string' && !one.includes('\0'))
  );
}

/** The sentence of whatever was thrown. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function codeOf(error: unknown): string | null {
  return error instanceof SynodError ? error.code : null;
}

/** Whether the hub heard it and said no; it would say so again. */
export function hasDecided(error: unknown): boolean {
  return error instanceof SynodError && error.soxCode !== null && !isPassing(error);
}
