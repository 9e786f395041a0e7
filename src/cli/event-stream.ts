/**
 * Server-sent events, read line by line as they arrive. One event's text is bounded; what is longer
 * than any message can be ends the stream, because the other end is then no hub.
 */

import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { ErrorEnvelope } from '../wire/errors.ts';
import { fail } from './failure.ts';

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
  for await (const line of createInterface({
    input: source,
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
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
    if (data.length > LINES_MAX) throw fail('hub.foreign', 'the stream does not speak like a hub');
  }
}

const LINES_MAX = 10_000;

/** How the hub refuses a token it has revoked; a stream only says that it ended so. */
export const REVOKED: ErrorEnvelope = {
  error_code: 'identity_failure',
  message: 'the token was revoked',
  detail: { reason: 'access.unknown' },
};
