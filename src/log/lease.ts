/**
 * What one of several servers may have at a time: spaces. A server that has one said so once, and has it while it is
 * itself counted on; then another takes it, whichever is the first in the order of that space. A server that gives it
 * up hands it on or lets it go. Should a holder not have noticed that it is not, in a pause say, what it does
 * is refused by what it does it to: a lease is about order and speed, never about what is true [SQ2] [SQ7].
 */
import { type AttendingServer, openAttendance } from './attendance.ts';
import { rankServers } from './choose-holder.ts';
import {
  type LeaseKey,
  type LeaseStore,
  type LeaseWord,
  RENEW_MS,
  type SaidWord,
  type Skill,
  type Steady,
} from './lease-words.ts';
import { LogError } from './log.ts';

export interface Lease {
  /** Names the opening of this server, among all there ever were. */
  readonly id: string;
  readonly isMine: boolean;
  /** Who has it, as far as is known here. */
  readonly holder: Holder | null;
  /** How often it has passed from one to another since we look. */
  readonly changes: number;
  /** For how long it is ours; 0 when it is not. */
  readonly mineMs: number;
  onChange(listener: () => void): () => void;
  /** Takes it from now on when it is free; before, it only looks. */
  stand(): void;
  /** Whose it is now is read: somebody was told that what is known here is old. */
  look(): void;
  /** Ours no more, but theirs; false when it stayed as it was. */
  hand(to: Holder): Promise<boolean>;
  /** Gives it up, so that another need not wait, and takes it no more. */
  close(): Promise<void>;
}

export interface Holder {
  readonly name: string;
  readonly id: string;
}

export interface Leases {
  readonly id: string;
  /** How often a space was taken here because its holder was gone. */
  readonly failovers: number;
  /** All that are there, ourselves first if we are. */
  servers(): readonly AttendingServer[];
  /** The lease of a space; refused where servers that share meet one that does not. */
  of(space: string): Promise<Lease>;
  /** Every server that was ever there reads batches that are compressed. */
  allCan(skill: Skill): boolean;
  /** Another is there that takes what we give up; before that is denied, their words are read anew. */
  hasHeir(): Promise<boolean>;
  /** Takes nothing more while another could, and says so. */
  drain(isDraining: boolean): Promise<void>;
  onServers(listener: () => void): void;
  /** Somebody had the space, and nobody has it now; throws when that cannot be read. */
  isVacant(space: string): Promise<boolean>;
  /** Told of each word about a space that was asked about here. */
  onWord(listener: (space: string) => void): void;
  /** That opening was not heard of for so long, in which we were here ourselves; throws when that cannot be looked for. */
  isLost(opening: string, silentMs: number): Promise<boolean>;
  close(): Promise<void>;
}

export interface LeasesOptions {
  readonly name: string;
  readonly id: string;
  /** The server has no name, and shares with nobody. */
  readonly isAlone?: boolean;
  /** What messages call the store. */
  readonly path?: string;
  readonly store: LeaseStore;
  readonly steady: Steady;
  /** Whether that server may have the space; any may have each where it is not said. */
  mayHave?(server: string, space: string): boolean;
  /** We could not say that we are there, and are not counted on. */
  onLost(cause: unknown): void;
}

/** The first in the order of a space takes it at once, each other so much later. */
const RANK_MS = 100;
/** Of the spaces that nothing was heard of, so many are read again in each turn. */
const READ_AGAIN = 8;

interface Entry {
  readonly space: string;
  readonly key: LeaseKey;
  readonly listeners: Set<() => void>;
  seq: number;
  word: LeaseWord | null;
  holder: Holder | null;
  /** Of the last that had it. */
  lastId: string | null;
  changes: number;
  mineSince: number;
  /** How many gaps we had when it became ours. */
  gaps: number;
  isStanding: boolean;
  isHanding: boolean;
  isClosed: boolean;
  /** When it was first seen to be free. */
  freeSince: number | null;
  looking: Promise<void>;
  isLookAsked: boolean;
}

