/**
 * By which server the commands of a space come, as the one that sequences it sees them. What comes by another is decided
 * twice as dear as what comes here: forwarded, answered and read. So a busy space belongs where its senders are [SQ27]. A few
 * commands, or a moment, choose nothing.
 */

export interface Origins {
  /** So many commands came by another server. */
  note(from: string, count: number): void;
  /** To be asked about once a second while the space is sequenced here; `length` is that of its log. */
  nearest(now: number, length: number): string | null;
}

/** Looked at so often at the most. */
const WINDOW_MS = 900;
/** What was counted longer ago says nothing of now. */
const STALE_MS = 5_000;
/** With fewer commands a second it is not worth a move. */
const BUSY_PER_SECOND = 100;
/** So many times as many must come by another. */
const MUCH_MORE = 2;
const LOOKS = 2;
/** For so long a space that was busy is where its senders were. */
const KEPT_MS = 60_000;

export function createOrigins(name: string): Origins {
  let counts = new Map<string, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let lastLength = 0;
  let seen: string | null = null;
  let times = 0;
  let nearest: string | null = null;
  let busyAt = Number.NEGATIVE_INFINITY;

  /** Null when too little came to tell. */
  function chosen(elapsedMs: number, grown: number): string | null {
    let [most, forwarded, top] = [0, 0, name];
    for (const [from, count] of counts) {
      forwarded += count;
      if (count > most) [most, top] = [count, from];
    }
    const own = Math.max(0, grown - forwarded);
    if (((own + forwarded) * 1000) / elapsedMs < BUSY_PER_SECOND) return null;
    return most > 0 && most >= MUCH_MORE * own ? top : name;
  }

  return {
    note(from, count) {
      counts.set(from, (counts.get(from) ?? 0) + count);
    },
    nearest(now, length) {
      const elapsedMs = now - lookedAt;
      if (elapsedMs < WINDOW_MS) return nearest;
      const choice = elapsedMs > STALE_MS ? null : chosen(elapsedMs, length - lastLength);
      [counts, lookedAt, lastLength] = [new Map(), now, length];
      times = choice !== null && choice === seen ? times + 1 : 1;
      seen = choice;
      if (choice !== null) busyAt = now;
      if (choice !== null && times >= LOOKS) nearest = choice;
      if (now - busyAt > KEPT_MS) nearest = null;
      return nearest;
    },
  };
}
