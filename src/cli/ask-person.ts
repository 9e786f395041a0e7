/** Questions to a person at this terminal, on stderr; what is asked for unseen is not echoed. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Person } from '../bus/programs/registry-setup.ts';
import { neutralise } from './terminal.ts';

/** Null where nobody sits at a terminal. */
export function openPerson(): Person | null {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) return null;
  let isUnseen = false;
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!isUnseen) stderr.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input: stdin, output, terminal: true });
  const ended = new AbortController();
  lines.once('close', () => ended.abort());
  const ask = async (question: string): Promise<string | null> => {
    if (ended.signal.aborted) return null;
    try {
      return (await lines.question(question, { signal: ended.signal })).trim();
    } catch {
      // Ctrl-D or Ctrl-C: no more answers.
      return null;
    }
  };
  return {
    say: (line) => void stderr.write(`${neutralise(line)}\n`),
    ask,
    async askUnseen(question) {
      stderr.write(question);
      isUnseen = true;
      const said = await ask('');
      isUnseen = false;
      stderr.write('\n');
      return said;
    },
    close: () => lines.close(),
  };
}
