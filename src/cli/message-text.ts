/**
 * A message for a person: one line, `time channel #seq sender: text  id`. What `send TEXT` wrote is
 * shown as text and every other body as JSON. Further lines of a text stand behind a bar, so that
 * no message can look like two.
 */
import { plainText } from '../wire/body-text.ts';
import { isPost, ownersOf } from '../wire/post.ts';
import type { MessageEnvelope } from '../wire/schemas.ts';
import { noticeText } from './notice-text.ts';
import { type Colours, jsonText, neutralise } from './terminal.ts';

export function messageText(message: MessageEnvelope, colours: Colours): string {
  const {
    channel,
    sender,
    seq,
    message_id: id,
    reply_to: replyTo,
    correlation_id: about,
  } = message;
  const { actor, standing } = message.actor === undefined ? (message._meta ?? {}) : message;
  const [first = '', ...more] = bodyLines(message);
  const marks = [
    neutralise(id),
    ...(actor === undefined ? [] : [`on what ${neutralise(actor)} (${standing}) did`]),
    ...(replyTo == null ? [] : [`re ${neutralise(replyTo)}`]),
    ...(about == null ? [] : [`about ${neutralise(about)}`]),
    ...(message.ancestors?.length ? [`${message.ancestors.length} before it`] : []),
  ];
  const head = [
    colours.dim(clockTime(message.sent_at)),
    colours.place(`${neutralise(channel)} #${seq}`),
    `${colours.name(neutralise(sender))}:`,
    first,
    colours.dim(`[${marks.join(', ')}]`),
  ].join(' ');
  return [head, ...more.map((line) => `  │ ${line}`)].join('\n');
}

function bodyLines(message: MessageEnvelope): string[] {
  const { body } = message;
  const text = plainText(body) ?? postText(body) ?? noticeText(message, clockTime);
  if (text === null) return [neutralise(jsonText(body))];
  return text.split(/\r?\n/).map(neutralise);
}

const POST_FIELDS: ReadonlySet<string> = new Set([
  ...['kind', 'title', 'text', 'type', 'tier', 'owners'],
]);

/** `post (decision, tier 1): title`, and the text below; null for what says more than that. */
function postText(body: MessageEnvelope['body']): string | null {
  const { title = '', text = '', type, tier } = body;
  if (!isPost(body) || typeof title !== 'string' || typeof text !== 'string') return null;
  if (Object.keys(body).some((field) => !POST_FIELDS.has(field))) return null;
  const owners = ownersOf(body);
  const about = [
    ...(type === undefined ? [] : [String(type)]),
    ...(tier === undefined ? [] : [`tier ${tier}`]),
    ...(owners.length === 0 ? [] : [`owned by ${owners.join(', ')}`]),
  ].join(', ');
  const head = about === '' ? 'post:' : `post (${about}):`;
  return `${head} ${[title, text].filter((one) => one !== '').join('\n')}`;
}

/** Local time of day; the date too when it is not today. */
export function clockTime(seconds: number, now: Date = new Date()): string {
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) return '?';
  const two = (value: number) => String(value).padStart(2, '0');
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  if (at.toDateString() === now.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const;

/** How long ago: whole units that have passed. */
export function ageText(seconds: number): string {
  for (const [size, unit] of UNITS) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}

/** How long yet: the nearest unit, and minutes where an hour would say too little. */
export function leftText(seconds: number): string {
  if (seconds < 59.5) return `${Math.max(0, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) {
    const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
    return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
  }
  return `${Math.round(minutes / 1440)} d`;
}
