/**
 * A frozen state as JSON text, written in slices: the work stops every so often, and
 * goes on when it is asked to, so that a long text holds nobody up.
 */
import { Runs } from './fields.ts';

/** About a millisecond of writing. */
const SLICE_CHARS = 16 * 1024;
/** How many small elements of a list are written by one call of `JSON.stringify`. */
const RUN = 256;

/** Yields after each slice; what it returns is the text. */
export function* writeText(frozen: unknown): Generator<void, string> {
  const text: Text = { slices: [], pieces: [], chars: 0 };
  yield* write(text, frozen);
  endSlice(text);
  return text.slices.join('');
}

interface Text {
  /** Few and long, because they are put together at once in the end. */
  readonly slices: string[];
  /** Of the slice that is being written. */
  pieces: string[];
  chars: number;
}

function add(text: Text, piece: string): void {
  text.pieces.push(piece);
  text.chars += piece.length;
}

function endSlice(text: Text): void {
  text.slices.push(text.pieces.join(''));
  text.pieces = [];
  text.chars = 0;
}

function* pause(text: Text): Generator<void> {
  if (text.chars < SLICE_CHARS) return;
  endSlice(text);
  yield;
}

function* write(text: Text, value: unknown): Generator<void> {
  if (isSmall(value)) add(text, JSON.stringify(value) ?? 'null');
  else if (Array.isArray(value)) yield* writeRuns(text, [value]);
  else if (value instanceof Runs) yield* writeRuns(text, value.runs());
  else yield* writeObject(text, value as Readonly<Record<string, unknown>>);
  yield* pause(text);
}

function* writeObject(text: Text, value: Readonly<Record<string, unknown>>): Generator<void> {
  let before = '{';
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue;
    add(text, `${before}${JSON.stringify(key)}:`);
    before = ',';
    if (isSmall(field)) add(text, JSON.stringify(field));
    else yield* write(text, field);
  }
  add(text, before === '{' ? '{}' : '}');
}

function* writeRuns(text: Text, runs: Iterable<readonly unknown[]>): Generator<void> {
  let before = '[';
  for (const list of runs) {
    for (let start = 0; start < list.length; start += RUN) {
      const run = list.length <= RUN ? list : list.slice(start, start + RUN);
      if (run.every(isSmall)) {
        add(text, before + JSON.stringify(run).slice(1, -1));
        before = ',';
        yield* pause(text);
        continue;
      }
      for (const element of run) {
        add(text, before);
        before = ',';
        yield* write(text, element);
      }
    }
  }
  add(text, before === '[' ? '[]' : ']');
}

/** A scalar, or an object of scalars: written at once. */
function isSmall(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  for (const key in value) {
    const field = (value as Record<string, unknown>)[key];
    if (typeof field === 'object' && field !== null) return false;
  }
  return !(value instanceof Runs);
}
