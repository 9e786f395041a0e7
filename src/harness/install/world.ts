/**
 * The installation's view of the machine: where things are, what is in them, and the changes that
 * keep the record beside them. The order is the safety: the record and the backups are written
 * before any file of others, and removed after, so that whatever is cut short can be undone [IN8].
 */
import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { missingFolders, readBytes } from './apply.ts';
import type { WantedFile } from './piece.ts';
import type { Change, Plan, Present } from './plan.ts';
import { type InstallProblem, isProblem } from './problem.ts';
import {
  backupPath,
  emptyRecord,
  isEmptyRecord,
  parseRecord,
  recordFolder,
  recordPath,
  recordText,
  type ScopeRecord,
  scopeId,
} from './record.ts';
import { isSealed } from './seal.ts';
import {
  hookShim,
  hookShimPath,
  launcherDirectory,
  launcherFolder,
  launcherPath,
  launcherScript,
} from './shim.ts';
import type { InstallSite, ScopeKind } from './vendors/vendor.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const PRIVATE = { mode: 0o600, folderMode: 0o700 } as const;
const EXECUTABLE = { mode: 0o755, folderMode: 0o700 } as const;

/** Where Synod's launchers and records are: SYNOD_HOME, else `~/.synod`. */
export function synodHomeOf(env: Environment, home: string): string {
  const asked = env.SYNOD_HOME;
  if (!asked) return join(home, '.synod');
  return asked === '~' || asked.startsWith('~/') ? join(home, asked.slice(1)) : resolve(asked);
}

export function createSite(scope: ScopeKind, root: string, env: Environment): InstallSite {
  const home = env.HOME || homedir();
  return {
    scope,
    home,
    root: scope === 'user' ? home : root,
    synodHome: synodHomeOf(env, home),
    env,
    exists: (path) => statSync(path, { throwIfNoEntry: false }) !== undefined,
  };
}

export function readRecord(site: InstallSite): ScopeRecord | InstallProblem {
  const path = recordPath(site);
  const bytes = readBytes(path);
  if (isProblem(bytes)) return bytes;
  return bytes === null ? emptyRecord(site) : parseRecord(path, bytes.toString('utf8'));
}

/** Reads all the files of a plan at once, so that it decides over one state of the world. */
export function readPresent(
  site: InstallSite,
  record: ScopeRecord,
  wanted: readonly WantedFile[],
): Present | InstallProblem {
  const found = new Map<string, Buffer | null>();
  for (const { path } of [...wanted, ...record.files]) {
    const bytes = readBytes(path);
    if (isProblem(bytes)) return bytes;
    found.set(path, bytes);
  }
  const originals = new Map<string, Buffer>();
  for (const { original } of record.files) {
    const bytes = original === null ? null : readBytes(backupPath(site, original));
    if (original !== null && Buffer.isBuffer(bytes)) originals.set(original, bytes);
  }
  return {
    bytes: (path) => found.get(path) ?? null,
    original: (digest) => originals.get(digest) ?? null,
    missingFolders,
  };
}

export interface Launch {
  /** The Node that runs Synod. */
  readonly node: string;
  /** `bin/synod.js` of the Synod that installs. */
  readonly program: string;
  /** The data directory of the hub that agents shall use; null for the one in the home; unsaid keeps it. */
  readonly dir?: string | null;
}

/** The data directory that what is installed uses; null for the one in the home. */
export function installedDirectory(synodHome: string): string | null {
  return launcherDirectory(bytesOrNull(launcherPath(synodHome))?.toString('utf8') ?? '');
}

/** The two scripts that every configuration calls. */
export function launcherChanges(
  { synodHome }: InstallSite,
  { node, program, dir: said }: Launch,
): Change[] | InstallProblem {
  const dir = said === undefined ? installedDirectory(synodHome) : said;
  const scripts = [
    [hookShimPath(synodHome), hookShim(dir), 'the script that every hook calls'],
    [launcherPath(synodHome), launcherScript(node, program, dir), 'starts this Synod'],
  ] as const;
  const changes: Change[] = [];
  for (const [path, text, why] of scripts) {
    const before = readBytes(path);
    if (isProblem(before)) return before;
    const after = Buffer.from(text);
    if (!before?.equals(after)) changes.push({ path, before, after, why, ...EXECUTABLE });
  }
  return changes;
}

/** They go when no scope is left that calls them. */
export function launcherRemovals(site: InstallSite): Change[] {
  const { synodHome } = site;
  if (listRecords(synodHome).some((name) => name !== `${scopeId(site)}.json`)) return [];
  const folders = [synodHome, launcherFolder(synodHome)];
  return [hookShimPath(synodHome), launcherPath(synodHome)].flatMap((path) => {
    const before = readBytes(path);
    if (!Buffer.isBuffer(before) || !isSealed(before.toString('utf8'))) return [];
    return [{ path, before, after: null, why: 'nothing calls it any more', folders }];
  });
}

/** Every scope that has a record, as far as it can be read. */
export function listInstalled(env: Environment): ScopeRecord[] {
  const synodHome = synodHomeOf(env, env.HOME || homedir());
  return listRecords(synodHome).flatMap((name) => {
    const path = join(recordFolder(synodHome), name);
    const record = parseRecord(path, bytesOrNull(path)?.toString('utf8') ?? '');
    return isProblem(record) ? [] : [record];
  });
}

/** The file names of all records. */
function listRecords(synodHome: string): string[] {
  try {
    return readdirSync(recordFolder(synodHome)).filter((name) => name.endsWith('.json'));
  } catch {
    // No folder, no record.
    return [];
  }
}

export interface RecordChanges {
  /** What must be on disk before any other file is touched. */
  readonly first: readonly Change[];
  /** What may go only when all others are done. */
  readonly last: readonly Change[];
}

export function recordChanges(site: InstallSite, { record, originals }: Plan): RecordChanges {
  const path = recordPath(site);
  const before = bytesOrNull(path);
  const folders = [site.synodHome, recordFolder(site.synodHome)];
  const inner = join(recordFolder(site.synodHome), scopeId(site));
  const needed = new Set(record.files.flatMap(({ original }) => original ?? []));
  const stale: Change[] = listFolder(inner)
    .filter((file) => !needed.has(basename(file)))
    .map((file) => ({
      path: file,
      before: bytesOrNull(file),
      after: null,
      why: 'a backup nobody needs any more',
      folders: [...folders, inner],
    }));
  if (isEmptyRecord(record)) {
    const why = 'the record of this installation';
    const gone = before === null ? [] : [{ path, before, after: null, why, folders }];
    return { first: [], last: [...stale, ...gone] };
  }
  const backups = [...originals].flatMap(([digest, bytes]): Change[] => {
    const file = backupPath(site, digest);
    if (!needed.has(digest) || bytesOrNull(file) !== null) return [];
    return [{ path: file, before: null, after: bytes, why: 'what was there before', ...PRIVATE }];
  });
  const after = Buffer.from(recordText(record));
  const why = 'the record of this installation';
  const written = before?.equals(after) ? [] : [{ path, before, after, why, ...PRIVATE }];
  return { first: [...backups, ...written], last: stale };
}

function bytesOrNull(path: string): Buffer | null {
  const bytes = readBytes(path);
  return isProblem(bytes) ? null : bytes;
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    // Not there: nothing was kept.
    return [];
  }
}
