/**
 * Spaces that are being made: the call that makes one may be refused, and then there is none, or every
 * misspelt name would stay [SP3]. Calls that may make a space are counted in and out; when the last has
 * left and nothing is stored but the configuration, the space is unmade.
 */
import type { Hub } from '../../hub/hub.ts';

export interface UnsettledSpaces {
  /** A call that may make the space begins; what it answers is called at its end. */
  enter(name: string): () => Promise<void>;
  has(name: string): boolean;
  /** It was made, and its configuration took so many entries. */
  made(name: string, entries: number): void;
  /** Somebody asked for the space itself: it stays, even empty. */
  keep(name: string): void;
  /** Resolves when the space is unmade, if that is under way. */
  unmaking(name: string): Promise<void> | undefined;
}

/** Fewer entries than any space has. */
const KEPT = -1;

export function createUnsettledSpaces(
  find: (name: string) => Hub | undefined,
  unmake: (name: string, hub: Hub, entries: number) => Promise<void>,
): UnsettledSpaces {
  const entriesOf = new Map<string, number>();
  const makers = new Map<string, number>();
  const unmaking = new Map<string, Promise<void>>();

  async function leave(name: string): Promise<void> {
    const left = (makers.get(name) ?? 1) - 1;
    if (left > 0) {
      makers.set(name, left);
      return;
    }
    makers.delete(name);
    const entries = entriesOf.get(name);
    entriesOf.delete(name);
    const hub = find(name);
    if (entries === undefined || hub === undefined || hub.stats.entries > entries) return;
    const promise = unmake(name, hub, entries).finally(() => unmaking.delete(name));
    unmaking.set(name, promise);
    await promise;
  }

  return {
    enter(name) {
      makers.set(name, (makers.get(name) ?? 0) + 1);
      return () => leave(name);
    },
    has: (name) => entriesOf.has(name),
    made(name, entries) {
      if (makers.has(name) && !entriesOf.has(name)) entriesOf.set(name, entries);
    },
    keep: (name) => void entriesOf.set(name, KEPT),
    unmaking: (name) => unmaking.get(name),
  };
}
