/**
 * `synod lock ID -- COMMAND`: the command runs while ID is held, and nobody else holds it meanwhile
 * [CL18]. The lease is short and renewed, so that a lock whose machine died is free again soon; when
 * it is lost, the command is ended rather than run beside the next holder. The exit code is the
 * command's own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { SynodError } from '../client/error.ts';
import { readScope } from './claim-input.ts';
import { takeClaim } from './claim-take.ts';
import { explainRefusal } from './claim-text.ts';
import { type Context, handle } from './context.ts';
import { fail } from './failure.ts';
import { duration, seconds } from './parse-value.ts';

interface LockFlags {
  readonly paths?: readonly string[];
  readonly wait?: number;
  readonly ttl?: number;
}

const WAIT_MS = 30_000;
const TTL_S = 60;
/** Renewed so often in the time of a lease. */
const RENEWALS = 3;
/** The hub has no queue for an agent behind itself. */
const OWN_POLL_MS = 500;
/** As a shell tells that there is no such command, and that it cannot be run. */
const NO_COMMAND_EXIT = 127;
const NOT_RUNNABLE_EXIT = 126;
const SIGNAL_EXIT = 128;

export function registerLock(program: Command): void {
  const command = program
    .command('lock')
    .description('run a command while you hold a lock that nobody else has')
    .argument('<id>', 'any name; the same name is the same lock')
    .argument('<command...>', 'behind --, as you would type it')
    .option('--paths <path...>', 'hold these files as well')
    .option(...duration('--wait <time>', 'how long to wait for it (30s)'))
    .option(...seconds('--ttl <time>', 'free again so long after this process died (60s)'));
  handle<LockFlags>(command, lock);
}

async function lock(context: Context<LockFlags>): Promise<void> {
  const { args, flags } = context;
  const [id = '', name = '', ...rest] = args;
  const ttl = flags.ttl ?? TTL_S;
  const taken = await acquire(context, id, ttl);
  const child = spawn(name, rest, { stdio: 'inherit' });
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  // The terminal tells the command as well; it ends as it sees fit, and then so do we.
  const stay = (): void => {};
  const forward = (): void => void child.kill('SIGTERM');
  process.on('SIGINT', stay).on('SIGTERM', forward);
  const lease = keepLease(context, id, taken, ttl, child);
  try {
    const [code, signal] = await ended;
    process.exitCode = code ?? SIGNAL_EXIT + (constants.signals[signal ?? 'SIGTERM'] ?? 0);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    process.stderr.write(`synod lock: ${name} cannot be run: ${code ?? message}\n`);
    process.exitCode = code === 'ENOENT' ? NO_COMMAND_EXIT : NOT_RUNNABLE_EXIT;
  } finally {
    process.off('SIGINT', stay).off('SIGTERM', forward);
    await lease.end();
  }
  if (lease.lost !== null) throw lease.lost;
}

/** Its epoch. Another process of the same agent holds it against us too: epoch 0 renews nothing. */
async function acquire(
  context: Context<LockFlags>,
  id: string,
  ttl: number,
): Promise<{ epoch: number }> {
  const { flags } = context;
  const scope = flags.paths === undefined ? {} : await readScope(flags.paths, {});
  const until = Date.now() + (flags.wait ?? WAIT_MS);
  for (;;) {
    const left = Math.max(0, until - Date.now());
    try {
      const input = { task_id: id, ...scope, ttl_seconds: ttl, epoch: 0 };
      return (await takeClaim(context, input, left)).claim;
    } catch (error) {
      const isOwn = error instanceof SynodError && error.code === 'claim.fenced';
      if (!isOwn) throw explainRefusal(error, `synod lock ${id} --wait 10m -- …`);
      if (left === 0) throw error;
      await pause(Math.min(OWN_POLL_MS, left));
    }
  }
}

interface Lease {
  /** Why the command was ended, if it was. */
  lost: Error | null;
  /** Gives it back. */
  end(): Promise<void>;
}

/** Renews the lease until it ends, and ends the command when it is lost. */
export function keepLease(
  { call, remark }: Pick<Context<object>, 'call' | 'remark'>,
  id: string,
  taken: { epoch: number },
  ttl: number,
  child: Pick<ChildProcess, 'kill'>,
): Lease {
  let { epoch } = taken;
  let lapsesAt = Date.now() + ttl * 1000;
  let renewing: Promise<void> | null = null;
  const over = new AbortController();
  const lose = (why: string): void => {
    lease.lost = fail('lock.lost', `${id} was lost while the command ran: ${why}; it was ended`);
    child.kill('SIGTERM');
    over.abort();
  };
  const renew = async (): Promise<void> => {
    try {
      const key = { idempotency_key: randomUUID() };
      const answer = await call('claims.take', { task_id: id, ttl_seconds: ttl, epoch, ...key });
      epoch = answer.claim.epoch;
      if (!answer.renewed) return lose('its lease had run out');
      lapsesAt = answer.claim.lease_expires_at * 1000;
    } catch (error) {
      const isGone = error instanceof SynodError && error.code.startsWith('claim.');
      if (isGone || Date.now() >= lapsesAt) lose((error as Error).message);
      else remark(`${id} could not be renewed yet: ${(error as Error).message}`);
    }
  };
  const timer = setInterval(
    () => {
      renewing ??= renew().finally(() => {
        renewing = null;
      });
    },
    (ttl * 1000) / RENEWALS,
  );
  over.signal.addEventListener('abort', () => clearInterval(timer));
  const lease: Lease = {
    lost: null,
    async end() {
      over.abort();
      await renewing;
      // Whatever is in the way, the lease runs out by itself.
      await call('claims.release', { task_id: id, epoch }).catch(() => {});
    },
  };
  return lease;
}
