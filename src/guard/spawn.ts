/**
 * A child process by way of the guard: in the sandbox where there is one, and otherwise held to nothing but
 * the choice of its program, which the decision then says: `advisory` [PO10]. Of the environment it gets the
 * names that the policy lists.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { deny, type GuardDecision, type Ruling } from './decision.ts';
import type { Egress } from './egress.ts';
import type { Roots } from './paths.ts';
import { findProgram, type Where } from './programs.ts';
import { RELAY_DIR, RELAY_SCRIPT } from './relay-script.ts';
import { findSandbox, planSandbox } from './sandbox.ts';

/**
 * How a guarded program is started.
 *
 * @example
 * ```ts
 * const options: SpawnOptions = { cwd: '/srv/app', enforcement: 'os', stdio: 'inherit' };
 * ```
 */
export interface SpawnOptions {
  /** A folder that the policy lets be read; absent: the root of the disk. */
  readonly cwd?: string;
  /** Where the environment is taken from; absent: this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** `os`: in the sandbox or not at all. Absent: in the sandbox where there is one. */
  readonly enforcement?: 'os' | 'advisory';
  readonly signal?: AbortSignal;
  readonly stdio?: 'pipe' | 'inherit' | 'ignore';
}

/**
 * The options of a spawn that is only planned.
 *
 * @example
 * ```ts
 * const options: PlanOptions = { cwd: '/srv/app', enforcement: 'os' };
 * ```
 */
export type PlanOptions = Omit<SpawnOptions, 'signal' | 'stdio'>;

/**
 * A program that a guard started, and what it decided on it.
 *
 * @example
 * ```ts
 * const line = ({ child, decision }: Spawned): string => `${child.pid} by ${decision.enforcement}`;
 * ```
 */
export interface Spawned {
  readonly child: ChildProcess;
  /** Says whether the operating system holds the child to the policy. */
  readonly decision: GuardDecision;
}

/**
 * Everything decided, nothing started: for who starts and watches processes in a way of its own.
 *
 * @example
 * ```ts
 * const line = ({ command, cwd }: SpawnPlan): string => `in ${cwd}: ${command.join(' ')}`;
 * ```
 */
export interface SpawnPlan {
  readonly decision: GuardDecision;
  /** The program with its arguments, or the sandbox with the program in it. */
  readonly command: readonly string[];
  /** All of it; nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** To be called when the process is over: the way to the network ends with it. */
  close(): Promise<void>;
}

export type Prepared = Omit<SpawnPlan, 'decision'> & { readonly ruling: Ruling };

export interface SpawnLayers {
  readonly roots: readonly Roots[];
  /** Names of the environment. */
  readonly env: readonly string[];
  readonly where: Where;
  /** The way to the network; null when the policy allows none. */
  readonly openEgress: (() => Promise<Egress>) | null;
}

/** `ruling` allows the program; `cwd` was allowed. A refusal when a sandbox is wanted and not there. */
export async function prepareSpawn(
  ruling: Ruling,
  args: readonly string[],
  cwd: string | null,
  options: SpawnOptions,
  { roots, env: names, where, openEgress }: SpawnLayers,
): Promise<Prepared | Ruling> {
  const isSandboxed = options.enforcement !== 'advisory';
  const sandbox = isSandboxed ? await findSandbox() : null;
  if (options.enforcement === 'os' && sandbox?.isThere !== true) {
    const why = `${sandbox?.why ?? ''}: install it, or ask for less`;
    return deny('execute', ruling.what, 'guard.no-sandbox', why);
  }
  const entry = ruling.path ?? '';
  const program = (await findProgram(entry, where)) ?? { entry, file: entry };
  const env = envOf(names, options.env ?? process.env);
  if (sandbox?.isThere !== true) {
    const gaps = [sandbox?.why ?? 'no sandbox was asked for'];
    const command = [entry, ...args];
    return { ruling: { ...ruling, gaps }, command, env, cwd: cwd ?? '/', close: async () => {} };
  }
  const egress = openEgress === null ? null : await openEgress();
  const node = { entry: process.execPath, file: process.execPath };
  const plan = planSandbox(
    roots,
    egress === null ? [program] : [program, node],
    cwd,
    egress === null ? {} : { [RELAY_DIR]: egress.dir },
  );
  const relay = egress === null ? [] : [process.execPath, '-e', RELAY_SCRIPT, '--'];
  const proxied = 'only what goes through a proxy (HTTP_PROXY) reaches the network';
  const gaps = egress === null ? plan.gaps : [...plan.gaps, proxied];
  return {
    ruling: { ...ruling, enforcement: 'os', gaps },
    command: [sandbox.command, ...plan.args, ...relay, entry, ...args],
    env,
    // The sandbox goes to the folder itself, by its own view of the disk.
    cwd: '/',
    close: async () => egress?.close(),
  };
}

function envOf(
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const given = names.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

/** Resolves when the program runs. */
export async function start(
  { command, env, cwd, close }: Prepared,
  { signal, stdio = 'pipe' }: SpawnOptions,
): Promise<ChildProcess> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    ...{ env, cwd, stdio, shell: false },
    ...(signal !== undefined && { signal }),
  });
  child.once('exit', () => void close());
  try {
    await once(child, 'spawn');
  } catch (error) {
    await close();
    throw error;
  }
  return child;
}
