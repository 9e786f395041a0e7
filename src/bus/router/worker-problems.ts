/** Why a request finds no worker, or loses the one it had. */
import type { Down } from '../process/worker.ts';
import { type BusProblem, problem } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { Link, Pool } from './state.ts';

const STDERR_LINES_SHOWN = 5;

/** What a worker wrote to stderr may concern another client: it is told only on a private bus. */
export function died(exchange: Exchange, link: Link, down: Down): BusProblem {
  const stderr = exchange.isPrivate ? down.stderrTail.slice(-STDERR_LINES_SHOWN) : [];
  const said = stderr.length === 0 ? '' : `; it said last: ${stderr.join(' | ')}`;
  return {
    code: 'bus.worker-died',
    message: `worker ${link.worker.name} ${down.reason} before it answered${said}`,
    mayHaveRun: true,
    detail: {
      worker: link.worker.name,
      exitCode: down.exitCode,
      signal: down.signal,
      ...(stderr.length > 0 && { stderr }),
    },
  };
}

/** The same holds for the last words of the one that ran last. */
export function noWorker({ isPrivate }: Exchange, pools: readonly Pool[]): BusProblem {
  if (pools.length === 0) {
    return problem('bus.no-worker', 'its pool was taken out of the config');
  }
  const names = pools.map(({ config }) => config.id).join(', ');
  const last = pools.find(({ lastReason }) => lastReason !== null);
  const why = isPrivate ? last?.lastDown : last?.lastReason;
  return {
    code: 'bus.no-worker',
    message: `no worker of pool ${names} is running${why ? `: the last one ${why}` : ''}`,
    detail: { pools: pools.map(({ config }) => config.id) },
  };
}

export function queueFull(exchange: Exchange, where: string, bytes: number): BusProblem {
  return {
    code: 'bus.queue-full',
    message: `${where} has ${bytes} bytes waiting; max_output_queue is ${exchange.limits.queueBytesMax}`,
    detail: { queuedBytes: bytes, limit: exchange.limits.queueBytesMax },
  };
}
