/**
 * What an installation did or would do, for people and for programs. Of a file only our own lines are
 * shown: the rest is other people's, and may hold secrets.
 */
import { relative } from 'node:path';
import type { VendorReport } from './install.ts';
import type { Piece } from './piece.ts';
import type { Change } from './plan.ts';
import type { Finding } from './problem.ts';

export type Deed = 'create' | 'change' | 'restore' | 'delete';

export interface ReportOptions {
  /** Shortened to `~` where a path begins with it. */
  readonly home: string;
  /** Show what of ours comes and goes. */
  readonly withPieces: boolean;
  readonly isUninstall: boolean;
}

export interface ReportDocument {
  readonly vendor: string;
  readonly scope: string;
  readonly root: string;
  readonly changes: readonly { path: string; deed: Deed; why: string; pieces: readonly string[] }[];
  readonly findings: readonly Finding[];
  readonly problem: VendorReport['problem'];
}

export function deedOf({ before, after }: Change, isUninstall: boolean): Deed {
  if (before === null) return 'create';
  if (after === null) return 'delete';
  return isUninstall ? 'restore' : 'change';
}

export function reportLines(report: VendorReport, title: string, options: ReportOptions): string[] {
  const where = report.scope === 'user' ? 'for this user' : `in ${tilde(report.root, options)}`;
  const lines = [`${title}, ${where}:`];
  if (report.problem !== null) lines.push('  not touched; see below');
  else if (report.changes.length === 0) lines.push('  nothing to change');
  for (const change of report.changes) {
    const deed = deedOf(change, options.isUninstall);
    lines.push(`  ${deed.padEnd(7)}  ${tilde(change.path, options)}`);
    if (!options.isUninstall) lines.push(`           ${change.why}`);
    if (options.withPieces) lines.push(...pieceLines(change).map((line) => `           ${line}`));
  }
  for (const finding of report.findings)
    lines.push(...findingLines(finding).map((one) => `  ${one}`));
  return lines;
}

export function findingLines({ level, message, remedy }: Finding): string[] {
  const label = { ok: '[OK]', warn: '[WARN]', fail: '[FAIL]' }[level];
  const first = `${label.padEnd(6)} ${message}`;
  return remedy === null ? [first] : [first, `       ${remedy}`];
}

export function reportDocument(report: VendorReport, options: ReportOptions): ReportDocument {
  const { vendor, scope, root, findings, problem } = report;
  const changes = report.changes.map((change) => ({
    path: change.path,
    deed: deedOf(change, options.isUninstall),
    why: change.why,
    pieces: options.withPieces ? pieceLines(change) : [],
  }));
  return { vendor, scope, root, changes, findings, problem };
}

/** In the words of the file's own format; of a whole file only its size. */
function pieceLines({ added = [], removed = [], before, after }: Change): string[] {
  const lines = [
    ...textOfAll(removed).map((line) => `- ${line}`),
    ...textOfAll(added).map((line) => `+ ${line}`),
  ];
  // A script of ours has no pieces.
  return lines.length > 0 || before !== null || after === null ? lines : [`+ ${sizeOf(after)}`];
}

/** One line for the same handler under several events. */
function textOfAll(pieces: readonly Piece[]): string[] {
  const lists = new Map<string, string[]>();
  for (const piece of pieces) {
    if (piece.kind !== 'item') continue;
    const value = JSON.stringify(piece.value);
    lists.set(value, [...(lists.get(value) ?? []), `${piece.at.join('.')}[]`]);
  }
  const items = [...lists].map(([value, names]) => `${names.join(', ')}: ${value}`);
  return [...pieces.flatMap((piece) => (piece.kind === 'item' ? [] : textOf(piece))), ...items];
}

function textOf(piece: Piece): readonly string[] {
  switch (piece.kind) {
    case 'member':
    case 'item':
      return [`${piece.at.join('.')}: ${JSON.stringify(piece.value)}`];
    case 'table':
      return [`[${piece.at.join('.')}]`, ...piece.lines];
    case 'section':
      return piece.text.trimEnd().split('\n');
    case 'whole':
      return [sizeOf(piece.text)];
  }
}

function sizeOf(text: string | Buffer): string {
  return `the whole file, ${text.toString().trimEnd().split('\n').length} lines`;
}

function tilde(path: string, { home }: ReportOptions): string {
  const inside = relative(home, path);
  return inside === '' || inside.startsWith('..') ? path : `~/${inside}`;
}
