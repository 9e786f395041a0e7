/**
 * Messages read back from the log by position, with a bounded cache of the newest.
 * History itself stays on disk: what memory keeps is at most `bytesMax` of text.
 */
import { decodeMessage, decodeOwnMessage } from '../core/law/entry.ts';
import { readJson } from '../core/law/json.ts';
import type { MessageSent } from '../core/talk/message.ts';
import type { Log } from '../log/log.ts';
import { type OpenTextPage, openTextPage, type TextPage } from './text-page.ts';

/** A message as the hub hands it out, without what was said in it. */
export interface MessageHead extends Omit<MessageSent, 'body'> {
  readonly position: number;
  /** How much text it is in the log: near enough to what it will be in an answer. */
  readonly chars: number;
}

export interface Message extends MessageHead {
  readonly body: Record<string, unknown>;
}

/** With the body as text, for those who pass it on as it is. */
export interface TextMessage extends MessageHead {
  readonly body: string;
}

export interface MessageStore {
  /** Called with each durable batch, in order; the entries are such as `encodeEvent` makes. */
  remember(first: number, entries: readonly string[]): void;
  /** Messages by position, in the order asked; null where the entry is no message. */
  read(positions: readonly number[]): Promise<(Message | null)[]>;
  readTexts(positions: readonly number[]): Promise<(TextMessage | null)[]>;
}

/** Entries that follow on one another. */
interface Run {
  readonly first: number;
  readonly page: TextPage;
  /** What was read of them; made once, since a channel often has several readers. */
  messages: (TextMessage | null)[] | null;
  /** What these weigh. */
  chars: number;
}

/** Of the newest messages; what is older is read back from the log. */
const CACHE_BYTES_MAX = 8 * 1024 * 1024;
/** What a message weighs that was read, beside the text it is a part of. */
const READ_CHARS = 256;
/** What is given up at once; and of all that may be kept, this part. The first is small: many spaces are never told much. */
const PAGE_SIZE_MIN = 4 * 1024;
const PAGE_SIZE_MAX = 256 * 1024;
const PAGE_SHARE = 32;

export function createMessageStore(
  log: Pick<Log, 'at'>,
  bytesMax: number = CACHE_BYTES_MAX,
  openPage: OpenTextPage = openTextPage,
): MessageStore {
  const pageSizeMax = Math.min(PAGE_SIZE_MAX, Math.floor(bytesMax / PAGE_SHARE));
  // In the order of the log: the oldest leaves first.
  const runs: Run[] = [];
  let chars = 0;

  function forget(): void {
    while (chars > bytesMax && runs.length > 0) {
      const { page, chars: ofRead } = runs.shift() as Run;
      chars -= page.size + ofRead;
      page.close();
    }
  }

  function keep(position: number, entry: string): void {
    const last = runs.at(-1);
    if (last !== undefined && last.first + last.page.count === position) {
      const before = last.page.size;
      if (last.page.add(entry)) {
        chars += last.page.size - before;
        return;
      }
    }
    // Before the next is opened: its place may be had again.
    if (chars > bytesMax) forget();
    const page = openPage(Math.min(pageSizeMax, Math.max(PAGE_SIZE_MIN, chars)));
    page.add(entry);
    runs.push({ first: position, page, messages: null, chars: 0 });
    chars += page.size;
  }

  /** Undefined when it is not in memory. */
  function recent(position: number): TextMessage | null | undefined {
    let low = 0;
    let high = runs.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((runs[middle] as Run).first <= position) low = middle;
      else high = middle - 1;
    }
    const run = runs[low];
    const index = position - (run?.first ?? 0);
    if (run === undefined || index < 0 || index >= run.page.count) return undefined;
    run.messages ??= [];
    const known = run.messages[index];
    if (known !== undefined) return known;
    const entry = run.page.read(index);
    const own = decodeOwnMessage(entry);
    const message = own && Object.assign(own, { position, chars: entry.length });
    run.messages[index] = message;
    // Its parts are of the text, which is made for it.
    const weight = READ_CHARS + entry.length;
    run.chars += weight;
    chars += weight;
    return message;
  }

  async function read<T>(
    positions: readonly number[],
    fromMemory: (message: TextMessage) => T,
    fromLog: (message: Message) => T,
  ): Promise<(T | null)[]> {
    // What is in memory now may be evicted while the log is read, so it is taken first.
    const known = positions.map(recent);
    const absent = positions.filter((_, i) => known[i] === undefined);
    if (chars > bytesMax) forget();
    const found = absent.length > 0 ? await log.at(absent) : [];
    let next = 0;
    return positions.map((position, i) => {
      const one = known[i];
      if (one !== undefined) return one && fromMemory(one);
      const text = found[next++] as string;
      const stored = decodeMessage(text);
      return stored && fromLog(Object.assign(stored, { position, chars: text.length }));
    });
  }

  return {
    remember(first, entries) {
      for (let i = 0; i < entries.length; i++) keep(first + i, entries[i] as string);
      if (chars > bytesMax) forget();
    },
    read: (positions) => read(positions, parsed, asIs),
    readTexts: (positions) => read(positions, asIs, unparsed),
  };
}

function asIs<T>(message: T): T {
  return message;
}

function parsed(message: TextMessage): Message {
  return { ...message, body: readJson(message.body) as Record<string, unknown> };
}

function unparsed(message: Message): TextMessage {
  return { ...message, body: JSON.stringify(message.body) };
}
