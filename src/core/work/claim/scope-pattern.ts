/**
 * One path of a scope, read into a pattern: a file, a folder, or a glob with `*`,
 * `**`, `?`, `[set]`, `[!set]` and `{a,b}`. What is compared is folded, so that
 * spellings which differ only in case or Unicode form are one path [SC3]; what is
 * shown keeps the caller's spelling. A path that leaves the worktree, or names its
 * root by accident, is a problem and never a wider scope [SC2].
 */

export type Token =
  | { readonly kind: 'any' }
  | { readonly kind: 'one' }
  | { readonly kind: 'char'; readonly code: number }
  | { readonly kind: 'set'; readonly isNegated: boolean; readonly ranges: readonly Range[] };

export type Range = readonly [low: number, high: number];

export type Segment =
  | { readonly kind: 'deep' }
  | { readonly kind: 'name'; readonly key: string; readonly isFile?: true }
  | {
      readonly kind: 'shape';
      readonly variants: readonly (readonly Token[])[];
      readonly isFile?: true;
    };

export interface PathPattern {
  /** As the caller spelt it, normalised. */
  readonly text: string;
  readonly isGlob: boolean;
  /** The pattern is the union of these; braces are already multiplied out. */
  readonly alternatives: readonly (readonly Segment[])[];
  /** Its names as they are spelt, where that is what counts [SC3]. */
  readonly exact?: readonly string[];
}

export type PathProblem =
  | { readonly problem: 'absolute' }
  | { readonly problem: 'escape' }
  | { readonly problem: 'root' }
  | { readonly problem: 'dots-after-glob' }
  | { readonly problem: 'too-many-alternatives' }
  | { readonly problem: 'too-wide-set' };

/** `{a,b}{c,d}…` multiplies out; past this the pattern is refused. */
export const ALTERNATIVES_PER_PATH_MAX = 64;
/** How many characters the sets of one segment may name, counted with their ranges. */
export const SET_CHARS_MAX = 4096;

const DEEP: Segment = { kind: 'deep' };
const ANY: Token = { kind: 'any' };
const ONE: Token = { kind: 'one' };

/** Everything there is in the worktree. */
export const WHOLE: PathPattern = { text: '**', isGlob: true, alternatives: [[DEEP]] };

/** Names of letters, digits and marks that mean nothing in a pattern: what most paths are. */
const PLAIN = /^[\w@+-][\w.@+-]*(?:\/[\w@+-][\w.@+-]*)*$/;

/** A plain path is spelt as it is shown, and each of its names is one segment. */
function compilePlain(text: string): PathPattern {
  const segments: Segment[] = [];
  const names = text.toLowerCase().split('/');
  const last = names.length - 1;
  for (let i = 0; i < last; i++) segments.push({ kind: 'name', key: names[i] as string });
  const key = names[last] as string;
  segments.push(isFileName(key) ? { kind: 'name', key, isFile: true } : { kind: 'name', key });
  return { text, isGlob: false, alternatives: [segments] };
}

/** `text` is in Unicode NFC and holds no backslash and nothing unprintable. */
export function compilePath(text: string): PathPattern | PathProblem {
  return PLAIN.test(text) ? compilePlain(text) : compileAny(text);
}

/** Exported for the test that compares the two. */
export function compileAny(text: string): PathPattern | PathProblem {
  const spellings = text.includes('{') ? multiplyOut(text) : [text];
  if (spellings === null) return { problem: 'too-many-alternatives' };
  const alternatives: Segment[][] = [];
  let shown = text;
  for (const spelling of spellings) {
    const names = normalise(spelling);
    if ('problem' in names) return names;
    const isFile = isFileName(names.at(-1) as string) && !spelling.endsWith('/');
    const isNamedFolder = isFileName(names.at(-1) as string) && !isFile;
    if (spellings.length === 1) shown = `${names.join('/')}${isNamedFolder ? '/' : ''}`;
    const segments: Segment[] = [];
    for (const name of names) {
      const segment = parseSegment(name);
      if (segment === null) return { problem: 'too-wide-set' };
      if (segment.kind !== 'deep' || segments.at(-1)?.kind !== 'deep') segments.push(segment);
    }
    const last = segments.at(-1);
    if (isFile && last !== undefined && last.kind !== 'deep') {
      segments[segments.length - 1] = { ...last, isFile: true };
    }
    alternatives.push(segments);
  }
  const isGlob =
    alternatives.length > 1 || (alternatives[0] ?? []).some(({ kind }) => kind !== 'name');
  return { text: shown, isGlob, alternatives };
}

