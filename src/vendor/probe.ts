/**
 * What a vendor's program is and can do, asked once a program: its version, and whether it knows every
 * option and call that a turn will use [RV8]. Asked again when the file has changed. A program that lacks
 * something is unusable, with the sentence that names it, before any turn.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { workerEnvironment } from '../bus/process/environment.ts';
import { findProgram } from '../bus/process/find-program.ts';

export interface Probed {
  /** As it calls itself; null when it would not say. */
  readonly version: string | null;
  /** What it lacks, as a sentence; null when it can be used. */
  readonly lack: string | null;
}

export type Ask = (args: readonly string[], talk?: Talk) => Promise<Printed>;

/** How it is started; throws when it may not be. */
export type Plan = (
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
) => Promise<{
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  close(): Promise<void>;
}>;

/** What it is told on its input, which stays open until it has printed this. */
export interface Talk {
  readonly input: string;
  readonly until: RegExp;
}

export interface Printed {
  readonly code: number | null;
  readonly text: string;
}

export interface Probe {
  /** Null when there is no such program. */
  look(command: readonly string[], cwd: string | null): Promise<Probed | null>;
  /** For what changes between two looks; null when there is no such program. */
  ask(command: readonly string[], cwd: string | null): Promise<Ask | null>;
}

const PROBE_MS = 20_000;
const PRINTED_BYTES_MAX = 1024 * 1024;
const PROGRAMS_MAX = 100;

export function createProbe(
  hubEnv: Readonly<Record<string, string | undefined>>,
  lacks: (ask: Ask) => Promise<string | null>,
  plan: Plan = async (argv, env) => ({ command: argv, env, cwd: '/', close: async () => {} }),
): Probe {
  const known = new Map<string, Promise<Probed>>();
  const env = workerEnvironment(hubEnv, [], {});
  const find = ([program = '']: readonly string[], cwd: string | null): Promise<string | null> =>
    findProgram(program, cwd, hubEnv.PATH ?? '');
  const asker =
    (path: string, before: readonly string[]): Ask =>
    (args, talk) =>
      print(plan, [path, ...before, ...args], env, talk);
  return {
    async ask(command, cwd) {
      const path = await find(command, cwd);
      return path === null ? null : asker(path, command.slice(1));
    },
    async look(command, cwd) {
      const path = await find(command, cwd);
      if (path === null) return null;
      const real = await realpath(path);
      const before = command.slice(1);
      const key = JSON.stringify([real, (await stat(real)).mtimeMs, before]);
      const found = known.get(key);
      if (found !== undefined) return found;
      const looked = look(asker(path, before), lacks);
      if (known.size >= PROGRAMS_MAX) known.clear();
      known.set(key, looked);
      // Who was not let ask has learnt nothing.
      looked.catch(() => known.delete(key));
      return looked;
    },
  };
}

async function look(ask: Ask, lacks: (ask: Ask) => Promise<string | null>): Promise<Probed> {
  const { text } = await ask(['--version']);
  const version = /\d+\.\d+(?:\.\d+)?[\w.+-]*/.exec(text)?.[0] ?? null;
  return { version, lack: await lacks(ask) };
}

async function print(
  plan: Plan,
  argv: readonly string[],
  given: Readonly<Record<string, string>>,
  talk?: Talk,
): Promise<Printed> {
  const { command, env, cwd, close } = await plan(argv, given);
  const [path = '', ...args] = command;
  const printed = new Promise<Printed>((resolve) => {
    const options = { env, timeout: PROBE_MS, maxBuffer: PRINTED_BYTES_MAX, cwd };
    const child: ChildProcess = execFile(path, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ code, text: `${stdout}\n${stderr}` });
    });
    child.stdin?.on('error', () => {});
    if (talk === undefined) return void child.stdin?.end();
    let heard = '';
    child.stdout?.on('data', (text: string) => {
      heard = `${heard}${text}`.slice(-PRINTED_BYTES_MAX);
      if (talk.until.test(heard)) child.stdin?.end();
    });
    child.stdin?.write(talk.input);
  });
  return printed.finally(close);
}
