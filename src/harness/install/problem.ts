/**
 * What can stand in the way of writing into other people's files, as a value: a code for programs,
 * a sentence for people, and what to do about it. A finding is the milder kind: it is told, and the
 * work goes on. Nothing in this folder throws for a file that is not as hoped.
 */
export type InstallProblemCode =
  | 'install.broken-config'
  | 'install.odd-shape'
  | 'install.not-text'
  | 'install.too-large'
  | 'install.not-a-file'
  | 'install.outside'
  | 'install.read-only'
  | 'install.unwritable'
  | 'install.changed-meanwhile'
  | 'install.broken-record';

export interface InstallProblem {
  readonly problem: InstallProblemCode;
  readonly message: string;
  readonly remedy: string;
}

export function problem(code: InstallProblemCode, message: string, remedy: string): InstallProblem {
  return { problem: code, message, remedy };
}

export function isProblem(value: unknown): value is InstallProblem {
  return typeof value === 'object' && value !== null && 'problem' in value && 'remedy' in value;
}

export type Level = 'ok' | 'warn' | 'fail';

export interface Finding {
  readonly level: Level;
  /** What was looked at: a vendor, a file, an entry. */
  readonly what: string;
  readonly message: string;
  /** What to do; null where nothing is to be done. */
  readonly remedy: string | null;
}

export function finding(
  level: Level,
  what: string,
  message: string,
  remedy: string | null = null,
): Finding {
  return { level, what, message, remedy };
}

/** What the editors of text know of a fault: where it is, not in which file. */
export interface TextFault {
  readonly fault: 'broken' | 'odd-shape';
  readonly message: string;
  /** Both count from one. */
  readonly line: number;
  readonly column: number;
}

export function isFault(value: unknown): value is TextFault {
  return typeof value === 'object' && value !== null && 'fault' in value;
}

export function faultAt(
  text: string,
  offset: number,
  fault: TextFault['fault'],
  message: string,
): TextFault {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { fault, message, line, column: offset - before.lastIndexOf('\n') };
}
