/**
 * How far a reader has come, kept in a file: one number. It is replaced as a whole, so that whoever
 * is interrupted reads the old one or the new one; a file that holds anything else is refused, because
 * starting over unasked would repeat everything [CL13].
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fail } from './failure.ts';

/** `start` when there is no file yet. */
export function readCursor(path: string, start: number): number {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return start;
    throw unusable(path, error);
  }
  if (!/^\d{1,15}$/.test(text)) {
    throw fail('cli.usage', `${path} is no cursor file: it holds a number and nothing else`, {
      hint: 'name another file, or remove it to start over',
    });
  }
  return Number(text);
}

export function saveCursor(path: string, cursor: number): void {
  const next = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(next, `${cursor}\n`, { mode: 0o600 });
    renameSync(next, path);
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, cause: unknown): Error {
  const { code, message } = cause as NodeJS.ErrnoException;
  return fail('cli.no-input', `the cursor file ${path} cannot be used (${code ?? message})`, {
    cause,
  });
}
