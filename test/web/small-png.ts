/**
 * A picture of a page as a PNG of at most 256 colours: a page has few, and such a picture is a third of the
 * size. The colours that occur most are kept and every other becomes the nearest of them.
 */
import { crc32, deflateSync } from 'node:zlib';

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and alpha of each, row by row. */
  readonly rgba: Uint8Array;
}

const COLOURS_MAX = 256;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export function smallPng({ width, height, rgba }: Pixels): Buffer {
  const counts = new Map<number, number>();
  const colours = new Uint32Array(width * height);
  for (let i = 0; i < colours.length; i++) {
    // The lowest bit of each part is not seen, and makes many colours of one.
    const [r, g, b] = [rgba[4 * i], rgba[4 * i + 1], rgba[4 * i + 2]] as [number, number, number];
    const colour = ((r & 0xfe) << 16) | ((g & 0xfe) << 8) | (b & 0xfe);
    colours[i] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, COLOURS_MAX)
    .map(([colour]) => colour);
  const places = new Map(palette.map((colour, i) => [colour, i]));
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = colours[y * width + x] as number;
      const place = places.get(colour) ?? nearest(palette, colour);
      places.set(colour, place);
      rows[y * (width + 1) + x + 1] = place;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits a pixel, each a place in the palette.
  header.set([8, 3, 0, 0, 0], 8);
  const table = Buffer.from(palette.flatMap((c) => [c >> 16, (c >> 8) & 0xff, c & 0xff]));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', table),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function nearest(palette: readonly number[], colour: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [i, one] of palette.entries()) {
    const r = (one >> 16) - (colour >> 16);
    const g = ((one >> 8) & 0xff) - ((colour >> 8) & 0xff);
    const b = (one & 0xff) - (colour & 0xff);
    const distance = r * r + g * g + b * b;
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
