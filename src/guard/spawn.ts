/**
 * A child process by way of the guard: in the sandbox where there is one, and otherwise held to nothing but
 * the choice of its program, which the decision then says: `advisory` [PO10]. Of the environment it gets the
 * names that the policy lists.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { deny, type GuardDecision, type Ruling } from './decision.ts';
import type { Roots } from './paths.ts';
import { findProgram, type Where } from './programs.ts';
import { findSandbox, planSandbox } from './sandbox.ts';

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

export interface Spawned {
  readonly child: ChildProcess;
  /** Says whether the operating system holds the child to the policy. */
  readonly decision: GuardDecision;
}

/** Everything decided, nothing started. */
export interface Prepared {
  readonly ruling: Ruling;
  /** The program, or the sandbox with the program in it. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly options: SpawnOptions;
}

export interface SpawnLayers {
  readonly roots: readonly Roots[];
  /** Names of the environment. */
  readonly env: readonly string[];
  readonly where: Where;
}

/** `ruling` allows the program; `cwd` was allowed. A refusal when a sandbox is wanted and not there. */
export async function prepareSpawn(
  ruling: Ruling,
  args: readonly string[],
  cwd: string | null,
  options: SpawnOptions,
  { roots, env: names, where }: SpawnLayers,
): Promise<Prepared | Ruling> {
  const isSandboxed = options.enforcement !== 'advisory';
  const sandbox = isSandboxed ? await findSandbox() : null;
  if (options.enforcement === 'os' && sandbox?.isThere !== true) {
    const why = `${sandbox?.why ?? ''}: install it, or ask for less`;
    return deny('execute', ruling.what, 'guard.no-sandbox', why);
  }
  const entry = ruling.path ?? '';
  const program = (await findProgram(entry, where)) ?? { entry, file: entry };
  const plan = sandbox?.isThere === true ? planSandbox(roots, program, cwd) : null;
  const gaps = plan?.gaps ?? [sandbox?.why ?? 'no sandbox was asked for'];
  return {
    ruling: { ...ruling, enforcement: plan === null ? 'advisory' : 'os', gaps },
    command: [...(plan === null ? [] : [sandbox?.command ?? '', ...plan.args]), entry, ...args],
    env: envOf(names, options.env ?? process.env),
    // The sandbox goes to the folder itself, by its own view of the disk.
    cwd: plan === null ? (cwd ?? '/') : '/',
    options,
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
export async function start({ command, env, cwd, options }: Prepared): Promise<ChildProcess> {
  const [program = '', ...args] = command;
  const { signal, stdio = 'pipe' } = options;
  const child = spawn(program, args, {
    ...{ env, cwd, stdio, shell: false },
    ...(signal !== undefined && { signal }),
  });
  await once(child, 'spawn');
  return child;
}
