/** What each key means, as an action. Pure, so that the table can be read and tested. */
import type { Key } from 'node:readline';
import type { Edit } from './input-line.ts';

export type Action =
  | { readonly do: 'edit'; readonly change: Edit }
  | { readonly do: 'enter' | 'quit' | 'back' | 'older' | 'newer' }
  | { readonly do: 'channel' | 'complete'; readonly step: 1 | -1 }
  | { readonly do: 'unread' | 'thread' }
  | { readonly do: 'panel'; readonly kind: 'claims' | 'who' | 'docket' };

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
  k: edit('kill-right'),
  n: { do: 'channel', step: 1 },
  o: { do: 'panel', kind: 'docket' },
  p: { do: 'channel', step: -1 },
  r: { do: 'thread' },
  t: { do: 'panel', kind: 'claims' },
  u: edit('kill-left'),
  w: edit('word-back'),
  x: { do: 'unread' },
};

const NAMED: Readonly<Record<string, Action>> = {
  return: { do: 'enter' },
  tab: { do: 'complete', step: 1 },
  escape: { do: 'back' },
  pageup: { do: 'older' },
  pagedown: { do: 'newer' },
  up: edit('older'),
  down: edit('newer'),
  left: edit('left'),
  right: edit('right'),
  home: edit('home'),
  end: edit('end'),
  backspace: edit('backspace'),
  delete: edit('delete'),
};

const ESCAPE = '\u001b';
/** Sequences of keys that have no name here, of a mouse and of the window. */
const UNNAMED = ['[', 'O', ESCAPE];

export function actionsOf({ name = '', sequence = '', ctrl, shift }: Key): Action[] {
  if (name === 'tab' && shift) return [{ do: 'complete', step: -1 }];
  const named = NAMED[name] ?? (ctrl ? CONTROL[name] : undefined);
  if (named !== undefined) return [named];
  // A terminal that waits for the rest of a key sends Escape and what was typed after it in one piece.
  const isBehindEscape = sequence.startsWith(ESCAPE);
  const text = isBehindEscape ? sequence.slice(1) : sequence;
  if (isBehindEscape && UNNAMED.some((start) => text.startsWith(start))) return [];
  return [...(isBehindEscape ? [NAMED.escape as Action] : []), ...typed(text)];
}

function typed(text: string): Action[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  if (text === '' || /[\u0000-\u0009\u000b-\u001f\u007f]/.test(text)) return [];
  return [{ do: 'edit', change: { edit: 'insert', text } }];
}
