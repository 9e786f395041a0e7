/**
 * The record as a list of deeds, read from the log itself, the newest first [AU1]. One call looks at a
 * bounded number of entries: a page that finds little says where to go on. What was said in dms and
 * groups is told to administrators, and to a person who may read there.
 */
import { deedOf, isDeed } from '../../../core/law/audit.ts';
import { isRefusal } from '../../../core/law/decider.ts';
import { decodeEvent } from '../../../core/law/entry.ts';
import type { WorldView } from '../../../core/law/state.ts';
import type { DurableEvent } from '../../../core/law/world.ts';
import { checkRead, isOpenChannel } from '../../../core/talk/channel.ts';
import type { OutputOf, ParsedInputOf } from '../../../wire/operation.ts';
import type { auditList } from '../../../wire/operations/audit.ts';
import type { Handlers, Room } from '../room.ts';

type Input = ParsedInputOf<typeof auditList>;
type Row = OutputOf<typeof auditList>['deeds'][number];
/** With the channel it is about, which is not shown. */
type Found = Row & { readonly channel: string | null };

/** What one call looks at, in entries and in text. */
const SCANNED_MAX = 4_000;
const SCANNED_CHARS_MAX = 8 * 1024 * 1024;
const BLOCK = 100;
const BLOCK_BYTES = 256 * 1024;
const KIND = /^\{"type":"([a-z.-]+)"/;

export const auditHandlers: Handlers<'audit.list'> = {
  async 'audit.list'(room, input) {
    const { hub, by } = room;
    const { limit } = input;
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
      const shown = await hub.ask((world) =>
        by.kind === 'admin' ? block.found : block.found.filter((one) => isShown(world, room, one)),
      );
      if (isRefusal(shown)) return shown;
      for (const { channel: _, ...row } of shown.toReversed()) {
        if (deeds.length >= limit) break;
        deeds.push(row);
      }
      top = from;
    }
    // A page that is full goes on below its last row, another one below what was looked at.
    const next = deeds.length >= limit ? (deeds.at(-1)?.position ?? 0) : top;
    return { deeds, next: next > bottom ? String(next) : null };
  },
};

function isShown(world: WorldView, { by }: Room, { channel }: Found): boolean {
  return channel === null || isOpenChannel(channel) || checkRead(world, by, channel) === null;
}

async function readBlock(
  { hub, platform }: Room,
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
      const row = rowOf(entry, at + i, input, platform.digest);
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
  digest: (text: string) => string,
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
  const body_hash = bodyHash(event, digest);
  return { ...head, subject: about, outcome: end, detail: { ...detail }, body_hash, channel };
}

function bodyHash(event: DurableEvent, digest: (text: string) => string): string | null {
  if (event.type === 'gate.asked') return event.payloadHash;
  if (event.type !== 'message.sent' || event.dropped) return null;
  // As it is read from the log it is JSON, not text.
  return digest(JSON.stringify(event.body));
}
