/**
 * What turns say here, on its way to the other servers [SQ17]: of each turn the last lines, gathered until the next whisper,
 * and no more of all together than one whisper has room for. What has no room is read at the server that runs the turn.
 */
import type { TurnSaid } from './whisper.ts';

/** Of all turns, in one whisper. */
const CHARS_MAX = 64 * 1024;
const LINES_MAX = 1_000;

export interface Utterances {
  readonly size: number;
  add(said: Omit<TurnSaid, 'type'>): void;
  /** All of it, once; the oldest turn first. */
  take(): TurnSaid[];
}

export function createUtterances(): Utterances {
  let waiting: { readonly of: Omit<TurnSaid, 'type' | 'lines'>; readonly line: Line }[] = [];
  let chars = 0;

  return {
    get size() {
      return waiting.length;
    },
    add({ lines, turn, agent }) {
      for (const line of lines) {
        waiting.push({ of: { turn, agent }, line });
        chars += line.text.length;
      }
      let over = 0;
      while (waiting.length - over > LINES_MAX || chars > CHARS_MAX) {
        chars -= waiting[over++]?.line.text.length ?? 0;
      }
      if (over > 0) waiting = waiting.slice(over);
    },
    take() {
      const words = new Map<string, TurnSaid & { readonly lines: Line[] }>();
      for (const { of, line } of waiting) {
        const word = words.get(of.turn) ?? { type: 'turn.said', ...of, lines: [] };
        words.set(of.turn, word);
        word.lines.push(line);
      }
      waiting = [];
      chars = 0;
      return [...words.values()];
    },
  };
}

type Line = TurnSaid['lines'][number];
