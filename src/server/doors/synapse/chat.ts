/**
 * Chat. What is said to all goes to the plain channel `synapse/chat`, where every other door
 * can follow it; what is directed goes as a dm to the agents it means [SY4]. History is read
 * back from the log, under the bound of a frame.
 */

import { isRefusal } from '../../../core/law/decider.ts';
import { readJson } from '../../../core/law/json.ts';
import { dmName } from '../../../core/law/name.ts';
import type { WorldView } from '../../../core/law/state.ts';
import { replay, send } from '../../../wire/operations/channels.ts';
import { readInPieces } from '../../desk/message-page.ts';
import { CHAT_CHANNEL, chatBody, chatFrame } from './chat-body.ts';
import { numberOf, textOf } from './frame.ts';
import { recipientsOf } from './recipients.ts';
import { type Fields, fits, newestThatFit, type Speech } from './speech.ts';
import { type Handler, refuseWith, type Turn } from './turn.ts';

const RECIPIENTS_MAX = 256;
/** A name or a glob of names. */
const PART_CHARS_MAX = 256;
const HISTORY_MAX = 10_000;
const HISTORY_BYTES_MAX = 900_000;

/** A frame as short as this fits again: written anew, no character of it takes more than six. */
const FITTING_CHARS = 50_000;

export function chatHandler(): Handler {
  return (turn) => {
    const target = textOf(turn.frame, 'target') || 'all';
    const body = chatBody(turn.frame, turn.hub.stamp());
    if (turn.chars > FITTING_CHARS && !fits(JSON.stringify(body))) {
      turn.reply('error', 'the message does not fit into a frame', {
        reason_code: 'body.too-large',
        request_type: 'chat',
      });
      return undefined;
    }
    if (target !== 'all') return direct(turn, target);
    // Nothing is awaited: the next frame of a crowd is read at once.
    turn.callThen(send, { channel: CHAT_CHANNEL, body }, (answer) => {
      if ('error' in answer) refuseWith(turn, 'error', answer.error);
    });
    return undefined;
  };
}

/**
 * A dm for each agent it means. The door is one room: the first copy names them all, and by that whoever else
 * listens hears it too, once, as in the original, at whichever server of several they are [SY4].
 */
async function direct(turn: Turn, target: string): Promise<void> {
  // Each is held against everybody who is here.
  const parts = target.split(',', RECIPIENTS_MAX + 1);
  if (parts.length > RECIPIENTS_MAX || parts.some(({ length }) => length > PART_CHARS_MAX)) {
    const payload = `a target names at most ${RECIPIENTS_MAX} between commas, each in ${PART_CHARS_MAX} characters`;
    turn.reply('error', payload, { reason_code: 'limit.reached', request_type: 'chat' });
    return;
  }
  const names = recipientsOf(target, turn.online()).filter((name) => name !== turn.name);
  if (names.length > RECIPIENTS_MAX) {
    const payload = `${names.length} agents match; one message reaches ${RECIPIENTS_MAX}: name fewer`;
    turn.reply('error', payload, { reason_code: 'limit.reached', request_type: 'chat' });
    return;
  }
  const now = turn.hub.stamp();
  const first = chatBody(turn.frame, now, { target, recipients: names });
  const copy = chatBody(turn.frame, now, { target });
  const answers = await Promise.all(
    names.map((name, i) =>
      turn.call(send, { channel: dmName(turn.name, name), body: i === 0 ? first : copy }),
    ),
  );
  const refused = answers.find((answer) => 'error' in answer);
  if (refused !== undefined && 'error' in refused) return refuseWith(turn, 'error', refused.error);
  if (answers.length === 0) {
    const payload = `nobody answers to ${target.slice(0, 200)}`;
    turn.reply('error', payload, { reason_code: 'recipient.unknown', request_type: 'chat' });
  }
}

export function historyHandler(speech: Speech): Handler {
  return async (turn) => {
    const asked = numberOf(turn.frame, 'limit');
    const limit = asked === undefined ? null : Math.max(1, Math.floor(asked));
    const chats = await readHistory(turn, speech, { newest: limit ?? HISTORY_MAX });
    if (chats === null) return;
    const { frames, isCut } = chats;
    const fitting = newestThatFit(frames, HISTORY_BYTES_MAX);
    turn.reply('history_snapshot', `${fitting.rows.length} messages`, {
      history: fitting.rows,
      requested_limit: limit ?? 'all',
      ...((fitting.isCut || (limit === null && isCut)) && { truncated: true }),
    });
  };
}

