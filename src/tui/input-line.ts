/**
 * The line somebody types on: text, a cursor, and what was sent before. Pure; a cursor always
 * stands between two characters as a person counts them, and the line has a bound.
 */
import { graphemes } from './plain.ts';

export interface InputLine {
  readonly text: string;
  /** In UTF-16 units, at the edge of a character. */
  readonly cursor: number;
  /** Sent before, oldest first. */
  readonly past: readonly string[];
  /** Which of them is shown; the length of `past` when it is a new one. */
  readonly at: number;
}

export type Edit =
  | { readonly edit: 'insert'; readonly text: string }
  | {
      readonly edit:
        | 'backspace'
        | 'delete'
        | 'left'
        | 'right'
        | 'home'
        | 'end'
        | 'word-back'
        | 'kill-left'
        | 'kill-right'
        | 'older'
        | 'newer'
        | 'clear';
    }
  | { readonly edit: 'set'; readonly text: string; readonly cursor: number };

export const INPUT_CHARS_MAX = 16_384;
const PAST_LINES_MAX = 200;

export const NO_INPUT: InputLine = { text: '', cursor: 0, past: [], at: 0 };

export function editLine(input: InputLine, change: Edit): InputLine {
  const { text, cursor } = input;
  const before = text.slice(0, cursor);
  const after = text.slice(cursor);
  const put = (left: string, right: string): InputLine => ({
    ...input,
    text: left + right,
    cursor: left.length,
  });
  switch (change.edit) {
    case 'insert': {
      const room = INPUT_CHARS_MAX - text.length;
      const added = graphemes(change.text.replace(/\r\n?/g, '\n').toWellFormed());
      let taken = '';
      for (const one of added) {
        if (taken.length + one.length > room) break;
        taken += one;
      }
      return put(before + taken, after);
    }
    case 'set':
      return { ...input, text: change.text, cursor: change.cursor };
    case 'backspace':
      return put(before.slice(0, before.length - lastLength(before)), after);
    case 'delete':
      return put(before, after.slice(firstLength(after)));
    case 'left':
      return { ...input, cursor: cursor - lastLength(before) };
    case 'right':
      return { ...input, cursor: cursor + firstLength(after) };
    case 'home':
      return { ...input, cursor: 0 };
    case 'end':
      return { ...input, cursor: text.length };
    case 'word-back':
      return put(before.replace(/\S+\s*$|\s+$/, ''), after);
    case 'kill-left':
      return put('', after);
    case 'kill-right':
      return put(before, '');
    case 'clear':
      return { ...input, text: '', cursor: 0, at: input.past.length };
    case 'older':
      return recall(input, input.at - 1);
    case 'newer':
      return recall(input, input.at + 1);
  }
}

/** The line was sent: it is remembered, and a new one begins. */
export function sendLine(input: InputLine): InputLine {
  const { text } = input;
  const isNew = text !== '' && input.past.at(-1) !== text;
  const past = isNew ? [...input.past, text].slice(-PAST_LINES_MAX) : input.past;
  return { text: '', cursor: 0, past, at: past.length };
}

function recall(input: InputLine, at: number): InputLine {
  if (at < 0 || at > input.past.length) return input;
  const text = input.past[at] ?? '';
  return { ...input, text, cursor: text.length, at };
}

function lastLength(text: string): number {
  return graphemes(text).at(-1)?.length ?? 0;
}

function firstLength(text: string): number {
  return graphemes(text)[0]?.length ?? 0;
}