export async function openLeases(options: LeasesOptions): Promise<Leases> {
  const { name, id, isAlone = false, path = 'the store', store, steady } = options;
  const { mayHave = () => true } = options;
  const entries = new Map<string, Entry>();
  const attendance = await openAttendance({ ...options, isAlone, path });
  const self: Holder = { name, id };
  let failovers = 0;
  let isDraining = false;
  let nextRead = 0;

  const isMine = (entry: Entry): boolean =>
    entry.holder?.id === id &&
    !entry.isHanding &&
    entry.gaps === attendance.gaps &&
    attendance.isHere();

  function become(entry: Entry, next: Holder | null): void {
    if (next?.id === entry.holder?.id) return;
    // Also where nobody had it for a while between.
    if (next !== null && entry.lastId !== null && entry.lastId !== next.id) entry.changes++;
    if (next !== null) entry.lastId = next.id;
    if (next !== null) entry.freeSince = null;
    if (next?.id === id) entry.mineSince = steady.now();
    entry.holder = next;
    for (const listener of entry.listeners) listener();
  }

  async function write(entry: Entry, to: Holder, isReleased: boolean): Promise<boolean> {
    const word: LeaseWord = {
      ...{ by: to.id, holder: to.name, isReleased },
      ...(isAlone && { isAlone }),
    };
    const written = await store.write(entry.key, word, entry.seq);
    if (written === 'stale') return false;
    entry.seq = written;
    entry.word = word;
    return true;
  }

  /** Who may take what is free, the first of them first. */
  function rankOf(space: string): number {
    const able = attendance
      .servers()
      .filter((one) => !one.isAlone && !one.isDraining && mayHave(one.name, space));
    // Where all others that may have it are leaving too, or gone, one that drains goes on.
    if (able.length === 0) return 0;
    if (isDraining) return Number.POSITIVE_INFINITY;
    const rank = rankServers(
      space,
      able.map((one) => one.name),
    ).indexOf(name);
    return rank === -1 ? able.length : rank;
  }

  function mayTake(entry: Entry, isNew: boolean): boolean {
    if (!entry.isStanding || entry.isClosed || !attendance.isHere()) return false;
    if (isAlone || (isNew && !isDraining)) return true;
    entry.freeSince ??= steady.now();
    const waitMs = entry.freeSince + rankOf(entry.space) * RANK_MS - steady.now();
    if (waitMs <= 0) return true;
    if (waitMs < RENEW_MS) steady.after(waitMs, () => void look(entry));
    return false;
  }

  async function read(entry: Entry): Promise<SaidWord | null> {
    const last = await store.read(entry.key);
    entry.seq = last?.seq ?? 0;
    entry.word = last?.word ?? null;
    return last;
  }

  async function lookOnce(entry: Entry): Promise<void> {
    const before = entry.seq;
    const { gaps } = attendance;
    const last = await read(entry);
    const word = last?.word ?? null;
    const isOurs = word?.by === id && !word.isReleased;
    if (isOurs && isMine(entry) && entry.seq === before) return;
    const isHeld = word !== null && !word.isReleased;
    if (isHeld && !isOurs && (await attendance.isThere(word)))
      return become(entry, { name: word.holder, id: word.by });
    // Ours by a word of another who handed it on, or from before a gap: we say so ourselves, or are refused.
    if (!mayTake(entry, word === null || isOurs)) return become(entry, null);
    if (await write(entry, self, false)) {
      if (isHeld && !isOurs) failovers++;
      if (word?.isAlone && word.by !== id) void store.forget(`server =${word.by}`).catch(() => {});
      entry.gaps = gaps;
      if (isMine({ ...entry, holder: self })) become(entry, self);
      else entry.isLookAsked = true;
    } else {
      become(entry, null);
      entry.isLookAsked = true;
    }
  }

  /** One look at a time; who asks meanwhile is served by one more. */
  function look(entry: Entry): Promise<void> {
    if (entry.isLookAsked) return entry.looking;
    entry.isLookAsked = true;
    entry.looking = entry.looking.then(async () => {
      while (entry.isLookAsked && !entry.isClosed && !entry.isHanding) {
        entry.isLookAsked = false;
        // Nobody answers: nothing can be decided by anybody, and a hub says so by itself.
        await lookOnce(entry).catch(() => become(entry, null));
      }
      entry.isLookAsked = false;
    });
    return entry.looking;
  }

  /** After a gap nothing is ours any more, although nobody has told us. */
  function reconsider(): void {
    const ids = new Set(attendance.servers().map((one) => one.id));
    for (const entry of entries.values()) {
      if (entry.holder?.id === id && !isMine(entry) && !entry.isHanding) become(entry, null);
      if (entry.holder === null || !ids.has(entry.holder.id)) void look(entry);
    }
  }
  attendance.onChange(reconsider);

  const wordListeners = new Set<(space: string) => void>();
  const stopHearing = store.hear((key) => {
    if (!key.startsWith('space ')) return;
    const space = key.slice('space '.length);
    const entry = entries.get(space);
    if (entry !== undefined && !entry.isHanding) void look(entry);
    for (const listener of wordListeners) listener(space);
  });

  let cancel = (): void => {};
  function turn(): void {
    reconsider();
    const all = [...entries.values()];
    for (let i = 0; i < Math.min(READ_AGAIN, all.length); i++) {
      nextRead = (nextRead + 1) % all.length;
      void look(all[nextRead] as Entry);
    }
    cancel = steady.after(RENEW_MS, turn);
  }
  cancel = steady.after(RENEW_MS, turn);

  /** Servers that share a space and one that does not cannot both have it. */
  async function requireOurKind(entry: Entry): Promise<void> {
    const word = (isAlone ? null : await store.readAlone?.(entry.key)) ?? entry.word;
    if (word === null) return;
    const isShared = word.isAlone !== true;
    if (!word.isReleased && word.by !== id && (isAlone || !isShared)) {
      if (await attendance.isSurelyThere(word)) throw locked(path, entry.space, word, isAlone);
    }
    if (!isAlone || !isShared) return;
    await attendance.look();
    for (const { isAlone: one, name: holder, id: by } of attendance.servers()) {
      const other = { by, holder, isReleased: false };
      if (!one && (await attendance.isSurelyThere(other)))
        throw locked(path, entry.space, other, isAlone);
    }
  }

  async function of(space: string): Promise<Lease> {
    const entry: Entry = {
      ...{ space, key: `space ${space}`, listeners: new Set<() => void>() },
      ...{
        seq: 0,
        word: null,
        holder: null,
        lastId: null,
        changes: 0,
        mineSince: 0,
        gaps: 0,
        freeSince: null,
      },
      ...{ isStanding: false, isHanding: false, isClosed: false },
      ...{ looking: Promise.resolve(), isLookAsked: false },
    };
    entries.set(space, entry);
    try {
      await look(entry);
      await requireOurKind(entry);
    } catch (cause) {
      entries.delete(space);
      throw cause;
    }
    return {
      id,
      get isMine() {
        return isMine(entry);
      },
      get holder() {
        return entry.holder;
      },
      get changes() {
        return entry.changes;
      },
      get mineMs() {
        return isMine(entry) ? steady.now() - entry.mineSince : 0;
      },
      onChange(listener) {
        entry.listeners.add(listener);
        return () => entry.listeners.delete(listener);
      },
      stand() {
        entry.isStanding = true;
        void look(entry);
      },
      look: () => void look(entry),
      async hand(to) {
        if (!isMine(entry)) return false;
        entry.isHanding = true;
        await entry.looking;
        const isDone = await write(entry, to, false).catch(() => false);
        // A word that nobody answered for may count: only a look tells whose it is.
        become(entry, isDone ? to : null);
        entry.isHanding = false;
        if (!isDone) void look(entry);
        return isDone;
      },
      async close() {
        if (entry.isClosed) return;
        entry.isClosed = true;
        await entry.looking;
        const wasMine = isMine(entry);
        entries.delete(space);
        // Before it is said: another may have it as soon as that is heard.
        become(entry, null);
        if (wasMine) await write(entry, self, true).catch(() => {});
      },
    };
  }

  function hasHeir(): boolean {
    const others = attendance.servers().filter((one) => one.id !== id);
    return others.some((one) => !one.isAlone && !one.isDraining);
  }

  return {
    id,
    get failovers() {
      return failovers;
    },
    servers: attendance.servers,
    allCan: attendance.allCan,
    of,
    onServers: attendance.onChange,
    async isVacant(space) {
      const word = (await store.read(`space ${space}`))?.word ?? null;
      if (word === null || word.isAlone) return false;
      // Handed to us when we had let go of it already: nobody else would take it while we are there.
      if (word.by === id && !entries.has(space)) return true;
      return word.isReleased || !(await attendance.isThere(word));
    },
    onWord: (listener) => void wordListeners.add(listener),
    async hasHeir() {
      // What one said a moment ago, that it drains no more say, is known here with the next look alone.
      if (!hasHeir()) await attendance.lookAnew().catch(() => {});
      return hasHeir();
    },
    async drain(is) {
      isDraining = is;
      await attendance.drain(is);
      reconsider();
    },
    async isLost(opening, silentMs) {
      if (attendance.silentMs(opening) < silentMs) return false;
      // What is known of it may be old.
      await attendance.lookAnew();
      return attendance.silentMs(opening) >= silentMs;
    },
    async close() {
      cancel();
      stopHearing();
      await attendance.close();
    },
  };
}

function locked(path: string, space: string, held: LeaseWord, isAlone: boolean): LogError {
  const isSame = (held.isAlone ?? false) === isAlone;
  const who = held.isAlone ? held.holder : `the server ${held.holder}`;
  const advice = isSame
    ? 'stop that server, or use another prefix'
    : 'a server with a name and one without cannot share it: give both a name (--server-name), or stop that server';
  return new LogError('log.locked', `${path} (${space}) is open at ${who}: ${advice}`, { path });
}
