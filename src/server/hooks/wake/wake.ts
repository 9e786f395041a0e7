/**
 * Waking: an idle agent hears of mail without polling and without anybody typing into its terminal.
 *
 * It is tried by the best means the session has, one at a time and never twice at once; it happened
 * only when the session's own hook brought the text back, and only then the receipts say `presented`
 * [WA2]. Never for an agent's own words [WA1], and only for what concerns it [WA8]. Everything is bounded: for a message, for an agent, and for
 * wakes that lead to no reading [WA3].
 */
import { randomUUID } from 'node:crypto';
import type { WakeFacts } from '../../../core/turns/wake-record.ts';
import type { DoorSettings } from '../../../wire/hook-settings.ts';
import { type Quotation, quoteArrival } from '../../../wire/quoted.ts';
import { type Attention, lastDrainAt } from '../attention.ts';
import type { DecisionLog } from '../decision-log.ts';
import { type OwedMessage, owedMail } from '../mail.ts';
import type { WakeMeans } from './wake-means.ts';
import { isAllOff, isReason } from './wake-reason.ts';

export interface Waker {
  /** It stopped, with these left unread on purpose. */
  idle(attention: Attention, session: string, left: readonly number[]): void;
  /** It does something. */
  busy(attention: Attention): void;
  /** A turn began with this text: what it was shown by it, when it was a wake of ours. */
  heard(attention: Attention, prompt: string): readonly OwedMessage[] | null;
  /** Something was sent in the space. */
  arrived(space: string): void;
  close(): void;
}

export interface WakerOptions {
  /** Best first. */
  readonly means: readonly WakeMeans[];
  readonly settings: () => DoorSettings;
  readonly record: DecisionLog;
  /** Puts it on the record of a space that somebody was to be woken. */
  onWake?(space: string, wake: WakeFacts): void;
  readonly now?: () => number;
  readonly settleMs?: number;
  readonly confirmMs?: number;
}

interface Wake {
  readonly id: string;
  readonly messages: readonly OwedMessage[];
  readonly at: number;
  isConfirmed: boolean;
  /** Tells the attempt that it was confirmed, or that there is no point any more. */
  settle(): void;
}

/** What is remembered of the waking of one agent. */
interface Sleeper {
  timer: NodeJS.Timeout | null;
  isTrying: boolean;
  /** More came meanwhile. */
  isAsked: boolean;
  current: Wake | null;
  /** How often each message was the reason. */
  readonly tries: Map<number, number>;
  times: number[];
  fruitless: number;
}

// The bounds of waking: every one of them is an end of some loop that others have fallen into.

/** How long an agent is left alone after it went idle: its person may be about to speak [WA3]. */
const SETTLE_MS = 500;
/** How long mail is gathered, so that what comes together wakes once. */
const GATHER_MS = 75;
/** A wake that nobody confirmed within this time did not happen. */
const CONFIRM_MS = 10_000;
/** How often one message may be the reason. */
const WAKES_PER_MESSAGE_MAX = 2;
/** So many in this time for one agent, whatever for. */
const WAKES_PER_WINDOW_MAX = 10;
const WINDOW_MS = 600_000;
/** At least so long between two; doubled for each wake in a row that led to no reading. */
const GAP_MS = 2_000;
/** After so many in a row without reading there are none until the agent reads. */
const FRUITLESS_MAX = 3;
/** What a wake looks at. */
const WAKE_LOOK = 20;
const TRIES_MAX = 1_000;
/** Of all spaces; who has been idle longest is forgotten first. */
const IDLERS_MAX = 5_000;

