/**
 * A text as a few numbers by which near-duplicates are known without keeping the text: the least
 * hashes of its runs of three words, without digits, times and ids.
 */
const HASHES = 32;
const RUN_WORDS = 3;

/** Empty for a text without words. */
export function sketchOf(text: string): readonly number[] {
  const words =
    text
      .toLowerCase()
      .match(/\p{L}+/gu)
      ?.filter(isWord) ?? [];
  if (words.length === 0) return [];
  const least = new Array<number>(HASHES).fill(0xffffffff);
  for (let i = 0; i === 0 || i + RUN_WORDS <= words.length; i++) {
    const hash = hashOf(words.slice(i, i + RUN_WORDS).join(' '));
    for (let k = 0; k < HASHES; k++) {
      const mixed = mix(hash ^ Math.imul(k + 1, 0x9e3779b1));
      if (mixed < (least[k] as number)) least[k] = mixed;
    }
  }
  return least;
}

/** 0 to 1: how much of two texts is the same. */
export function likeness(one: readonly number[], other: readonly number[]): number {
  if (one.length === 0 || one.length !== other.length) return 0;
  return one.filter((hash, k) => hash === other[k]).length / one.length;
}

/** What is left of a hexadecimal id when its digits are gone is no word. */
function isWord(word: string): boolean {
  return word.length > 2 || !/^[a-f]+$/.test(word);
}

/** FNV-1a. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
}

function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
