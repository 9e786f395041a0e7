/**
 * One line of the relay file: what happened in public, short enough to read by the
 * hundred. Private channels never come here, and neither does what is still held
 * for review [RL1].
 */

import { CLAIMS_CHANNEL, channelKind } from '../../core/law/name.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import { messageId } from '../../core/talk/message-id.ts';

export const TEXT_CHARS_MAX = 280;
/** Where people put the words of a message, the likeliest first. */
const TEXT_FIELDS = [
  'text',
  'subject',
  'question',
  'message',
  'summary',
  'title',
  'content',
  'note',
];

/** A line of any shape, as far as the file needs it. */
export interface Line {
  readonly v: number;
  /** Position in the log. */
  readonly n: number;
}

export interface RelayShape {
  /** `v` of every line. */
  readonly version: number;
  /** Says where a file begins, at the position before its first line. */
  start(position: number, at: number, hub: string): Line;
  /** `position` is where it became public; one that was held for review has an earlier one of its own. */
  message(message: PublicMessage, position: number, id: number, hub: string): Line | null;
  work(event: DurableEvent, position: number, hub: string): Line | null;
}

interface RelayLine extends Line {
  readonly v: 2;
  /** Position in the log: the cursor of whoever reads. */
  readonly n: number;
  /** The message, or the claim or task it is about. */
  readonly i: string;
  readonly ty: string;
  readonly s: string;
  readonly to: string;
  readonly p: string;
  /** Milliseconds. */
  readonly t: number;
  /** The hub that wrote it. */
  readonly h: string;
}

export interface PublicMessage {
  readonly channel: string;
  readonly by: string;
  readonly at: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What is public, for `synod relay` and whoever reads JSON. */
export const publicShape: RelayShape = {
  version: 2,
  start: (n, t, h) => ({
    ...{ v: 2, n, i: '', ty: 'relay.start', s: 'synod', to: '', p: '' },
    ...{ t, h },
  }),
  message: messageLine,
  work: workLine,
};

function messageLine(
  message: PublicMessage,
  position: number,
  id: number,
  hub: string,
): RelayLine | null {
  if (channelKind(message.channel) !== 'plain') return null;
  return {
    v: 2,
    n: position,
    i: messageId(id),
    ty: 'message',
    s: message.by,
    to: message.channel,
    p: shortText(message.body),
    t: message.at,
    h: hub,
  };
}

function workLine(event: DurableEvent, position: number, hub: string): RelayLine | null {
  const said = sentenceOf(event);
  if (said === null) return null;
  const { by, id, text } = said;
  return {
    v: 2,
    n: position,
    i: id,
    ty: event.type,
    s: by,
    to: CLAIMS_CHANNEL,
    p: cut(text),
    t: event.at,
    h: hub,
  };
}

export function sentenceOf(event: DurableEvent): { by: string; id: string; text: string } | null {
  switch (event.type) {
    case 'claim.taken': {
      const paths = event.scope?.paths.map(String).join(' ') ?? '';
      const text = [`takes ${event.id}`, paths, event.note].filter(Boolean).join(': ');
      return { by: event.by, id: event.id, text };
    }
    case 'claim.renewed':
      return { by: event.by, id: event.id, text: `keeps ${event.id}` };
    case 'claim.updated': {
      const text = [`${event.id} is ${event.status}`, event.note].filter(Boolean).join(': ');
      return { by: event.by, id: event.id, text };
    }
    case 'claim.offered':
      if (event.to === null) return null;
      return { by: event.by, id: event.id, text: `offers ${event.id} to ${event.to}` };
    case 'claim.handed-off':
      return { by: event.by, id: event.id, text: `hands ${event.id} to ${event.to}` };
    case 'claim.released':
      return { by: event.by, id: event.id, text: `releases ${event.id}` };
    case 'claim.expired':
      return { by: event.owner, id: event.id, text: `${event.id} lapsed` };
    case 'task.escalated':
      return {
        by: event.by,
        id: event.id,
        text: `${event.id} needs a person after ${event.tries} tries`,
      };
    default:
      return null;
  }
}

function shortText(body: Readonly<Record<string, unknown>>): string {
  for (const field of TEXT_FIELDS) {
    const value = body[field];
    if (typeof value === 'string' && value.trim() !== '') return cut(value);
  }
  return cut(JSON.stringify(body));
}

/** One line, cut between characters and never inside one. */
function cut(text: string): string {
  // Bodies may have a MiB; what is far behind the cut need not be looked at.
  const line = text
    .slice(0, 8 * TEXT_CHARS_MAX)
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= TEXT_CHARS_MAX) return line;
  const kept = line.slice(0, TEXT_CHARS_MAX - 1);
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}
