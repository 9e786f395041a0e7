/**
 * Server-sent events, as they arrive. What one event may hold is bounded; what is longer than any
 * message can be ends the stream, because the other end is then no hub.
 */
import type { Readable } from 'node:stream';
import { SynodError } from '../error.ts';

const EVENT_CHARS_MAX = 16 * 1024 * 1024;

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | null;
}

/** A comment is handed out as an event named `:`, because the hub says in one where the stream starts. */
export async function* readEvents(source: Readable): AsyncGenerator<ServerEvent> {
  let event = 'message';
  let id: string | null = null;
  let data: string[] = [];
  for await (const line of readLines(source)) {
    if (line === '') {
      if (data.length > 0) yield { event, data: data.join('\n'), id };
      event = 'message';
      data = [];
      continue;
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === '') yield { event: ':', data: value, id };
    else if (field === 'event') event = value;
    else if (field === 'id') id = value;
    else if (field === 'data') data.push(value);
  }
}

async function* readLines(source: Readable): AsyncGenerator<string> {
  let rest = '';
  let eventChars = 0;
  for await (const chunk of source.setEncoding('utf8')) {
    eventChars += chunk.length;
    rest += chunk;
    if (eventChars > EVENT_CHARS_MAX) {
      throw new SynodError('hub.foreign', 'the stream does not speak like a hub');
    }
    if (!chunk.includes('\n')) continue;
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (lines.includes('')) eventChars = rest.length;
    yield* lines;
  }
}
