/** Open threads as rows of a tree, and one of them as a text to read. */
import type { CallOutput } from '../../../src/client/index.ts';
import { plainText } from '../../../src/wire/body-text.ts';
import { agoText } from './docket-rows.ts';
import { plainWords } from './plain-text.ts';

/** What is needed of a row of `threads.list`, and of a message of `threads.get`. */
export type ThreadHead = Pick<
  CallOutput<'threads.list'>['threads'][number],
  'thread_id' | 'channel' | 'sender' | 'sent_at' | 'title' | 'reply_count'
>;
export type ThreadMessage = Pick<
  CallOutput<'threads.get'>['replies'][number],
  'message_id' | 'sender' | 'sent_at' | 'body'
>;

export interface ThreadRow {
  readonly id: string;
  readonly label: string;
  readonly description: string;
}

export function threadRows(threads: readonly ThreadHead[], now: number): ThreadRow[] {
  return threads.map(({ thread_id: id, channel, sender, sent_at, title, reply_count: count }) => ({
    id,
    label: plainWords(title ?? `${sender} on ${channel}`),
    description: `${plainWords(channel)} · ${count} ${count === 1 ? 'reply' : 'replies'} · ${agoText(now - sent_at)}`,
  }));
}

/** Read only, and plain: nothing that was said is markup. */
export function threadText(
  messages: readonly ThreadMessage[],
  { isMore }: { readonly isMore: boolean },
): string {
  const parts = messages.map(({ message_id: id, sender, sent_at, body }) => {
    const said = plainText(body) ?? JSON.stringify(body, null, 2);
    const lines = said.split(/\r?\n/).map((line) => `    ${plainLine(line)}`);
    const at = new Date(sent_at * 1000).toISOString().replace('T', ' ').slice(0, 19);
    return [`${plainWords(sender)}  ${at}  ${id}`, ...lines].join('\n');
  });
  const rest = isMore ? ['… and more: synod thread shows all of it'] : [];
  return `${[...parts, ...rest].join('\n\n')}\n`;
}

function plainLine(line: string): string {
  // A text document obeys nothing, but what cannot be seen is shown.
  return line.replace(/[\p{Cc}\p{Cf}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}
