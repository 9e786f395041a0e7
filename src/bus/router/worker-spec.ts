/** A place in a pool as its config says it, made into what a worker process is started from. */
import { workerEnvironment } from '../process/environment.ts';
import type { WorkerSpec } from '../process/spec.ts';
import type { PoolConfig } from './config.ts';
import type { Limits } from './config-limits.ts';

const WAIT_MS_MAX = 30_000;
/** Ready for so long, and a worker is taken for healthy. */
const HEALTHY_MS_MIN = 10_000;
const STDERR_LINES_KEPT = 200;

export function workerSpecOf(
  pool: PoolConfig,
  limits: Limits,
  environment: Readonly<Record<string, string | undefined>>,
): WorkerSpec {
  return {
    pool: pool.id,
    command: pool.command,
    args: pool.args,
    cwd: pool.cwd,
    env: workerEnvironment(environment, pool.envAllow, pool.env),
    restart: {
      policy: pool.restart,
      restartsMax: limits.restartsMax,
      windowMs: limits.restartWindowMs,
      waitMsMin: limits.restartWaitMsMin,
      waitMsMax: Math.max(WAIT_MS_MAX, limits.restartWaitMsMin),
      healthyAfterMs: Math.max(HEALTHY_MS_MIN, limits.restartWindowMs),
    },
    ready: pool.ready,
    ping: pool.ping,
    hangMs: pool.hangMs,
    lineBytesMax: limits.messageBytesMax,
    straysMax: limits.straysMax,
    stderrLinesKept: STDERR_LINES_KEPT,
  };
}
