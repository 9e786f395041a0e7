/** Servers of a cluster that err, each in one way a real mistake would: what the simulator must notice. */

import { isRefusal } from '../../src/core/law/decider.ts';
import { encodeEvent } from '../../src/core/law/entry.ts';
import { isDue } from '../../src/core/law/tick.ts';
import { decide, isEphemeral } from '../../src/core/law/world.ts';
import type { CommitterOptions, createCommitter } from '../../src/hub/commit.ts';
import type { createForwarding } from '../../src/hub/forwarding.ts';
import type { CommandItem, Item } from '../../src/hub/queue.ts';
import type { openReplica } from '../../src/hub/replica.ts';
import type { Forwarded } from '../../src/hub/sequencing.ts';
import type { openLeases } from '../../src/log/lease.ts';

interface Parts {
  createCommitter: typeof createCommitter;
  createForwarding: typeof createForwarding;
  openReplica: typeof openReplica;
  openLeases: typeof openLeases;
}

interface Mutant {
  readonly path: string;
  /** What is said of it. */
  readonly why: RegExp;
  /** Where to begin: a seed at which it shows soon. */
  readonly from?: number;
  mutate(part: Parts): Partial<Parts>;
}

/** A follower that does something of its own before it has commands decided elsewhere. */
function follower(
  before: (options: CommitterOptions, item: CommandItem) => Item,
): Pick<Mutant, 'path' | 'mutate'> {
  return {
    path: '../../src/hub/commit.ts',
    mutate: (part) => ({
      createCommitter(options) {
        const real = part.createCommitter(options);
        const commit = (items: readonly Item[]): Promise<void> =>
          real.commit(
            options.sequencing?.isElsewhere
              ? items.map((item) => ('command' in item ? before(options, item) : item))
              : items,
          );
        return Object.create(real, { commit: { value: commit } });
      },
    }),
  };
}

function forwarding(
  change: (said: Forwarded, again: () => Promise<Forwarded>) => unknown,
): Pick<Mutant, 'path' | 'mutate'> {
  return {
    path: '../../src/hub/forwarding.ts',
    mutate: (part) => ({
      createForwarding(...given) {
        const real = part.createForwarding(...given);
        const forward: typeof real.forward = async (commands) => {
          const again = (): Promise<Forwarded> => real.forward(commands);
          return (await change(await again(), again)) as Forwarded;
        };
        return Object.create(real, { forward: { value: forward } });
      },
    }),
  };
}

export const CLUSTER_MUTANTS: Readonly<Record<string, Mutant>> = {
  'publishes before it is durable': {
    ...{ why: /was shown|is not stored/, from: 11 },
    ...follower(({ replica, onDurable }, item) => {
      const decision = decide(replica.world, item.command);
      if (isRefusal(decision)) return item;
      const events = decision.events.filter((event) => !isEphemeral(event));
      onDurable(replica.length, events, events.map(encodeEvent));
      return item;
    }),
  },
  'answers from what it knows itself': {
    why: /where it is not stored|and is at|not stored/,
    ...follower(({ replica }, item) => {
      const decision = decide(replica.world, item.command);
      item.done(isRefusal(decision) ? decision : decision.answer);
      return { ...item, done: () => {} };
    }),
  },
  'sends again what was not answered': {
    ...{ why: /is stored 2 times|of what another has decided/, from: 7 },
    ...forwarding((said, again) => (said === 'unknown' ? again() : said)),
  },
  'says that nobody was there when it does not know': {
    ...{ why: /says 'nobody' of what another has decided|was refused and is stored/, from: 22 },
    ...forwarding((said) => (said === 'unknown' ? 'nobody' : said)),
  },
  'answers before its copy has come so far': {
    why: /is not seen where it was/,
    ...forwarding((said) => (typeof said === 'string' ? said : { ...said, length: 0 })),
  },
  'records what is due although another sequences': {
    why: /appends, and does not sequence/,
    path: '../../src/hub/commit.ts',
    mutate: (part) => ({
      createCommitter(options) {
        const real = part.createCommitter(options);
        const alone = part.createCommitter({ ...options, sequencing: undefined });
        const catchUp = async (): Promise<void> => {
          await real.catchUp(Number.POSITIVE_INFINITY);
          if (!real.isOpen || !isDue(options.replica.world, options.stamp())) return;
          await alone.commit([{ question: () => null, done: () => {} }]);
        };
        return Object.create(real, { catchUp: { value: catchUp } });
      },
    }),
  },
  'publishes twice what it reads after another was first': {
    ...{ why: /twice/, from: 7 },
    path: '../../src/hub/replica.ts',
    mutate: (part) => ({
      async openReplica(log, onDurable, onTrouble) {
        let isRebased = false;
        const replica = await part.openReplica(
          log,
          (...durable) => {
            onDurable(...durable);
            if (isRebased) onDurable(...durable);
            isRebased = false;
          },
          onTrouble,
        );
        const rewind = async (): Promise<void> => {
          await replica.rewind();
          isRebased = true;
        };
        return Object.create(replica, { rewind: { value: rewind } });
      },
    }),
  },
  'does not notice that its lease has lapsed': {
    why: /appends, and does not sequence/,
    path: '../../src/log/lease.ts',
    mutate: (part) => ({
      async openLeases(options) {
        const leases = await part.openLeases(options);
        const of = async (space: string): Promise<unknown> => {
          const lease = await leases.of(space);
          let wasMine = false;
          const isMine = (): boolean => {
            wasMine ||= lease.isMine;
            return wasMine;
          };
          return Object.create(lease, { isMine: { get: isMine } });
        };
        return Object.create(leases, { of: { value: of } });
      },
    }),
  },
};