export function createWaker(options: WakerOptions): Waker {
  const { settings, record, now = Date.now } = options;
  const { settleMs = SETTLE_MS, confirmMs = CONFIRM_MS } = options;
  const sleepers = new WeakMap<Attention, Sleeper>();
  const timers = new Set<NodeJS.Timeout>();
  const idlers = new Set<Attention>();

  function sleeperOf(attention: Attention): Sleeper {
    const known = sleepers.get(attention);
    if (known !== undefined) return known;
    const made: Sleeper = {
      ...{ timer: null, isTrying: false, isAsked: false, current: null },
      ...{ tries: new Map(), times: [], fruitless: 0 },
    };
    sleepers.set(attention, made);
    return made;
  }

  function note(attention: Attention, action: string, reason: string): void {
    const { space, agent, booked, idle } = attention;
    const session = idle?.session ?? booked.session;
    record.write({ space, agent, vendor: booked.vendor, session, event: 'wake', action, reason });
  }

  function later(attention: Attention, sleeper: Sleeper, ms: number): void {
    if (sleeper.timer !== null) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      sleeper.timer = null;
      void consider(attention, sleeper);
    }, ms);
    timer.unref();
    timers.add(timer);
    sleeper.timer = timer;
  }

  /** Milliseconds until a wake may be, 0 for now, null for not before the agent has read. */
  function restMs(attention: Attention, sleeper: Sleeper): number | null {
    const last = sleeper.times.at(-1);
    if (last !== undefined && lastDrainAt(attention) > last) {
      sleeper.fruitless = 0;
    }
    if (sleeper.fruitless >= FRUITLESS_MAX) return null;
    sleeper.times = sleeper.times.filter((at) => now() - at < WINDOW_MS);
    const [first] = sleeper.times;
    if (first !== undefined && sleeper.times.length >= WAKES_PER_WINDOW_MAX) {
      return first + WINDOW_MS - now();
    }
    const gapMs = GAP_MS * 2 ** sleeper.fruitless;
    return last === undefined ? 0 : Math.max(0, last + gapMs - now());
  }

  async function consider(attention: Attention, sleeper: Sleeper): Promise<void> {
    if (attention.idle === null || attention.isEnded || isAllOff(settings().wake)) return;
    if (sleeper.isTrying) {
      sleeper.isAsked = true;
      return;
    }
    sleeper.isTrying = true;
    sleeper.isAsked = false;
    try {
      await wakeFor(attention, sleeper);
    } catch (cause) {
      note(attention, 'failed', cause instanceof Error ? cause.message : String(cause));
    } finally {
      sleeper.isTrying = false;
      if (sleeper.isAsked) later(attention, sleeper, settleMs);
    }
  }

  async function wakeFor(attention: Attention, sleeper: Sleeper): Promise<void> {
    const mail = await owedMail(attention, WAKE_LOOK);
    const { idle } = attention;
    if (mail === null || idle === null) return;
    const messages = mail.messages.filter(
      ({ position }) =>
        !idle.left.has(position) && (sleeper.tries.get(position) ?? 0) < WAKES_PER_MESSAGE_MAX,
    );
    if (!(await isAnyReason(attention, messages))) return;
    // Its mail begins a turn [WA6]: one way to start an agent is enough.
    if (await isManaged(attention))
      return note(attention, 'held', 'managed: a turn begins instead');
    const waitMs = restMs(attention, sleeper);
    if (waitMs === null) return note(attention, 'held', 'the last wakes led to no reading');
    if (waitMs > 0) {
      note(attention, 'held', `too many or too soon; again in ${waitMs} ms`);
      return later(attention, sleeper, waitMs);
    }
    const usable = options.means.filter((means) => means.isFor(attention, settings().wake));
    if (usable.length === 0) {
      note(attention, 'no-means', 'the session offers no way to wake it; the mail stays owed');
      return;
    }
    sleeper.times.push(now());
    for (const { position } of messages) {
      if (sleeper.tries.size >= TRIES_MAX) sleeper.tries.clear();
      sleeper.tries.set(position, (sleeper.tries.get(position) ?? 0) + 1);
    }
    for (const means of usable) {
      if (await tryBy(means, attention, sleeper, messages)) return;
      if (attention.idle === null) return;
    }
    sleeper.fruitless++;
  }

  async function isManaged({ hub, agent }: Attention): Promise<boolean> {
    return hub !== null && (await hub.ask((world) => world.turns.agents.has(agent))) === true;
  }

  /** What came along is shown with it, but does not wake by itself. */
  async function isAnyReason(
    { hub, agent }: Attention,
    messages: readonly OwedMessage[],
  ): Promise<boolean> {
    const parents = messages.flatMap(({ parent }) => parent ?? []);
    const found = hub === null || parents.length === 0 ? [] : await hub.messages(parents);
    const authors = new Map(found.flatMap((one) => (one === null ? [] : [[one.position, one.by]])));
    return messages.some(({ channel, body, parent }) => {
      const answers = parent === null ? null : (authors.get(parent) ?? null);
      const isReply = parent !== null;
      return isReason({ channel, body, isReply, answers }, agent, settings().wake);
    });
  }

  /** True when the session confirmed. */
  async function tryBy(
    means: WakeMeans,
    attention: Attention,
    sleeper: Sleeper,
    messages: readonly OwedMessage[],
  ): Promise<boolean> {
    const id = `wake-${randomUUID().slice(0, 13)}`;
    const { text, shown } = wakeText(attention, id, messages, now());
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
    const wake: Wake = { id, messages: shown, at: now(), isConfirmed: false, settle };
    // Before it is sent: the confirmation may be quicker than the sending.
    sleeper.current = wake;
    const request = { id, attention, text, settings: settings().wake };
    const settledAs = (outcome: WakeFacts['outcome']): void => {
      const { space, agent, booked, idle } = attention;
      const session = idle?.session ?? booked.session;
      const facts = { agent, session, vendor: booked.vendor, means: means.name };
      options.onWake?.(space, { ...facts, messages: messages.length, outcome });
    };
    const refused = await means.attempt(request).catch((error: Error) => error.message);
    if (refused !== null) {
      sleeper.current = null;
      note(attention, 'unreached', `${means.name}: ${refused}`);
      settledAs('unreached');
      return false;
    }
    note(attention, 'handed-over', `${means.name} ${id}, ${messages.length} messages`);
    const timer = setTimeout(settle, confirmMs);
    timers.add(timer);
    await settled;
    clearTimeout(timer);
    timers.delete(timer);
    if (wake.isConfirmed) {
      note(attention, 'confirmed', `${means.name} ${id}`);
      settledAs('confirmed');
      return true;
    }
    sleeper.current = null;
    const reason = attention.idle === null ? 'it went on by itself' : 'no hook brought it back';
    note(attention, 'unconfirmed', `${means.name} ${id}: ${reason}`);
    settledAs('unconfirmed');
    return false;
  }

  return {
    idle(attention, session, left) {
      const sleeper = sleeperOf(attention);
      const wake = sleeper.current;
      if (wake?.isConfirmed === true) {
        const hasRead = lastDrainAt(attention) > wake.at;
        sleeper.fruitless = hasRead ? 0 : sleeper.fruitless + 1;
        sleeper.current = null;
      }
      attention.idle = { session, since: now(), left: new Set(left) };
      idlers.delete(attention);
      const [oldest] = idlers;
      if (idlers.size >= IDLERS_MAX && oldest !== undefined) idlers.delete(oldest);
      idlers.add(attention);
      // Something may have come between the look and now.
      later(attention, sleeper, settleMs);
    },
    busy(attention) {
      if (attention.idle === null) return;
      attention.idle = null;
      idlers.delete(attention);
      const sleeper = sleeperOf(attention);
      if (sleeper.current?.isConfirmed === false) sleeper.current.settle();
    },
    heard(attention, prompt) {
      const wake = sleeperOf(attention).current;
      if (wake === null || wake.isConfirmed || !prompt.includes(wake.id)) return null;
      wake.isConfirmed = true;
      wake.settle();
      return wake.messages;
    },
    arrived(space) {
      for (const attention of idlers) {
        if (attention.space !== space || attention.isEnded) continue;
        const restedMs = now() - (attention.idle?.since ?? 0);
        const waitMs = Math.max(Math.min(GATHER_MS, settleMs), settleMs - restedMs);
        later(attention, sleeperOf(attention), waitMs);
      }
    },
    close() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** Facts and where they come from; nothing here asks for anything. */
function wakeText(
  { agent, booked }: Attention,
  id: string,
  messages: readonly OwedMessage[],
  nowMs: number,
): Quotation<OwedMessage> {
  const quotation = quoteArrival(messages, nowMs, booked.vendor);
  const opening = `Synod (${id}): mail came for the agent ${agent} while it was idle.`;
  return {
    text: quotation === null ? opening : `${opening}\n${quotation.text}`,
    shown: quotation?.shown ?? [],
  };
}
