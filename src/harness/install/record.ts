/**
 * The record of what an installation wrote: `<home>/install/<scope>.json`, with the bytes that were
 * there before kept beside it. One record for each scope, so that a project can be left without
 * the user's own installation noticing. A record that cannot be read is a problem, never guessed at.
 */
import { join } from 'node:path';
import { readJson } from '../../core/law/json.ts';
import type { Vendor } from '../../wire/tool-names.ts';
import type { Format, JsonPath, OwnedPiece } from './piece.ts';
import { type InstallProblem, problem } from './problem.ts';
import { digest } from './seal.ts';
import type { InstallOptions, InstallSite, ScopeKind } from './vendors/vendor.ts';

export interface FileRecord {
  readonly path: string;
  readonly format: Format;
  /** The digest of what was there before; null where nothing was. */
  readonly original: string | null;
  /** The digest of what we wrote. */
  readonly written: string;
  readonly pieces: readonly OwnedPiece[];
  readonly containers: readonly JsonPath[];
  /** Folders that had to be made, outermost first. */
  readonly folders: readonly string[];
}

export interface ScopeRecord {
  readonly version: 1;
  readonly scope: ScopeKind;
  readonly root: string;
  readonly options: Readonly<Partial<Record<Vendor, InstallOptions>>>;
  readonly files: readonly FileRecord[];
}

export function emptyRecord({ scope, root }: Pick<InstallSite, 'scope' | 'root'>): ScopeRecord {
  return { version: 1, scope, root, options: {}, files: [] };
}

export function recordFolder(synodHome: string): string {
  return join(synodHome, 'install');
}

export function scopeId({ scope, root }: Pick<InstallSite, 'scope' | 'root'>): string {
  return scope === 'user' ? 'user' : `project-${digest(root).slice(0, 16)}`;
}

export function recordPath(site: Pick<InstallSite, 'scope' | 'root' | 'synodHome'>): string {
  return join(recordFolder(site.synodHome), `${scopeId(site)}.json`);
}

/** Where the bytes with this digest are kept. */
export function backupPath(
  site: Pick<InstallSite, 'scope' | 'root' | 'synodHome'>,
  original: string,
): string {
  return join(recordFolder(site.synodHome), scopeId(site), original);
}

export function recordText(record: ScopeRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

export function isEmptyRecord({ files, options }: ScopeRecord): boolean {
  return files.length === 0 && Object.keys(options).length === 0;
}

export function vendorsOf({ options }: ScopeRecord): readonly Vendor[] {
  return Object.keys(options) as Vendor[];
}

export function parseRecord(path: string, text: string): ScopeRecord | InstallProblem {
  try {
    const record = readJson(text) as ScopeRecord;
    if (record.version === 1 && Array.isArray(record.files) && record.files.every(isFileRecord)) {
      return record;
    }
  } catch {
    // Told below, with what to do about it.
  }
  return problem(
    'install.broken-record',
    `${path} is no record of an installation that this version can read`,
    'move it away and run "synod install" again; it then writes only what is missing',
  );
}

function isFileRecord(file: Partial<FileRecord>): boolean {
  return (
    typeof file.path === 'string' &&
    typeof file.written === 'string' &&
    [file.pieces, file.containers, file.folders].every(Array.isArray)
  );
}
