/**
 * A hook that writes down what it was given and prints the answer left for its event, if any.
 * `probe-hook LOG ANSWERS`; an answer called `EVENT.once.json` is used up by the first to find it.
 */
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { record } from './probe-record.ts';

const [log = '', answers = ''] = process.argv.slice(2);
const input = JSON.parse(readFileSync(0, 'utf8'));
const event = String(input.hook_event_name);
record(log, 'hook', event, input);
process.stdout.write(takeOnce() ?? read(`${event}.json`) ?? '');

function takeOnce(): string | null {
  const text = read(`${event}.once.json`);
  if (text !== null) renameSync(join(answers, `${event}.once.json`), join(answers, 'used'));
  return text;
}

function read(name: string): string | null {
  try {
    return readFileSync(join(answers, name), 'utf8');
  } catch {
    return null;
  }
}
