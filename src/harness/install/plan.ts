/**
 * What an installation, or its end, would change: a pure function of what is wanted, what the
 * record says we wrote, and the bytes that are there now.
 *
 * Every file is what it was before us plus our pieces. While it is still as we wrote it, what it was
 * before is known to the byte [IN1]; once others have changed it, our pieces are taken out of what is
 * there and nothing else [IN2]. So installing twice changes nothing [IN3], and other options or a
 * newer version start again from the original.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Vendor } from '../../wire/tool-names.ts';
import { addPieces, isHollowText, lookAtPieces, takePieces } from './document.ts';
import { nameOfPiece, type OwnedPiece, type Piece, type WantedFile } from './piece.ts';
import { type Finding, finding, type InstallProblem, isProblem } from './problem.ts';
import type { FileRecord, ScopeRecord } from './record.ts';
import { digest, isSealed } from './seal.ts';
import type { InstallOptions } from './vendors/vendor.ts';

export interface Change {
  readonly path: string;
  /** Null where there is no file. */
  readonly before: Buffer | null;
  /** Null where there shall be none. */
  readonly after: Buffer | null;
  readonly why: string;
  /** For a file that is made. */
  readonly mode?: number;
  /** For folders that are made. */
  readonly folderMode?: number;
  /** Folders to remove afterwards if nothing is left in them, outermost first. */
  readonly folders?: readonly string[];
  /** What of ours comes. */
  readonly added?: readonly Piece[];
  /** What of ours goes. */
  readonly removed?: readonly Piece[];
}

/** The world as it was read for the plan. */
export interface Present {
  bytes(path: string): Buffer | null;
  /** The bytes with this digest, from the backup. */
  original(digest: string): Buffer | null;
  /** Folders above the path that are not there, outermost first. */
  missingFolders(path: string): readonly string[];
}

export interface PlanInput {
  readonly vendor: Vendor;
  /** Null to take out whatever is ours. */
  readonly options: InstallOptions | null;
  readonly wanted: readonly WantedFile[];
  /** When taking out: pieces that are ours even where no record says so. */
  readonly recognised?: readonly WantedFile[];
  readonly record: ScopeRecord;
  readonly present: Present;
}

export interface Plan {
  readonly changes: readonly Change[];
  readonly record: ScopeRecord;
  /** Bytes the new record refers to, by digest. */
  readonly originals: ReadonlyMap<string, Buffer>;
  readonly findings: readonly Finding[];
}

interface FilePlan {
  readonly change: Change | null;
  readonly file: FileRecord | null;
  readonly original: Buffer | null;
  readonly findings: readonly Finding[];
}

export function planVendor(input: PlanInput): Plan | InstallProblem {
  const { vendor, options, wanted, record, present } = input;
  const changes: Change[] = [];
  const findings: Finding[] = [];
  const originals = new Map<string, Buffer>();
  const files = new Map(record.files.map((file) => [file.path, file]));
  const held = record.files.filter(({ pieces }) => pieces.some((one) => one.vendor === vendor));
  const recognised = input.recognised ?? [];
  const paths = new Set([...wanted, ...held, ...recognised].map(({ path }) => path));
  for (const path of paths) {
    const recorded = files.get(path);
    const known = recorded ?? recognise(path, input);
    const likely = recognised.find((one) => one.path === path);
    if (recorded === undefined && known !== null && likely !== undefined) {
      findings.push(...doubtful(likely, present.bytes(path)));
    }
    const want = wanted.find((one) => one.path === path) ?? null;
    if (known === null && want === null) continue;
    const planned = planFile({ vendor, path, known, want, present });
    if (isProblem(planned)) return planned;
    if (planned.change !== null) changes.push(planned.change);
    findings.push(...planned.findings);
    if (planned.file === null) files.delete(path);
    else files.set(path, planned.file);
    if (planned.original !== null) originals.set(digest(planned.original), planned.original);
  }
  const { [vendor]: _, ...others } = record.options;
  return {
    changes,
    findings,
    originals,
    record: {
      ...record,
      options: options === null ? others : { ...others, [vendor]: options },
      files: [...files.values()],
    },
  };
}

