/**
 * The config of an SDK object as a document the bus reads, and the functions taken out of it. A
 * function cannot travel, so its pool stands in the document with a command that is never started.
 */
import { isObject, textAt } from '../process/json-object.ts';
import { type ParsedBusConfig, parseBusDocument } from '../router/parse-config.ts';
import { checkPool } from './check-options.ts';
import { InvalidArgumentError } from './errors.ts';
import type { WorkerFunction } from './function-worker.ts';
import type { BusConfigOptions, PoolOptions } from './options.ts';

/** What errors call a config that came as an object. */
const SOURCE = 'config';
const NO_COMMAND = 'function';

export interface BusDocument {
  readonly document: Readonly<Record<string, unknown>>;
  readonly parsed: ParsedBusConfig;
  readonly functions: ReadonlyMap<string, WorkerFunction>;
}

export function readDocument(
  config: BusConfigOptions,
  given: Readonly<Record<string, WorkerFunction>>,
): BusDocument {
  const functions = new Map(Object.entries(given));
  const { pools = [] } = config;
  // What is no list, or no pool, is the parser's to name.
  const listed: readonly unknown[] = Array.isArray(pools) ? pools : [];
  const shown = listed.map((pool, i) =>
    isObject(pool) ? withoutFunction(pool as unknown as PoolOptions, i, functions) : pool,
  );
  const ids = new Set(shown.map((pool) => textAt(pool, 'id')));
  const added = [...functions.keys()]
    .filter((id) => !ids.has(id))
    .map((id) => ({ id, command: NO_COMMAND, instances: 1 }));
  const whole = { ...config, pools: Array.isArray(pools) ? [...shown, ...added] : pools };
  try {
    // Unset limits, and unset keys anywhere, are left out, as JSON does.
    const document: Record<string, unknown> = JSON.parse(JSON.stringify(whole, sayable));
    return { document, parsed: parseBusDocument(document, SOURCE, true), functions };
  } catch (cause) {
    throw new InvalidArgumentError((cause as Error).message, { cause });
  }
}

/** JSON would make null of a number that is none, and nothing of a function. */
function sayable(key: string, value: unknown): unknown {
  const isSayable =
    typeof value === 'number'
      ? Number.isFinite(value)
      : typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint';
  if (isSayable) return value;
  const what = typeof value === 'number' ? String(value) : `a ${typeof value}`;
  throw new Error(`${SOURCE}: ${key}: JSON has no word for ${what}`);
}

function withoutFunction(
  pool: PoolOptions,
  at: number,
  functions: Map<string, WorkerFunction>,
): Readonly<Record<string, unknown>> {
  checkPool(`config.pools[${at}]`, pool);
  const { function: own, ...rest } = pool;
  if (own !== undefined) functions.set(pool.id, own);
  if (!functions.has(pool.id)) return { instances: 1, ...rest };
  if (rest.command !== undefined) {
    throw new InvalidArgumentError(
      `pool "${pool.id}" has a command and a function; leave one of them out`,
    );
  }
  return { instances: 1, ...rest, command: NO_COMMAND };
}
