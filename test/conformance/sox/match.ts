/**
 * The matcher: what an answer must hold, exactly.
 *
 * An expected object is a subset of the actual one; an expected list is the
 * whole list, element by element, so `[]` means empty. Wildcards are values
 * made by the functions below. A mismatch is described with its path; an empty
 * list of mismatches is agreement.
 */

import { isDeepStrictEqual } from 'node:util';

const KIND = Symbol('kind');

type Wildcard =
  | { readonly [KIND]: 'text'; readonly pattern: RegExp }
  | { readonly [KIND]: 'number' }
  | { readonly [KIND]: 'object' }
  | { readonly [KIND]: 'list' }
  | { readonly [KIND]: 'absent' }
  | { readonly [KIND]: 'nothing' }
  | { readonly [KIND]: 'captured'; readonly step: string; readonly field: string }
  | { readonly [KIND]: 'verbatim'; readonly value: unknown }
  | { readonly [KIND]: 'all'; readonly items: readonly Expected[] }
  | { readonly [KIND]: 'each'; readonly item: Expected }
  | { readonly [KIND]: 'containing'; readonly items: readonly Expected[] }
  | { readonly [KIND]: 'lacking'; readonly item: Expected }
  | { readonly [KIND]: 'in-order'; readonly items: readonly Expected[] }
  | { readonly [KIND]: 'any-order'; readonly items: readonly Expected[] }
  | { readonly [KIND]: 'mentioning'; readonly text: string };

export type Expected =
  | string
  | number
  | boolean
  | null
  | Wildcard
  | readonly Expected[]
  | { readonly [key: string]: Expected };

/** The top-level output fields of every step so far, by step id. */
export type Captures = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

export const ANY_TEXT: Expected = { [KIND]: 'text', pattern: /./su };
export const ANY_NUMBER: Expected = { [KIND]: 'number' };
export const ANY_OBJECT: Expected = { [KIND]: 'object' };
export const ANY_LIST: Expected = { [KIND]: 'list' };
/** The key itself must be missing. */
export const ABSENT: Expected = { [KIND]: 'absent' };
/** Missing or null. */
export const NOTHING: Expected = { [KIND]: 'nothing' };

export const text = (pattern: RegExp): Expected => ({ [KIND]: 'text', pattern });
export const captured = (step: string, field: string): Expected => ({
  [KIND]: 'captured',
  step,
  field,
});
/** Deeply equal: no key more, no key less. */
export const verbatim = (value: unknown): Expected => ({ [KIND]: 'verbatim', value });
/** Each of these at once. */
export const all = (...items: Expected[]): Expected => ({ [KIND]: 'all', items });
/** A list of at least one, and every element matches. */
export const each = (item: Expected): Expected => ({ [KIND]: 'each', item });
/** A list in which each of these is matched by some element. */
export const containing = (...items: Expected[]): Expected => ({ [KIND]: 'containing', items });
/** A list in which nothing matches. */
export const lacking = (item: Expected): Expected => ({ [KIND]: 'lacking', item });
/** A list that holds these one after another, others allowed between them. */
export const inOrder = (...items: Expected[]): Expected => ({ [KIND]: 'in-order', items });
/** A list of exactly these, in any order. */
export const anyOrder = (...items: Expected[]): Expected => ({ [KIND]: 'any-order', items });
/** Anything whose JSON holds this text. */
export const mentioning = (part: string): Expected => ({ [KIND]: 'mentioning', text: part });

/** A refusal's `detail.violations`: each with its two fields, and these names among them. */
export const violationsNaming = (...names: string[]): Expected =>
  all(each({ field: ANY_TEXT, issue: ANY_TEXT }), containing(...names.map(mentioning)));

export function mismatches(
  expected: Expected,
  actual: unknown,
  captures: Captures = new Map(),
  path = 'answer',
): readonly string[] {
  const wrong = (wanted: string): string[] => [`${path}: wanted ${wanted}, got ${show(actual)}`];
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return wrong('a list');
    if (actual.length !== expected.length) return wrong(`exactly ${expected.length} element(s)`);
    return expected.flatMap((item, at) => mismatches(item, actual[at], captures, `${path}[${at}]`));
  }
  if (isWildcard(expected)) return againstWildcard(expected, actual, captures, path);
  if (typeof expected === 'object' && expected !== null) {
    if (!isObject(actual)) return wrong('an object');
    return Object.entries(expected).flatMap(([key, item]) => {
      if (isWildcard(item) && item[KIND] === 'absent') {
        return key in actual
          ? [`${path}.${key}: wanted no such key, got ${show(actual[key])}`]
          : [];
      }
      return mismatches(item, actual[key], captures, `${path}.${key}`);
    });
  }
  return expected === actual ? [] : wrong(show(expected));
}

