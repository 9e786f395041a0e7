/**
 * Whispers on their way out, gathered: however often something happens to an agent, the others are told of it once a
 * tick, and of no more agents at once than one tick has room for [SQ15]. What has to wait is said first with the next
 * one. Limits that all servers keep together are told sooner, when much of one was used.
 */
import type { EphemeralEvent } from '../core/law/world.ts';
import type { Clock } from './clock.ts';
import { createOthers, type Others } from './others.ts';
import type { Sequencing } from './sequencing.ts';
import { createTakenNames } from './taken-names.ts';
import { createUtterances, type Utterances } from './utterances.ts';
import type {
  AgentHolds,
  AgentSpent,
  Held,
  NameTaken,
  Seen,
  TurnSaid,
  Whisper,
} from './whisper.ts';

/** What happened is said by then. */
export const TICK_MS = 250;
/** When an agent uses much of a limit, or opens much, within a tick; no two messages are closer. */
const EARLY_MS = 25;
/** Somebody came, or left: who is asked for them next must know. No two such messages are closer. */
const SUDDEN_MS = 5;
/** Words in one tick. */
export const WORDS_MAX = 2_000;
/** Of one agent's refreshed offers in one tick. */
const OFFERS_MAX = 32;
/** While somebody is at our doors we say so this often. */
const HERE_MS = 1_000;
/** And all of it again this often, should a word have been lost. */
const ROUND_MS = 10_000;
/** How much one has open is told when it passes an eighth of what it may. */
const HOLD_STEPS = 8;
const SAID_MAX = 100_000;
const NAME_CHARS_MAX = 512;

export interface Whispers {
  /** What a batch or a feed changed in memory alone. */
  tell(events: readonly EphemeralEvent[]): void;
  /** Something about the agent changed at our doors; `read` says what it is when it is told. What is sudden is told at once. */
  stir(agent: string, read: () => Seen, isSudden?: boolean): void;
  /** Somebody was let do something; from `much` on the others do not wait for the tick. */
  spend(limit: string, key: string, cost: number, much: number): void;
  onSpent(listener: (spent: AgentSpent) => void): () => void;
  /** How many an agent has open here now; told in steps of what it may, so that few are worth a word, or exactly and at once. */
  hold(agent: string, what: Held, count: number, max?: number): void;
  /** Whether something of the agent is heard within a tick: what it did at another server may be on its way [SQ18]. */
  news(agent: string): Promise<boolean>;
  /** By then, whatever happened at another server before is known here. */
  moment(): Promise<void>;
  /** Somebody here took a name over from whoever bore it. */
  takeName(name: string): void;
  onNameTaken(listener: (name: string) => void): () => void;
  /** A turn that runs here said something. */
  utter: Utterances['add'];
  onTurnSaid(listener: (said: TurnSaid) => void): () => void;
  /** What is not said yet of these agents, for one who asked and must see what it did. */
  unsaid(agents: ReadonlySet<string>): Whisper[];
  readonly others: Pick<Others, 'seen' | 'names' | 'holds'>;
  close(): void;
}

/** For those who bound what an agent has open at all servers together. */
export type Holding = Pick<Whispers, 'hold' | 'others'>;

export interface WhispersOptions {
  readonly sequencing: Sequencing;
  readonly clock: Clock;
  /** What a live feed has shown an agent, as it is now. */
  presentedTo(agent: string): Whisper | null;
  /** The last beat of everybody who is not gone, for a server that was not there to hear it. */
  beats(): Iterable<Beaten>;
  /** For how long every beat was heard here. */
  awakeMs(): number;
  /** Not every beat was heard: silence until now means nothing. */
  onDeaf(): void;
  /** Takes in what changes the state. */
  hear(events: readonly Whisper[]): void;
}

export type Beaten = Extract<Whisper, { type: 'presence.beaten' }>;
type Refreshed = Extract<Whisper, { type: 'offer.refreshed' }>;

