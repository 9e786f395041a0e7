/**
 * Spaces spread over the servers: once a second a server looks whether another should have what it sequences, and
 * hands that over, without a gap that a client sees [SQ8] [SQ10]: whoever is nearest to its senders while it is busy [SQ27],
 * and else the one that the names choose. A server must have been there for a while before
 * anything moves to it, and what has come stays for a while: servers that come and go move nothing. One that
 * drains hands over all it has.
 */
import type { AttendingServer } from '../../log/attendance.ts';
import { rankServers } from '../../log/choose-holder.ts';
import type { Holder } from '../../log/lease.ts';
import type { Steady } from '../../log/lease-words.ts';

/** A space as it is moved. */
export interface Movable {
  readonly isMine: boolean;
  /** Somebody has it. */
  readonly isHeld: boolean;
  readonly mineMs: number;
  /** The server by which its commands come, where that is known and matters. */
  readonly nearest: string | null;
  handOver(to: Holder): Promise<boolean>;
}

export interface SpreadOptions {
  /** Of this server. */
  readonly name: string;
  readonly steady: Steady;
  servers(): readonly AttendingServer[];
  spaces(): Iterable<readonly [string, Movable]>;
  /** Has that server open the space, so that it can take it; false when it does not. */
  summon(server: Holder, space: string): Promise<boolean>;
  /** The cluster lets that server serve the space. */
  mayHave(server: string, space: string): boolean;
}

export interface Spread {
  /** Looks now; the answer is there when nothing is under way. */
  look(): Promise<void>;
  drain(isDraining: boolean): void;
  close(): void;
}

const LOOK_MS = 1_000;
/** For so long a server must have been there. */
const STEADY_MS = 5_000;
/** For so long what has come stays. */
const STAY_MS = 10_000;
/** And for so long where it is far from its senders. */
const STAY_FAR_MS = 3_000;
/** At once; with so many spaces each second a move is no load that anybody notices. */
const MOVES_MAX = 8;
/** A server that did not take a space is asked again after this. */
const AGAIN_MS = 10_000;

export function createSpread(options: SpreadOptions): Spread {
  const { name, steady } = options;
  const notBefore = new Map<string, number>();
  let isDraining = false;
  let isClosed = false;
  let looking: Promise<void> | null = null;

  async function move(space: string, movable: Movable, to: Holder): Promise<void> {
    const isTaken =
      (await options.summon(to, space).catch(() => false)) &&
      (!movable.isMine || (await movable.handOver(to)));
    if (!isTaken) notBefore.set(space, steady.now() + (isDraining ? LOOK_MS : AGAIN_MS));
    else notBefore.delete(space);
  }

  async function lookOnce(): Promise<void> {
    const able = ableServers(options.servers(), name, isDraining);
    const moves: (() => Promise<void>)[] = [];
    for (const [space, movable] of options.spaces()) {
      // Nobody has it, and one that drains does not take it: another is asked to.
      const isWaiting = isDraining && !movable.isHeld;
      if (!isWaiting && !movable.isMine) continue;
      const allowed = able.filter((one) => options.mayHave(one.name, space));
      const near = allowed.find((one) => one.name === movable.nearest);
      const stayMs = near === undefined ? STAY_MS : STAY_FAR_MS;
      if (!isDraining && movable.mineMs < stayMs) continue;
      if ((notBefore.get(space) ?? 0) > steady.now()) continue;
      const to = near ?? holderFor(space, allowed);
      if (to !== null && to.name !== name) moves.push(() => move(space, movable, to));
    }
    // One after another in each lane; while it drains, until all is gone.
    const left = isDraining ? moves : moves.slice(0, MOVES_MAX);
    const lanes = Array.from({ length: MOVES_MAX }, async () => {
      for (let next = left.shift(); next !== undefined && !isClosed; next = left.shift())
        await next();
    });
    await Promise.all(lanes);
  }

  function look(): Promise<void> {
    looking ??= lookOnce().finally(() => {
      looking = null;
    });
    return looking;
  }

  let cancel = (): void => {};
  const again = (): void => {
    void look().finally(() => {
      if (!isClosed) cancel = steady.after(LOOK_MS, again);
    });
  };
  cancel = steady.after(LOOK_MS, again);

  return {
    look,
    drain(is) {
      isDraining = is;
      notBefore.clear();
    },
    close() {
      isClosed = true;
      cancel();
    },
  };
}

/** Those that may be given something; ourselves unless we drain. */
export function ableServers(
  servers: readonly AttendingServer[],
  name: string,
  isDraining: boolean,
): AttendingServer[] {
  return servers.filter((one) => {
    if (one.isAlone || one.isDraining) return false;
    if (one.name === name) return !isDraining;
    return isDraining || one.hereMs >= STEADY_MS;
  });
}

export function holderFor(space: string, able: readonly AttendingServer[]): Holder | null {
  const [first] = rankServers(
    space,
    able.map((one) => one.name),
  );
  return able.find((one) => one.name === first) ?? null;
}
