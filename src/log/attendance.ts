/**
 * Which servers are there. Each has a lease on its own name, which it renews twice a second; the others read that, and
 * when it has stood unchanged for long enough the server is gone: no two clocks are compared. A server that
 * cannot renew knows that it is not counted on any more before anybody else does [SQ2].
 */

import {
  type LeaseKey,
  type LeaseStore,
  type LeaseWord,
  LOST_MS,
  RENEW_MS,
  type Skill,
  STEP_DOWN_MS,
  type Steady,
  serverKey,
} from './lease-words.ts';
import { LogError } from './log.ts';

export interface Attendance {
  /** We are counted on at this moment. */
  isHere(): boolean;
  /** How often we came back after a time in which we were not: what we had before is not ours any more. */
  readonly gaps: number;
  /** Whether the server that said this word is there. A fresh look is taken before it is said to be gone. */
  isThere(word: LeaseWord): Promise<boolean>;
  /** The same, and sure: one that was only just met is watched until it renews or is gone. */
  isSurelyThere(word: LeaseWord): Promise<boolean>;
  /** For how long that opening was not heard of while we were here all the time; 0 while we are not. */
  silentMs(id: string): number;
  /** The others, as they were heard of last; our own first. */
  servers(): AttendingServer[];
  /** One is gone or came, as far as can be told without asking. */
  onChange(listener: () => void): void;
  /** Every server that is there, looked for. */
  look(): Promise<void>;
  /** The same, and what those that are known say now is read too. */
  lookAnew(): Promise<void>;
  /** Every server that was ever there can do it, also those that are stopped [NL9] [SP3]. */
  allCan(skill: Skill): boolean;
  drain(isDraining: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface AttendingServer {
  readonly name: string;
  readonly id: string;
  readonly isAlone: boolean;
  readonly isDraining: boolean;
  /** For how long it is there without a gap, as seen from here. */
  readonly hereMs: number;
}

export interface AttendanceOptions {
  readonly name: string;
  readonly id: string;
  readonly isAlone: boolean;
  /** What messages call the store. */
  readonly path: string;
  readonly store: LeaseStore;
  readonly steady: Steady;
  onLost(cause: unknown): void;
}

interface Peer {
  word: LeaseWord | null;
  seq: number;
  /** When a new word of it was read last. */
  heardAt: number;
  /** When any answer about it was asked for last. */
  readAt: number;
  /** When somebody asked last whether a space that it has is free. */
  neededAt: number;
  hereSince: number;
  /** How often it was heard to renew since we met it. */
  renewals: number;
  /** It was there when it was last looked at. */
  isCounted: boolean;
}

const WATCH_MS = 100;
/** The last words of one that died may come late; so many do not. */
const PROOF = 3;
/** One that is gone is heard of when it comes back; should that be missed, it is looked for now and then. */
const ABSENT_MS = 5_000;
/** Whoever may speak to NATS may make up names: so many are remembered besides those that were just needed. */
const PEERS_MAX = 64;
/** One whose space may be free is asked for again and again until somebody has it. */
const NEEDED_MS = 10_000;

export async function openAttendance(options: AttendanceOptions): Promise<Attendance> {
  const { name, id, isAlone, store, steady } = options;
  const peers = new Map<LeaseKey, Peer>();
  /** Openings that were asked for and have no name here, since when: one may be new, and its name not vouched for yet. */
  const missing = new Map<string, number>();
  const listeners = new Set<() => void>();
  let isDraining = false;
  const say = (isReleased: boolean): LeaseWord => ({
    ...{ by: id, holder: name, isReleased },
    ...(isAlone && { isAlone }),
    ...(isDraining && { isDraining }),
    ...{ readsCompressed: true, countsMakers: true },
  });
  const self = serverKey(say(false));
  let seq = 0;
  /** When the last word of ours that counts was begun. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  let hereSince = steady.now();
  let gaps = 0;
  let isClosed = false;
  let isNameTaken = false;
  /** Each that there ever was was met, and we have looked for them all. */
  let hasMetAll = false;
  let passedBy = 0;
  let lookAgainAt = Number.NEGATIVE_INFINITY;

  const isHere = (): boolean => !isClosed && steady.now() - renewedAt < LOST_MS;
  const isPeerHere = ({ word, heardAt }: Peer): boolean =>
    word !== null && !word.isReleased && steady.now() - heardAt < LOST_MS;
  const tell = (): void => {
    for (const listener of listeners) listener();
  };

  async function write(isReleased: boolean): Promise<boolean> {
    const begun = steady.now();
    const written = await store.write(self, say(isReleased), seq);
    if (written === 'stale') return false;
    const wasHere = isHere();
    seq = written;
    renewedAt = begun;
    if (wasHere) return true;
    gaps++;
    hereSince = begun;
    tell();
    return true;
  }

  /**
   * False while so many are there. Of who is gone the one that was heard of the longest ago is forgotten first. One that was
   * just needed is not: it would be met anew, and seem to be there again; nor who keeps others from what it cannot do.
   */
  function makeRoom(): boolean {
    const neededSince = steady.now() - NEEDED_MS;
    while (peers.size >= PEERS_MAX) {
      const gone = [...peers].filter(
        ([, peer]) => !peer.isCounted && peer.neededAt < neededSince && SKILLS.every(of(peer)),
      );
      if (gone.length === 0) return false;
      const [oldest] = gone.reduce((one, other) =>
        other[1].heardAt < one[1].heardAt ? other : one,
      );
      peers.delete(oldest);
    }
    return true;
  }

  function passBy(): void {
    passedBy++;
    hasMetAll = false;
  }

  /** Who is needed is remembered in any case, and so comes to be gone when it is not heard of. */
  async function meet(key: LeaseKey, isNeeded = false): Promise<Peer> {
    const begun = steady.now();
    const last = await store.read(key);
    const now = steady.now();
    const known = peers.get(key);
    const peer = known ?? {
      ...{ word: null, seq: 0, heardAt: now, readAt: begun, hereSince: now },
      ...{ neededAt: Number.NEGATIVE_INFINITY, renewals: 0, isCounted: false },
    };
    if (isNeeded) peer.neededAt = now;
    if (known === undefined) {
      if (makeRoom() || isNeeded) peers.set(key, peer);
      else passBy();
    }
    peer.readAt = begun;
    const isNews = (last?.seq ?? 0) !== peer.seq;
    const isOther = last?.word.by !== peer.word?.by;
    if (isNews) {
      if (known !== undefined) peer.renewals++;
      peer.heardAt = now;
    }
    peer.seq = last?.seq ?? 0;
    peer.word = last?.word ?? null;
    if (peer.word?.isReleased === false) missing.delete(peer.word.by);
    const wasCounted = peer.isCounted;
    peer.isCounted = isPeerHere(peer);
    if (peer.isCounted && (!wasCounted || isOther)) peer.hereSince = now;
    if (peers.get(key) === peer && (peer.isCounted !== wasCounted || isOther)) tell();
    return peer;
  }

  /** Has our name, or says who has it. */
  async function claim(): Promise<LeaseWord | null> {
    const last = await store.read(self);
    if (last !== null && !last.word.isReleased && last.word.by !== id) {
      const isOther = await isThere(last.word);
      if (isOther) return last.word;
    }
    seq = last?.seq ?? 0;
    await write(false);
    return null;
  }

  async function renew(): Promise<void> {
    const wasHere = isHere();
    try {
      if (wasHere && (await write(false))) return;
      const other = await claim();
      if (other !== null && !isNameTaken) options.onLost(taken(options));
      isNameTaken = other !== null;
    } catch (cause) {
      if (steady.now() - renewedAt <= STEP_DOWN_MS || !wasHere) return;
      options.onLost(cause);
      renewedAt = Number.NEGATIVE_INFINITY;
    }
    if (isHere() !== wasHere) tell();
  }

  async function isThere(word: LeaseWord): Promise<boolean> {
    const key = serverKey(word);
    const known = peers.get(key);
    if (known !== undefined) known.neededAt = steady.now();
    const isSure = known !== undefined && isPeerHere(known) && known.word?.by === word.by;
    // What is known of it may be old: only what is read after the time that it had tells.
    const peer = isSure ? known : await meet(key, true);
    return isPeerHere(peer) && peer.word?.by === word.by;
  }

  async function isSurelyThere(word: LeaseWord): Promise<boolean> {
    for (;;) {
      if (!(await isThere(word))) return false;
      const peer = await meet(serverKey(word), true);
      if (peer.renewals >= PROOF && peer.word?.by === word.by) return isPeerHere(peer);
      await new Promise<void>((resolve) => void steady.after(WATCH_MS, resolve));
    }
  }

  /** Those that were not asked about for a while, and those whose time is over. */
  async function poll(): Promise<void> {
    const now = steady.now();
    const due = [...peers].filter(([, peer]) =>
      peer.isCounted
        ? !isPeerHere(peer) || now - peer.readAt >= RENEW_MS
        : now - peer.readAt >= ABSENT_MS,
    );
    await Promise.all(due.map(([key]) => meet(key).catch(() => {})));
    if (!hasMetAll && now >= lookAgainAt) await look().catch(() => {});
  }

  async function look(): Promise<void> {
    const keys = (await store.servers()).filter((key) => key !== self && !peers.has(key));
    const before = passedBy;
    await Promise.all(keys.slice(0, PEERS_MAX).map((key) => meet(key)));
    hasMetAll = keys.length <= PEERS_MAX && passedBy === before;
    if (!hasMetAll) lookAgainAt = steady.now() + ABSENT_MS;
  }

  async function lookAnew(): Promise<void> {
    await Promise.all([look(), ...[...peers.keys()].map((key) => meet(key))]);
  }

  /** Until the next renewal, or until the time of the first of the others is over. */
  function restMs(): number {
    const now = steady.now();
    let rest = RENEW_MS;
    for (const peer of peers.values()) {
      if (peer.isCounted) rest = Math.min(rest, peer.heardAt + LOST_MS - now + 1);
    }
    return Math.max(1, rest);
  }

  let cancel = (): void => {};
  let turning: Promise<unknown> = Promise.resolve();
  const again = (): void => {
    turning = Promise.all([renew(), poll()]).then(() => {
      if (!isClosed) cancel = steady.after(restMs(), again);
    });
  };

  try {
    const other = await claim();
    if (other !== null && (await isSurelyThere(other))) throw taken(options);
    if (other !== null) await claim();
    await look();
  } catch (cause) {
    if (cause instanceof LogError) throw cause;
    // Nobody answers: what is asked for next says so.
  }
  // What is heard may not be stored yet, or was asked for a moment before: it is looked at once more, lest one that
  // dies is taken to have spoken when it was next looked for.
  const lookedAtAgain = new Set<LeaseKey>();
  function lookAgain(key: LeaseKey): void {
    if (lookedAtAgain.has(key)) return;
    lookedAtAgain.add(key);
    steady.after(WATCH_MS, () => {
      lookedAtAgain.delete(key);
      if (!isClosed) meet(key).catch(() => {});
    });
  }
  const stopHearing = store.hear((key) => {
    if (key === self || !key.startsWith('server ')) return;
    const peer = peers.get(key);
    if (peer === undefined) {
      if (makeRoom()) meet(key).catch(() => {});
      else passBy();
      return;
    }
    if (steady.now() - peer.readAt <= WATCH_MS) return lookAgain(key);
    // Each renewal is heard, and looked at: what was said may not have been taken.
    const before = peer.seq;
    meet(key).then(
      ({ seq: now }) => now === before && lookAgain(key),
      () => {},
    );
  });
  cancel = steady.after(RENEW_MS, again);

  return {
    isHere,
    get gaps() {
      return gaps;
    },
    isThere,
    isSurelyThere,
    look,
    lookAnew,
    silentMs(of) {
      if (of === id || !isHere()) return 0;
      const now = steady.now();
      const peer = [...peers.values()].find(({ word }) => word?.by === of && !word.isReleased);
      if (peer === undefined && !missing.has(of)) {
        const [oldest] = missing.size < PEERS_MAX ? [] : missing.keys();
        if (oldest !== undefined) missing.delete(oldest);
        missing.set(of, now);
      }
      return now - Math.max(hereSince, peer?.heardAt ?? missing.get(of) ?? now);
    },
    onChange: (listener) => void listeners.add(listener),
    servers() {
      const now = steady.now();
      const others = [...peers.values()].flatMap((peer) =>
        isPeerHere(peer) && peer.word !== null && peer.word.by !== id
          ? [attending(peer.word, now - peer.hereSince)]
          : [],
      );
      return isHere() ? [attending(say(false), now - hereSince), ...others] : others;
    },
    allCan(skill) {
      return hasMetAll && [...peers.values()].every((peer) => of(peer)(skill));
    },
    async drain(is) {
      isDraining = is;
      // Where a renewal was under way, with what was so before, it is said over that one.
      if (isHere() && !(await write(false).catch(() => false))) await renew();
      tell();
    },
    async close() {
      if (isClosed) return;
      cancel();
      await turning;
      cancel();
      stopHearing();
      if (isHere()) await write(true).catch(() => {});
      if (isAlone) await store.forget(self).catch(() => {});
      isClosed = true;
    },
  };
}

const SKILLS: readonly Skill[] = ['readsCompressed', 'countsMakers'];

/** Nobody's is the word of who was taken out; who is alone shares with nobody. */
function of({ word }: Peer): (skill: Skill) => boolean {
  return (skill) => !word?.by || word.isAlone === true || word[skill] === true;
}

function attending(word: LeaseWord, hereMs: number): AttendingServer {
  const { by, holder, isAlone = false, isDraining = false } = word;
  return { name: holder, id: by, isAlone, isDraining, hereMs };
}

function taken({ name, path }: AttendanceOptions): LogError {
  return new LogError(
    'log.locked',
    `a server named ${name} runs at ${path} already: give this one another name, or stop that one`,
    { path },
  );
}
