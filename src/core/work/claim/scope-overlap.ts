/**
 * Do two paths of scopes meet? Decided exactly, by walking both patterns side by side,
 * first over folders and inside them over characters, and never by trying names out.
 * The answer is a witness: one path that both cover [SC5]. Each pair of places is
 * looked at once, so the cost is at most the product of the two lengths.
 */

import { matchStars } from '../../law/star-match.ts';
import {
  foldPath,
  literal,
  namesOf,
  type PathPattern,
  type Segment,
  type Token,
} from './scope-pattern.ts';

export interface Overlap {
  /** A path, in folded spelling, that both sides cover. */
  readonly witness: string;
}

/** A side may move on without anything being read. */
const SKIP_LEFT = 1;
const SKIP_RIGHT = 2;
/** One side moves on and reads, because the other takes anything. */
const LEFT = 4;
const RIGHT = 8;
/** Both move on and read the same. */
const BOTH = 16;

/** A move that reads, and the pair of places it starts from. */
type Reading = readonly [move: number, i: number, j: number];

const FAR = 0xffff_ffff;

/** Any name will do where both sides take everything. */
const ANY_NAME = 'x';
const X = 0x78;
/** Letters without case or composition: a stock of names for sets that exclude the usual ones. */
const IDEOGRAPHS = 0x4e00;

export function overlap(a: PathPattern, b: PathPattern): Overlap | null {
  if (a.exact !== undefined && b.exact !== undefined && !isSameWay(a.exact, b.exact)) return null;
  for (const left of a.alternatives) {
    for (const right of b.alternatives) {
      const names = meetPaths(left, right);
      if (names !== null) return { witness: names.length === 0 ? ANY_NAME : names.join('/') };
    }
  }
  return null;
}

/** As far as both go. */
function isSameWay(one: readonly string[], other: readonly string[]): boolean {
  const length = Math.min(one.length, other.length);
  for (let i = 0; i < length; i++) if (one[i] !== other[i]) return false;
  return true;
}

/** Does the pattern cover this very path (not a pattern), or a folder above it? */
export function covers(pattern: PathPattern, path: string): boolean {
  if (pattern.exact !== undefined && !isSameWay(pattern.exact, namesOf(path))) return false;
  const names = foldPath(path);
  return pattern.alternatives.some((segments) => {
    let places = closePlaces(segments, [0]);
    const hasBelow = !endsInFile(segments);
    for (const name of names) {
      if (hasBelow && places.includes(segments.length)) return true;
      places = stepPlaces(segments, places, name);
    }
    return places.includes(segments.length);
  });
}

/** `**` may stand for nothing: a place before one is also a place behind it. */
export function closePlaces(segments: readonly Segment[], places: readonly number[]): number[] {
  const closed: number[] = [];
  for (let place of places) {
    for (;;) {
      if (closed.includes(place)) break;
      closed.push(place);
      if (segments[place]?.kind !== 'deep') break;
      place++;
    }
  }
  return closed;
}

/** Where one may be after one more name. */
export function stepPlaces(
  segments: readonly Segment[],
  places: readonly number[],
  name: string,
): number[] {
  const next: number[] = [];
  for (const place of places) {
    const segment = segments[place];
    if (segment === undefined) continue;
    if (segment.kind === 'deep') next.push(place);
    else if (matchesName(segment, name)) next.push(place + 1);
  }
  return closePlaces(segments, next);
}

function matchesName(segment: Segment, name: string): boolean {
  if (segment.kind === 'deep') return true;
  if (segment.kind === 'name') return segment.key === name;
  const codes = Array.from(name, (char) => char.codePointAt(0) as number);
  return segment.variants.some((tokens) => matchesTokens(tokens, codes));
}

function matchesTokens(tokens: readonly Token[], codes: readonly number[]): boolean {
  return matchStars(tokens, codes, (token) => token.kind === 'any', accepts);
}

function endsInFile(segments: readonly Segment[]): boolean {
  const last = segments.at(-1);
  return last !== undefined && last.kind !== 'deep' && last.isFile === true;
}

