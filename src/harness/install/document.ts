/**
 * A file with pieces of ours in it, whatever its format: bytes in, bytes out, nothing touched on
 * disk. A byte order mark, odd line endings and a missing last newline are kept. What is no text, or
 * not what its name promises, is a problem that says where, and no byte of it is changed.
 */
import { parse } from 'jsonc-parser';
import { addToJson, jsonPieceState, takeFromJson } from './json-edit.ts';
import { readJsonText } from './json-text.ts';
import type { Format, JsonPath, JsonPiece, Piece, SectionPiece, TablePiece } from './piece.ts';
import { type InstallProblem, isFault, problem, type TextFault } from './problem.ts';
import { addSection, sectionState, takeSection } from './section-edit.ts';
import { addToToml, readToml, takeFromToml, tomlPieceState } from './toml-edit.ts';

/** Beyond this a file is no configuration. Claude Code's own may hold years of history. */
export const CONFIG_BYTES_MAX: number = 64 * 1024 * 1024;

export interface Added {
  readonly bytes: Buffer;
  /** The pieces that were not there before, which are therefore ours. */
  readonly added: readonly Piece[];
  /** The pieces whose name something else has. */
  readonly taken: readonly Piece[];
  readonly containers: readonly JsonPath[];
}

const BOM = '\uFEFF';
const NOTHING: Readonly<Record<Format, string>> = { json: '{}\n', toml: '', markdown: '', own: '' };

/** Puts pieces into a file, which may not be there yet. */
export function addPieces(
  path: string,
  format: Format,
  before: Buffer | null,
  pieces: readonly Piece[],
): Added | InstallProblem {
  if (pieces.length === 0)
    return { bytes: before ?? Buffer.of(), added: [], taken: [], containers: [] };
  const opened = open(path, before);
  if ('problem' in opened) return opened;
  const text = opened.text.trim() === '' && format === 'json' ? NOTHING.json : opened.text;
  const result = add(format, text, pieces);
  if (isFault(result)) return located(path, result);
  return { ...result, bytes: close(opened.bom, result.text) };
}

function add(
  format: Format,
  text: string,
  pieces: readonly Piece[],
): (Omit<Added, 'bytes'> & { readonly text: string }) | TextFault {
  switch (format) {
    case 'json':
      return addToJson(text, pieces as readonly JsonPiece[]);
    case 'toml': {
      const result = addToToml(text, pieces as readonly TablePiece[]);
      return isFault(result) ? result : { ...result, containers: [] };
    }
    case 'markdown': {
      let current = text;
      for (const piece of pieces as readonly SectionPiece[]) {
        const next = addSection(current, piece);
        if (isFault(next)) return next;
        current = next;
      }
      return { text: current, added: pieces, taken: [], containers: [] };
    }
    case 'own': {
      const [whole] = pieces;
      const written = whole?.kind === 'whole' ? whole.text : '';
      return { text: written, added: pieces, taken: [], containers: [] };
    }
  }
}

export interface Rest {
  readonly bytes: Buffer;
  /** Nothing but ours was in it. */
  readonly isHollow: boolean;
}

/** Takes pieces out of a file that has changed since. */
export function takePieces(
  path: string,
  format: Format,
  bytes: Buffer,
  pieces: readonly Piece[],
  containers: readonly JsonPath[],
): Rest | InstallProblem {
  const opened = open(path, bytes);
  if ('problem' in opened) return opened;
  const { bom, text } = opened;
  const rest = take(format, text, pieces, containers);
  if (isFault(rest)) return located(path, rest);
  return { bytes: close(bom, rest), isHollow: isHollowText(format, rest) };
}

export function isHollowText(format: Format, text: string): boolean {
  const bare = text.replace(/[\s\uFEFF]/g, '');
  return bare === '' || (format === 'json' && bare === '{}');
}

function take(
  format: Format,
  text: string,
  pieces: readonly Piece[],
  containers: readonly JsonPath[],
): string | TextFault {
  switch (format) {
    case 'json':
      return takeFromJson(text, pieces as readonly JsonPiece[], containers);
    case 'toml':
      return takeFromToml(text, pieces as readonly TablePiece[]);
    case 'markdown':
      return (pieces as readonly SectionPiece[]).reduce<string | TextFault>(
        (rest, { mark }) => (isFault(rest) ? rest : takeSection(rest, mark)),
        text,
      );
    case 'own':
      return '';
  }
}

export interface PieceLook {
  readonly piece: Piece;
  readonly state: 'present' | 'absent' | 'other';
}

/** What became of each piece. */
export function lookAtPieces(
  path: string,
  format: Format,
  bytes: Buffer | null,
  pieces: readonly Piece[],
): readonly PieceLook[] | InstallProblem {
  if (bytes === null) return pieces.map((piece) => ({ piece, state: 'absent' }));
  const opened = open(path, bytes);
  if ('problem' in opened) return opened;
  const { text } = opened;
  const looks: PieceLook[] = [];
  const json = format === 'json' ? readJsonText(text.trim() === '' ? NOTHING.json : text) : null;
  if (isFault(json)) return located(path, json);
  const toml = format === 'toml' ? readToml(text) : null;
  if (isFault(toml)) return located(path, toml as TextFault);
  for (const piece of pieces) {
    let state: PieceLook['state'] | TextFault;
    if (piece.kind === 'whole') state = piece.text === text ? 'present' : 'other';
    else if (piece.kind === 'section') state = sectionState(text, piece);
    else if (piece.kind === 'table') state = toml === null ? 'absent' : tomlPieceState(toml, piece);
    else state = json === null ? 'absent' : jsonPieceState(json, piece);
    if (isFault(state)) return located(path, state);
    looks.push({ piece, state });
  }
  return looks;
}

/** One value of a file, undefined where there is none or the file is not what it should be. */
export function readValue(format: 'json' | 'toml', bytes: Buffer, at: JsonPath): unknown {
  const opened = open('', bytes);
  if ('problem' in opened) return undefined;
  let value: unknown = format === 'json' ? parse(opened.text) : readToml(opened.text);
  for (const name of at) value = (value as Record<string, unknown> | null | undefined)?.[name];
  return value;
}

function open(path: string, bytes: Buffer | null): { bom: string; text: string } | InstallProblem {
  if (bytes === null) return { bom: '', text: '' };
  try {
    // The mark is kept by the decoder, so that it can be put back.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const bom = text.startsWith(BOM) ? BOM : '';
    return { bom, text: text.slice(bom.length) };
  } catch {
    return problem(
      'install.not-text',
      `${path} is not UTF-8, so it was left alone`,
      'save it as UTF-8 and run this again',
    );
  }
}

function close(bom: string, text: string): Buffer {
  return Buffer.from(bom + text, 'utf8');
}

function located(path: string, { fault, message, line, column }: TextFault): InstallProblem {
  const where = `${path}:${line}:${column}`;
  return fault === 'broken'
    ? problem(
        'install.broken-config',
        `${where}: not valid (${message}), so the file was left alone`,
        'mend it there and run this again',
      )
    : problem(
        'install.odd-shape',
        `${where}: ${message}; the file was left alone`,
        'change it there and run this again',
      );
}
