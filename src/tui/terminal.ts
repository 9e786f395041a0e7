/**
 * The terminal itself: keys in, rows out, and left as it was found, whichever way the program ends
 * [TU6]. Only rows that changed are written, each whole, and all of a change at once.
 */
import { emitKeypressEvents, type Interface, type Key } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Size } from './layout.ts';
import type { Painted } from './paint.ts';

export interface Terminal {
  size(): Size;
  draw(painted: Painted): void;
  close(): void;
}

export interface TerminalOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  onKey(key: Key): void;
  onPaste(text: string): void;
  onResize(): void;
  /** It was closed by others, with the window say; there is nothing to draw on any more. */
  onGone(): void;
}

/** How long a lone Escape may be the beginning of a longer key. */
const ESCAPE_MS = 50;
const ENTER = '\u001b[?1049h\u001b[?2004h\u001b[2J';
const LEAVE = '\u001b[?2004l\u001b[0m\u001b[?25h\u001b[?1049l';
/** Terminals that know it show what lies between as one change; others pass it by. */
const BEGIN = '\u001b[?2026h\u001b[?25l';
const END = '\u001b[?2026l';

export function openTerminal(options: TerminalOptions): Terminal {
  const { input, output, onGone } = options;
  let shown: readonly string[] = [];
  let isOpen = true;
  const readKey = createKeyReader(options);

  function onResize(): void {
    // What a terminal makes of its rows when it changes its size is its own affair.
    shown = [];
    output.write('\u001b[2J');
    options.onResize();
  }

  /** Also when the program falls over: a terminal in raw mode is of no use to anybody. */
  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    process.off('exit', close);
    output.off('resize', onResize);
    input.off('keypress', readKey);
    input.setRawMode(false);
    input.pause();
    output.write(LEAVE);
  }

  // They stay: what is written on the way out may fail as well.
  for (const stream of [input, output]) stream.on('error', onGone);
  input.on('end', onGone);
  // The second parameter is read for this alone; an interface of readline would echo.
  emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  process.on('exit', close);
  output.on('resize', onResize);
  input.on('keypress', readKey);
  input.setRawMode(true);
  input.resume();
  output.write(ENTER);

  return {
    size: () => ({ columns: output.columns, rows: output.rows }),
    draw({ rows, cursor }) {
      if (!isOpen) return;
      let text = '';
      for (let at = 0; at < Math.max(rows.length, shown.length); at++) {
        const row = rows[at] ?? '';
        // Erased first: behind a row that fills its line many terminals would erase its last letter.
        if (row !== shown[at]) text += `\u001b[${at + 1};1H\u001b[K${row}`;
      }
      shown = rows;
      const place = cursor === null ? '' : `\u001b[${rows.length};${cursor + 1}H\u001b[?25h`;
      output.write(`${BEGIN}${text}${place}${END}`);
    },
    close,
  };
}

/** What is pasted comes between two marks, and is text, whatever keys it looks like. */
function createKeyReader({ onKey, onPaste }: TerminalOptions): (text: unknown, key: Key) => void {
  let pasted: string[] | null = null;
  return (_text, key) => {
    if (key.name === 'paste-start') pasted = [];
    else if (key.name === 'paste-end') {
      const text = (pasted ?? []).join('');
      pasted = null;
      onPaste(text);
    } else if (pasted !== null) pasted.push(key.sequence ?? '');
    else onKey(key);
  };
}
