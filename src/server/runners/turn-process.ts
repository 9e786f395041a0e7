/**
 * The process of a turn: a program that prints lines, whose words go to the transcript of the turn, and
 * which may print so much and no more.
 */
import {
  type GroupRecord,
  type LineProcess,
  type LineProcessOptions,
  startLineProcess,
} from '../../bus/process/line-process.ts';
import type { Transcript } from './runner.ts';

/** More than this is no answer any more: the turn is ended. */
export const OUTPUT_BYTES_MAX: number = 64 * 1024 * 1024;
/** Short lines cost more than their bytes: a flood of them would keep the hub from all else. */
export const OUTPUT_LINES_MAX = 1_000_000;

type Chosen = 'argv' | 'cwd' | 'env' | 'signal' | 'onLine' | 'graceMs' | 'outputBytesMax';

export interface ProcessOptions extends Pick<LineProcessOptions, Chosen> {
  readonly transcript: Transcript;
  /** Told its number, when it was started. */
  started?(pid: number): void;
  readonly record?: GroupRecord | null;
}

export function startTurnProcess({ transcript, ...options }: ProcessOptions): LineProcess {
  return startLineProcess({
    name: 'the runner',
    outputBytesMax: OUTPUT_BYTES_MAX,
    outputLinesMax: OUTPUT_LINES_MAX,
    ...options,
    onErrorLine: (text) => transcript.append(text, 'err'),
    onNote: (text) => transcript.append(text, 'note'),
  });
}