export function createWhispers(options: WhispersOptions): Whispers {
  const { sequencing, clock } = options;
  const others = createOthers(clock);
  const beats = new Map<string, Beaten>();
  const offers = new Map<string, Map<string, Refreshed>>();
  const shown = new Set<string>();
  const stirred = new Set<string>();
  const spent = new Map<string, AgentSpent>();
  const held = new Map<string, AgentHolds>();
  const said = new Map<string, () => Seen>();
  const heldSaid = new Map<string, AgentHolds>();
  /** Who was there when we spoke of them last. */
  const there = new Set<string>();
  const utterances = createUtterances();
  const saidListeners = new Set<(one: TurnSaid) => void>();
  const awaited = new Set<{ readonly agent: string; come(isHeard: boolean): void }>();
  const takenNames = createTakenNames(() => sequencing.standing.server, clock);
  const nameListeners = new Set<(name: string) => void>();
  const spentListeners = new Set<(one: AgentSpent) => void>();
  let flushing: { readonly at: number; cancel(): void } | null = null;
  let resting: (() => void) | null = null;
  let roundAt = 0;
  let saidAt = 0;
  let asksWho = true;
  /** Somebody has to be told all beats, and that these were all. */
  let owesBeats = false;
  let isClosed = false;

  function isEmpty(): boolean {
    return [beats, offers, shown, stirred, spent, held, utterances, takenNames].every(
      ({ size }) => size === 0,
    );
  }

  function soon(ms: number): void {
    if (isClosed) return;
    const at = clock.now() + ms;
    if (flushing !== null) {
      if (flushing.at <= at) return;
      flushing.cancel();
    }
    flushing = { at, cancel: clock.after(ms, flush) };
  }

  function flush(): void {
    flushing = null;
    const words = gather();
    if (words.length > 0) say(words);
    if (!isEmpty()) soon(TICK_MS);
  }

  function say(words: readonly Whisper[]): void {
    saidAt = clock.now();
    sequencing.whisper(words);
  }

  /** Oldest first, and so much as one tick has room for. */
  function gather(): Whisper[] {
    const words: Whisper[] = [];
    const hasRoom = (): boolean => words.length < WORDS_MAX;
    if (asksWho) words.push({ type: 'server.hello' });
    asksWho = false;
    words.push(...takenNames.drain(hasRoom));
    words.push(...utterances.take());
    drain(spent, hasRoom, (word) => words.push(word));
    drain(held, hasRoom, (word) => words.push(word));
    drain(beats, hasRoom, (word) => words.push(word));
    if (owesBeats && beats.size === 0) {
      words.push({ type: 'server.awake', forMs: options.awakeMs() });
      owesBeats = false;
    }
    for (const agent of taken(shown, hasRoom)) {
      const word = options.presentedTo(agent);
      if (word !== null) words.push(word);
    }
    for (const agent of taken(stirred, hasRoom)) {
      const seen = said.get(agent)?.();
      if (seen === undefined) continue;
      const at = clock.now();
      if (isThere(seen, at)) there.add(agent);
      else there.delete(agent);
      words.push({ type: 'agent.seen', agent, at, seen });
    }
    for (const [agent, places] of [...offers]) {
      if (!hasRoom()) break;
      let room = OFFERS_MAX;
      drain(
        places,
        () => hasRoom() && room-- > 0,
        (word) => words.push(word),
      );
      offers.delete(agent);
      if (places.size > 0) offers.set(agent, places);
    }
    return words;
  }

  /** Goes on as long as there is somebody to speak of or to listen for. */
  function rest(): void {
    const isAlone = said.size + heldSaid.size + others.size === 0;
    if (resting !== null || isClosed || isAlone) return;
    resting = clock.after(HERE_MS, () => {
      resting = null;
      others.sweep();
      const now = clock.now();
      if (now >= roundAt) {
        roundAt = now + ROUND_MS;
        stirAll((agent, seen) => there.has(agent) || isThere(seen, now));
      }
      if (said.size + heldSaid.size > 0 && now - saidAt >= HERE_MS - TICK_MS)
        say([{ type: 'server.here' }]);
      rest();
    });
  }

  function stirAll(isWanted: (agent: string, seen: Seen) => boolean): void {
    for (const [agent, read] of said) if (isWanted(agent, read())) stirred.add(agent);
    for (const [place, word] of heldSaid) held.set(place, word);
    if (stirred.size + held.size > 0) soon(TICK_MS);
  }

  /** For what is asked about next; no two such messages are close. */
  function atOnce(): void {
    soon(Math.max(0, saidAt + SUDDEN_MS - clock.now()));
  }

  function hearTaken(word: NameTaken): void {
    if (takenNames.hear(word)) for (const hear of nameListeners) hear(word.name);
    else if (takenNames.size > 0) atOnce();
  }

  /** Another has begun, or some words were lost: nothing is known of what was said before. */
  function welcome(): void {
    stirAll(() => true);
    takenNames.repeat((name) => heldSaid.has(placeOf(name, 'name')));
    for (const beat of options.beats()) if (!beats.has(beat.agent)) beats.set(beat.agent, beat);
    owesBeats = true;
    soon(TICK_MS);
  }

  function forget(agent: string): void {
    said.delete(agent);
    there.delete(agent);
  }

  const stop = sequencing.onWhisper((words, from) => {
    const events: Whisper[] = [];
    for (const word of words) {
      if (others.hear(from, word)) asksWho = true;
      if (word.type === 'agent.seen')
        for (const one of awaited) if (one.agent === word.agent) one.come(true);
      if (word.type === 'server.hello') welcome();
      else if (word.type === 'agent.spent') for (const hear of spentListeners) hear(word);
      else if (word.type === 'name.taken') hearTaken(word);
      else if (word.type === 'turn.said') for (const hear of saidListeners) hear(word);
      else events.push(word);
    }
    if (asksWho) soon(TICK_MS);
    options.hear(events);
    rest();
  });
  const stopReturning = sequencing.onReturn(() => {
    options.onDeaf();
    asksWho = true;
    welcome();
  });
  // Whoever is there already is asked who they have.
  soon(0);

  return {
    others,
    tell(events) {
      for (const event of events) {
        if (event.type === 'presence.beaten') beats.set(event.agent, event);
        else if (event.type === 'inbox.presented') shown.add(event.by);
        else if (event.type === 'offer.refreshed') {
          const places = offers.get(event.agent) ?? new Map<string, Refreshed>();
          offers.set(event.agent, places);
          places.set(`${event.kind} ${event.name}`, event);
        } else continue;
        soon(TICK_MS);
      }
    },
    stir(agent, read, isSudden = false) {
      if (agent.length > NAME_CHARS_MAX || (stirred.has(agent) && !isSudden)) return;
      said.delete(agent);
      said.set(agent, read);
      const oldest = said.size > SAID_MAX ? said.keys().next().value : undefined;
      if (oldest !== undefined) forget(oldest);
      stirred.add(agent);
      const isNew = isSudden || (!there.has(agent) && isThere(read(), clock.now()));
      if (isNew) atOnce();
      else soon(TICK_MS);
      rest();
    },
    spend(limit, key, cost, much) {
      const place = `${limit} ${key}`;
      const all = (spent.get(place)?.cost ?? 0) + cost;
      spent.set(place, { type: 'agent.spent', limit, key, cost: all });
      soon(all >= much ? EARLY_MS : TICK_MS);
    },
    onSpent(listener) {
      spentListeners.add(listener);
      return () => spentListeners.delete(listener);
    },
    hold(agent, what, exact, max) {
      const place = placeOf(agent, what);
      const step = Math.max(1, Math.floor((max ?? 1) / HOLD_STEPS));
      const count = exact - (exact % step);
      if ((heldSaid.get(place)?.count ?? 0) === count) return;
      const word: AgentHolds = { type: 'agent.holds', agent, what, count };
      if (count === 0) heldSaid.delete(place);
      else heldSaid.set(place, word);
      held.set(place, word);
      if (max === undefined) atOnce();
      else soon(EARLY_MS);
      rest();
    },
    async news(agent) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const one = { agent, come: resolve };
      awaited.add(one);
      const cancel = clock.after(TICK_MS, () => resolve(false));
      const isHeard = await promise;
      cancel();
      awaited.delete(one);
      return isHeard;
    },
    moment: () => new Promise((resolve) => void clock.after(TICK_MS, resolve)),
    takeName(name) {
      takenNames.take(name);
      atOnce();
    },
    onNameTaken(listener) {
      nameListeners.add(listener);
      return () => nameListeners.delete(listener);
    },
    utter(said) {
      utterances.add(said);
      soon(Math.max(0, saidAt + EARLY_MS - clock.now()));
    },
    onTurnSaid(listener) {
      saidListeners.add(listener);
      return () => saidListeners.delete(listener);
    },
    unsaid(agents) {
      const words: Whisper[] = [];
      for (const agent of agents) {
        const beat = beats.get(agent);
        if (beat !== undefined) words.push(beat);
        for (const offer of offers.get(agent)?.values() ?? []) words.push(offer);
      }
      return words.slice(0, WORDS_MAX);
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      for (const one of awaited) one.come(false);
      flushing?.cancel();
      resting?.();
      stop();
      stopReturning();
      sequencing.whisper([{ type: 'server.left' }]);
    },
  };
}

/** A call so old is no sign that somebody is there. */
const RECENT_MS = 60_000;

function isThere(seen: Seen, now: number): boolean {
  const isTold = seen.hooked !== null || (seen.reported?.until ?? 0) > now;
  return seen.connections > 0 || isTold || now - seen.lastCallAt < RECENT_MS;
}

function drain<W>(map: Map<string, W>, hasRoom: () => boolean, take: (word: W) => void): void {
  for (const [key, word] of map) {
    if (!hasRoom()) return;
    map.delete(key);
    take(word);
  }
}

/** What was said last of what an agent holds is found by this. */
function placeOf(agent: string, what: Held): string {
  return `${what} ${agent}`;
}

function* taken(set: Set<string>, hasRoom: () => boolean): Generator<string> {
  for (const one of set) {
    if (!hasRoom()) return;
    set.delete(one);
    yield one;
  }
}
