/**
 * Which messages of other servers were heard before. Each server counts what it sends since it started (its
 * incarnation); of what was sent in one incarnation every number is taken once. Which incarnation lives is not believed
 * of a message, which may be an old one: it is asked for, with a challenge that only the living can answer [JN4].
 */

export type Heard =
  | 'fresh'
  /** Taken before, or so old that nobody remembers. */
  | 'repeated'
  /** Of an incarnation that has not answered a challenge. */
  | 'unconfirmed';

export interface Replays {
  hear(name: string, incarnation: string, count: number): Heard;
  /** It answered, and had counted so far. */
  confirm(name: string, incarnation: string, count: number): void;
  forget(name: string): void;
}

/** How far apart two messages of one server may overtake each other. */
const WINDOW = 4_096;

interface Line {
  readonly incarnation: string;
  high: number;
  readonly taken: Uint8Array;
}

export function createReplays(): Replays {
  const lines = new Map<string, Line>();
  return {
    hear(name, incarnation, count) {
      const line = lines.get(name);
      if (line === undefined || line.incarnation !== incarnation) return 'unconfirmed';
      if (count <= line.high - WINDOW) return 'repeated';
      if (count <= line.high && line.taken[count % WINDOW] === 1) return 'repeated';
      for (let at = Math.max(line.high + 1, count - WINDOW + 1); at < count; at++)
        line.taken[at % WINDOW] = 0;
      line.high = Math.max(line.high, count);
      line.taken[count % WINDOW] = 1;
      return 'fresh';
    },
    confirm(name, incarnation, count) {
      if (lines.get(name)?.incarnation === incarnation) return;
      // What it sent before it answered cannot be told from what somebody sends again.
      lines.set(name, { incarnation, high: count, taken: new Uint8Array(WINDOW).fill(1) });
    },
    forget(name) {
      lines.delete(name);
    },
  };
}
