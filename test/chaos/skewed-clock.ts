/**
 * Loaded into a server before anything else: its time of day is off by as many milliseconds as a file says, and jumps
 * when the file changes. What is measured from one moment to another is left alone, as it is by a clock that is set.
 */
import { readFileSync } from 'node:fs';

const FILE = process.env.SYNOD_CHAOS_CLOCK ?? '';
const LOOK_MS = 100;
const RealDate = Date;
let offMs = 0;

function look(): void {
  try {
    offMs = Number(readFileSync(FILE, 'utf8')) || 0;
  } catch {
    offMs = 0;
  }
}

class SkewedDate extends RealDate {
  constructor(...args: [] | [number]) {
    if (args.length === 0) super(SkewedDate.now());
    else super(...args);
  }

  static override now(): number {
    return RealDate.now() + offMs;
  }
}

if (FILE !== '') {
  look();
  setInterval(look, LOOK_MS).unref();
  globalThis.Date = SkewedDate as DateConstructor;
}