/**
 * Names of a path both cover. What a pattern matches it covers with everything below, so
 * an end takes any name; only below a file there is nothing.
 */
function meetPaths(a: readonly Segment[], b: readonly Segment[]): string[] | null {
  const isLeftFile = endsInFile(a);
  const isRightFile = endsInFile(b);
  const shared: string[] = [];
  for (;;) {
    const left = a[shared.length];
    const right = b[shared.length];
    if (left?.kind !== 'name' || right?.kind !== 'name') break;
    if (left.key !== right.key) return null;
    shared.push(left.key);
  }
  const left = a.slice(shared.length);
  const right = b.slice(shared.length);
  const names = walk(left.length, right.length, (i, j) => {
    const one = left[i];
    const other = right[j];
    if (one === undefined && isLeftFile) return other?.kind === 'deep' ? SKIP_RIGHT : 0;
    if (other === undefined && isRightFile) return one?.kind === 'deep' ? SKIP_LEFT : 0;
    let moves = 0;
    if (one?.kind === 'deep') moves |= SKIP_LEFT;
    if (other?.kind === 'deep') moves |= SKIP_RIGHT;
    const isLeftFree = one === undefined || one.kind === 'deep';
    const isRightFree = other === undefined || other.kind === 'deep';
    if (isLeftFree) return isRightFree ? moves : moves | RIGHT;
    if (isRightFree) return moves | LEFT;
    return meetNames(one, other) === null ? moves : moves | BOTH;
  });
  if (names === null) return null;
  return [...shared, ...names.map(([move, i, j]) => nameAt(move, left[i], right[j]))];
}

/** The name read by a move; the sides that move are there. */
function nameAt(move: number, left: Segment | undefined, right: Segment | undefined): string {
  if (move === LEFT) return sample(left as Segment);
  if (move === RIGHT) return sample(right as Segment);
  return meetNames(left as Segment, right as Segment) as string;
}

function meetNames(a: Segment, b: Segment): string | null {
  if (a.kind === 'name' && b.kind === 'name') return a.key === b.key ? a.key : null;
  for (const left of variantsOf(a)) {
    for (const right of variantsOf(b)) {
      const codes = meetTokens(left, right);
      if (codes !== null) return codes.length === 0 ? ANY_NAME : String.fromCodePoint(...codes);
    }
  }
  return null;
}

function meetTokens(a: readonly Token[], b: readonly Token[]): number[] | null {
  // Most names part at their first or last character.
  if (!mayMeet(a[0], b[0]) || !mayMeet(a.at(-1), b.at(-1))) return null;
  const steps = walk(a.length, b.length, (i, j) => {
    const left = a[i];
    const right = b[j];
    const isLeftAny = left?.kind === 'any';
    const isRightAny = right?.kind === 'any';
    const skips = (isLeftAny ? SKIP_LEFT : 0) | (isRightAny ? SKIP_RIGHT : 0);
    if (left === undefined || right === undefined || (isLeftAny && isRightAny)) return skips;
    if (isLeftAny) return skips | RIGHT;
    if (isRightAny) return skips | LEFT;
    return meetChars(left, right) === null ? skips : skips | BOTH;
  });
  if (steps === null) return null;
  const codes = steps.map(([move, i, j]) => {
    const left = a[move === RIGHT ? -1 : i] ?? (b[j] as Token);
    const right = b[move === LEFT ? -1 : j] ?? left;
    return meetChars(left, right) ?? X;
  });
  // Where both begin with `*`, `x.ts` is the better example than `.ts`.
  return a[0]?.kind === 'any' && b[0]?.kind === 'any' ? [X, ...codes] : codes;
}

function mayMeet(a: Token | undefined, b: Token | undefined): boolean {
  if (a === undefined || b === undefined || a.kind === 'any' || b.kind === 'any') return true;
  return meetChars(a, b) !== null;
}