function againstWildcard(
  expected: Wildcard,
  actual: unknown,
  captures: Captures,
  path: string,
): readonly string[] {
  const agree = (item: Expected, value: unknown) => mismatches(item, value, captures).length === 0;
  const unless = (holds: boolean, wanted: string) =>
    holds ? [] : [`${path}: wanted ${wanted}, got ${show(actual)}`];
  switch (expected[KIND]) {
    case 'text':
      return unless(
        typeof actual === 'string' && expected.pattern.test(actual),
        `text like ${expected.pattern}`,
      );
    case 'number':
      return unless(typeof actual === 'number' && Number.isFinite(actual), 'a number');
    case 'object':
      return unless(isObject(actual), 'an object');
    case 'list':
      return unless(Array.isArray(actual), 'a list');
    case 'absent':
      return unless(actual === undefined, 'no such key');
    case 'nothing':
      return unless(actual === undefined || actual === null, 'null or no such key');
    case 'captured': {
      const value = captures.get(expected.step)?.[expected.field];
      const name = `${expected.step}.${expected.field}`;
      if (value === undefined || value === null) return [`${path}: ${name} was never captured`];
      return unless(isDeepStrictEqual(value, actual), `${name} = ${show(value)}`);
    }
    case 'verbatim':
      return unless(isDeepStrictEqual(expected.value, actual), `verbatim ${show(expected.value)}`);
    case 'mentioning':
      return unless((JSON.stringify(actual) ?? '').includes(expected.text), `"${expected.text}"`);
    case 'all':
      return expected.items.flatMap((item) => mismatches(item, actual, captures, path));
    case 'each':
      if (!Array.isArray(actual) || actual.length === 0)
        return unless(false, 'a list of one or more');
      return actual.flatMap((value, at) =>
        mismatches(expected.item, value, captures, `${path}[${at}]`),
      );
    case 'containing':
      if (!Array.isArray(actual)) return unless(false, 'a list');
      return expected.items.flatMap((item) =>
        unless(
          actual.some((value) => agree(item, value)),
          `an element like ${show(item)}`,
        ),
      );
    case 'lacking':
      if (!Array.isArray(actual)) return unless(false, 'a list');
      return unless(
        !actual.some((value) => agree(expected.item, value)),
        `no element like ${show(expected.item)}`,
      );
    case 'in-order':
      if (!Array.isArray(actual)) return unless(false, 'a list');
      return unless(
        holdsInOrder(expected.items, actual, agree),
        `in order ${show(expected.items)}`,
      );
    case 'any-order':
      if (!Array.isArray(actual)) return unless(false, 'a list');
      return unless(
        actual.length === expected.items.length && pairsUp(expected.items, actual, agree),
        `exactly, in any order, ${show(expected.items)}`,
      );
  }
}

type Agree = (item: Expected, value: unknown) => boolean;

function holdsInOrder(
  items: readonly Expected[],
  values: readonly unknown[],
  agree: Agree,
): boolean {
  let next = 0;
  for (const value of values) {
    const item = items[next];
    if (item !== undefined && agree(item, value)) next += 1;
  }
  return next === items.length;
}

// An item may match several values, so a greedy choice could refuse a list that does pair up.
function pairsUp(items: readonly Expected[], values: readonly unknown[], agree: Agree): boolean {
  const [item, ...others] = items;
  if (item === undefined) return values.length === 0;
  return values.some(
    (value, at) => agree(item, value) && pairsUp(others, values.toSpliced(at, 1), agree),
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWildcard(value: unknown): value is Wildcard {
  return typeof value === 'object' && value !== null && KIND in value;
}

const SHOWN_MAX = 400;

function show(value: unknown): string {
  const full =
    JSON.stringify(value, (_key, part: unknown) => {
      if (part instanceof RegExp) return String(part);
      return isWildcard(part) ? { '': part[KIND], ...part } : part;
    }) ?? 'nothing';
  return full.length > SHOWN_MAX ? `${full.slice(0, SHOWN_MAX)}…` : full;
}
