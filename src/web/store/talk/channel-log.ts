/**
 * What was said on one channel, as far as the page holds it: messages in the order of their number, each once,
 * however often and in whatever order they arrive. A window of bounded size onto the channel: what comes
 * in at one end beyond it goes out at the other. Pure.
 */
import type { MessageEnvelope } from '../../../wire/schemas.ts';

export interface Said extends MessageEnvelope {
  /** The body was too long to be held here; `messages.get` has it. */
  readonly isCut?: true;
}

export interface ChannelLog {
  readonly said: readonly Said[];
  /** Nothing older is left. */
  readonly isFromStart: boolean;
  /** Nothing newer is left. */
  readonly isToEnd: boolean;
}

export const HELD_MESSAGES_MAX = 10_000;
const HELD_CHARS_MAX = 16_000_000;
const BODY_CHARS_MAX = 20_000;
const CUT_CHARS = 4_000;
export const EMPTY_LOG: ChannelLog = { said: [], isFromStart: false, isToEnd: true };

/** Sizes are remembered: a window that moves adds them up again and again. */
const sizes = new WeakMap<Said, number>();

export function saidOf(envelope: MessageEnvelope): Said {
  const text = JSON.stringify(envelope.body);
  const { text: words } = envelope.body;
  const said: Said =
    text.length <= BODY_CHARS_MAX
      ? envelope
      : {
          ...envelope,
          body: { text: `${typeof words === 'string' ? words : text}`.slice(0, CUT_CHARS) },
          isCut: true,
        };
  sizes.set(said, Math.min(text.length, BODY_CHARS_MAX) + 300);
  return said;
}

/** What the hub pushed: it belongs to the end, and is left out while the window is elsewhere. */
export function withNews(log: ChannelLog, arrived: readonly Said[]): ChannelLog {
  const last = log.said.at(-1)?.seq ?? 0;
  const fitting = log.isToEnd ? arrived : arrived.filter(({ seq }) => seq <= last);
  return bounded({ ...log, said: merged(log.said, fitting) }, 'end');
}

/** A page from before the first message. */
export function withOlder(
  log: ChannelLog,
  page: readonly Said[],
  isFromStart: boolean,
): ChannelLog {
  return bounded({ ...log, isFromStart, said: merged(log.said, page) }, 'start');
}

function merged(said: readonly Said[], arrived: readonly Said[]): readonly Said[] {
  const last = said.at(-1)?.seq ?? 0;
  // The usual case, and the one that must be fast: one more at the end.
  if (arrived.every(({ seq }, i) => seq > (arrived[i - 1]?.seq ?? last))) {
    return arrived.length === 0 ? said : [...said, ...arrived];
  }
  const known = new Map(said.map((one) => [one.seq, one]));
  for (const one of arrived) {
    const before = known.get(one.seq);
    // The same number twice is another channel of this name: the old one was retired.
    if (before !== undefined && before.message_id !== one.message_id) return merged([], arrived);
    if (before === undefined) known.set(one.seq, one);
  }
  if (known.size === said.length) return said;
  return [...known.values()].sort((a, b) => a.seq - b.seq);
}

/** Keeps what is near the end that grew. */
function bounded(log: ChannelLog, near: 'start' | 'end'): ChannelLog {
  const { said } = log;
  let chars = 0;
  for (const one of said) chars += sizes.get(one) ?? 0;
  if (said.length <= HELD_MESSAGES_MAX && chars <= HELD_CHARS_MAX) return log;
  let drop = Math.max(0, said.length - HELD_MESSAGES_MAX);
  const at = (i: number): Said => said[near === 'end' ? i : said.length - 1 - i] as Said;
  for (let i = 0; i < drop; i++) chars -= sizes.get(at(i)) ?? 0;
  for (; chars > HELD_CHARS_MAX && drop < said.length - 1; drop++)
    chars -= sizes.get(at(drop)) ?? 0;
  return near === 'end'
    ? { ...log, said: said.slice(drop), isFromStart: false }
    : { ...log, said: said.slice(0, said.length - drop), isToEnd: false };
}
