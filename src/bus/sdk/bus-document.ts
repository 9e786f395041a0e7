/**
 * The config of an SDK object as a document the bus reads, and the functions taken out of it. A
 * function cannot travel, so its pool stands in the document with a command that is never started.
 */
import type { BusConfig } from '../router/config.ts';
import { parseBusDocument } from '../router/parse-config.ts';
import { InvalidArgumentError } from './errors.ts';
import type { WorkerFunction } from './function-worker.ts';
import type { BusConfigOptions, PoolOptions } from './options.ts';

/** What errors call a config that came as an object. */
const SOURCE = 'config';
const NO_COMMAND = 'function';

export interface BusDocument {
  readonly document: Readonly<Record<string, unknown>>;
  readonly parsed: BusConfig;
  readonly functions: ReadonlyMap<string, WorkerFunction>;
}

export function readDocument(
  config: BusConfigOptions,
  given: Readonly<Record<string, WorkerFunction>>,
): BusDocument {
  const functions = new Map(Object.entries(given));
  const pools = (Array.isArray(config.pools) ? config.pools : []).map((pool) =>
    withoutFunction(pool, functions),
  );
  const listed = new Set(pools.map(({ id }) => id));
  const added = [...functions.keys()]
    .filter((id) => !listed.has(id))
    .map((id) => ({ id, command: NO_COMMAND, instances: 1 }));
  // Unset limits, and unset keys anywhere, are left out, as JSON does.
  const document: Record<string, unknown> = JSON.parse(
    JSON.stringify({ ...config, pools: [...pools, ...added] }),
  );
  try {
    return { document, parsed: parseBusDocument(document, SOURCE), functions };
  } catch (cause) {
    throw new InvalidArgumentError((cause as Error).message, { cause });
  }
}

function withoutFunction(
  pool: PoolOptions,
  functions: Map<string, WorkerFunction>,
): Readonly<Record<string, unknown>> {
  const { function: own, ...rest } = pool;
  if (own !== undefined) functions.set(pool.id, own);
  const run = functions.get(pool.id);
  if (run === undefined) return { instances: 1, ...rest };
  if (typeof run !== 'function') {
    throw new InvalidArgumentError(`the function of pool "${pool.id}" is not a function`);
  }
  if (rest.command !== undefined) {
    throw new InvalidArgumentError(
      `pool "${pool.id}" has a command and a function; leave one of them out`,
    );
  }
  return { instances: 1, ...rest, command: NO_COMMAND };
}
