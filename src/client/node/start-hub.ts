/**
 * The hub as a process of its own, one per data directory.
 *
 * Starting is idempotent: a hub that answers is left alone, and of several that start at once the
 * directory's lock lets one through; the others find it and are content [CL5]. Its log goes to
 * `<dir>/hub.log`, where the reason of a failed start is read back.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ErrorEnvelope } from '../../wire/errors.ts';
import { readJson } from '../../wire/json.ts';
import { SynodError } from '../error.ts';
import { isHealthy } from './http.ts';
import { type HubFile, LOCKED_EXIT, readHubFile, strangerAt } from './target.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
const BIN = fileURLToPath(new URL('../../../bin/synod.js', import.meta.url));
const START_TIMEOUT_MS = 30_000;
const HEALTH_TIMEOUT_MS = 2_000;
const POLL_MS = 25;
/** How long another process that holds the directory is given before we try again. */
const OTHERS_MS = 1_000;
const LOG_BYTES_MAX = 10 * 1024 * 1024;

export interface Started {
  readonly hub: HubFile;
  /** False when one was running already. */
  readonly isNew: boolean;
}

/** The hub of this directory, when one answers. */
export async function findHub(dir: string): Promise<HubFile | null> {
  const hub = readHubFile(dir);
  if (hub === null || !URL.canParse(hub.url)) return null;
  const target = { ...strangerAt(hub.url, dir), socketPath: hub.socket };
  return (await isHealthy(target, HEALTH_TIMEOUT_MS)) ? hub : null;
}

/** For programs that need a hub and no special one; a port that is taken is no reason to have none. */
export async function startHub(dir: string): Promise<void> {
  try {
    await ensureHub(dir, [], 'agent');
  } catch (error) {
    if ((error as { code?: string }).code !== 'hub.port-taken') throw error;
    // Nobody chose that port: any will do, because hub.json says which.
    await ensureHub(dir, ['--port=0'], 'agent');
  }
}

export async function ensureHub(
  dir: string,
  args: readonly string[],
  starter: 'person' | 'agent' = 'person',
): Promise<Started> {
  const deadline = AbortSignal.timeout(START_TIMEOUT_MS);
  let patience = 0;
  while (!deadline.aborted) {
    const running = await waitForHub(dir, patience);
    if (running !== null) return { hub: running, isNew: false };
    const pid = await start(dir, args, starter, deadline);
    const hub = pid === null ? null : readHubFile(dir);
    if (hub !== null && hub.pid === pid) return { hub, isNew: true };
    // Somebody else holds the directory: one that is starting will answer, one that is stopping will go.
    patience = OTHERS_MS;
  }
  throw new SynodError('hub.not-started', `another process holds ${dir}, but no hub answers there`);
}

async function waitForHub(dir: string, patienceMs: number): Promise<HubFile | null> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const hub = await findHub(dir);
    if (hub !== null || performance.now() >= end) return hub;
    await pause(POLL_MS);
  }
}

/** What names one session, or belongs to it, is not the hub's: it serves everybody. */
const OF_A_SESSION =
  /^(CLAUDE|CODEX|GEMINI|OPENCODE|ANTHROPIC|OPENAI|GOOGLE)_|^(CLAUDECODE|SYNOD_AGENT|SYNOD_TOKEN|SYNOD_PROJECT|SOX_AGENT_ID|SOX_AGENT_ID_SOURCE)$/;

function withoutSession(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_A_SESSION.test(name)));
}

/**
 * The process that is now ready, or null when another holds the directory. It stands in the data
 * directory: what lies in the folder of whoever started it, plugins above all, is not its own.
 */
async function start(
  dir: string,
  args: readonly string[],
  starter: 'person' | 'agent',
  deadline: AbortSignal,
): Promise<number | null> {
  const logPath = join(dir, 'hub.log');
  const log = openLogFile(dir, logPath);
  const from = statSync(logPath).size;
  const child = spawn(process.execPath, [BIN, 'serve', '--json', `--dir=${dir}`, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', log],
    cwd: dir,
    ...(starter === 'agent' && { env: withoutSession(process.env) }),
  });
  closeSync(log);
  const output = child.stdout as Readable;
  const lines = createInterface({ input: output });
  try {
    const isReady = await Promise.race([
      once(lines, 'line', { signal: deadline }).then(() => true),
      once(child, 'exit', { signal: deadline }).then(() => false),
    ]);
    if (isReady) return child.pid ?? null;
  } catch (cause) {
    if (!deadline.aborted) throw cause;
    child.kill();
    throw tooSlow(logPath, cause);
  } finally {
    lines.close();
    output.destroy();
    child.unref();
  }
  const said = readFileSync(logPath).subarray(from).toString('utf8');
  const failure = startFailure(child.exitCode, said, logPath);
  // Who holds the directory is a hub of ours; who holds the store is another one, and stays.
  if (child.exitCode === LOCKED_EXIT && !/^(the store |nats:)/.test(failure.message)) return null;
  throw failure;
}

function openLogFile(dir: string, path: string): number {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
    if (size > LOG_BYTES_MAX) renameSync(path, `${path}.1`);
    // A link could lead what we write into a file of somebody else's choice.
    return openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  } catch (cause) {
    throw notWritable(path, cause);
  }
}

function notWritable(path: string, cause: unknown): SynodError {
  const { code } = cause as NodeJS.ErrnoException;
  const message = `${path} cannot be written (${code}); choose another directory with --dir`;
  return new SynodError('log.unavailable', message, { cause });
}

function tooSlow(logPath: string, cause: unknown): SynodError {
  const message = `the hub was not ready within ${START_TIMEOUT_MS / 1000} s; see ${logPath}`;
  return new SynodError('hub.not-started', message, { cause });
}

/** Why a hub ended at once, as it said itself. */
export class HubStartError extends Error {
  override readonly name = 'HubStartError';
  readonly code: string;
  readonly exit: number;
  readonly envelope: ErrorEnvelope;

  constructor(envelope: ErrorEnvelope, exit: number) {
    super(envelope.message);
    this.code = envelope.error_code;
    this.exit = exit;
    this.envelope = envelope;
  }
}

/** The server says on stderr why it ends, as an envelope in its last line. */
function startFailure(exit: number | null, log: string, logPath: string): Error {
  try {
    const envelope = readJson(log.trimEnd().split('\n').at(-1) ?? '') as ErrorEnvelope;
    return new HubStartError(envelope, exit ?? 1);
  } catch {
    // It ended without an envelope, so the log is all there is.
    const message = `the hub ended at once (exit ${exit}); see ${logPath}`;
    return new SynodError('hub.not-started', message);
  }
}
