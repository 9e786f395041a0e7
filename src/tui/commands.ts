/**
 * What somebody may type: a line to send, or a command after a slash. One table says how each is
 * written, what completes it and what it does; help and completion are made from it. A line that
 * cannot be understood comes back as a problem that says how it is written [TU4].
 */

import type { CallInput } from '../client/index.ts';
import type { MarkWord, ThreadFilter } from './threads.ts';

export type AckWord = CallInput<'channels.ack'>['status'];

export type Command =
  | { readonly do: 'send'; readonly text: string }
  | { readonly do: 'join' | 'leave' | 'go'; readonly channel: string | null }
  | { readonly do: 'msg'; readonly agent: string; readonly text: string }
  | { readonly do: 'reply'; readonly message: string; readonly text: string }
  | { readonly do: 'thread' | 'receipts'; readonly message: string | null }
  | {
      readonly do: 'ack';
      readonly message: string;
      readonly status: AckWord;
      readonly reason: string | null;
    }
  | { readonly do: 'search'; readonly text: string }
  | { readonly do: 'threads'; readonly only: ThreadFilter | null }
  | {
      readonly do: MarkWord;
      /** A message, or an item of the docket to close; null for the thread that is open. */
      readonly id: string | null;
      readonly note: string | null;
    }
  | { readonly do: 'approve' | 'deny'; readonly id: string; readonly reason: string | null }
  | { readonly do: 'answer'; readonly item: string; readonly text: string }
  | { readonly do: 'docket' | 'claims' | 'who' | 'board' | 'help' | 'quit' };

export interface Problem {
  readonly problem: string;
}

/** What an argument is, so that it can be completed. */
export type Argument = 'channel' | 'agent' | 'message' | 'ack' | 'docket' | 'filter' | 'text';

export interface CommandRow {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly arguments: readonly Argument[];
  /** Null when the words do not make one. */
  parse(words: readonly string[], rest: (from: number) => string): Command | null;
}

const ACKS: readonly AckWord[] = ['received', 'processing', 'done', 'nack'];
export const ACK_WORDS: readonly string[] = ACKS;

const FILTERS: readonly ThreadFilter[] = ['open', 'closed', 'resolved', 'pinned'];
export const FILTER_WORDS: readonly string[] = FILTERS;

const bare = (
  name: 'docket' | 'claims' | 'who' | 'board' | 'help' | 'quit',
  summary: string,
): CommandRow => ({
  name,
  usage: '',
  summary,
  arguments: [],
  parse: () => ({ do: name }),
});

/** Of the thread of a message, or of the one that is open. */
const mark = (name: MarkWord, usage: string, summary: string): CommandRow => ({
  name,
  usage,
  summary,
  arguments: ['message', 'text'],
  parse: ([first = ''], rest) => {
    const isId = name === 'close' ? /^[md]\d+$/.test(first) : /^m\d+$/.test(first);
    return { do: name, id: isId ? first : null, note: rest(isId ? 1 : 0) || null };
  },
});

const onDocket = (name: 'approve' | 'deny', more: string, summary: string): CommandRow => ({
  name,
  usage: `ID ${more}`,
  summary,
  arguments: ['docket', 'text'],
  parse: ([id = ''], rest) => {
    const reason = rest(1) || null;
    return id === '' || (name === 'deny' && reason === null) ? null : { do: name, id, reason };
  },
});

