/** What each key means, as an action. Pure, so that the table can be read and tested. */
import type { Key } from 'ink';
import type { Edit } from './input-line.ts';

export type Action =
  | { readonly do: 'edit'; readonly change: Edit }
  | { readonly do: 'enter' | 'quit' | 'back' | 'older' | 'newer' }
  | { readonly do: 'channel' | 'complete'; readonly step: 1 | -1 }
  | { readonly do: 'unread' }
  | { readonly do: 'panel'; readonly kind: 'claims' | 'who' };

type Named = Exclude<Edit['edit'], 'insert' | 'set'>;

const edit = (change: Named): Action => ({ do: 'edit', change: { edit: change } });

const CONTROL: Readonly<Record<string, Action>> = {
  a: edit('home'),
  b: edit('left'),
  c: { do: 'quit' },
  d: edit('delete'),
  e: edit('end'),
  f: edit('right'),
  g: { do: 'panel', kind: 'who' },
  h: edit('backspace'),
  k: edit('kill-right'),
  n: { do: 'channel', step: 1 },
  p: { do: 'channel', step: -1 },
  t: { do: 'panel', kind: 'claims' },
  u: edit('kill-left'),
  w: edit('word-back'),
  x: { do: 'unread' },
};

const NAMED: readonly (readonly [key: keyof Key, action: Action])[] = [
  ['return', { do: 'enter' }],
  ['tab', { do: 'complete', step: 1 }],
  ['escape', { do: 'back' }],
  ['pageUp', { do: 'older' }],
  ['pageDown', { do: 'newer' }],
  ['upArrow', edit('older')],
  ['downArrow', edit('newer')],
  ['leftArrow', edit('left')],
  ['rightArrow', edit('right')],
  ['home', edit('home')],
  ['end', edit('end')],
  // Most terminals send DEL for the key that is called Backspace.
  ['backspace', edit('backspace')],
  ['delete', edit('delete')],
];

/** The control characters that a terminal sends for keys with a name. */
const CONTROL_NAMED: Readonly<Record<string, Action>> = {
  '\r': { do: 'enter' },
  '\t': { do: 'complete', step: 1 },
  '\u007f': edit('backspace'),
};

/** Whoever types fast, or a terminal that is slow, sends several keys in one piece. */
export function actionsOf(input: string, key: Key): Action[] {
  if (key.ctrl) return present(CONTROL[input]);
  if (key.tab && key.shift) return [{ do: 'complete', step: -1 }];
  for (const [name, action] of NAMED) if (key[name]) return [action];
  // A terminal that waits for the rest of a key sends Escape and what was typed after it in one piece.
  if (key.meta) return [{ do: 'back' }, ...typed(input)];
  return typed(input);
}

function typed(input: string): Action[] {
  // A line break that is pasted comes another way, so this one is the Enter key.
  return input.split(CONTROLS).flatMap((piece) => {
    if (piece === '') return [];
    if (piece === '\n' || !CONTROLS.test(piece)) return [insert(piece)];
    const letter = String.fromCharCode(piece.charCodeAt(0) + 96);
    return present(CONTROL_NAMED[piece] ?? CONTROL[letter]);
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROLS = /([\u0000-\u001f\u007f])/;

function insert(text: string): Action {
  return { do: 'edit', change: { edit: 'insert', text } };
}

function present(action: Action | undefined): Action[] {
  return action === undefined ? [] : [action];
}
