/**
 * Who waits for whom over messages [R14]: SOX's deadlock query. It is computed when it is asked, from
 * the newest messages of the channels its caller may read; how many of them, how much text and how
 * many recipients are looked at is bounded, so that a question costs no more than a replay.
 */
import { isRefusal, type Refusal } from '../../../core/law/decider.ts';
import { readJson } from '../../../core/law/json.ts';
import type { Principal } from '../../../core/law/principal.ts';
import type { WorldView } from '../../../core/law/state.ts';
import { channelWith, checkRead } from '../../../core/talk/channel.ts';
import { messageId } from '../../../core/talk/message-id.ts';
import { type Receipt, receiptsOf } from '../../../core/talk/receipt.ts';
import { findDeadlocked } from '../../../core/talk/wait-graph.ts';
import type { MessageHead } from '../../../hub/message-store.ts';
import { isQuestion } from '../../../wire/body-text.ts';
import { readInPieces } from '../message-page.ts';
import { onePage } from '../one-page.ts';
import type { Handlers, Room } from '../room.ts';
import { headOnly, mayRead, mayRecall } from './message-lookup.ts';

const CHANNELS_MAX = 200;
const MESSAGES_OF_CHANNEL_MAX = 50;
const MESSAGES_MAX = 500;
const CHARS_MAX = 4_000_000;
/** Who asks a crowd waits for nobody in particular. */
const RECIPIENTS_MAX = 100;

interface Wait {
  readonly message: MessageHead;
  readonly open: readonly Receipt[];
}

export const handleWaits: Handlers<'receipts.waits'>['receipts.waits'] = async (
  room,
  { limit },
) => {
  const { hub, by } = room;
  const recent = await hub.ask((world) => unanswered(world, by));
  if (isRefusal(recent)) return recent;
  const read = await onePage(room, () => readWaits(room, recent.positions));
  if (isRefusal(read)) return read;
  const { waits, isCut } = read ?? NOTHING_READ;
  const stuck = findDeadlocked(
    waits.map(({ message, open }) => ({
      asker: message.by,
      answerers: open.map(({ agent }) => agent),
    })),
  );
  const views = waits
    .map((wait) => waitView(wait, stuck))
    .sort((a, b) => Number(b.deadlocked) - Number(a.deadlocked) || a.since - b.since);
  return {
    waits: views.slice(0, limit),
    deadlocked: [...stuck].sort(),
    has_more: recent.hasMore || isCut || views.length > limit,
  };
};

interface ReadWaits {
  readonly waits: readonly Wait[];
  /** There is more than one call reads. */
  readonly isCut: boolean;
}

const NOTHING_READ: ReadWaits = { waits: [], isCut: true };

/** What asks is found in its body, and bodies may be large: others are served in between [SV9]. */
async function readWaits(
  { hub, by }: Room,
  positions: readonly number[],
): Promise<ReadWaits | Refusal> {
  const waits: Wait[] = [];
  let chars = 0;
  let through = 0;
  for await (const piece of readInPieces({ hub, agent: by.id }, positions)) {
    const asked: MessageHead[] = [];
    for (const message of piece) {
      chars += message?.chars ?? 0;
      if (message !== null && isQuestion(readJson(message.body))) asked.push(headOnly(message));
    }
    const found = await hub.ask((world) =>
      asked.flatMap((message) => waitOn(world, by, message, hub.stamp())),
    );
    if (isRefusal(found)) return found;
    waits.push(...found);
    through += piece.length;
    if (chars > CHARS_MAX && through < positions.length) return { waits, isCut: true };
  }
  return { waits, isCut: false };
}

/** Positions of the newest messages nobody has replied to; the channels last spoken on come first. */
function unanswered(
  world: WorldView,
  by: Principal,
): { positions: readonly number[]; hasMore: boolean } {
  const channels = [...world.channels.values()]
    .filter(({ kind, name, positions, members, past }) => {
      const recipients = members.size + past.size;
      return (
        kind !== 'sox' &&
        positions.head > 0 &&
        recipients > 0 &&
        recipients <= RECIPIENTS_MAX &&
        checkRead(world, by, name) === null
      );
    })
    .sort((a, b) => b.lastSentAt - a.lastSentAt);
  const found: number[] = [];
  let hasMore = channels.length > CHANNELS_MAX;
  for (const { positions } of channels.slice(0, CHANNELS_MAX)) {
    const least = Math.max(1, positions.head - MESSAGES_OF_CHANNEL_MAX + 1);
    hasMore ||= least > 1;
    for (let seq = positions.head; seq >= least; seq -= 1) {
      const position = positions.at(seq);
      if (!world.replies.has(position)) found.push(position);
    }
    if (found.length > MESSAGES_MAX) break;
  }
  return {
    positions: found.slice(0, MESSAGES_MAX),
    hasMore: hasMore || found.length > MESSAGES_MAX,
  };
}

/** The wait on a question, if its sender still waits and somebody is left who could answer. */
function waitOn(world: WorldView, by: Principal, message: MessageHead, at: number): Wait[] {
  const isShown = mayRead(world, by, message) && mayRecall(world, by, message);
  if (!isShown || channelWith(world, message) === undefined) return [];
  const { position, channel, seq, expiresAt = null } = message;
  const receipts = receiptsOf(world, { position, channel, seq, expiresAt }, at).filter(
    ({ agent }) => agent !== message.by,
  );
  if (receipts.some(({ state }) => state === 'acted')) return [];
  const open = receipts.filter(({ state }) => OPEN.has(state));
  return open.length === 0 ? [] : [{ message, open }];
}

const OPEN: ReadonlySet<Receipt['state']> = new Set(['accepted', 'presented', 'consumed']);

function waitView({ message, open }: Wait, stuck: ReadonlySet<string>) {
  const answerers = open.map(({ agent }) => agent);
  return {
    agent_id: message.by,
    waits_for: answerers,
    delivered_to: open.filter(({ state }) => state === 'consumed').map(({ agent }) => agent),
    message_id: messageId(message.position),
    channel: message.channel,
    since: message.at / 1000,
    deadlocked: stuck.has(message.by) && answerers.every((name) => stuck.has(name)),
  };
}
