/**
 * Spaces that nobody sequences and that are not open here: whoever had one is lost, or let go of it. What falls due in
 * it, and what ran in it, waits for nobody to ask: of the servers that may serve it the first in its order opens it,
 * each other so much later, and who opens it takes it [SQ28].
 */
import type { AttendingServer } from '../../log/attendance.ts';
import { rankServers } from '../../log/choose-holder.ts';
import type { Steady } from '../../log/lease-words.ts';
import type { OpenSpace } from './summons.ts';

export interface VacancyOptions {
  /** Of this server. */
  readonly name: string;
  readonly steady: Steady;
  servers(): readonly AttendingServer[];
  /** The cluster lets that server serve the space. */
  mayHave(server: string, space: string): boolean;
  /** Somebody had it, and nobody has it now. */
  isVacant(space: string): Promise<boolean>;
  /** Spaces that are there and not open here. */
  closed(): Iterable<string>;
  readonly open: OpenSpace;
}

export interface Vacancies {
  /** Somebody came or went: each is looked at now. */
  lookAtAll(): void;
  /** A word about the space was heard. */
  lookAt(space: string): void;
  close(): void;
}

const LOOK_MS = 1_000;
/** Who starts has heard by then who else is there. */
const BEGIN_MS = 3_000;
/** A server opens a space so much later than the one before it in the order. */
const RANK_MS = 3_000;
/** One that could not be opened is tried again after this. */
const AGAIN_MS = 30_000;
/** Read at once, and of those that nothing was heard of in each turn. */
const READ_AT_ONCE = 8;

export function createVacancies(options: VacancyOptions): Vacancies {
  const { name, steady, open } = options;
  const due = new Set<string>();
  /** Since when nobody has them. */
  const vacant = new Map<string, number>();
  /** What was never looked at is heard of by nobody. */
  const met = new Set<string>();
  let isClosed = false;
  let isLooking = false;
  let isBegun = false;
  let next = 0;

  /** How many others may open it before us; null when we may not. */
  function rankOf(space: string): number | null {
    const allowed = options
      .servers()
      .filter((one) => !one.isAlone && options.mayHave(one.name, space));
    // Where all that may serve it drain, one of them does.
    const steady = allowed.filter((one) => !one.isDraining);
    const able = (steady.length > 0 ? steady : allowed).map((one) => one.name);
    const rank = rankServers(space, able).indexOf(name);
    return rank === -1 ? null : rank;
  }

  async function look(space: string): Promise<void> {
    const rank = rankOf(space);
    if (rank === null || !(await options.isVacant(space))) {
      vacant.delete(space);
      return;
    }
    const since = vacant.get(space) ?? steady.now();
    vacant.set(space, since);
    if (isClosed || steady.now() < since + rank * RANK_MS) return;
    if (await open(space).catch(() => false)) vacant.delete(space);
    else vacant.set(space, steady.now() + AGAIN_MS);
  }

  async function lookAtDue(): Promise<void> {
    if (isLooking || !isBegun) return;
    isLooking = true;
    const lanes = Array.from({ length: READ_AT_ONCE }, async () => {
      for (const space of due) {
        if (isClosed) return;
        due.delete(space);
        // Nobody answers: it is looked at again.
        await look(space).catch(() => {});
      }
    });
    await Promise.all(lanes);
    isLooking = false;
  }

  function turn(): void {
    isBegun = true;
    const closed = [...options.closed()];
    const there = new Set(closed);
    for (const space of met) if (!there.has(space)) met.delete(space);
    for (const space of vacant.keys()) {
      if (there.has(space)) due.add(space);
      else vacant.delete(space);
    }
    for (const space of closed) if (!met.has(space)) due.add(space);
    for (const space of closed) met.add(space);
    for (let i = 0; i < Math.min(READ_AT_ONCE, closed.length); i++) {
      next = (next + 1) % closed.length;
      due.add(closed[next] as string);
    }
    void lookAtDue();
    cancel = steady.after(LOOK_MS, turn);
  }

  let cancel = steady.after(BEGIN_MS, turn);
  return {
    lookAtAll() {
      for (const space of options.closed()) due.add(space);
      void lookAtDue();
    },
    lookAt(space) {
      if (!met.has(space)) return;
      due.add(space);
      void lookAtDue();
    },
    close() {
      isClosed = true;
      cancel();
    },
  };
}
