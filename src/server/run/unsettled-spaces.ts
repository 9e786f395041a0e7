/**
 * Spaces that are being made: the call that makes one may be refused, and then there is none, or every
 * misspelt name would stay [SP3]. Calls that may make a space are counted in and out; when the last has
 * left and nothing is stored but the configuration, the space is unmade. In NATS other servers may be making it
 * too: whoever stored something says so before it is answered, and then it is there for all.
 */
import type { Hub } from '../../hub/hub.ts';
import type { Making } from '../../log/nats/making.ts';

export interface Made {
  /** So many its configuration took. */
  readonly entries: number;
  /** Null where no other server can be making it. */
  readonly making: Making | null;
}

export interface UnsettledSpaces {
  /** A call that may make the space begins; what it answers is called at its end. */
  enter(name: string): () => Promise<void>;
  has(name: string): boolean;
  /** It is open, and new. */
  made(name: string, made: Made): void;
  /** Somebody asked for the space itself: it stays, even empty. */
  keep(name: string): void;
  /** It stays, for every server. */
  settle(name: string): Promise<void>;
  /** Resolves when the space is unmade, if that is under way. */
  unmaking(name: string): Promise<void> | undefined;
}

export interface UnsettledOptions {
  find(name: string): Hub | undefined;
  unmake(name: string, hub: Hub, made: Made): Promise<void>;
  onTrouble(what: string, cause: unknown): void;
}

/** Until the others are told, they are told again after so long. */
const AGAIN_MS = 1_000;
/** Fewer entries than any space has. */
const KEPT = -1;

export function createUnsettledSpaces(options: UnsettledOptions): UnsettledSpaces {
  const { find, unmake, onTrouble } = options;
  const entriesOf = new Map<string, number>();
  const makers = new Map<string, number>();
  const makings = new Map<string, Making>();
  const unmaking = new Map<string, Promise<void>>();

  async function settle(name: string): Promise<void> {
    const making = makings.get(name);
    await making?.settle();
    if (makings.get(name) === making) makings.delete(name);
  }

  function settleLater(name: string, cause: unknown): void {
    onTrouble(`others do not hear of space ${name} yet`, cause);
    const again = async (): Promise<void> => {
      if (!makings.has(name) || find(name) === undefined) return;
      await settle(name).catch((next) => settleLater(name, next));
      if (!makers.has(name) && !makings.has(name)) entriesOf.delete(name);
    };
    setTimeout(() => void again(), AGAIN_MS).unref();
  }

  function isStored(name: string): boolean {
    const entries = entriesOf.get(name);
    const hub = find(name);
    return entries === undefined || hub === undefined || hub.stats.entries > entries;
  }

  async function leave(name: string): Promise<void> {
    const left = (makers.get(name) ?? 1) - 1;
    if (left > 0) makers.set(name, left);
    else makers.delete(name);
    if (isStored(name)) {
      // What is stored is stored: where the others cannot be told now, its caller is answered all the same.
      await settle(name).catch((cause) => settleLater(name, cause));
      if (!makers.has(name) && !makings.has(name)) entriesOf.delete(name);
      return;
    }
    if (left > 0) return;
    const entries = entriesOf.get(name) ?? KEPT;
    entriesOf.delete(name);
    const making = makings.get(name) ?? null;
    makings.delete(name);
    const promise = unmake(name, find(name) as Hub, { entries, making }).finally(() =>
      unmaking.delete(name),
    );
    unmaking.set(name, promise);
    await promise;
  }

  return {
    enter(name) {
      makers.set(name, (makers.get(name) ?? 0) + 1);
      return () => leave(name);
    },
    has: (name) => entriesOf.has(name),
    made(name, { entries, making }) {
      if (making !== null) makings.set(name, making);
      if (!makers.has(name)) settle(name).catch((cause) => settleLater(name, cause));
      else if (!entriesOf.has(name)) entriesOf.set(name, entries);
    },
    keep: (name) => void entriesOf.set(name, KEPT),
    settle,
    unmaking: (name) => unmaking.get(name),
  };
}
