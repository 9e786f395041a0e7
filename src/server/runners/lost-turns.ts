/**
 * Turns that other servers of the space run. When one of those is lost, what it ran is reported as cut off by a restart, as
 * its own next start would have it [RU26]. Every server that sees to the space reports it, so that it does not matter which
 * of them is lost next: the law takes the first word, and tells the others that it is stale.
 */
import { isRefusal } from '../../core/law/decider.ts';
import { SERVER } from '../../core/law/principal.ts';
import type { WorldView } from '../../core/law/state.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import type { Turn } from '../../core/turns/turn-state.ts';
import type { Hub } from '../../hub/hub.ts';
import { finishTurn } from './finish-turn.ts';
import { failedResult } from './turn-result.ts';

/** The servers of a cluster, as a supervisor knows them. */
export interface Servers {
  /** Of this server. */
  readonly incarnation: string;
  /** Not heard of for so long that others do what it did; throws when that cannot be told now. */
  isLost(incarnation: string): Promise<boolean>;
}

export interface LostTurns {
  hear(event: DurableEvent): void;
  close(): void;
}

export interface LostTurnsOptions {
  readonly hub: Hub;
  readonly servers: Servers;
  readonly lookMs?: number;
  warn(line: string): void;
  onFailure(what: string, cause: unknown): void;
}

/** How often it is looked whether a server is lost, once another has run something. */
const LOOK_MS = 500;

export function watchLostTurns(options: LostTurnsOptions): LostTurns {
  const { hub, servers, lookMs = LOOK_MS, warn, onFailure } = options;
  /** Incarnations that have run turns here since they were found to have none. */
  const others = new Set<string>();
  /** What runs since before we came was asked for. */
  let isToldAll = false;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function note(incarnation: string | undefined): void {
    // Of who is outside, and of a version that does not say it, the lease of the turn alone tells.
    if (incarnation === undefined || incarnation === servers.incarnation) return;
    others.add(incarnation);
    lookLater();
  }

  function lookLater(): void {
    if (timer !== undefined || isClosed || (isToldAll && others.size === 0)) return;
    timer = setTimeout(async () => {
      await look().catch((cause) => onFailure('turns of a lost server cannot be ended', cause));
      timer = undefined;
      lookLater();
    }, lookMs).unref();
  }

  async function look(): Promise<void> {
    if (!isToldAll) {
      const busy = await hub.ask(busyTurns);
      if (isRefusal(busy)) return;
      isToldAll = true;
      for (const { incarnation } of busy) note(incarnation);
    }
    for (const one of others) {
      // Where nobody answers nothing is known, and nothing could be reported.
      if (!isClosed && (await servers.isLost(one).catch(() => false))) await report(one);
    }
  }

  /** What could not be reported is looked at again. */
  async function report(one: string): Promise<void> {
    const busy = await hub.ask(busyTurns);
    if (isRefusal(busy)) return;
    const left = busy.filter(({ incarnation }) => incarnation === one);
    if (left.length === 0) others.delete(one);
    for (const turn of left) await reportCutOff(hub, turn, 'the server that ran it is gone', warn);
  }

  lookLater();
  return {
    hear(event) {
      if (event.type === 'turn.taken') note(event.incarnation);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** The server that ran it ended under it: it is tried again at once, and told so, once [TN9]. */
export function reportCutOff(
  hub: Hub,
  turn: Pick<Turn, 'id' | 'epoch'>,
  why: string,
  warn: (line: string) => void,
): Promise<void> {
  const ending = { notes: [], isRestart: true, warn, clean: (text: string) => text };
  return finishTurn(hub, turn, failedResult(why), ending);
}

/** Turns that a server runs, and nobody outside. */
export function busyTurns(world: WorldView): Turn[] {
  return [...world.turns.turns.values()].filter(
    ({ state, takenBy }) => state === 'busy' && takenBy === SERVER.id,
  );
}
