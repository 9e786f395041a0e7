/**
 * Readers of config values. Each takes a value and the path of its field, gives what the program
 * uses, and reports what is wrong: `pools[1].instances: must be …`. Nothing is thrown on the way, so
 * that one run names every problem (up to a limit); a config with problems is never used.
 */
import { isObject, type JsonObject } from '../process/json-object.ts';
import { meantWord } from '../process/misspelt.ts';

/** More problems than this are counted, not listed. */
const PROBLEMS_LISTED_MAX = 8;
const FOUND_CHARS_MAX = 60;
/** Warnings beyond this say nothing new. */
const WARNINGS_MAX = 50;
const TEXT_CHARS_MAX = 4_096;
const CONTROL = /\p{Cc}/u;

export interface ConfigProblem {
  /** `pools[1].instances`; empty for the document itself. */
  readonly field: string;
  readonly issue: string;
}

export class BusConfigError extends Error {
  override readonly name = 'BusConfigError';
  readonly code = 'bus.config';
  /** The file, or whatever the text came from. */
  readonly source: string;
  readonly problems: readonly ConfigProblem[];

  constructor(source: string, problems: readonly ConfigProblem[], options?: ErrorOptions) {
    const listed = problems
      .slice(0, PROBLEMS_LISTED_MAX)
      .map(({ field, issue }) => (field === '' ? issue : `${field}: ${issue}`));
    const left = problems.length - listed.length;
    if (left > 0) listed.push(`and ${left} more`);
    super(`${source}: ${listed.join('; ')}`, options);
    this.source = source;
    this.problems = problems;
  }
}

export class ConfigReport {
  readonly problems: ConfigProblem[] = [];
  readonly warnings: string[] = [];
  /** Refuses every key that is not known: a config made by a program has no reason for one. */
  readonly isStrict: boolean;

  constructor(isStrict: boolean) {
    this.isStrict = isStrict;
  }

  refuse(field: string, issue: string): void {
    this.problems.push({ field, issue });
  }

  warn(field: string, remark: string): void {
    if (this.warnings.length < WARNINGS_MAX) this.warnings.push(`${field}: ${remark}`);
  }
}

export type Reader<T> = (value: unknown, field: string, report: ConfigReport) => T;

/** A key that is not there, and null, stand for the default. */
export function optional<T>(read: Reader<T>, otherwise: T): Reader<T> {
  return (value, field, report) => (value == null ? otherwise : read(value, field, report));
}

/** A text that is there, not empty and without control characters. */
export function text(charsMax: number = TEXT_CHARS_MAX): Reader<string> {
  return (value, field, report) => {
    const issue = textIssue(value, charsMax);
    if (issue !== null) report.refuse(field, issue);
    return value as string;
  };
}

function textIssue(value: unknown, charsMax: number): string | null {
  if (value === undefined) return 'is missing';
  if (typeof value !== 'string') return `must be a string; found ${found(value)}`;
  if (value === '') return 'must not be empty';
  if (value.length > charsMax) {
    return `must have at most ${charsMax} characters; found ${value.length}`;
  }
  return CONTROL.test(value) ? 'must have no control characters' : null;
}

/** What goes to a process: any text without NUL, also an empty one. */
export const argument: Reader<string> = (value, field, report) => {
  if (typeof value !== 'string') {
    const hint = typeof value === 'number' ? ' (write it in quotes)' : '';
    report.refuse(field, `must be a string; found ${found(value)}${hint}`);
  } else if (value.includes('\0')) report.refuse(field, 'must not contain NUL');
  return value as string;
};

export function whole(min: number, max: number): Reader<number> {
  return number(min, max, 'a whole number', Number.isSafeInteger);
}

/** Seconds in the config, milliseconds in the program. */
export function seconds(min: number, max: number): Reader<number> {
  const read = number(min, max, 'a number', Number.isFinite);
  return (...given) => Math.round(1_000 * read(...given));
}

function number(
  min: number,
  max: number,
  kind: string,
  isKind: (value: unknown) => boolean,
): Reader<number> {
  return (value, field, report) => {
    const given = value as number;
    const range = `from ${min} to ${max}`;
    if (value === undefined) report.refuse(field, `is missing; it must be ${range}`);
    else if (!isKind(value)) {
      report.refuse(field, `must be ${kind} ${range}; found ${found(value)}`);
    } else if (given < min || given > max) {
      report.refuse(field, `must be ${range}; found ${found(value)}`);
    }
    return given;
  };
}

export function oneOf<Word extends string>(...words: readonly Word[]): Reader<Word> {
  return (value, field, report) => {
    if (!words.includes(value as Word)) {
      const listed = words.map((word) => `"${word}"`).join(' or ');
      report.refuse(field, `must be ${listed}; found ${found(value)}`);
    }
    return value as Word;
  };
}

/** An array, or nothing, which is an empty one. */
export function listOf<T>(
  read: Reader<T>,
  entriesMax: number = Number.POSITIVE_INFINITY,
): Reader<T[]> {
  return (value = [], field, report) => {
    if (!Array.isArray(value)) report.refuse(field, `must be an array; found ${found(value)}`);
    else if (value.length > entriesMax) {
      report.refuse(field, `must have at most ${entriesMax} entries; found ${value.length}`);
    } else return value.map((one, i) => read(one, `${field}[${i}]`, report));
    return [];
  };
}

/** An object; an empty one after a problem. */
export const object: Reader<JsonObject> = (value, field, report) => {
  if (isObject(value)) return value;
  report.refuse(field, `must be an object; found ${found(value)}`);
  return {};
};

/** For each member of the program's object, its name in the config and how it is read. */
export type Shape<T> = { readonly [K in keyof T]: readonly [name: string, read: Reader<T[K]>] };

/**
 * An object of known keys. Configs of other programs must run, so a key that is not known is a
 * warning; where a misspelt key would change who may do what, it is refused: everywhere in the
 * object, or when it looks like one of the keys that are named here.
 */
export function record<T>(
  shape: Shape<T>,
  refused: 'every' | readonly (keyof T & string)[] = [],
): Reader<T> {
  const members = Object.entries<readonly [string, Reader<unknown>]>(shape);
  const known = members.map(([, [name]]) => name);
  return (value, field, report) => {
    const given = object(value, field, report);
    // After that problem the missing members are no news.
    if (given !== value) return {} as T;
    for (const key of Object.keys(given)) {
      if (known.includes(key)) continue;
      const meant = meantWord(key, known);
      const hint = meant === null ? '' : `; did you mean ${meant}?`;
      if (report.isStrict || refused === 'every') {
        report.refuse(
          pathOf(field, key),
          `is not known here${hint || `; use ${known.join(', ')}`}`,
        );
      } else if (refused.some((name) => shape[name as keyof T][0] === meant)) {
        report.refuse(pathOf(field, key), `is not known here${hint}`);
      } else report.warn(pathOf(field, key), `is not known here and has no effect${hint}`);
    }
    const read = members.map(([key, [name, readMember]]) => [
      key,
      readMember(given[name], pathOf(field, name), report),
    ]);
    return Object.fromEntries(read) as T;
  };
}

export function pathOf(field: string, key: string): string {
  const name = /^[\w-]{1,60}$/.test(key) ? key : found(key);
  return field === '' ? name : `${field}.${name}`;
}

/** A value as it may be shown in a message: short, and on one line. */
export function found(value: unknown): string {
  if (value === undefined) return 'nothing';
  const shown = JSON.stringify(value) ?? String(value);
  return shown.length > FOUND_CHARS_MAX ? `${shown.slice(0, FOUND_CHARS_MAX)}…` : shown;
}