interface FileInput {
  readonly vendor: Vendor;
  readonly path: string;
  readonly known: FileRecord | null;
  readonly want: WantedFile | null;
  readonly present: Present;
}

function planFile(input: FileInput): FilePlan | InstallProblem {
  const { vendor, path, known, want, present } = input;
  const format = want?.format ?? known?.format ?? 'own';
  const now = present.bytes(path);
  const mine = (want?.pieces ?? []).map((piece) => ({ vendor, piece }));
  const others = known?.pieces.filter((one) => one.vendor !== vendor) ?? [];
  const target = [...others, ...mine];
  const kept = (findings: readonly Finding[], file = known): FilePlan => {
    const original = file?.original == null ? null : present.original(file.original);
    return { change: null, file, original, findings };
  };
  if (format === 'own' && now !== null && isForeign(now, known, want)) {
    return kept([leftAlone(path, known, want)], want === null ? null : known);
  }
  if (want !== null) {
    const settled = settledFindings(path, format, now, known, target);
    if (isProblem(settled)) return settled;
    if (settled !== null) return kept(settled);
  }
  const before = bytesBefore(input, format, now);
  if (isProblem(before)) return before;
  if (target.length === 0) {
    return { change: changeTo(input, now, before, []), file: null, original: null, findings: [] };
  }
  const result = addPieces(
    path,
    format,
    before,
    target.map(({ piece }) => piece),
  );
  if (isProblem(result)) return result;
  const findings = result.taken.map((piece) => nameTaken(path, piece));
  const pieces = target.filter(({ piece }) => result.added.includes(piece));
  if (pieces.length === 0) {
    return { change: changeTo(input, now, before, []), file: null, original: null, findings };
  }
  const made = new Set([...(known?.folders ?? []), ...present.missingFolders(path)]);
  const folders = [...made].sort((a, b) => a.length - b.length);
  const original = before === null ? null : digest(before);
  const { containers, bytes } = result;
  const written = digest(bytes);
  const file: FileRecord = { path, format, original, written, pieces, containers, folders };
  return { change: changeTo(input, now, bytes, pieces), file, original: before, findings };
}

/** A whole file that is not as we wrote it, nor sealed by any of us. */
function isForeign(now: Buffer, known: FileRecord | null, want: WantedFile | null): boolean {
  const [whole] = want?.pieces ?? [];
  if (whole?.kind === 'whole' && now.toString('utf8') === whole.text) return false;
  return known?.written !== digest(now) && !isSealed(now.toString('utf8'));
}

function leftAlone(path: string, known: FileRecord | null, want: WantedFile | null): Finding {
  const what = known === null ? 'is not ours' : 'was edited since it was written';
  const remedy =
    want === null ? 'delete it by hand if you want it gone' : 'move it away and run this again';
  return finding('warn', path, `${path} ${what}, so it was left as it is`, remedy);
}

/** Nothing to do: all is there, and nothing of ours that should not be. Null when there is. */
function settledFindings(
  path: string,
  format: WantedFile['format'],
  now: Buffer | null,
  known: FileRecord | null,
  target: readonly OwnedPiece[],
): readonly Finding[] | null | InstallProblem {
  const wanted = target.map(({ piece }) => piece);
  const recorded = known?.pieces.map(({ piece }) => piece) ?? [];
  const isRecorded = (piece: Piece) => recorded.some((one) => isDeepStrictEqual(one, piece));
  const stale = recorded.filter((piece) => !wanted.some((one) => isDeepStrictEqual(one, piece)));
  const looks = lookAtPieces(path, format, now, [...wanted, ...stale]);
  if (isProblem(looks)) return looks;
  const isStaleGone = looks.slice(wanted.length).every(({ state }) => state === 'absent');
  const findings: Finding[] = [];
  for (const { piece, state } of looks.slice(0, wanted.length)) {
    if (state === 'present') continue;
    // What somebody made of our entry since is theirs to keep, while we want nothing new of it.
    if (state !== 'other' || !isRecorded(piece)) return null;
    findings.push(
      finding('warn', path, `${nameOfPiece(piece)} in ${path} was edited; it was left as it is`),
    );
  }
  return isStaleGone ? findings : null;
}