/** Oldest first, so that whoever goes on from the last `msg_id` it got misses nothing. */
export function resumeHandler(speech: Speech): Handler {
  return async (turn) => {
    const since = Math.max(0, Math.floor(numberOf(turn.frame, 'since') ?? 0));
    const chats = await readHistory(turn, speech, { since });
    if (chats === null) return;
    const { frames, isCut } = chats;
    const fitting = newestThatFit([...frames].reverse(), HISTORY_BYTES_MAX);
    const messages = fitting.rows.reverse();
    turn.reply('resume_snapshot', `${messages.length} messages after ${since}`, {
      since,
      messages,
      ...((fitting.isCut || isCut) && { truncated: true, next_since: messages.at(-1)?.msg_id }),
    });
  };
}

type Span = { readonly newest: number } | { readonly since: number };

interface Chats {
  readonly frames: (Fields & { msg_id?: unknown })[];
  readonly isCut: boolean;
}

/** To plugins and the record it is a replay of the chat. Null when that was refused, and said so. */
async function readHistory(turn: Turn, speech: Speech, span: Span): Promise<Chats | null> {
  const read: { chats: Chats } = { chats: { frames: [], isCut: false } };
  const answer = await turn.callAs(replay, { channel: CHAT_CHANNEL }, async () => {
    read.chats = await readChats(turn, speech, span);
    return { messages: read.chats.frames };
  });
  if ('ok' in answer) return read.chats;
  refuseWith(turn, 'error', answer.error);
  return null;
}

/** Read in pieces, with others served in between: bodies may be large, and only so much fits anyway. */
async function readChats(turn: Turn, speech: Speech, span: Span): Promise<Chats> {
  const { hub, name } = turn;
  const found = await hub.ask((world) => positionsOf(world, name, span));
  if (isRefusal(found)) return { frames: [], isCut: true };
  const isNewest = 'newest' in span;
  const positions = isNewest ? found.positions.toReversed() : found.positions;
  const frames: Fields[] = [];
  let bytes = 0;
  let through = 0;
  for await (const piece of readInPieces({ hub, agent: name }, positions)) {
    for (const message of piece) {
      if (message === null) continue;
      const spoken = { ...message, body: readJson(message.body) as Fields };
      frames.push({ ...chatFrame(spoken, 'all'), hub_id: speech.hubId });
      bytes += message.chars;
    }
    through += piece.length;
    if (bytes >= HISTORY_BYTES_MAX) break;
  }
  if (isNewest) frames.reverse();
  return { frames, isCut: found.isCut || through < positions.length };
}

/** Where the chats lie that the agent may read: those to all, and its own dms. */
function positionsOf(
  world: WorldView,
  agent: string,
  span: Span,
): { positions: number[]; isCut: boolean } {
  const dms = [...(world.agents.get(agent)?.memberships.keys() ?? [])].filter((name) =>
    name.startsWith('dm/'),
  );
  const all: number[] = [];
  let isCut = false;
  for (const name of [CHAT_CHANNEL, ...dms]) {
    const channel = world.channels.get(name);
    if (channel === undefined || isClosed(channel.settings?.replayPolicy)) continue;
    const { positions, held } = channel;
    let from = 'since' in span ? positions.lastAtOrBefore(span.since - 1) + 1 : 1;
    let to = positions.head;
    if ('newest' in span) from = Math.max(from, to - Math.min(span.newest, HISTORY_MAX) + 1);
    else to = Math.min(to, from + HISTORY_MAX - 1);
    isCut ||= ('newest' in span && from > 1) || to < positions.head;
    for (let seq = from; seq <= to; seq++) if (!held?.has(seq)) all.push(positions.at(seq));
  }
  all.sort((a, b) => a - b);
  if (!('newest' in span)) return { positions: all, isCut };
  return { positions: all.slice(-span.newest), isCut: isCut || all.length > span.newest };
}

function isClosed(policy: string | undefined): boolean {
  return policy === 'admin_only' || policy === 'custom';
}
