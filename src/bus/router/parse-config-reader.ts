/**
 * Reads one value of a config at a time and remembers, with the path of its field, whatever is wrong:
 * `pools[1].instances: must be …`. Nothing is thrown on the way, so that one run names every problem
 * (up to a limit); what was read of a config with problems is never used.
 */

/** More problems than this are counted, not listed. */
const PROBLEMS_LISTED_MAX = 8;
const FOUND_CHARS_MAX = 60;
/** Warnings beyond this say nothing new. */
const WARNINGS_MAX = 50;

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

export interface Range {
  readonly min: number;
  readonly max: number;
}

export type Fields = Readonly<Record<string, unknown>>;

const CONTROL = /\p{Cc}/u;

export class ConfigReader {
  readonly problems: ConfigProblem[] = [];
  readonly warnings: string[] = [];

  refuse(field: string, issue: string): void {
    this.problems.push({ field, issue });
  }

  warn(field: string, remark: string): void {
    if (this.warnings.length < WARNINGS_MAX) this.warnings.push(`${field}: ${remark}`);
  }

  /** An object, or null after a problem. */
  fields(value: unknown, field: string): Fields | null {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Fields;
    }
    this.refuse(field, `must be an object; found ${found(value)}`);
    return null;
  }

  list(value: unknown, field: string): readonly unknown[] {
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    this.refuse(field, `must be an array; found ${found(value)}`);
    return [];
  }

  /** A text that is there, not empty and without control characters. */
  text(value: unknown, field: string, charsMax = 4_096): string {
    const issue =
      value === undefined
        ? 'is missing'
        : typeof value !== 'string'
          ? `must be a string; found ${found(value)}`
          : value === ''
            ? 'must not be empty'
            : value.length > charsMax
              ? `must have at most ${charsMax} characters; found ${value.length}`
              : CONTROL.test(value)
                ? 'must have no control characters'
                : null;
    if (issue === null) return value as string;
    this.refuse(field, issue);
    return '';
  }

  optionalText(value: unknown, field: string): string | null {
    return value === undefined || value === null ? null : this.text(value, field);
  }

  texts(value: unknown, field: string): readonly string[] {
    return this.list(value, field).map((one, i) => this.text(one, `${field}[${i}]`));
  }

  /** What goes to a process: any text, also an empty one, but for NUL. */
  argument(value: unknown, field: string): string {
    if (typeof value === 'string' && !value.includes('\0')) return value;
    this.refuse(
      field,
      typeof value === 'string'
        ? 'must not contain NUL'
        : `must be a string; found ${found(value)}${typeof value === 'number' ? ' (write it in quotes)' : ''}`,
    );
    return '';
  }

  whole(value: unknown, field: string, range: Range): number {
    return this.number(value, field, range, Number.isSafeInteger(value) ? null : 'a whole number');
  }

  /** Seconds in the config, milliseconds in the program. */
  seconds(value: unknown, field: string, range: Range): number {
    const isNumber = typeof value === 'number' && Number.isFinite(value);
    return Math.round(1_000 * this.number(value, field, range, isNumber ? null : 'a number'));
  }

  private number(value: unknown, field: string, range: Range, wanted: string | null): number {
    const number = value as number;
    if (wanted === null && number >= range.min && number <= range.max) return number;
    const what = wanted === null ? '' : `${wanted} `;
    this.refuse(
      field,
      value === undefined
        ? `is missing; it must be from ${range.min} to ${range.max}`
        : `must be ${what}from ${range.min} to ${range.max}; found ${found(value)}`,
    );
    return range.min;
  }

  oneOf<Word extends string>(value: unknown, field: string, words: readonly Word[]): Word {
    if (words.includes(value as Word)) return value as Word;
    this.refuse(
      field,
      `must be ${words.map((word) => `"${word}"`).join(' or ')}; found ${found(value)}`,
    );
    return words[0] as Word;
  }

  /** Keys nobody reads: configs of other programs must run, so they are only remarked on. */
  remarkUnknown(fields: Fields, field: string, known: readonly string[]): void {
    for (const key of Object.keys(fields)) {
      if (!known.includes(key)) {
        this.warn(pathOf(field, key), `is not known here and has no effect${meant(key, known)}`);
      }
    }
  }

  /** Where a misspelt key would change who may do what, it is refused. */
  refuseUnknown(fields: Fields, field: string, known: readonly string[]): void {
    for (const key of Object.keys(fields)) {
      if (!known.includes(key)) {
        this.refuse(pathOf(field, key), `is not known here; use ${known.join(', ')}`);
      }
    }
  }
}

export function pathOf(field: string, key: string): string {
  const name = /^[\w-]{1,60}$/.test(key) ? key : found(key);
  return field === '' ? name : `${field}.${name}`;
}

/** A value as it may be shown in a message: short, and on one line. */
export function found(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > FOUND_CHARS_MAX ? `${text.slice(0, FOUND_CHARS_MAX)}…` : text;
}

const plain = (key: string): string => key.toLowerCase().replace(/[_-]/g, '');

function meant(key: string, known: readonly string[]): string {
  const same = known.find((one) => plain(one) === plain(key));
  return same === undefined ? '' : `; did you mean ${same}?`;
}