/** The file without us; null where there would be none. */
function bytesBefore(
  { path, known, present }: FileInput,
  format: WantedFile['format'],
  now: Buffer | null,
): Buffer | null | InstallProblem {
  if (known === null || now === null) return now;
  const original = known.original === null ? null : present.original(known.original);
  const hasOriginal = known.original === null || original !== null;
  const seen = digest(now);
  if (seen === known.written && hasOriginal) return original;
  if (seen === known.original) return now;
  if (format === 'own') return original;
  const pieces = known.pieces.map(({ piece }) => piece);
  const rest = takePieces(path, format, now, pieces, known.containers);
  if (isProblem(rest)) return rest;
  if (!rest.isHollow) return rest.bytes;
  const wasHollow = original === null || isHollowText(format, original.toString('utf8'));
  return wasHollow ? original : rest.bytes;
}

function changeTo(
  { path, known, want }: FileInput,
  now: Buffer | null,
  after: Buffer | null,
  pieces: readonly OwnedPiece[],
): Change | null {
  const isSame = now === null ? after === null : after !== null && now.equals(after);
  if (isSame) return null;
  return {
    path,
    before: now,
    after,
    why: want?.why ?? 'what Synod wrote is taken out',
    ...(want?.mode !== undefined && { mode: want.mode }),
    ...(after === null && { folders: known?.folders ?? [] }),
    added: lacking(pieces, known?.pieces ?? []),
    removed: lacking(known?.pieces ?? [], pieces),
  };
}

/** The pieces of one list that the other has not. */
function lacking(some: readonly OwnedPiece[], others: readonly OwnedPiece[]): Piece[] {
  return some
    .filter((one) => !others.some((other) => isDeepStrictEqual(one, other)))
    .map(({ piece }) => piece);
}

function nameTaken(path: string, piece: Piece): Finding {
  return finding(
    'warn',
    path,
    `${path} has ${nameOfPiece(piece)} already, and not from us; it was left as it is`,
    'rename or remove it and run this again, if it should be ours',
  );
}

/**
 * A record made up from what is there, of pieces that nobody but us writes. What a person may have
 * written as well is not in it, and so stays.
 */
function recognise(path: string, { vendor, recognised, present }: PlanInput): FileRecord | null {
  const file = recognised?.find((one) => one.path === path);
  const now = present.bytes(path);
  if (file === undefined || now === null) return null;
  const looks = lookAtPieces(path, file.format, now, file.pieces);
  if (isProblem(looks)) return null;
  const pieces = looks
    .filter(
      ({ state, piece }) => state === 'present' || (state === 'other' && piece.kind === 'section'),
    )
    .filter(({ piece }) => file.anybodys?.includes(piece) !== true)
    .map(({ piece }) => ({ vendor, piece }));
  const isOwn = file.format === 'own' && isSealed(now.toString('utf8'));
  if (pieces.length === 0 && !isOwn) return null;
  const containers = pieces.flatMap(({ piece }) => {
    if (piece.kind !== 'member' && piece.kind !== 'item') return [];
    const holders = piece.kind === 'member' ? piece.at.slice(0, -1) : piece.at;
    return holders.map((_, i) => holders.slice(0, i + 1));
  });
  const rest = { original: null, written: '', containers, folders: [] };
  return { path, format: file.format, pieces, ...rest };
}

/** Beside what was recognised as ours: what may be ours or a person's, and therefore stays. */
function doubtful({ path, pieces, anybodys = [] }: WantedFile, now: Buffer | null): Finding[] {
  const looks = lookAtPieces(path, 'json', now, anybodys);
  if (isProblem(looks)) return [];
  return looks.flatMap(({ piece, state }) =>
    state === 'present' && pieces.includes(piece)
      ? [finding('warn', path, `${nameOfPiece(piece)} in ${path} may be your own; it was left`)]
      : [],
  );
}
