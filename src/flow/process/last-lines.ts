/** The last lines of a program, of stdout and stderr together, as many and as long as the hub keeps. */
import type { ByteLine } from '../../bus/process/byte-line.ts';
import { lineOf } from '../../bus/process/byte-line.ts';
import { plainText } from '../../bus/process/plain-text.ts';
import {
  INSTANCE_LINE_CHARS_MAX,
  INSTANCE_LINES_LIST_MAX,
} from '../../core/processes/process-limits.ts';

export interface LastLines {
  push(line: string): void;
  all(): readonly string[];
}

const BYTES_READ = 4 * INSTANCE_LINE_CHARS_MAX;

export function createLastLines(): LastLines {
  const kept: string[] = [];
  return {
    push(line) {
      const text = plainText(lineOf(line) as ByteLine, BYTES_READ);
      if (text.trim() === '') return;
      kept.push(text.slice(0, INSTANCE_LINE_CHARS_MAX).toWellFormed());
      if (kept.length > INSTANCE_LINES_LIST_MAX) kept.shift();
    },
    all: () => [...kept],
  };
}