export const COMMAND_ROWS: readonly CommandRow[] = [
  {
    name: 'join',
    usage: 'CHANNEL',
    summary: 'follow a channel, or a pattern such as ticket:*',
    arguments: ['channel'],
    parse: ([channel]) => (channel === undefined ? null : { do: 'join', channel }),
  },
  {
    name: 'leave',
    usage: '[CHANNEL]',
    summary: 'follow it no longer',
    arguments: ['channel'],
    parse: ([channel = null]) => ({ do: 'leave', channel }),
  },
  {
    name: 'go',
    usage: 'CHANNEL',
    summary: 'turn to a channel you follow',
    arguments: ['channel'],
    parse: ([channel]) => (channel === undefined ? null : { do: 'go', channel }),
  },
  {
    name: 'msg',
    usage: 'AGENT TEXT',
    summary: 'tell one agent in private',
    arguments: ['agent', 'text'],
    parse: ([agent = ''], rest) => {
      const text = rest(1);
      return agent === '' || text === '' ? null : { do: 'msg', agent, text };
    },
  },
  {
    name: 'reply',
    usage: 'ID TEXT',
    summary: 'answer a message',
    arguments: ['message', 'text'],
    parse: ([message = ''], rest) => {
      const text = rest(1);
      return message === '' || text === '' ? null : { do: 'reply', message, text };
    },
  },
  {
    name: 'thread',
    usage: '[ID]',
    summary: 'one thread alone; what you type then answers it (Ctrl-R)',
    arguments: ['message'],
    parse: ([message = null]) => ({ do: 'thread', message }),
  },
  {
    name: 'threads',
    usage: '[STATE]',
    summary: 'those of this channel, or only open, closed, resolved or pinned ones',
    arguments: ['filter'],
    parse: ([word]) => {
      const only = FILTERS.find((one) => one === word) ?? null;
      return word !== undefined && only === null ? null : { do: 'threads', only };
    },
  },
  mark('pin', '[ID] [NOTE]', 'pin the open thread, or that of a message'),
  mark('unpin', '[ID] [NOTE]', 'pin it no longer'),
  mark('close', '[ID] NOTE', 'close the thread and say why, or put an item of the docket away'),
  mark('reopen', '[ID] [NOTE]', 'open it again'),
  mark('resolve', '[ID] [NOTE]', 'say that it is resolved'),
  mark('unresolve', '[ID] [NOTE]', 'say that it is not'),
  {
    name: 'receipts',
    usage: '[ID]',
    summary: 'what became of a message, by recipient',
    arguments: ['message'],
    parse: ([message = null]) => ({ do: 'receipts', message }),
  },
  {
    name: 'ack',
    usage: 'ID STATUS [REASON]',
    summary: 'say received, processing, done or nack',
    arguments: ['message', 'ack', 'text'],
    parse: ([message = '', word], rest) => {
      const status = ACKS.find((one) => one === word);
      if (message === '' || status === undefined) return null;
      return { do: 'ack', message, status, reason: rest(2) || null };
    },
  },
  {
    name: 'search',
    usage: 'WORDS',
    summary: 'find messages everywhere; in:CHANNEL and from:NAME narrow it',
    arguments: ['text'],
    parse: (_, rest) => (rest(0) === '' ? null : { do: 'search', text: rest(0) }),
  },
  bare('docket', 'what waits for a person, and what to do about it (Ctrl-O)'),
  onDocket('approve', '[WHY]', 'say yes to a gate, or release a held message'),
  onDocket('deny', 'WHY', 'say no, and why'),
  {
    name: 'answer',
    usage: 'ID TEXT',
    summary: 'answer a question on the docket',
    arguments: ['docket', 'text'],
    parse: ([item = ''], rest) => {
      const text = rest(1);
      return item === '' || text === '' ? null : { do: 'answer', item, text };
    },
  },
  bare('claims', 'who holds what, and until when (Ctrl-T)'),
  bare('who', 'who is here, and how the hub knows (Ctrl-G)'),
  bare('board', 'the plan, with who works on what'),
  bare('help', 'keys, commands and marks'),
  bare('quit', 'leave (Ctrl-C)'),
];

const ALIASES: Readonly<Record<string, string>> = {
  exit: 'quit',
  dm: 'msg',
  part: 'leave',
  '?': 'help',
};

export function findRow(name: string): CommandRow | undefined {
  const meant = ALIASES[name] ?? name;
  return COMMAND_ROWS.find((row) => row.name === meant);
}

/** Null for an empty line. Two slashes send a text that begins with one. */
export function parseCommand(line: string): Command | Problem | null {
  if (line.trim() === '') return null;
  if (!line.startsWith('/')) return { do: 'send', text: line };
  if (line.startsWith('//')) return { do: 'send', text: line.slice(1) };
  const name = /^\/(\S*)/.exec(line)?.[1] ?? '';
  const after = line.slice(1 + name.length).trim();
  const row = findRow(name);
  if (row === undefined) {
    return { problem: `there is no /${name}; /help lists the commands, // sends a slash` };
  }
  const words = after === '' ? [] : after.split(/\s+/);
  return row.parse(words, (from) => dropWords(after, from)) ?? { problem: usageOf(row) };
}

function usageOf({ name, usage }: CommandRow): string {
  return `it is written /${name} ${usage}`.trimEnd();
}

/** What follows so many words, spaces and lines as they were. */
function dropWords(text: string, count: number): string {
  let left = text;
  for (let i = 0; i < count; i++) left = left.replace(/^\S+\s*/, '');
  return left;
}
