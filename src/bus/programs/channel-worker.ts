/**
 * A worker that answers on a channel in place of a pipe: it reads what is said, answers what is meant
 * for it, one message at a time, and tells the sender when it cannot. It is a brain and manners: it
 * never answers itself, the hub or another worker, leaves a pause between answers, and gives each
 * sender so many an hour, so that no two of them talk for ever [WP37].
 */
import type { AnswerTurn, Outcome } from './acp-agent.ts';
import type { Said } from './acp-sessions.ts';
import { messageOfError } from './program-error.ts';

/** A message as it was heard. */
export interface Heard {
  readonly id: string;
  readonly channel: string;
  readonly sender: string;
  /** Null when it is no text. */
  readonly text: string | null;
  readonly replyTo: string | null;
  readonly origin: 'agent' | 'worker' | 'hub';
  readonly isDirect: boolean;
}

/** The way back to the channel. */
export interface ChannelPort {
  /** Answers the id of the answer. */
  reply(to: Heard, text: string): Promise<string>;
  refuse(to: Heard, reason: string): Promise<void>;
  note(text: string): void;
}

export interface ChannelManners {
  readonly name: string;
  /** Channels on which everything is answered, not only what names the worker. */
  answersAll(channel: string): boolean;
  readonly contextMax: number;
  readonly answerCharsMax: number;
  readonly everyMs: number;
  readonly hourlyMax: number;
}

export type AnswerText = (turn: AnswerTurn) => Promise<Outcome>;

const CONTEXT_CHARS_MAX = 500;
const CHANNELS_KEPT = 1_000;
const SENDERS_KEPT = 10_000;
const OWN_ANSWERS_KEPT = 10_000;
const REASON_CHARS_MAX = 400;
const HOUR_MS = 3_600_000;

export async function answerOnChannel(
  answer: AnswerText,
  messages: AsyncIterable<Heard>,
  port: ChannelPort,
  manners: ChannelManners,
  signal: AbortSignal,
): Promise<void> {
  const context = createContext(manners.contextMax);
  const budget = createBudget(manners.hourlyMax);
  const answers = new Set<string>();
  const own = namePattern(manners.name);
  let nextAt = 0;
  for await (const heard of messages) {
    const said = heard.text;
    const isMine = heard.sender === manners.name;
    const isAsked = !isMine && isFor(heard, manners, answers, own);
    const before = context.of(heard.channel);
    if (said !== null) context.add(heard.channel, isMine ? null : heard.sender, said);
    if (!isAsked) continue;
    try {
      if (said === null) throw new Error('only texts are answered: send {"text": "…"}');
      if (!budget.take(heard.sender, Date.now())) {
        throw new Error(`${manners.hourlyMax} answers an hour are given to one sender; ask later`);
      }
      await pause(nextAt - Date.now(), signal);
      const text = await think(answer, said, before, signal);
      if (text === '') throw new Error('there was nothing to say');
      const cut = cutText(text, manners.answerCharsMax);
      keep(answers, await port.reply(heard, cut), OWN_ANSWERS_KEPT);
      nextAt = Date.now() + manners.everyMs;
    } catch (error) {
      // What was interrupted is owed still, and is answered after the next start.
      if (signal.aborted) return;
      const reason = messageOfError(error).slice(0, REASON_CHARS_MAX);
      port.note(`${heard.id} of ${heard.sender} has no answer: ${reason}`);
      await port.refuse(heard, reason).catch((cause: unknown) => {
        port.note(`and ${heard.sender} could not be told: ${messageOfError(cause)}`);
      });
    }
  }
}

async function think(
  answer: AnswerText,
  text: string,
  history: readonly Said[],
  signal: AbortSignal,
): Promise<string> {
  const said: string[] = [];
  await answer({
    ...{ text, signal, session: { history }, meta: {}, prompt: [{ type: 'text', text }] },
    async say(piece) {
      said.push(piece);
    },
    async update() {},
  });
  signal.throwIfAborted();
  return said.join('').trim();
}

/** A direct word, an answer to one of ours, our name in the text; or anything where that was wished. */
function isFor(
  heard: Heard,
  manners: ChannelManners,
  answers: ReadonlySet<string>,
  own: RegExp,
): boolean {
  if (heard.origin !== 'agent') return false;
  if (heard.isDirect || (heard.replyTo !== null && answers.has(heard.replyTo))) return true;
  if (manners.answersAll(heard.channel)) return true;
  return heard.text !== null && own.test(heard.text);
}

/** As a word of its own: `fast` is not named by `breakfast`. */
function namePattern(name: string): RegExp {
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_-])${word}(?![\\p{L}\\p{N}_-])`, 'iu');
}

function createContext(max: number): {
  of(channel: string): readonly Said[];
  /** A sender of null is the worker itself. */
  add(channel: string, sender: string | null, text: string): void;
} {
  const byChannel = new Map<string, Said[]>();
  return {
    of: (channel) => [...(byChannel.get(channel) ?? [])],
    add(channel, sender, text) {
      if (max === 0) return;
      const lines = byChannel.get(channel) ?? [];
      const cut = cutText(text, CONTEXT_CHARS_MAX);
      lines.push(
        sender === null
          ? { role: 'assistant', text: cut }
          : { role: 'user', text: `${sender}: ${cut}` },
      );
      if (lines.length > max) lines.shift();
      byChannel.delete(channel);
      byChannel.set(channel, lines);
      if (byChannel.size > CHANNELS_KEPT) byChannel.delete([...byChannel.keys()][0] as string);
    },
  };
}

/** So many answers an hour for each sender; who was heard longest ago is forgotten first. */
function createBudget(max: number): { take(sender: string, now: number): boolean } {
  const spent = new Map<string, number[]>();
  return {
    take(sender, now) {
      const recent = (spent.get(sender) ?? []).filter((at) => now - at < HOUR_MS);
      const isLeft = recent.length < max;
      if (isLeft) recent.push(now);
      spent.delete(sender);
      spent.set(sender, recent);
      if (spent.size > SENDERS_KEPT) spent.delete([...spent.keys()][0] as string);
      return isLeft;
    },
  };
}

function keep(all: Set<string>, one: string, max: number): void {
  all.add(one);
  if (all.size > max) all.delete([...all][0] as string);
}

function cutText(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener('abort', over);
  });
}
