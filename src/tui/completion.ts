/**
 * What the Tab key makes of a line: the word before the cursor becomes the one it can only mean, or
 * as much of it as all candidates share. Pure; it asks the hub nothing.
 */
import { ACK_WORDS, type Argument, COMMAND_ROWS, findRow } from './commands.ts';

/** What there is to name. */
export interface Words {
  readonly channels: readonly string[];
  readonly agents: readonly string[];
  /** Newest first. */
  readonly messages: readonly string[];
}

export interface Completed {
  readonly text: string;
  readonly cursor: number;
  /** Shown when there is more than one. */
  readonly candidates: readonly string[];
}

const CANDIDATES_MAX = 50;

export function complete(text: string, cursor: number, words: Words): Completed {
  const before = text.slice(0, cursor);
  const after = text.slice(cursor);
  const start = before.search(/\S*$/);
  const stem = before.slice(start);
  const found = candidatesFor(before.slice(0, start), stem, words);
  const matching = found.filter((word) => word.startsWith(stem));
  const [first] = matching;
  if (first === undefined) return { text, cursor, candidates: [] };
  const isOne = matching.length === 1;
  const word = isOne ? first : sharedStart(matching);
  // A space ends the word, unless one is there already.
  const completed = isOne && !after.startsWith(' ') ? `${word} ` : word;
  const left = before.slice(0, start) + completed;
  return {
    text: left + after,
    cursor: left.length,
    candidates: isOne ? [] : matching.slice(0, CANDIDATES_MAX),
  };
}

function candidatesFor(lead: string, stem: string, words: Words): readonly string[] {
  if (lead === '' && stem.startsWith('/')) return COMMAND_ROWS.map(({ name }) => `/${name}`);
  const name = /^\/(\S+)\s/.exec(lead)?.[1];
  const row = name === undefined ? undefined : findRow(name);
  const argument = row?.arguments[lead.trim().split(/\s+/).length - 1];
  // In running text only a name that is called can be meant.
  if (argument === undefined || argument === 'text') {
    return stem.startsWith('@') ? words.agents.map((agent) => `@${agent}`) : [];
  }
  return LISTS[argument](words);
}

const LISTS: Readonly<Record<Exclude<Argument, 'text'>, (words: Words) => readonly string[]>> = {
  channel: ({ channels }) => channels,
  agent: ({ agents }) => agents,
  message: ({ messages }) => messages,
  ack: () => ACK_WORDS,
};

function sharedStart(words: readonly string[]): string {
  let shared = words[0] ?? '';
  for (const word of words) {
    while (!word.startsWith(shared)) shared = shared.slice(0, -1);
  }
  return shared.toWellFormed() === shared ? shared : shared.slice(0, -1);
}
