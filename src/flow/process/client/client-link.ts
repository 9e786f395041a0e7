/**
 * The program of a client while it runs: a process that speaks JSON in lines, in a minimal environment, gone
 * with us however we end. Its bad lines are told and fail nobody [VC4]; when it ends, everything that waits is
 * told why, with what it wrote last.
 */
import { workerEnvironment } from '../../../bus/process/environment.ts';
import { type LineProcess, startLineProcess } from '../../../bus/process/line-process.ts';
import { type LineRpc, RpcFailure } from '../../../vendor/line-rpc.ts';
import { type Ask, createProbe, type Probe } from '../../../vendor/probe.ts';
import { type ProgramPlan, planProgram } from '../plan-program.ts';
import { attempt } from '../supervised-run.ts';
import {
  AgentClientError,
  type AgentClientOptions,
  checkOpen,
  type ProbedProgram,
} from './agent-client.ts';

const ANSWER_MS = 60_000;
const GRACE_MS = 5_000;
const LINES_SHOWN = 5;
/** A turn comes whole in one line, with all that its tools printed. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;

export interface ClientLink {
  write(text: string): void;
  /** The reason, once it has ended. */
  readonly ended: Promise<string>;
  readonly isOver: boolean;
  /** Its input is closed, and then it is ended. */
  close(): Promise<void>;
}

/** How the program is to be started; a guard that says no is a refusal, and so is that the client was closed meanwhile. */
export async function planClient(
  { guard, env = {}, inheritEnv = [] }: AgentClientOptions,
  argv: readonly string[],
  cwd: string,
  isClosed: () => boolean,
): Promise<ProgramPlan> {
  const given = workerEnvironment(process.env, inheritEnv, { ...env });
  const needed = Object.keys(env);
  const plan = await planProgram(guard, argv, cwd, given, needed).catch((error: Error) => {
    throw new AgentClientError('vendor.refused', error.message, error);
  });
  if (isClosed()) await plan.close();
  checkOpen(isClosed());
  return plan;
}

export function openClientLink(
  options: AgentClientOptions,
  vendor: string,
  { command: argv, cwd, env, close: closePlan }: ProgramPlan,
  onLine: (line: string) => void,
): ClientLink {
  const { graceMs = GRACE_MS } = options;
  let isOver = false;
  const program: LineProcess = startLineProcess({
    name: vendor,
    ...{ argv, cwd, env, graceMs, onLine },
    signal: new AbortController().signal,
    lineBytesMax: LINE_BYTES_MAX,
    onErrorLine: (line) => tell(options, { type: 'stderr', line }),
    onNote: (line) => tell(options, { type: 'bad_line', line }),
  });
  const ended = program.ended.then(({ problem, stderr }) => {
    isOver = true;
    void closePlan().catch(() => {});
    const last = stderr.slice(-LINES_SHOWN).join(' | ');
    const why = problem ?? 'it exited with code 0';
    const reason = last === '' ? `${vendor} ended: ${why}` : `${vendor} ended: ${why}: ${last}`;
    tell(options, { type: 'ended', reason });
    return reason;
  });
  return {
    write: (text) => program.write(text),
    ended,
    get isOver() {
      return isOver;
    },
    async close() {
      program.endInput();
      program.stop('it was closed');
      await ended;
    },
  };
}

/** Calls with a deadline: what a program never answers must not wait for ever. */
export function callWithin(
  rpc: LineRpc,
  method: string,
  params: object,
  withinMs: number = ANSWER_MS,
): ReturnType<LineRpc['call']> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const words = `${method} was not answered within ${withinMs / 1_000} s`;
    timer = setTimeout(() => reject(new AgentClientError('vendor.timeout', words)), withinMs);
  });
  return Promise.race([rpc.call(method, params), late]).finally(() => clearTimeout(timer));
}

export function tell(
  options: AgentClientOptions,
  event: Parameters<NonNullable<AgentClientOptions['onEvent']>>[0],
): void {
  attempt(() => options.onEvent?.(event));
}

/** What a program said no to, or that it is gone, as our own error. */
export function asClientError(error: unknown): AgentClientError {
  if (error instanceof AgentClientError) return error;
  if (error instanceof RpcFailure) {
    return new AgentClientError('vendor.refused', error.message, error);
  }
  return new AgentClientError(
    'vendor.ended',
    error instanceof Error ? error.message : String(error),
    error,
  );
}

export interface ClientProbe {
  look(): Promise<ProbedProgram>;
  /** Throws when the program is not there, or lacks what is used. */
  check(): Promise<void>;
}

export function createClientProbe(
  options: AgentClientOptions,
  command: readonly string[],
  lacks: (ask: Ask) => Promise<string | null>,
): ClientProbe {
  const env = { ...process.env, ...options.env };
  const { guard } = options;
  const probe: Probe = createProbe(
    env,
    lacks,
    guard && ((argv, given) => planProgram(guard, argv, undefined, given)),
  );
  const [program = ''] = command;
  async function look(): Promise<ProbedProgram> {
    const found = await probe.look(command, options.cwd ?? process.cwd()).catch((error: Error) => {
      throw new AgentClientError('vendor.refused', error.message, error);
    });
    const missing = `there is no program ${JSON.stringify(program)} to run; install it, or give its full path in command`;
    return found ?? { version: null, lack: missing };
  }
  return {
    look,
    async check() {
      const { version, lack } = await look();
      if (lack === null) return;
      const words = version === null ? lack : `${program} ${version} ${lack}; upgrade it`;
      throw new AgentClientError('vendor.unusable', words);
    },
  };
}
