/**
 * Messages read back from the log by position, with a bounded cache of the newest.
 * History itself stays on disk: what memory keeps is at most `bytesMax` of text.
 */
import { decodeMessage, decodeOwnMessage } from '../core/law/entry.ts';
import { readJson } from '../core/law/json.ts';
import type { MessageSent } from '../core/talk/message.ts';
import type { Log } from '../log/log.ts';

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

interface Batch {
  readonly first: number;
  readonly entries: readonly string[];
  /** What was read of it; made once, since a channel often has several readers. */
  messages: (TextMessage | null)[] | null;
  chars: number;
}

const FORGOTTEN: Batch = { first: -1, entries: [], messages: null, chars: 0 };

/** What a message weighs that was read, beside the text it is a part of. */
const READ_CHARS = 256;

export function createMessageStore(log: Pick<Log, 'at'>, bytesMax: number): MessageStore {
  // Batches come in log order, so the newest ones are a sorted list that only loses its head.
  let batches: Batch[] = [];
  let start = 0;
  let chars = 0;

  function forget(): void {
    while (chars > bytesMax && start < batches.length) {
      chars -= (batches[start] as Batch).chars;
      // Its place stays until the list is moved; what it held must not.
      batches[start++] = FORGOTTEN;
    }
    // Moving the list costs its length; done when half of it is gone, that is nothing per batch.
    if (start * 2 <= batches.length) return;
    batches = batches.slice(start);
    start = 0;
  }

  /** Undefined when it is not in memory. */
  function recent(position: number): TextMessage | null | undefined {
    let low = start;
    let high = batches.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((batches[middle] as Batch).first <= position) low = middle;
      else high = middle - 1;
    }
    const batch = batches[low];
    const entry = batch?.entries[position - batch.first];
    if (batch === undefined || entry === undefined) return undefined;
    batch.messages ??= [];
    const known = batch.messages[position - batch.first];
    if (known !== undefined) return known;
    const own = decodeOwnMessage(entry);
    const message = own && Object.assign(own, { position, chars: entry.length });
    batch.messages[position - batch.first] = message;
    batch.chars += READ_CHARS;
    chars += READ_CHARS;
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
      let size = 0;
      for (const entry of entries) size += entry.length;
      batches.push({ first, entries, messages: null, chars: size });
      chars += size;
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
