/**
 * Several servers of one space on a simulated network: the lease and the forwarding are the real ones, and only what
 * carries their words is not. A request arrives once or not at all, as it does at NATS, and may arrive late; what
 * is forwarded is held against what became of it: 'nobody' is said only of what was decided nowhere, and
 * 'unknown' only of what was sent [SQ3].
 */

import { type Courier, createForwarding, type Reply, type Unanswered } from '../hub/forwarding.ts';
import type { Hub } from '../hub/hub.ts';
import type { Forwarded, Sequencing } from '../hub/sequencing.ts';
import type { Whisper } from '../hub/whisper.ts';
import { openLeases } from '../log/lease.ts';
import { type LeaseKey, type LeaseStore, type SaidWord, WRITE_MS_MAX } from '../log/lease-words.ts';
import { copyOf } from './copy.ts';
import type { Machine } from './machine.ts';
import type { Network } from './network.ts';

export const LOG = 'log';
const NAME = 'simulated';
const SPACE: LeaseKey = `space ${NAME}`;
const ANSWER_MS = 12_000;
const READ_MS_MAX = 5_000;

export interface Member {
  readonly sequencing: Sequencing;
  /** It has the lease, whoever thinks so; or the last batch could not be sent, and was decided where it came. */
  readonly mayAppend: boolean;
  serve(hub: Hub): void;
  leave(): Promise<void>;
}

export interface SimulatedCluster {
  /** How often what was said of commands that were forwarded, and how often the lease passed to another. */
  readonly counts: Readonly<Record<string, number>>;
  join(name: string, machine: Machine): Promise<Member>;
}

interface Place {
  readonly name: string;
  readonly machine: Machine;
  answer: ((commands: never) => Promise<Reply>) | null;
  readonly listeners: Set<(words: readonly Whisper[], from: string) => void>;
  /** Told that a word may have been said. */
  hear: ((key: LeaseKey) => void) | null;
}

export interface ClusterOptions {
  readonly network: Network;
  /** Whether commands are more than a request holds, for once. */
  isTooLarge(): boolean;
  fail(why: string): void;
}

