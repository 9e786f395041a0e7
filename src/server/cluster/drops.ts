/** What was dropped between servers, counted: somebody is told of the first at once, and then once a minute. */
import type { Dropped } from './seal.ts';

export interface Drops {
  readonly total: number;
  note(why: Dropped, from: string | null): void;
  close(): void;
}

const TELL_MS = 60_000;
/** More kinds than that are summed up. */
const KINDS_MAX = 16;
/** What a server that has just started makes: it is asked who it is, and says it again. */
const USUAL: ReadonlySet<Dropped> = new Set(['unconfirmed']);

export function createDrops(tell: (line: string) => void): Drops {
  const counts = new Map<string, number>();
  let total = 0;
  let timer: NodeJS.Timeout | null = null;

  function say(): void {
    timer = null;
    if (counts.size === 0) return;
    const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
    counts.clear();
    tell(
      `messages between servers were dropped: ${kinds}. Somebody else speaks on these subjects of NATS: see "synod cluster servers", and give each server credentials of its own`,
    );
    timer = setTimeout(say, TELL_MS).unref();
  }

  return {
    get total() {
      return total;
    },
    note(why, from) {
      if (USUAL.has(why)) return;
      total++;
      const kind = from === null ? why : `${why} (${shown(from)})`;
      const known = counts.has(kind) || counts.size < KINDS_MAX ? kind : 'of other kinds';
      counts.set(known, (counts.get(known) ?? 0) + 1);
      if (timer === null) say();
    },
    close() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** A name that nobody has vouched for. */
function shown(from: string): string {
  return from.replaceAll(/[^A-Za-z0-9_.-]/g, '?').slice(0, 64);
}
