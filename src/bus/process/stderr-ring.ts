/**
 * What a worker says on stderr: the last lines are kept to tell why it died, and each is
 * passed on for the log, so many in a second and no more [WO12]. It never stops reading: a worker
 * must not block because its stderr is not read.
 */
import type { ByteLine } from './byte-line.ts';
import { plainText } from './plain-text.ts';

/** A longer line is cut. */
export const STDERR_LINE_BYTES_MAX = 2_000;
/** Lines passed on in one second; the others are only counted. */
export const STDERR_NOTES_A_SECOND = 50;

const SECOND_MS = 1_000;

export interface StderrRing {
  push(chunk: Buffer): void;
  /** The last line may lack its newline. */
  end(): void;
  tail(): readonly string[];
}

export function createStderrRing(
  linesKept: number,
  onLine: (text: string) => void,
  now: () => number = () => performance.now(),
): StderrRing {
  const kept: string[] = [];
  let rest = '';
  let secondBegan = Number.NEGATIVE_INFINITY;
  let passedOn = 0;
  let leftOut = 0;

  const take = (line: string): void => {
    const text = plainText(line.replace(/\r$/, '') as ByteLine, STDERR_LINE_BYTES_MAX);
    if (text.trim() === '') return;
    if (linesKept > 0) kept.push(text);
    if (kept.length > linesKept) kept.shift();
    if (now() - secondBegan >= SECOND_MS) {
      tellLeftOut();
      secondBegan = now();
      passedOn = 0;
    }
    if (passedOn++ < STDERR_NOTES_A_SECOND) onLine(text);
    else leftOut += 1;
  };
  const tellLeftOut = (): void => {
    if (leftOut > 0) onLine(`(${leftOut} more lines were left out of the log)`);
    leftOut = 0;
  };

  return {
    push(chunk) {
      const lines = chunk.toString('latin1').split('\n');
      // One byte over the bound is kept, so that the cut shows.
      const room = Math.max(0, STDERR_LINE_BYTES_MAX + 1 - rest.length);
      rest += (lines[0] ?? '').slice(0, room);
      for (const next of lines.slice(1)) {
        take(rest);
        rest = next.slice(0, STDERR_LINE_BYTES_MAX + 1);
      }
    },
    end() {
      take(rest);
      rest = '';
      tellLeftOut();
    },
    tail: () => [...kept],
  };
}
