/**
 * How commands come to be decided by who sequences a space, whatever carries them there. A request goes to one
 * server, the holder of the lease, and to no other: what one that is replaced says of it must not be taken for the
 * word of all. What nobody took was not decided; what was not answered may have been [SQ3].
 */
import { isRefusal } from '../core/law/decider.ts';
import type { Command } from '../core/law/world.ts';
import type { Holder, Lease } from '../log/lease.ts';
import type { Steady } from '../log/lease-words.ts';
import type { Hub } from './hub.ts';
import type { Forwarded, Sequencing } from './sequencing.ts';
import type { Whisper } from './whisper.ts';

/** Between the servers of a space. */
export interface Courier {
  /** To the server that opened the lease so named. */
  ask(to: string, commands: readonly Command[]): Promise<Reply | Unanswered>;
  /** Takes what is asked of the server that opened the lease so named, until the answer is called. */
  attend(as: string, answer: (commands: readonly Command[]) => Promise<Reply>): () => void;
  /** Cut into as many messages as it takes. */
  whisper(words: readonly Whisper[]): void;
  onWhisper(listener: (words: readonly Whisper[], from: string) => void): () => void;
  /** Whispers were lost for a while, in both directions, and are not from now on. */
  onReturn(listener: () => void): () => void;
}

export type Reply =
  | Exclude<Forwarded, string>
  /** Not the sequencer, or not any more; nothing was done. */
  | { readonly notMine: true };

export type Unanswered =
  /** Nobody was there to take it. */
  | 'nobody'
  /** Taken, or lost on the way: nobody knows. */
  | 'unknown'
  /** More than one request holds; it was not sent. */
  | 'too large';

type Decider = Pick<Hub, 'submitThen' | 'ask' | 'stamp' | 'stats' | 'whispers'>;

export interface Forwarding extends Sequencing {
  /** Commands that another server decided. */
  readonly forwarded: number;
  /** Decides what other servers forward, while this one sequences. */
  serve(hub: Decider): void;
  /** Another sequences from now on; all that was forwarded before is answered first. False: it stays here. */
  handOver(to: Holder): Promise<boolean>;
  /** What was forwarded is answered; what comes later is for another, who need not wait. */
  leave(): Promise<void>;
  close(): void;
}

/** How long commands wait for somebody to sequence the space before they are refused. */
const NOBODY_MS = 6_000;
const AGAIN_MS = 50;
/** An answer may be overtaken by the news that another sequences now. */
const LATE_MS = 500;
const FAREWELL_MS = 200;
/** What was forwarded is answered by then, or the space stays where it is. */
const YIELD_MS = 4_000;

export function createForwarding(
  name: string,
  lease: Lease,
  courier: Courier,
  steady: Steady,
): Forwarding {
  let stopAttending: (() => void) | null = null;
  let isClosed = false;
  /** Asked by others and not answered yet. */
  let underWay = 0;
  let isYielding = false;
  let forwarded = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let onAnswered = (): void => {};

  async function decide(hub: Decider, commands: readonly Command[]): Promise<Reply> {
    if (!lease.isMine || isYielding) return { notMine: true };
    underWay++;
    try {
      // In turn: one that has just begun reads first what the last one stored.
      if (commands.length === 0 && isRefusal(await hub.ask(() => null))) return { notMine: true };
      const outcomes = await outcomesOf(hub, commands);
      const agents = new Set(commands.map(({ by }) => by.id));
      const passing = hub.whispers?.unsaid(agents) ?? [];
      return { outcomes, length: hub.stats.entries, passing };
    } finally {
      if (--underWay === 0) onAnswered();
    }
  }

  /** False when something is not answered in time. */
  function answered(): Promise<boolean> {
    if (underWay === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const cancel = steady.after(YIELD_MS, () => resolve(false));
      onAnswered = () => {
        cancel();
        resolve(true);
      };
    });
  }

  /** Whoever was asked and is then replaced will not answer any more, unless it has already. */
  async function answerOf(to: string, commands: readonly Command[]): Promise<Reply | Unanswered> {
    let stop = (): void => {};
    const replaced = new Promise<'unknown'>((resolve) => {
      stop = lease.onChange(() => {
        if (lease.holder !== null && lease.holder.id !== to)
          steady.after(LATE_MS, () => resolve('unknown'));
      });
    });
    try {
      return await Promise.race([courier.ask(to, commands), replaced]);
    } finally {
      stop();
    }
  }

  /** The word by which it went to another was missed, or is on its way; no two looks are closer than two tries. */
  function lookAtLease(): void {
    const now = steady.now();
    if (now - lookedAt < AGAIN_MS) return;
    lookedAt = now;
    lease.look();
  }

  /** Until another may have begun. */
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        stop();
        cancel();
        resolve();
      };
      const stop = lease.onChange(done);
      const cancel = steady.after(AGAIN_MS, done);
    });

  return {
    get standing() {
      const { holder, changes } = lease;
      return { server: name, sequencer: holder?.name ?? null, changes };
    },
    get forwarded() {
      return forwarded;
    },
    get isElsewhere() {
      return !lease.isMine;
    },
    onChange: lease.onChange,
    whisper: courier.whisper,
    onWhisper: courier.onWhisper,
    onReturn: courier.onReturn,
    async forward(commands): Promise<Forwarded> {
      const stopAt = steady.now() + NOBODY_MS;
      for (;;) {
        if (lease.isMine) return 'here';
        if (isClosed) return 'nobody';
        const { holder } = lease;
        if (holder !== null && holder.id !== lease.id) {
          const reply = await answerOf(holder.id, commands);
          if (reply === 'too large') return commands.length > 1 ? reply : 'here';
          if (reply === 'unknown') return reply;
          if (reply !== 'nobody' && 'outcomes' in reply) {
            forwarded += commands.length;
            return reply;
          }
          lookAtLease();
        }
        if (steady.now() > stopAt) return 'nobody';
        await pause();
      }
    },
    serve(hub) {
      // Always: what comes for one that does not sequence any more is told so, and not left unanswered.
      stopAttending = courier.attend(lease.id, (asked) => decide(hub, asked));
      lease.stand();
    },
    async handOver(to) {
      if (isYielding) return false;
      isYielding = true;
      try {
        return (await answered()) && (await lease.hand(to));
      } finally {
        isYielding = false;
      }
    },
    async leave() {
      const wasMine = lease.isMine;
      isYielding = true;
      await answered();
      await lease.close();
      // What was sent before that was known is still told whom to ask.
      if (wasMine) await new Promise<void>((resolve) => void steady.after(FAREWELL_MS, resolve));
    },
    close() {
      isClosed = true;
      stopAttending?.();
    },
  };
}

function outcomesOf(hub: Decider, commands: readonly Command[]): Promise<readonly unknown[]> {
  const outcomes = new Array<unknown>(commands.length);
  let left = commands.length;
  if (left === 0) return Promise.resolve(outcomes);
  return new Promise((resolve) => {
    for (const [i, command] of commands.entries()) {
      // By our clock: what another machine takes for now is not compared with what is stored.
      hub.submitThen({ ...command, at: hub.stamp() }, (outcome) => {
        outcomes[i] = outcome;
        if (--left === 0) resolve(outcomes);
      });
    }
  });
}
