/**
 * Everything the page shows and did not push itself was asked for here, once for all who show it. An answer
 * stands until the hub says that its noun changed; then it is asked again, one question at a time and a few
 * times a second at the most, and the old answer is shown until the new one is there. Answers that nobody shows are kept for a while,
 * so that a room one comes back to is there at once. Knows nothing of React.
 */

/** What a question stands at. `isOld`: shown because there is nothing newer: the hub is away, or time is being travelled. */
export interface Asked<T> {
  readonly value: T | undefined;
  readonly error: Error | null;
  readonly isOld: boolean;
}

export interface Question {
  readonly operation: string;
  readonly input: unknown;
  readonly nouns: readonly string[];
}

export interface Asks {
  /** Asks, and tells of every change of the answer until the returned function is called. */
  watch(question: Question, listener: () => void): () => void;
  read(question: Question | null): Asked<unknown>;
  /** The hub said so. */
  changed(nouns: readonly string[] | 'all'): void;
  /** From here on answers are of another time or another hub: all of them are old until asked again. */
  age(doesAsk: boolean): void;
}

interface Entry {
  readonly question: Question;
  /** Of everybody who shows it: two places may know it by different nouns. */
  readonly nouns: Set<string>;
  readonly listeners: Set<() => void>;
  shown: Asked<unknown>;
  isAsking: boolean;
  /** Asked before the last change. */
  isStale: boolean;
  askedAt: number;
  /** It will be asked again soon. */
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Answers nobody looks at. */
const UNSEEN_MAX = 48;
/** How often one question is asked, whatever goes on: people do not see faster, and a page costs a busy hub little. */
const EVERY_MS = 250;
export const NOTHING: Asked<never> = { value: undefined, error: null, isOld: false };

export function keyOf({ operation, input }: Question): string {
  return `${operation} ${JSON.stringify(input)}`;
}

export function createAsks(
  ask: (question: Question) => Promise<unknown>,
  everyMs: number = EVERY_MS,
): Asks {
  const entries = new Map<string, Entry>();
  let epoch = 0;

  function show(entry: Entry, shown: Asked<unknown>): void {
    entry.shown = shown;
    for (const listener of [...entry.listeners]) listener();
  }

  function refresh(entry: Entry): void {
    if (entry.isAsking) return;
    clearTimeout(entry.timer);
    entry.timer = undefined;
    entry.isAsking = true;
    entry.isStale = false;
    entry.askedAt = performance.now();
    const asked = epoch;
    void ask(entry.question)
      .then(
        (value) => show(entry, { value, error: null, isOld: asked !== epoch }),
        (error: Error) => {
          const isOld = entry.shown.value !== undefined;
          show(entry, { ...entry.shown, error, isOld });
        },
      )
      .finally(() => {
        entry.isAsking = false;
        if (entry.isStale) refreshSoon(entry);
      });
  }

  /** At once, unless it was asked a moment ago. */
  function refreshSoon(entry: Entry): void {
    if (entry.listeners.size === 0 || entry.isAsking || entry.timer !== undefined) return;
    const waitMs = entry.askedAt + everyMs - performance.now();
    if (waitMs <= 0) refresh(entry);
    else entry.timer = setTimeout(refresh, waitMs, entry);
  }

  function spoil(entry: Entry): void {
    entry.isStale = true;
    refreshSoon(entry);
  }

  function forgetSome(): void {
    const unseen = [...entries].filter(([, { listeners }]) => listeners.size === 0);
    for (const [key] of unseen.slice(0, -UNSEEN_MAX)) entries.delete(key);
  }

  return {
    watch(question, listener) {
      const key = keyOf(question);
      const known = entries.get(key);
      const entry: Entry = known ?? {
        ...{ question, listeners: new Set(), shown: NOTHING, isAsking: false, isStale: true },
        ...{ nouns: new Set(), askedAt: Number.NEGATIVE_INFINITY, timer: undefined },
      };
      for (const noun of question.nouns) entry.nouns.add(noun);
      // Last in the order of the map: the first to be shown again is the last to be forgotten.
      entries.delete(key);
      entries.set(key, entry);
      entry.listeners.add(listener);
      if (entry.isStale) refreshSoon(entry);
      return () => {
        entry.listeners.delete(listener);
        forgetSome();
      };
    },
    read(question) {
      return question === null ? NOTHING : (entries.get(keyOf(question))?.shown ?? NOTHING);
    },
    changed(nouns) {
      for (const entry of entries.values()) {
        if (nouns === 'all' || nouns.some((noun) => entry.nouns.has(noun))) spoil(entry);
      }
    },
    age(doesAsk) {
      epoch++;
      for (const entry of entries.values()) {
        if (!entry.shown.isOld) show(entry, { ...entry.shown, isOld: true });
        entry.isStale = true;
        if (doesAsk && entry.listeners.size > 0) refresh(entry);
      }
    },
  };
}
