/**
 * What the mirror says of an entry: lines, each for the file of a channel, or for that of the space where no
 * channel is concerned [MI1]. A message that is held is mirrored when it is released, at the place of
 * the release; one that is refused never is.
 */
import { deedOf } from '../../core/law/audit.ts';
import { decodeEvent, decodeMessage, type StoredMessage } from '../../core/law/entry.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import { messageId } from '../../core/talk/message-id.ts';

export interface MirrorLine {
  /** Null: of the space. */
  readonly channel: string | null;
  readonly text: string;
}

export type MirrorKind = 'message' | 'mark' | 'gate' | 'turn' | 'receipt';

/** Kinds of events, by how their names begin; the longest first. */
const KINDS: readonly (readonly [start: string, kind: MirrorKind | null])[] = [
  ['turn.renewed', null],
  ['turn.', 'turn'],
  ['gate.', 'gate'],
  ['thread.marked', 'mark'],
  ['ack.recorded', 'receipt'],
  ['inbox.drained', 'receipt'],
  ['message.reviewed', 'receipt'],
];
const TYPE = /^\{"type":"([a-z.-]+)"/;

/** The position of the message that an entry releases, or null. */
export function releasedBy(entry: string): number | null {
  if (!entry.startsWith('{"type":"message.reviewed"')) return null;
  const event = decodeEvent(entry);
  return event.type === 'message.reviewed' && event.isReleased ? event.position : null;
}

/** `released` is the entry of the message that this one releases. */
export function linesOf(entry: string, position: number, released: string | null): MirrorLine[] {
  const message = decodeMessage(entry);
  if (message !== null) {
    return message.held === undefined ? [messageLine(message, position, position)] : [];
  }
  const [, type = ''] = TYPE.exec(entry) ?? [];
  const kind = KINDS.find(([start]) => type.startsWith(start))?.[1] ?? null;
  if (kind === null) return [];
  const event = decodeEvent(entry);
  if (event.type === 'inbox.drained') return drainedLines(event, position);
  const held = released === null ? null : decodeMessage(released);
  if (held !== null && event.type === 'message.reviewed') {
    return [messageLine(held, position, event.position)];
  }
  const deed = deedOf(event);
  if (deed === null) return [];
  const { channel, actor, subject, outcome, detail } = deed;
  const head = { position, kind, at: event.at / 1000, action: type, actor, subject, outcome };
  return [{ channel, text: JSON.stringify({ ...head, detail, ...noteOf(event) }) }];
}

function messageLine(message: StoredMessage, position: number, id: number): MirrorLine {
  const { channel, at, by, seq, body, replyTo, correlationId, dropped } = message;
  const text = JSON.stringify({
    position,
    kind: 'message' satisfies MirrorKind,
    at: at / 1000,
    message_id: messageId(id),
    ...{ channel, seq, sender: by },
    ...(replyTo !== undefined && { reply_to: messageId(replyTo) }),
    ...(correlationId !== undefined && { correlation_id: correlationId }),
    body,
    ...(dropped && { dropped }),
  });
  return { channel, text };
}

/** How far a reader has read, on each channel it read on. */
function drainedLines(
  { at, by, through }: Extract<DurableEvent, { type: 'inbox.drained' }>,
  position: number,
): MirrorLine[] {
  return through.map(([channel, seq]) => {
    const head = { position, kind: 'receipt' satisfies MirrorKind, at: at / 1000 };
    const read = { action: 'inbox.drained', actor: by, subject: channel, outcome: 'consumed' };
    return { channel, text: JSON.stringify({ ...head, ...read, detail: { through: seq } }) };
  });
}

/** What somebody wrote to it, where it is shown to whoever reads the channel. */
function noteOf(event: DurableEvent): { note?: string } {
  const note = 'note' in event ? event.note : 'reason' in event ? event.reason : null;
  return typeof note === 'string' ? { note } : {};
}
