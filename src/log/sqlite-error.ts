/**
 * What SQLite's result codes mean to the log: the file is damaged, or the world said no.
 *
 * Every message names the file and the way out; none of these failures has changed it.
 */
import { unavailable } from './disk.ts';
import { LogError } from './log.ts';

const READ_ONLY =
  'the file or its directory is read-only: give this user access or choose another path';
const DAMAGED =
  'nothing was changed: run "synod log verify", then restore it from a copy or an export, or move it away to start anew';

const MEANINGS: Readonly<
  Record<number, { code: 'log.corrupt' | 'log.unavailable'; text: string }>
> = {
  1: { code: 'log.corrupt', text: `its tables are not those of a Synod log; ${DAMAGED}` },
  3: { code: 'log.unavailable', text: READ_ONLY },
  5: {
    code: 'log.unavailable',
    text: 'another process is writing to it: stop that process and try again',
  },
  8: { code: 'log.unavailable', text: READ_ONLY },
  10: {
    code: 'log.unavailable',
    text: 'the disk failed or the file may not grow: check disk and limits, and try again',
  },
  11: { code: 'log.corrupt', text: `its pages are damaged; ${DAMAGED}` },
  13: { code: 'log.unavailable', text: 'the disk is full: free some space and try again' },
  14: { code: 'log.unavailable', text: READ_ONLY },
  26: { code: 'log.corrupt', text: `it is not an SQLite file; ${DAMAGED}` },
};

export function sqliteFailure(path: string, tried: string, error: unknown): LogError {
  if (error instanceof LogError) return error;
  if (!(error instanceof Error) || !('errcode' in error)) return unavailable(path, tried, error);
  // The low byte is the primary code; the rest only refines it.
  const meaning = MEANINGS[Number(error.errcode) & 0xff];
  const text = meaning?.text ?? 'see the cause';
  return new LogError(
    meaning?.code ?? 'log.unavailable',
    `cannot ${tried} ${path} (${error.message}); ${text}`,
    { cause: error, path },
  );
}