export function createSimulatedCluster({
  network,
  isTooLarge,
  fail,
}: ClusterOptions): SimulatedCluster {
  /** By the name of the lease that was opened there. */
  const places = new Map<string, Place>();
  const counts: Record<string, number> = {};
  const words = new Map<LeaseKey, SaidWord>();

  function count(what: string): void {
    counts[what] = (counts[what] ?? 0) + 1;
  }

  /** Goes to the log and comes back, if nothing is lost on the way. */
  function atLog<T>(name: string, machine: Machine, ms: number, act: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = machine.steady.after(ms, () => reject(new Error('the log does not answer')));
      const hear = (found: T) => (): void =>
        machine.clock.soon(() => {
          cancel();
          resolve(found);
        });
      network.carry(name, LOG, () => network.carry(LOG, name, hear(act())));
    });
  }

  function storeFor(place: Place): LeaseStore {
    const { name, machine } = place;
    return {
      read: (key) => atLog(name, machine, READ_MS_MAX, () => words.get(key) ?? null),
      write: (key, word, previous) =>
        atLog(name, machine, WRITE_MS_MAX, () => {
          const last = words.get(key);
          if ((last?.seq ?? 0) !== previous) return 'stale';
          if (key === SPACE && last?.word.by !== word.by) count('passed');
          words.set(key, { word, seq: previous + 1 });
          tellAll(key);
          return previous + 1;
        }),
      servers: () =>
        atLog(name, machine, READ_MS_MAX, () =>
          [...words.keys()].filter((key) => key.startsWith('server ')),
        ),
      forget: (key) => atLog(name, machine, READ_MS_MAX, () => void words.delete(key)),
      hear(listener) {
        place.hear = listener;
        return () => {
          place.hear = null;
        };
      },
    };
  }

  function tellAll(key: LeaseKey): void {
    for (const place of places.values()) {
      const { name, machine } = place;
      if (!machine.isAlive) continue;
      network.carry(LOG, name, () => machine.clock.soon(() => place.hear?.(key)), 'may repeat');
    }
  }

  /** A request on its way, and what is known of it by who knows everything. */
  interface Request {
    isDecided: boolean;
    /** What was said of it in the end. */
    said: string | null;
  }

  function judge(name: string, { isDecided, said }: Request): void {
    if (isDecided && (said === 'nobody' || said === 'here'))
      fail(`${name} says '${said}' of what another has decided`);
  }

  function courierFor(place: Place, id: string, requests: Request[]): Courier {
    const { name, machine } = place;

    function handle(
      there: Place,
      commands: never,
      request: Request,
      respond: (reply: Reply) => void,
    ): void {
      there.machine.clock.soon(() => {
        // It arrived after the server had ceased to listen: nobody says so.
        if (there.answer === null) return;
        void there.answer(copyOf(commands)).then((reply) => {
          if ('outcomes' in reply) request.isDecided = true;
          judge(name, request);
          respond(reply);
        });
      });
    }

    return {
      ask: (to, commands) =>
        new Promise<Reply | Unanswered>((resolve) => {
          if (isTooLarge()) return resolve('too large');
          const request = { isDecided: false, said: null };
          // What only asks how long the log is decides nothing.
          if (commands.length > 0) requests.push(request);
          const there = places.get(to);
          const host = there?.name ?? LOG;
          const cancel = machine.steady.after(ANSWER_MS, () => resolve('unknown'));
          const answer = (reply: Reply | Unanswered) => (): void =>
            machine.clock.soon(() => {
              cancel();
              resolve(copyOf(reply));
            });
          network.carry(name, host, () => {
            if (there === undefined || !there.machine.isAlive || there.answer === null)
              return network.carry(host, name, answer('nobody'), 'may repeat');
            handle(there, commands as never, request, (reply) =>
              network.carry(host, name, answer(reply), 'may repeat'),
            );
          });
        }),
      attend(as, answer) {
        if (as !== id) fail(`${name} attends as another`);
        place.answer = answer;
        return () => {
          place.answer = null;
        };
      },
      whisper(words) {
        for (const other of places.values()) {
          if (other === place || !other.machine.isAlive) continue;
          const hear = (): void => {
            for (const listener of other.listeners) listener(copyOf(words), id);
          };
          network.carry(name, other.name, () => other.machine.clock.soon(hear), 'may repeat');
        }
      },
      onWhisper(listener) {
        place.listeners.add(listener);
        return () => place.listeners.delete(listener);
      },
      // The network delays, and loses nothing while both are there.
      onReturn: () => () => {},
    };
  }

  return {
    counts,
    async join(name, machine) {
      const id = `${name}-${places.size}`;
      const place: Place = { name, machine, answer: null, listeners: new Set(), hear: null };
      places.set(id, place);
      const { steady } = machine;
      const store = storeFor(place);
      const leases = await openLeases({ name, id, store, steady, onLost: () => {} });
      const lease = await leases.of(NAME);
      const requests: Request[] = [];
      const real = createForwarding(name, lease, courierFor(place, id, requests), steady);
      let decidesHere = false;
      const sequencing: Sequencing = Object.create(real, {
        forward: {
          async value(commands: Parameters<Sequencing['forward']>[0]): Promise<Forwarded> {
            const said = await real.forward(commands);
            const kind = typeof said === 'string' ? said : 'answered';
            count(kind);
            decidesHere = said === 'here';
            if (said === 'unknown' && commands.length > 0 && requests.length === 0)
              fail(`${name} says 'unknown' of what was never sent`);
            for (const request of requests.splice(0)) {
              request.said = kind;
              judge(name, request);
            }
            return said;
          },
        },
      });
      return {
        sequencing,
        get mayAppend() {
          const word = words.get(SPACE)?.word;
          return decidesHere || (word?.by === id && !word.isReleased);
        },
        serve: real.serve,
        async leave() {
          await real.leave();
          real.close();
          await leases.close();
        },
      };
    },
  };
}
