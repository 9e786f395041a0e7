/**
 * A table of ours put at the end of a TOML text and taken out again, by lines.
 *
 * The parser only judges: before (is it TOML, is the name free) and after (is everything else what
 * it was). An edit that does not pass that judgement is not made, and is told as a fault.
 */
import { parse, TomlError, type TomlTable } from 'smol-toml';
import type { PieceState } from './json-edit.ts';
import { lineEnding } from './json-text.ts';
import type { JsonPath, TablePiece } from './piece.ts';
import { faultAt, isFault, type TextFault } from './problem.ts';
import { isSameValue } from './same-value.ts';

const REMARK = '# Written by "synod install"; "synod uninstall" takes it out.';

export interface TomlAdded {
  readonly text: string;
  readonly added: readonly TablePiece[];
  readonly taken: readonly TablePiece[];
}

export function readToml(text: string): TomlTable | TextFault {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [message = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    return { fault: 'broken', message, line: error.line, column: error.column };
  }
}

export function tomlPieceState(table: TomlTable, { at, lines }: TablePiece): PieceState {
  const value = valueAt(table, at);
  if (value === undefined) return 'absent';
  return isSameValue(value, readToml(lines.join('\n'))) ? 'present' : 'other';
}

function valueAt(table: TomlTable, at: JsonPath): unknown {
  let value: unknown = table;
  for (const name of at) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function isAbsent(table: TomlTable, at: JsonPath): boolean {
  return valueAt(table, at) === undefined;
}

function isSameWithout(a: TomlTable, b: TomlTable, at: JsonPath): boolean {
  return isSameValue(without(a, at), without(b, at));
}

export function addToToml(text: string, pieces: readonly TablePiece[]): TomlAdded | TextFault {
  const eol = lineEnding(text);
  let current = text;
  const added: TablePiece[] = [];
  const taken: TablePiece[] = [];
  for (const piece of pieces) {
    const before = readToml(current);
    if (isFault(before)) return before;
    const state = tomlPieceState(before, piece);
    if (state === 'other') taken.push(piece);
    if (state !== 'absent') continue;
    const gap = current === '' ? '' : current.endsWith('\n') ? eol : eol + eol;
    const block = [REMARK, `[${piece.at.join('.')}]`, ...piece.lines].map((line) => line + eol);
    const next = `${current}${gap}${block.join('')}`;
    const after = readToml(next);
    // A table written as one value, `mcp_servers = { … }`, cannot be added to from outside.
    if (isFault(after)) return closedTable(current, piece.at);
    if (!isSameWithout(after, before, piece.at)) {
      return closedTable(current, piece.at);
    }
    current = next;
    added.push(piece);
  }
  return { text: current, added, taken };
}

function closedTable(text: string, at: JsonPath): TextFault {
  const [name = ''] = at;
  const offset = Math.max(0, text.search(new RegExp(`^\\s*"?${name}"?\\s*[=.]`, 'm')));
  const message = `${name} is written as one value, so no table can be added to it; write it as [${name}.NAME] tables`;
  return faultAt(text, offset, 'odd-shape', message);
}

export function takeFromToml(text: string, pieces: readonly TablePiece[]): string | TextFault {
  let current = text;
  for (const { at } of pieces.toReversed()) {
    const before = readToml(current);
    if (isFault(before)) return before;
    const next = takeTable(current, at);
    const after = readToml(next);
    const isClean = !isFault(after) && isAbsent(after, at) && isSameWithout(after, before, at);
    if (!isClean) {
      const message = `[${at.join('.')}] is mixed with other things; take it out by hand`;
      return faultAt(current, Math.max(0, current.indexOf(at.at(-1) ?? '')), 'odd-shape', message);
    }
    current = next;
  }
  return current;
}

/** The header, everything up to the next one, and the remark before it; sub-tables go too. */
function takeTable(text: string, at: JsonPath): string {
  const lines = text.split(/(?<=\n)/);
  const isOurs = lines.map((line) => isHeaderOf(line, at));
  const kept: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    if (!isOurs[i]) {
      kept.push(line);
      continue;
    }
    if (kept.at(-1)?.trim() === REMARK) kept.pop();
    let end = i + 1;
    while (end < lines.length && !/^\s*\[/.test(lines[end] as string)) end++;
    // Blank lines and remarks before the next header speak of that one, and remarks at the end are
    // somebody's: ours are inside.
    const isRemarked = lines
      .slice(i + 1, end)
      .findLast((line) => line.trim() !== '')
      ?.trim();
    const isLast = end === lines.length && !isRemarked?.startsWith('#');
    while (!isLast && end > i + 1 && /^\s*(#.*)?$/.test((lines[end - 1] as string).trimEnd()))
      end--;
    if (isLast && kept.at(-1)?.trim() === '') kept.pop();
    else if (!isLast && kept.at(-1)?.trim() === '' && lines[end]?.trim() === '') kept.pop();
    i = end - 1;
  }
  return kept.join('');
}

/** The parser reads the names, because a quoted one may hold anything, dots and brackets too. */
function isHeaderOf(line: string, at: JsonPath): boolean {
  if (!/^\s*\[(?!\[)/.test(line)) return false;
  const header = readToml(line);
  return !isFault(header) && !isAbsent(header, at);
}

/** A copy without what is at the path, and without tables that are empty because of that. */
function without(table: TomlTable, [name, ...rest]: JsonPath): TomlTable {
  if (name === undefined || !(name in table)) return table;
  const { [name]: found, ...others } = table;
  if (rest.length === 0) return others as TomlTable;
  const inner = without(found as TomlTable, rest);
  const left = Object.keys(inner).length === 0 ? {} : { [name]: inner };
  return { ...others, ...left } as TomlTable;
}
