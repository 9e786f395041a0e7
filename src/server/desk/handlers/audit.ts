/**
 * The record as a list of deeds, read from the log itself, the newest first [AU1]. One call looks at a
 * bounded number of entries: a page that finds little says where to go on. What was said in dms and
 * groups is told to administrators, and to a person who may read there; the hash of a body, to who may
 * read the body.
 */
import { deedOf, isBookkeeping, isDeed } from '../../../core/law/audit.ts';
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { decodeEvent } from '../../../core/law/entry.ts';
import type { Principal } from '../../../core/law/principal.ts';
import type { WorldView } from '../../../core/law/state.ts';
import { checkRead, isOpenChannel } from '../../../core/talk/channel.ts';
import type { MessageHead } from '../../../hub/message-store.ts';
import type { OutputOf, ParsedInputOf } from '../../../wire/operation.ts';
import type { auditList } from '../../../wire/operations/audit.ts';
import type { Handlers, Room } from '../room.ts';
import { mayRead, mayRecall } from './message-lookup.ts';

type Input = ParsedInputOf<typeof auditList>;
type Row = OutputOf<typeof auditList>['deeds'][number];

/** A row, and by what it is known whether it may be shown. */
interface Found {
  readonly row: Row;
  readonly channel: string | null;
  readonly at: number;
  /** It tells of a message, which lies there. */
  readonly isMessage: boolean;
}

/** What one call looks at, in entries and in text. */
const SCANNED_MAX = 4_000;
const SCANNED_CHARS_MAX = 8 * 1024 * 1024;
const BLOCK = 100;
const BLOCK_BYTES = 256 * 1024;
const KIND = /^\{"type":"([a-z.-]+)"/;

export const auditHandlers: Handlers<'audit.list'> = {
  async 'audit.list'(room, input) {
    const { hub } = room;
    const { limit, action } = input;
    if (action !== undefined && isBookkeeping(action)) return noDeed(action);
    const end = input.after === undefined ? hub.stats.entries : Number(input.after);
    const until = input.until === undefined ? end : await hub.positionAt(input.until * 1000);
    const bottom = input.since === undefined ? 0 : await hub.positionAt(input.since * 1000);
    let top = Math.min(end, until, hub.stats.entries);
    const lowest = Math.max(bottom, top - SCANNED_MAX);
    const deeds: Row[] = [];
    let chars = 0;
    while (top > lowest && deeds.length < limit && chars < SCANNED_CHARS_MAX) {
      const from = Math.max(lowest, top - BLOCK);
      const block = await readBlock(room, input, from, top);
      chars += block.chars;
      const rows = await shownOf(room, block.found.toReversed());
      if (isRefusal(rows)) return rows;
      deeds.push(...rows.slice(0, limit - deeds.length));
      top = from;
    }
    // A page that is full goes on below its last row, another one below what was looked at.
    const next = deeds.length >= limit ? (deeds.at(-1)?.position ?? 0) : top;
    return { deeds, next: next > bottom ? String(next) : null };
  },
};

function noDeed(action: string): Refusal {
  const issue = `${action} is bookkeeping, which is not listed; synod log export has it`;
  return refuse('input.invalid', `action: ${issue}`, { violations: [{ field: 'action', issue }] });
}

async function shownOf(
  { hub, by, platform }: Room,
  found: readonly Found[],
): Promise<Row[] | Refusal> {
  const places = found.flatMap(({ isMessage, row }) => (isMessage ? [row.position] : []));
  // Read as any message is, so that what keeps one from a reader keeps its hash, too.
  const read = (await hub.messageTexts(places)).filter((one) => one !== null);
  const messages = new Map(read.map((message) => [message.position, message]));
  return hub.ask((world) =>
    found.flatMap((one) => {
      const message = messages.get(one.row.position);
      const isReadable = message !== undefined && maySee(world, by, message);
      if (by.kind !== 'admin' && !isToldTo(world, by, one, isReadable)) return [];
      if (message === undefined || message.dropped || !isReadable) return [one.row];
      return [{ ...one.row, body_hash: platform.digest(message.body) }];
    }),
  );
}

function maySee(world: WorldView, by: Principal, message: MessageHead): boolean {
  return by.kind === 'admin' || (mayRead(world, by, message) && mayRecall(world, by, message));
}

/** A group of that name that was dissolved is not the one that somebody is in now. */
function isToldTo(
  world: WorldView,
  by: Principal,
  { channel, at, isMessage }: Found,
  isReadable: boolean,
): boolean {
  if (channel === null || isOpenChannel(channel)) return true;
  if (isMessage) return isReadable;
  const since = world.groups.get(channel)?.createdAt ?? 0;
  return checkRead(world, by, channel) === null && at >= since;
}

async function readBlock(
  { hub }: Room,
  input: Input,
  from: number,
  to: number,
): Promise<{ found: Found[]; chars: number }> {
  const found: Found[] = [];
  let chars = 0;
  for (let at = from; at < to; ) {
    const entries = await hub.entries(at, BLOCK_BYTES);
    if (entries.length === 0) break;
    for (const [i, entry] of entries.slice(0, to - at).entries()) {
      chars += entry.length;
      const row = rowOf(entry, at + i, input);
      if (row !== null) found.push(row);
    }
    at += entries.length;
  }
  return { found, chars };
}

function rowOf(
  entry: string,
  position: number,
  { actor, action, subject, outcome }: Input,
): Found | null {
  const [, kind = ''] = KIND.exec(entry) ?? [];
  const isAsked = action === undefined || kind === action || kind.startsWith(`${action}.`);
  if (!isAsked || !isDeed(kind)) return null;
  const event = decodeEvent(entry);
  const deed = deedOf(event);
  if (deed === null) return null;
  const isWanted =
    (actor === undefined || actor === deed.actor || actor === deed.detail.person) &&
    (subject ?? deed.subject) === deed.subject &&
    (outcome ?? deed.outcome) === deed.outcome;
  if (!isWanted) return null;
  const head = { position, at: event.at / 1000, action: kind, actor: deed.actor };
  const { subject: about, outcome: end, detail, channel } = deed;
  const body_hash = event.type === 'gate.asked' ? event.payloadHash : null;
  const row = { ...head, subject: about, outcome: end, detail: { ...detail }, body_hash };
  return { row, channel, at: event.at, isMessage: event.type === 'message.sent' };
}
