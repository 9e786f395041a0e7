/**
 * The supervisor of the hub: it takes turns that are due and runs them, in each space as many at a time
 * as the space allows, the longest due first. It asks for nothing by the clock: what is stored wakes it
 * [RU18]. A turn that the law has ended is stopped here; what a killed hub left running is reported as
 * cut off by a restart, and tried again [RU19].
 */
import { isRefusal } from '../../core/law/decider.ts';
import { SERVER } from '../../core/law/principal.ts';
import { formatTraceparent } from '../../core/law/traceparent.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import type { Turn } from '../../core/turns/turn-state.ts';
import type { Hub } from '../../hub/hub.ts';
import { busyTurns, reportCutOff, type Servers, watchLostTurns } from './lost-turns.ts';
import type { OwnTurns } from './own-turns.ts';
import { type RunTurnOptions, runTurn } from './run-turn.ts';
import { TurnStopped } from './runner.ts';

export interface SupervisorOptions extends RunTurnOptions {
  readonly own: OwnTurns;
  /** Null: no other runs turns of our spaces. */
  readonly servers: Servers | null;
  newSecret(): string;
  digest(text: string): string;
  onFailure(what: string, cause: unknown): void;
}

export interface Supervisor {
  /** Sees to the turns of a space from now on. */
  attach(hub: Hub): Promise<void>;
  /** The space is going; its turns are stopped. */
  detach(space: string): void;
  /** Stops every turn that runs; ends when nothing is left of them, and they may begin anew. */
  close(): Promise<void>;
}

interface Watched {
  readonly hub: Hub;
  readonly running: Map<string, AbortController>;
  stop(why: TurnStopped): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const watched = new Map<string, Watched>();
  let isClosing = false;
  const newTrace = (): string | null => {
    const made = options.telemetry?.newTrace();
    return made === undefined ? null : formatTraceparent(made);
  };

  function watch(hub: Hub): Watched {
    const running = new Map<string, AbortController>();
    const ends = new Set<Promise<void>>();
    let isTaking = false;
    let isWanted = false;
    let isOpen = true;

    /** Takes until there is nothing to take, one by one: others are served in between. */
    async function take(): Promise<void> {
      isWanted = true;
      if (isTaking) return;
      isTaking = true;
      try {
        while (isWanted && isOpen) {
          isWanted = false;
          while (isOpen && (await takeOne())) isWanted = false;
        }
      } catch (cause) {
        options.onFailure('a turn could not be taken', cause);
      } finally {
        isTaking = false;
      }
    }

    async function takeOne(): Promise<boolean> {
      const secret = options.newSecret();
      const taken = await hub.submit({
        ...{ type: 'turn.take', by: SERVER, at: hub.stamp(), agents: null, leaseMs: null },
        ...{ runnerKinds: options.chooser.kinds, hash: options.digest(secret) },
        ...{ trace: newTrace(), incarnation: options.servers?.incarnation ?? null },
      });
      if (isRefusal(taken) || taken === null) return false;
      const stop = new AbortController();
      running.set(taken.turn.id, stop);
      options.own.add(hub.space, taken.turn);
      const end = runTurn({ hub, taken, secret, stop }, options)
        .catch((cause) => options.onFailure(`turn ${taken.turn.id} could not be run`, cause))
        .finally(() => {
          if (running.get(taken.turn.id) === stop) running.delete(taken.turn.id);
          options.own.remove(hub.space, taken.turn);
          ends.delete(end);
        });
      ends.add(end);
      return true;
    }

    const lost = options.servers && watchLostTurns({ ...options, hub, servers: options.servers });
    const unwatch = hub.watch.events((_world, _first, events) => {
      let isNews = false;
      for (const event of events) {
        if (!isOfTurns(event)) continue;
        lost?.hear(event);
        isNews ||= event.type !== 'turn.taken' && event.type !== 'turn.renewed';
        const ended = endOf(event);
        if (ended !== null) running.get(ended.id)?.abort(ended.why);
      }
      if (isNews) void take();
    });

    void take();
    return {
      hub,
      running,
      async stop(why) {
        isOpen = false;
        unwatch();
        lost?.close();
        for (const stop of running.values()) stop.abort(why);
        await Promise.all(ends);
      },
    };
  }

  return {
    async attach(hub) {
      if (isClosing || watched.get(hub.space)?.hub === hub) return;
      await cutOff(hub, options);
      if (isClosing || watched.get(hub.space)?.hub === hub) return;
      watched.set(hub.space, watch(hub));
    },
    detach(space) {
      const one = watched.get(space);
      watched.delete(space);
      void one?.stop(new TurnStopped('lease_lost', `space ${space} was removed`));
    },
    async close() {
      isClosing = true;
      const why = new TurnStopped('hub_closing', 'the hub is closing');
      await Promise.all([...watched.values()].map((one) => one.stop(why)));
      watched.clear();
    },
  };
}

/** Turns that a hub before us took, and did not finish: their processes are gone. Those of other servers run [RU25]. */
async function cutOff(hub: Hub, { warn, own }: SupervisorOptions): Promise<void> {
  const isOurs = (turn: Turn): boolean => hub.whispers === null || own.has(hub.space, turn);
  const left = await hub.ask(busyTurns);
  if (isRefusal(left)) return;
  for (const turn of left.filter(isOurs)) {
    await reportCutOff(hub, turn, 'the hub ended while it ran', warn);
    own.remove(hub.space, turn);
  }
}

function isOfTurns({ type }: DurableEvent): boolean {
  return type.startsWith('turn.') || type.startsWith('agent.') || type === 'space.configured';
}

/** What ends a run of a turn other than the runner itself. */
function endOf(event: DurableEvent): { readonly id: string; readonly why: TurnStopped } | null {
  if (event.type === 'turn.cancelled') {
    const { id, by, reason } = event;
    const said = reason === null ? '' : `: ${reason}`;
    return { id, why: new TurnStopped('cancelled', `${by} cancelled it${said}`) };
  }
  if (event.type !== 'turn.failed' || event.cause === 'reported') return null;
  return { id: event.id, why: new TurnStopped('lease_lost', `it ${FAILED[event.cause]}`) };
}

/** In the eyes of who is stopped for it. */
const FAILED = {
  overran: 'took too long',
  lapsed: 'was not heard of in time',
  // What we report so ourselves has ended by then: another server did.
  restart: 'was given up, as its server was not heard of',
} as const;