/**
 * A name with an extension is a file, and nothing lies below it: `src/**\/*.ts` and
 * `src/**\/*.js` are apart [SC7]. A folder with such a name is written with a slash at its end.
 */
function isFileName(name: string): boolean {
  return /[^.]\.[a-z][a-z0-9]{0,7}$/i.test(name);
}

/** A path that is there, not a pattern: its names, composed. */
export function namesOf(path: string): string[] {
  return path.normalize('NFC').split('/').filter(isName);
}

/** The same, folded for comparison. */
export function foldPath(path: string): string[] {
  return path.split('/').filter(isName).map(foldText);
}

function normalise(path: string): string[] | PathProblem {
  if (path.startsWith('/') || /^[a-z]:\//i.test(path)) return { problem: 'absolute' };
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') {
      const left = names.pop();
      if (left === undefined) return { problem: 'escape' };
      // `a/**/..` is no folder in particular, so nobody can say what it means.
      if (/[*?[]/.test(left)) return { problem: 'dots-after-glob' };
    } else if (isName(name)) {
      names.push(name);
    }
  }
  return names.length === 0 ? { problem: 'root' } : names;
}

function isName(name: string): boolean {
  return name !== '' && name !== '.';
}

/** Braces without a comma, or never closed, are ordinary characters. */
function multiplyOut(text: string): string[] | null {
  const open = [text];
  const done: string[] = [];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const brace = findBrace(one);
    if (brace === null) {
      done.push(one);
    } else {
      const before = one.slice(0, brace.start);
      const after = one.slice(brace.end + 1);
      for (const part of brace.parts.reverse()) open.push(before + part + after);
    }
    if (open.length + done.length > ALTERNATIVES_PER_PATH_MAX) return null;
  }
  return [...new Set(done)];
}

function findBrace(text: string): { start: number; end: number; parts: string[] } | null {
  for (let start = text.indexOf('{'); start >= 0; start = text.indexOf('{', start + 1)) {
    const parts: string[] = [];
    let depth = 0;
    let from = start + 1;
    for (let i = start; i < text.length; i++) {
      const char = text[i];
      if (char === '{') depth++;
      else if (char === ',' && depth === 1) {
        parts.push(text.slice(from, i));
        from = i + 1;
      } else if (char === '}' && --depth === 0) {
        if (parts.length > 0) return { start, end: i, parts: [...parts, text.slice(from, i)] };
        break;
      }
    }
  }
  return null;
}

