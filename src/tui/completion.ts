/**
 * What the Tab key makes of a line: the word before the cursor becomes the one it can only mean, or
 * as much of it as all candidates share; pressed again it goes through them. Pure; it asks the hub
 * nothing.
 */
import { ACK_WORDS, type Argument, COMMAND_ROWS, FILTER_WORDS, findRow } from './commands.ts';

/** What there is to name. */
export interface Words {
  readonly channels: readonly string[];
  readonly agents: readonly string[];
  /** Newest first. */
  readonly messages: readonly string[];
  /** Items of the docket, and what they are about. */
  readonly docket: readonly string[];
}

/** Several words that may be meant, to be gone through. */
export interface Choices {
  /** What stands before and after the word. */
  readonly before: string;
  readonly after: string;
  readonly words: readonly string[];
  /** Which of them stands on the line; -1 for none yet. */
  readonly at: number;
}

export interface Completed {
  readonly text: string;
  readonly cursor: number;
  readonly choices: Choices | null;
}

const CHOICES_MAX = 50;

export function complete(text: string, cursor: number, words: Words): Completed {
  const lead = text.slice(0, cursor);
  const after = text.slice(cursor);
  const start = lead.search(/\S*$/);
  const stem = lead.slice(start);
  const before = lead.slice(0, start);
  const matching = candidatesFor(before, stem, words).filter((word) => word.startsWith(stem));
  const [first] = matching;
  if (first === undefined) return { text, cursor, choices: null };
  if (matching.length === 1) {
    // A space ends the word, unless one is there already.
    const left = `${before}${first}${after.startsWith(' ') ? '' : ' '}`;
    return { text: left + after, cursor: left.length, choices: null };
  }
  const left = before + sharedStart(matching);
  const choices = { before, after, words: matching.slice(0, CHOICES_MAX), at: -1 };
  return { text: left + after, cursor: left.length, choices };
}

/** The next of several, in a circle. */
export function choose(choices: Choices, step: 1 | -1): Completed {
  const { before, after, words } = choices;
  const from = choices.at < 0 && step < 0 ? 0 : choices.at;
  const at = (from + step + words.length) % words.length;
  const left = before + (words[at] ?? '');
  return { text: left + after, cursor: left.length, choices: { ...choices, at } };
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
  filter: () => FILTER_WORDS,
  docket: ({ docket }) => docket,
};

function sharedStart(words: readonly string[]): string {
  let shared = words[0] ?? '';
  for (const word of words) {
    while (!word.startsWith(shared)) shared = shared.slice(0, -1);
  }
  return shared.toWellFormed() === shared ? shared : shared.slice(0, -1);
}
