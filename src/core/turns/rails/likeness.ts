/**
 * Whether an agent says the same again and again. An output is reduced to a sketch of its word triples
 * without digits, times and ids, so that a running counter does not make it new; sketches are
 * small, are kept with the turn, and tell how alike two outputs are [RA7].
 */

/** The smallest hashes of an output's word triples, ascending; null for an output that says nothing. */
export type Sketch = readonly number[];

export const SKETCH_KEPT = 96;
/** Of a longer output so much is looked at. */
const LOOK_CHARS_MAX = 64 * 1024;
const ALIKE = 0.9;
export const OUTPUTS_KEPT = 8;
const ALIKE_MAX = 3;

export function sketchOf(output: string): Sketch | null {
  const words = wordsOf(output);
  if (words.length === 0) return null;
  const hashes = new Set<number>();
  for (let i = 0; i + 3 <= words.length; i++) hashes.add(hashOf(words.slice(i, i + 3).join(' ')));
  if (words.length < 3) hashes.add(hashOf(words.join(' ')));
  return [...hashes].sort((a, b) => a - b).slice(0, SKETCH_KEPT);
}

/** How much of both is common to both, from 0 to 1; exact while neither is longer than a sketch. */
export function likeness(a: Sketch, b: Sketch): number {
  const inB = new Set(b);
  const union = [...new Set([...a, ...b])].sort((x, y) => x - y);
  const isWhole = a.length < SKETCH_KEPT && b.length < SKETCH_KEPT;
  const looked = isWhole ? union : union.slice(0, SKETCH_KEPT);
  const inA = new Set(a);
  const common = looked.filter((hash) => inA.has(hash) && inB.has(hash)).length;
  return looked.length === 0 ? 0 : common / looked.length;
}

/** Whether the newest of these is, with itself counted, the third of its kind. */
export function isLivelock(outputs: readonly Sketch[], most: number = ALIKE_MAX): boolean {
  const newest = outputs.at(-1);
  if (newest === undefined) return false;
  const recent = outputs.slice(-OUTPUTS_KEPT);
  return recent.filter((one) => likeness(one, newest) >= ALIKE).length >= most;
}

/** Words of letters; what holds a digit is a number, a time or an id, and is left out. */
function wordsOf(text: string): string[] {
  const words =
    text
      .slice(0, LOOK_CHARS_MAX)
      .toLowerCase()
      .match(/[\p{L}\p{N}_-]+/gu) ?? [];
  return words.filter((word) => !/\p{N}/u.test(word) && /\p{L}/u.test(word));
}

/** FNV-1a, 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}
