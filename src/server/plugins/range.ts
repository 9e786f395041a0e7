/**
 * Version ranges a manifest may declare: a PEP 440 specifier list or an npm range.
 *
 * A comma, or one of `==`, `===`, `~=`, `!=`, makes it PEP 440; everything else is read as npm:
 * bare `1.0.0` pins, `1.x` and `*` are wildcards, `^`, `~`, ` - ` and `||` as usual. What neither
 * dialect can read is null, and so is the empty string. Pre-releases of the host count as
 * versions: `<1.0` still shuts out `1.0.0-rc.1`, as both dialects mean it.
 */

import { RANGE_CHARS_MAX } from './limits.ts';
import { compareVersions, parseVersion, type Version } from './version.ts';

export interface Range {
  /** As declared, verbatim. */
  readonly text: string;
  /** Admits every version there can be; worth a warning. */
  readonly isWildcard: boolean;
  admits(version: Version): boolean;
}

type Test = (version: Version) => boolean;

export function parseRange(text: string): Range | null {
  const trimmed = text.trim();
  if (trimmed === '' || text.length > RANGE_CHARS_MAX) return null;
  const isPep = /,|[=~!]=/.test(trimmed);
  const tests = isPep ? parsePep(trimmed) : parseNpm(trimmed);
  if (tests === null) return null;
  return { text, isWildcard: /^[*xX]$/.test(trimmed), admits: tests };
}

function parsePep(text: string): Test | null {
  const tests = text.split(',').map((part) => pepClause(part.trim()));
  return tests.includes(null) ? null : all(tests as Test[]);
}

function pepClause(clause: string): Test | null {
  const match = /^(===|==|~=|!=|>=|<=|>|<)\s*(\S+?)(\.\*)?$/.exec(clause);
  const bound = match === null ? null : parseVersion(match[2] ?? '');
  if (match === null || bound === null) return null;
  const operator = match[1];
  if (match[3] !== undefined) {
    if (bound.pre !== null || (operator !== '==' && operator !== '!=')) return null;
    const isUnder: Test = between(floor(bound.release), ceiling(bound.release));
    return operator === '==' ? isUnder : (version) => !isUnder(version);
  }
  if (operator === '!=') return (version) => compareVersions(version, bound) !== 0;
  if (operator === '~=') {
    if (bound.release.length < 2) return null;
    return between(bound, ceiling(bound.release.slice(0, -1)));
  }
  return compare(operator ?? '', bound);
}

function parseNpm(text: string): Test | null {
  const tests = text.split('||').map((part) => npmAlternative(part.trim()));
  if (tests.includes(null)) return null;
  return (version) => (tests as Test[]).some((test) => test(version));
}

function npmAlternative(text: string): Test | null {
  if (text === '') return null;
  const hyphen = /^(\S+)\s+-\s+(\S+)$/.exec(text);
  if (hyphen !== null) {
    const tests = [npmClause(`>=${hyphen[1]}`), npmClause(`<=${hyphen[2]}`)];
    return tests.includes(null) ? null : all(tests as Test[]);
  }
  const clauses = text.replace(/([<>=^~])\s+/g, '$1').split(/\s+/);
  const tests = clauses.map(npmClause);
  return tests.includes(null) ? null : all(tests as Test[]);
}

function npmClause(clause: string): Test | null {
  const match = /^(>=|<=|>|<|=|\^|~)?(\S+)$/.exec(clause);
  if (match === null) return null;
  const operator = match[1] ?? '=';
  const wild = /^v?(\d+(?:\.\d+)*)?\.?[*xX](?:\.[*xX])*$/.exec(match[2] ?? '');
  const bound = parseVersion(wild === null ? (match[2] ?? '') : (wild[1] ?? '0'));
  if (bound === null || bound.release.length > 3) return null;
  const given = wild !== null && wild[1] === undefined ? [] : bound.release;
  if (given.length === 0) return () => operator !== '<' && operator !== '>';
  if (given.length < 3) {
    return bound.pre === null ? npmPartial(operator, given) : null;
  }
  if (operator === '^') return between(bound, ceiling(given.slice(0, caretWidth(given))));
  if (operator === '~') return between(bound, ceiling(given.slice(0, 2)));
  return compare(operator, bound);
}

function npmPartial(operator: string, given: readonly number[]): Test {
  const low = floor(given);
  const high = ceiling(given);
  if (operator === '>') return compare('>=', high);
  if (operator === '>=') return compare('>=', low);
  if (operator === '<') return compare('<', low);
  if (operator === '<=') return compare('<', high);
  if (operator === '^') return between(low, ceiling(given.slice(0, caretWidth(given))));
  return between(low, high);
}

/** How many leading numbers a caret holds still: up to and with the first that is not zero. */
function caretWidth(given: readonly number[]): number {
  const index = given.findIndex((number) => number !== 0);
  return index === -1 ? given.length : index + 1;
}

/** The lowest version that starts with these numbers, pre-releases included. */
function floor(release: readonly number[]): Version {
  return { release, pre: [0] };
}

/** The first version past everything that starts with these numbers. */
function ceiling(release: readonly number[]): Version {
  const last = release.length - 1;
  return { release: release.map((number, i) => (i === last ? number + 1 : number)), pre: [0] };
}

function between(low: Version, high: Version): Test {
  return (version) => compareVersions(version, low) >= 0 && compareVersions(version, high) < 0;
}

function compare(operator: string, bound: Version): Test {
  if (operator === '>') return (version) => compareVersions(version, bound) > 0;
  if (operator === '>=') return (version) => compareVersions(version, bound) >= 0;
  if (operator === '<=') return (version) => compareVersions(version, bound) <= 0;
  if (operator === '<') {
    const edge = bound.pre === null ? floor(bound.release) : bound;
    return (version) => compareVersions(version, edge) < 0;
  }
  return (version) => compareVersions(version, bound) === 0;
}

function all(tests: readonly Test[]): Test {
  return (version) => tests.every((test) => test(version));
}
