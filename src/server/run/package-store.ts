/**
 * A store of one's own: a package that keeps logs elsewhere, named by `npm:PACKAGE?options` [SR1].
 *
 * It is looked for in the data directory's own node_modules, where only the owner installs: code of
 * the folder one happens to stand in never runs. What it opens must look like a Log, or the hub does
 * not start; whether it keeps a Log's promises is for its author to try.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readJson } from '../../core/law/json.ts';
import { decodeBatch, encodeBatch, entryAt, firstBadEntry, GENESIS } from '../../log/batch.ts';
import { lookOften, openBatchLog } from '../../log/batch-log.ts';
import { type Log, LogError } from '../../log/log.ts';
import { decodeSnapshot, encodeSnapshot } from '../../log/snapshot.ts';
import { isSpaceName } from '../desk/spaces.ts';
import { entryPath } from '../plugins/package-entry.ts';
import type { PackagePlace } from './store-url.ts';

/** What a package is handed, because it cannot import the hub that loads it. */
const KIT = {
  ...{ openBatchLog, lookOften, LogError, GENESIS },
  ...{ encodeBatch, decodeBatch, entryAt, firstBadEntry, encodeSnapshot, decodeSnapshot },
};

/** What a package exports. */
interface StorePackage {
  openLog(asked: StoreQuestion & { readonly space: string }): Promise<unknown>;
  /** Spaces that lie there already. */
  listSpaces(asked: StoreQuestion): Promise<unknown>;
}

interface StoreQuestion {
  /** The data directory. */
  readonly dir: string;
  /** From the URL. */
  readonly options: Readonly<Record<string, string>>;
  readonly kit: typeof KIT;
}

const METHODS = [
  ...(['append', 'read', 'at', 'follow', 'batches', 'loadSnapshot'] as const),
  ...(['saveSnapshot', 'replace', 'close'] as const),
] satisfies readonly (keyof Log)[];

export async function openPackageLog(
  place: PackagePlace,
  dir: string,
  space: string,
): Promise<Log> {
  const log = await asked(place, dir, (store, question) => store.openLog({ ...question, space }));
  const faults = faultsOf(log);
  if (faults.length === 0) return log as Log;
  await (log as Partial<Log> | null)?.close?.();
  throw unusable(place, `what its openLog opened is no log: ${faults.join(', ')}`);
}

export async function listPackageSpaces(place: PackagePlace, dir: string): Promise<string[]> {
  const names = await asked(place, dir, (store, question) => store.listSpaces(question));
  if (Array.isArray(names) && names.every((name) => typeof name === 'string' && isSpaceName(name)))
    return names;
  throw unusable(
    place,
    'its listSpaces must answer a list of names of 1 to 64 of a-z, 0-9, _ and -',
  );
}

/** A failure of the package's is one of the store, whatever it threw. */
async function asked(
  place: PackagePlace,
  dir: string,
  ask: (store: StorePackage, question: StoreQuestion) => Promise<unknown>,
): Promise<unknown> {
  const store = await loadPackage(place, dir);
  const options = Object.fromEntries(new URLSearchParams(place.query));
  try {
    return await ask(store, { dir, options, kit: KIT });
  } catch (cause) {
    throw cause instanceof LogError ? cause : unusable(place, `it failed: ${cause}`, cause);
  }
}

async function loadPackage(place: PackagePlace, dir: string): Promise<StorePackage> {
  const folder = join(dir, 'node_modules', place.name);
  let description: unknown;
  try {
    description = readJson(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch (cause) {
    const how = `install it with: npm install --prefix ${dir} ${place.name}`;
    throw unusable(place, `it is not in ${join(dir, 'node_modules')}; ${how}`, cause);
  }
  const entry = entryPath(description, './store');
  if (entry === null) throw unusable(place, 'its package.json exports neither "./store" nor "."');
  let module: Record<string, unknown>;
  try {
    module = await import(pathToFileURL(realpathSync(join(folder, entry))).href);
  } catch (cause) {
    throw unusable(place, `it cannot be loaded: ${cause}`, cause);
  }
  const absent = ['openLog', 'listSpaces'].filter((name) => typeof module[name] !== 'function');
  if (absent.length > 0) throw unusable(place, `it must export the function ${absent.join(', ')}`);
  return module as unknown as StorePackage;
}

function faultsOf(opened: unknown): string[] {
  if (typeof opened !== 'object' || opened === null) return ['it is no object'];
  const log = opened as Record<keyof Log, unknown>;
  const faults: string[] = METHODS.filter((name) => typeof log[name] !== 'function').map(
    (name) => `${name} is no function`,
  );
  if (!Number.isSafeInteger(log.length) || (log.length as number) < 0)
    faults.push('length is no whole number');
  if (typeof log.head !== 'string' || !/^[0-9a-f]{64}$/.test(log.head))
    faults.push('head is no 64 hex digits');
  if (typeof log.compacted !== 'object') faults.push('compacted is neither null nor an object');
  return faults;
}

function unusable({ name }: PackagePlace, what: string, cause?: unknown): LogError {
  return new LogError('log.unavailable', `the store package ${name} cannot be used: ${what}`, {
    cause,
  });
}
