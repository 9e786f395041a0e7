import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { expect, test } from 'vitest';
import { openTerminal } from './terminal.ts';

/** Streams that stand for a terminal; what is written is kept. */
function openStreams() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    setRawMode: (isRaw: boolean) => modes.push(isRaw),
  });
  const output = Object.assign(new PassThrough({ encoding: 'utf8' }), { columns: 4, rows: 2 });
  const written = () => String(output.read() ?? '');
  return { input, output, written, modes };
}

test('[TU2] a row is erased before it is written, never behind its last letter', () => {
  const { input, output, written } = openStreams();
  const nothing = () => {};
  const terminal = openTerminal({
    input: input as unknown as ReadStream,
    output: output as unknown as WriteStream,
    ...{ onKey: nothing, onPaste: nothing, onResize: nothing, onGone: nothing },
  });
  written();
  terminal.draw({ rows: ['full', 'row2'], cursor: 0 });
  const first = written();
  expect(first).toContain('\u001b[1;1H\u001b[Kfull\u001b[2;1H\u001b[Krow2');
  for (const row of ['full', 'row2']) expect(first).not.toContain(`${row}\u001b[K`);
  terminal.draw({ rows: ['full', 'new2'], cursor: 0 });
  const second = written();
  expect(second).toContain('new2');
  expect(second).not.toContain('full');
  terminal.close();
});

test('[TU6] the terminal is given back once, also when its end comes twice', () => {
  const { input, output, written, modes } = openStreams();
  const nothing = () => {};
  const before = process.listenerCount('exit');
  const terminal = openTerminal({
    input: input as unknown as ReadStream,
    output: output as unknown as WriteStream,
    ...{ onKey: nothing, onPaste: nothing, onResize: nothing, onGone: nothing },
  });
  terminal.close();
  terminal.close();
  expect(modes).toEqual([true, false]);
  expect(written().split('\u001b[?1049l')).toHaveLength(2);
  expect(process.listenerCount('exit')).toBe(before);
});
