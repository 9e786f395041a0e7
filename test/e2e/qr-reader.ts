/**
 * Reads a QR code as a phone does, by the standard (ISO/IEC 18004) and nothing of the library that draws it.
 * What is on a screen is whole, so nothing is mended: a code with one wrong codeword is refused. Codes up to
 * version 6, levels L and M, bytes.
 */

/** Light squares around a code, as the standard wants it. */
const QUIET = 4;

type Dark = readonly (readonly boolean[])[];

const BAD = (what: string): Error => new Error(`no QR code: ${what}`);

/** By version: error correction codewords a block, and the data codewords of each block. */
const BLOCKS: Readonly<Record<'L' | 'M', readonly (readonly [number, readonly number[]])[]>> = {
  L: [
    [7, [19]],
    [10, [34]],
    [15, [55]],
    [20, [80]],
    [26, [108]],
    [18, [68, 68]],
  ],
  M: [
    [10, [16]],
    [16, [28]],
    [26, [44]],
    [18, [32, 32]],
    [24, [43, 43]],
    [16, [27, 27, 27, 27]],
  ],
};

const MASKS: readonly ((row: number, column: number) => boolean)[] = [
  (r, c) => (r + c) % 2 === 0,
  (r) => r % 2 === 0,
  (_, c) => c % 3 === 0,
  (r, c) => (r + c) % 3 === 0,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0,
  (r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0,
  (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
];

/** Lines of half blocks, light on dark, as a terminal shows them: which squares are dark. */
export function readSquares(lines: readonly string[]): Dark {
  const rows = lines.flatMap((line) => {
    const squares = [...line];
    return [
      squares.map((one) => one !== '█' && one !== '▀'),
      squares.map((one) => one !== '█' && one !== '▄'),
    ];
  });
  // The corner of the first finder; below the code the last half line is nobody's.
  const top = rows.findIndex((row) => row.includes(true));
  const left = rows[top]?.indexOf(true) ?? 0;
  const size = (rows[top]?.lastIndexOf(true) ?? 0) - left + 1;
  const right = (rows[top]?.length ?? 0) - left - size;
  if (Math.min(top, left, right) < QUIET) throw BAD('not enough light around it');
  return rows.slice(top, top + size).map((row) => row.slice(left, left + size));
}

export function readQr(dark: Dark): string {
  const size = dark.length;
  const version = (size - 17) / 4;
  if (!Number.isInteger(version) || version < 1 || version > 6) throw BAD(`${size} squares wide`);
  const { level, mask } = readFormat(dark);
  const [correction, blocks] = BLOCKS[level][version - 1] ?? [0, []];
  const words = readWords(dark, version, MASKS[mask] as (r: number, c: number) => boolean);
  const data = blocks.map(() => [] as number[]);
  const checks = blocks.map(() => [] as number[]);
  let next = 0;
  for (let i = 0; i < Math.max(...blocks); i++) {
    for (const [b, length] of blocks.entries()) {
      if (i < length) data[b]?.push(words[next++] as number);
    }
  }
  for (let i = 0; i < correction; i++)
    for (const part of checks) part.push(words[next++] as number);
  for (const [b, part] of data.entries()) requireWhole([...part, ...(checks[b] ?? [])], correction);
  return readBytes(data.flat());
}

/** Twice in the code, with ten bits that check the five. */
function readFormat(dark: Dark): { level: 'L' | 'M'; mask: number } {
  const size = dark.length;
  const places: [number, number][] = [];
  for (let i = 0; i < 15; i++) {
    if (i < 6) places.push([8, i]);
    else if (i < 8) places.push([8, i + 1]);
    else if (i === 8) places.push([7, 8]);
    else places.push([14 - i, 8]);
  }
  const others = places.map((_, i): [number, number] =>
    i < 7 ? [size - 1 - i, 8] : [8, size - 15 + i],
  );
  const bitsAt = (at: readonly [number, number][]): number =>
    at.reduce((bits, [r, c]) => (bits << 1) | (dark[r]?.[c] ? 1 : 0), 0) ^ 0x5412;
  const bits = bitsAt(places);
  if (bitsAt(others) !== bits) throw BAD('its two formats differ');
  let rest = (bits >> 10) << 10;
  for (let i = 14; i >= 10; i--) if (rest & (1 << i)) rest ^= 0x537 << (i - 10);
  if (((bits >> 10) << 10) + rest !== bits) throw BAD('its format does not check');
  const level = ({ 1: 'L', 0: 'M' } as const)[(bits >> 13) as 0 | 1];
  if (level === undefined) throw BAD('of a level that is not read here');
  return { level, mask: (bits >> 10) & 7 };
}

/** Up and down in columns of two, past what is no data. */
function readWords(dark: Dark, version: number, mask: (r: number, c: number) => boolean): number[] {
  const size = dark.length;
  const bits: number[] = [];
  for (let right = size - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right--;
    for (let i = 0; i < size; i++) {
      const row = isUp ? size - 1 - i : i;
      for (const column of [right, right - 1]) {
        if (isFixed(row, column, size, version)) continue;
        bits.push(dark[row]?.[column] === mask(row, column) ? 0 : 1);
      }
    }
  }
  const words: number[] = [];
  for (let i = 0; i + 8 <= bits.length; i += 8) {
    words.push(bits.slice(i, i + 8).reduce((word, bit) => (word << 1) | bit, 0));
  }
  return words;
}

/** Corners with their formats, the two lines of the clock, and the small square of versions above 1. */
function isFixed(row: number, column: number, size: number, version: number): boolean {
  if (row === 6 || column === 6) return true;
  if (row < 9 && (column < 9 || column >= size - 8)) return true;
  if (row >= size - 8 && column < 9) return true;
  const middle = size - 7;
  return version > 1 && Math.abs(row - middle) <= 2 && Math.abs(column - middle) <= 2;
}

/** What a code that nothing happened to has: no remainder at any root (Reed and Solomon, over 0x11d). */
function requireWhole(words: readonly number[], correction: number): void {
  for (let i = 0, root = 1; i < correction; i++, root = times(root, 2)) {
    let sum = 0;
    for (const word of words) sum = times(sum, root) ^ word;
    if (sum !== 0) throw BAD('its codewords do not check');
  }
}

function times(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ (product & 0x80 ? 0x11d : 0);
    if (b & (1 << bit)) product ^= a;
  }
  return product;
}

function readBytes(words: readonly number[]): string {
  const bits = words.map((word) => word.toString(2).padStart(8, '0')).join('');
  const number = (from: number, length: number): number =>
    Number.parseInt(bits.slice(from, from + length), 2);
  if (number(0, 4) !== 4) throw BAD('it holds something else than bytes');
  const bytes = Array.from({ length: number(4, 8) }, (_, i) => number(12 + 8 * i, 8));
  return Buffer.from(bytes).toString('utf8');
}