function variantsOf(segment: Segment): readonly (readonly Token[])[] {
  if (segment.kind === 'name') return [literal(segment.key)];
  return segment.kind === 'shape' ? segment.variants : [];
}

/** A name the segment takes. */
function sample(segment: Segment): string {
  if (segment.kind === 'name') return segment.key;
  const tokens = variantsOf(segment)[0] ?? [];
  return tokens.length === 0 ? ANY_NAME : String.fromCodePoint(...tokens.map(pick));
}

function pick(token: Token): number {
  return meetChars(token, token) ?? X;
}

/** One character that both take, or null. Neither token is `*`, or `*` stands for one character. */
function meetChars(a: Token, b: Token): number | null {
  if (a.kind === 'char') return accepts(b, a.code) ? a.code : null;
  if (b.kind === 'char') return accepts(a, b.code) ? b.code : null;
  if (accepts(a, X) && accepts(b, X)) return X;
  for (const token of [a, b]) {
    if (token.kind !== 'set' || token.isNegated) continue;
    for (const [low, high] of token.ranges) {
      for (let code = low; code <= high; code++) {
        if (accepts(a, code) && accepts(b, code)) return code;
      }
    }
    return null;
  }
  // Both exclude only so many: sets are bounded, the stock is larger than two of them.
  for (const [low, high] of [
    [0x61, 0x7a],
    [0x30, 0x39],
    [IDEOGRAPHS, IDEOGRAPHS + 10_000],
  ] as const) {
    for (let code = low; code <= high; code++) {
      if (accepts(a, code) && accepts(b, code)) return code;
    }
  }
  return null;
}

function accepts(token: Token, code: number): boolean {
  switch (token.kind) {
    case 'any':
    case 'one':
      return true;
    case 'char':
      return token.code === code;
    case 'set':
      return token.ranges.some(([low, high]) => low <= code && code <= high) !== token.isNegated;
  }
}

/**
 * The walk of two patterns side by side, common to folders and to the characters inside a name: what is
 * read on a shortest way to both ends, or null when there is none. A pair of places only ever moves
 * forward, so one sweep over the table of pairs is enough. `movesAt` gives the moves as bits.
 */
function walk(
  leftEnd: number,
  rightEnd: number,
  movesAt: (i: number, j: number) => number,
): Reading[] | null {
  const width = rightEnd + 1;
  const costs = new Uint32Array((leftEnd + 1) * width).fill(FAR);
  const ways = new Uint8Array(costs.length);
  costs[0] = 0;
  const come = (place: number, way: number, cost: number): void => {
    if (cost >= (costs[place] as number)) return;
    costs[place] = cost;
    ways[place] = way;
  };
  for (let i = 0; i <= leftEnd; i++) {
    let isReached = false;
    for (let j = 0; j <= rightEnd; j++) {
      const place = i * width + j;
      const cost = costs[place] as number;
      if (cost === FAR) continue;
      isReached = true;
      const moves = movesAt(i, j);
      if (moves & SKIP_LEFT) come(place + width, SKIP_LEFT, cost);
      if (moves & SKIP_RIGHT) come(place + 1, SKIP_RIGHT, cost);
      if (moves & LEFT) come(place + width, LEFT, cost + 1);
      if (moves & RIGHT) come(place + 1, RIGHT, cost + 1);
      if (moves & BOTH) come(place + width + 1, BOTH, cost + 1);
    }
    if (!isReached) return null;
  }
  return costs.at(-1) === FAR ? null : readings(ways, width);
}

/** Back from both ends the way the sweep came. */
function readings(ways: Uint8Array, width: number): Reading[] {
  const read: Reading[] = [];
  for (let place = ways.length - 1; place > 0; ) {
    const way = ways[place] as number;
    if (way === SKIP_LEFT || way === LEFT) place -= width;
    else if (way === SKIP_RIGHT || way === RIGHT) place -= 1;
    else place -= width + 1;
    if (way >= LEFT) read.push([way, Math.floor(place / width), place % width]);
  }
  return read.reverse();
}