/** Null when a set names too many characters. */
function parseSegment(name: string): Segment | null {
  if (name === '**') return DEEP;
  if (!/[*?[]/.test(name)) return nameSegment(name);
  const chars = [...name];
  const tokens: Token[] = [];
  // The same segment with every set taken literally: `[id].tsx` is a file people have [SC4].
  const spelt: Token[] = [];
  let run = '';
  let hasSet = false;
  let isPossible = true;
  let budget = SET_CHARS_MAX;
  const endRun = (): void => {
    for (const token of literal(run)) {
      tokens.push(token);
      spelt.push(token);
    }
    run = '';
  };
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] as string;
    const set = char === '[' ? parseSet(chars, i) : null;
    if (set !== null) {
      endRun();
      hasSet = true;
      budget -= set.size;
      if (budget < 0) return null;
      const ranges = foldRanges(set.ranges);
      if (ranges.length > 0) tokens.push({ kind: 'set', isNegated: set.isNegated, ranges });
      else if (set.isNegated) tokens.push(ONE);
      else isPossible = false;
      spelt.push(...literal(chars.slice(i, set.end + 1).join('')));
      i = set.end;
    } else if (char === '*' || char === '?') {
      endRun();
      const wild = char === '*' ? ANY : ONE;
      if (wild !== ANY || tokens.at(-1) !== ANY) tokens.push(wild);
      if (wild !== ANY || spelt.at(-1) !== ANY) spelt.push(wild);
    } else {
      run += char;
    }
  }
  endRun();
  if (!hasSet && !tokens.some(({ kind }) => kind !== 'char')) return nameSegment(name);
  const variants = hasSet ? (isPossible ? [tokens, spelt] : [spelt]) : [tokens];
  return { kind: 'shape', variants };
}

function nameSegment(name: string): Segment {
  return { kind: 'name', key: foldText(name) };
}

/** Of the characters that most names are made of there is one token each. */
const ASCII: readonly Token[] = Array.from({ length: 128 }, (_, code) => ({ kind: 'char', code }));

function charToken(code: number): Token {
  return ASCII[code] ?? { kind: 'char', code };
}

/** Plain text as tokens, folded. */
export function literal(text: string): Token[] {
  return Array.from(foldText(text), (char) => charToken(char.codePointAt(0) as number));
}

/** An unclosed `[` is an ordinary character; a `]` right behind the opening stands for itself. */
function parseSet(
  chars: readonly string[],
  start: number,
): { isNegated: boolean; ranges: Range[]; size: number; end: number } | null {
  const isNegated = chars[start + 1] === '!' || chars[start + 1] === '^';
  const first = start + (isNegated ? 2 : 1);
  let end = first + 1;
  while (end < chars.length && chars[end] !== ']') end++;
  if (end >= chars.length) return null;
  const ranges: Range[] = [];
  let size = 0;
  for (let i = first; i < end; i++) {
    const low = chars[i]?.codePointAt(0) as number;
    let high = low;
    if (chars[i + 1] === '-' && i + 2 < end) {
      high = chars[i + 2]?.codePointAt(0) as number;
      i += 2;
    }
    // A range that runs backwards names nothing; `[post-id]` is a file name, not a mistake.
    if (low > high) continue;
    ranges.push([low, high]);
    size += high - low + 1;
  }
  return { isNegated, ranges, size, end };
}

function foldRanges(ranges: readonly Range[]): Range[] {
  const codes = new Set<number>();
  for (const [low, high] of ranges) {
    for (let code = low; code <= high; code++) {
      for (const char of foldText(String.fromCodePoint(code))) {
        codes.add(char.codePointAt(0) as number);
      }
    }
  }
  const folded: [number, number][] = [];
  for (const code of [...codes].sort((a, b) => a - b)) {
    const last = folded.at(-1);
    if (last !== undefined && last[1] === code - 1) last[1] = code;
    else folded.push([code, code]);
  }
  return folded;
}

/**
 * Text folded for comparison: two spellings that a file system may take for one file
 * fold to the same text. Each character folds to one character, so that `?` in a glob
 * still means one. Where file systems differ the fold joins more rather than fewer:
 * a false alarm costs a wait, a missed one costs somebody's work.
 */
export function foldText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  let folded = '';
  for (const char of text.normalize('NFC')) folded += foldChar(char);
  return folded.normalize('NFC');
}

/** Up and then down: the round trip joins `ς` with `σ` and `ſ` with `s`, which lower case alone does not. */
function foldChar(char: string): string {
  const upper = char.toUpperCase();
  const lower = (isOne(upper) ? upper : char).toLowerCase();
  return isOne(lower) ? lower : char;
}

function isOne(text: string): boolean {
  const code = text.codePointAt(0);
  return code !== undefined && text.length === (code > 0xffff ? 2 : 1);
}
