/**
 * Chat. What is said to all goes to the plain channel `synapse/chat`, where every other door
 * can follow it; what is directed goes as a dm to the agents it means, and to nobody else
 * [SY4]. History is read back from the log, under the bound of a frame.
 */

import { isRefusal } from '../../../core/law/decider.ts';
import { createMatcher, isGlob } from '../../../core/law/glob.ts';
import { dmName } from '../../../core/law/name.ts';
import { isAgentName } from '../../../core/law/principal.ts';
import type { WorldView } from '../../../core/law/state.ts';
import { isFields } from '../../../wire/fields.ts';
import { send } from '../../../wire/operations/channels.ts';
import { type Frame, numberOf, own, textOf } from './frame.ts';
import { type Fields, fits, newestThatFit, type Speech } from './speech.ts';
import { type Handler, refuseWith, type Turn } from './turn.ts';

export const CHAT_CHANNEL = 'synapse/chat';
const RECIPIENTS_MAX = 256;
const HISTORY_MAX = 10_000;
const HISTORY_BYTES_MAX = 900_000;

/** Never stored and never passed on: the secret [SY3], and what only the hub may say. */
const DROPPED: ReadonlySet<string> = new Set([
  'token',
  'takeover',
  'idem_key',
  'req_id',
  'sender',
  'hub_id',
  'msg_id',
  'sent_at',
]);

export interface Spoken {
  readonly by: string;
  readonly at: number;
  readonly position: number;
  readonly body: unknown;
}

/** The chat frame of a message, whoever sent it and through whatever door. */
export function chatFrame(spoken: Spoken, target: string): Fields {
  const { by, at, position, body } = spoken;
  const fields = isFields(body) ? body : {};
  const kept = Object.entries(fields).filter(([name]) => !DROPPED.has(name));
  return {
    ...Object.fromEntries(kept),
    sender: by,
    target: textOf(fields, 'target') || target,
    type: 'chat',
    payload: payloadOf(fields, JSON.stringify(body)),
    timestamp: numberOf(fields, 'timestamp') || at / 1000,
    sent_at: at / 1000,
    msg_id: position + 1,
  };
}

export function chatHandler(speech: Speech): Handler {
  return async (turn) => {
    const target = textOf(turn.frame, 'target') || 'all';
    const body = bodyOf(turn.frame, target);
    if (!fits(JSON.stringify(body))) {
      turn.reply('error', 'the message does not fit into a frame', {
        reason_code: 'body.too-large',
        request_type: 'chat',
      });
      return;
    }
    if (target === 'all') {
      turn.callThen(send, { channel: CHAT_CHANNEL, body }, (answer) => {
        if ('error' in answer) refuseWith(turn, 'error', answer.error);
      });
      return;
    }
    await direct(turn, speech, target, body);
  };
}

async function direct(turn: Turn, speech: Speech, target: string, body: Fields): Promise<void> {
  const names = recipientsOf(target, turn.online()).filter((name) => name !== turn.name);
  if (names.length > RECIPIENTS_MAX) {
    const payload = `${names.length} agents match; one message reaches ${RECIPIENTS_MAX}: name fewer`;
    turn.reply('error', payload, { reason_code: 'limit.reached', request_type: 'chat' });
    return;
  }
  const answers = await Promise.all(
    names.map((name) => turn.call(send, { channel: dmName(turn.name, name), body })),
  );
  const refused = answers.find((answer) => 'error' in answer);
  if (refused !== undefined && 'error' in refused) return refuseWith(turn, 'error', refused.error);
  const [first] = answers.flatMap((answer) => ('ok' in answer ? [answer.ok] : []));
  if (first === undefined) {
    const payload = `nobody answers to ${target.slice(0, 200)}`;
    turn.reply('error', payload, { reason_code: 'recipient.unknown', request_type: 'chat' });
    return;
  }
  // The sender hears itself once, as with a broadcast.
  const position = Number(String(first.message_id).slice(1));
  const at = Number(first.sent_at) * 1000;
  const frame = chatFrame({ by: turn.name, at, position, body }, target);
  turn.pass(speech.relay({ ...frame, recipients: names }));
}

/**
 * Whom a target means: a name, a list, a glob, a project. Of globs and projects those who are
 * here; a name that nobody bears now gets it when it comes.
 */
export function recipientsOf(target: string, online: readonly string[]): string[] {
  const names = new Set<string>();
  const parts = target.split(',').map((part) => part.trim());
  for (const part of parts) {
    if (part === '' || (part === 'all' && parts.length > 1)) continue;
    const matches = createMatcher(part);
    const found = online.filter((name) => matches(name) || matches(projectOf(name)));
    for (const name of found) names.add(name);
    if (found.length === 0 && !isGlob(part) && isAgentName(part)) names.add(part);
  }
  return [...names].sort();
}

function projectOf(name: string): string {
  const slash = name.indexOf('/');
  return slash < 0 ? name : name.slice(0, slash);
}

function bodyOf(frame: Frame, target: string): Fields {
  const kept = Object.entries(frame).filter(([name]) => !DROPPED.has(name));
  const timestamp = numberOf(frame, 'timestamp');
  const { timestamp: _, ...fields } = Object.fromEntries(kept);
  return {
    ...fields,
    type: 'chat',
    target,
    payload: payloadOf(frame, ''),
    ...(timestamp && { timestamp }),
  };
}

/** Text as it is; anything else as JSON; a message of another door by its text, or whole. */
function payloadOf(fields: Frame, otherwise: string): string {
  const payload = own(fields, 'payload') ?? own(fields, 'text');
  if (typeof payload === 'string') return payload;
  return payload === undefined || payload === null ? otherwise : JSON.stringify(payload);
}

export function historyHandler(speech: Speech): Handler {
  return async (turn) => {
    const asked = numberOf(turn.frame, 'limit');
    const limit = asked === undefined ? null : Math.max(1, Math.floor(asked));
    const { frames, isCut } = await readChats(turn, speech, { newest: limit ?? HISTORY_MAX });
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
    const { frames, isCut } = await readChats(turn, speech, { since });
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

/** Read a page at a time: bodies may be large, and only so much fits anyway. */
async function readChats(
  turn: Turn,
  speech: Speech,
  span: Span,
): Promise<{ frames: (Fields & { msg_id?: unknown })[]; isCut: boolean }> {
  const found = await turn.hub.ask((world) => positionsOf(world, turn.name, span));
  if (isRefusal(found)) return { frames: [], isCut: true };
  const { positions, isCut } = found;
  const isNewest = 'newest' in span;
  const frames: Fields[] = [];
  let bytes = 0;
  let left = [...positions];
  while (left.length > 0 && bytes < HISTORY_BYTES_MAX) {
    const page = isNewest ? left.slice(-100) : left.slice(0, 100);
    left = isNewest ? left.slice(0, -100) : left.slice(100);
    const read: Fields[] = [];
    for (const message of await turn.hub.messages(page)) {
      if (message === null) continue;
      const frame = { ...chatFrame(message, 'all'), hub_id: speech.hubId };
      bytes += message.chars;
      read.push(frame);
    }
    if (isNewest) frames.unshift(...read);
    else frames.push(...read);
  }
  return { frames, isCut: isCut || left.length > 0 };
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
