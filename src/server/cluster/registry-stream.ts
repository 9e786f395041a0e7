/**
 * The registry as it is kept: a stream of its own to which is only added. It is read once and then followed, so that
 * a server that is taken out is known to be out a moment later, at every other one.
 */
import type { StreamConfig } from '@nats-io/jetstream';
import { askAgain } from '../../log/nats/ask-again.ts';
import { follow, startingAt } from '../../log/nats/consume.ts';
import { API, apiCode, natsFailure } from '../../log/nats/failure.ts';
import type { Link } from '../../log/nats/link.ts';
import { type NatsPlace, shownPlace } from '../../log/nats/place.ts';
import { requireKeeping } from '../../log/nats/settings.ts';
import { ClusterError } from './cluster-error.ts';
import type { KeyPair } from './keys.ts';
import { createRegistry, type Entry, type Registry, subjectOf, writeRecord } from './registry.ts';

export interface RegistryStream {
  readonly registry: Registry;
  /** Messages that count for nothing, since it was opened. */
  readonly ignored: number;
  /** Told after every record that counts. */
  onChange(listener: () => void): () => void;
  /** When NATS stored the newest record that was read, whether it counts or not: it is that late by now. */
  readonly newestAt: number;
  /** Takes in what others have written by now. */
  refresh(): Promise<void>;
  /**
   * Adds a record, if nothing was added since `judge` looked: `judge` is asked again until it was so, and throws when
   * the record has become wrong. Answers whether it counts, and when NATS stored it.
   */
  add(
    judge: () => Entry,
    key: KeyPair,
    token?: KeyPair,
  ): Promise<{ readonly counts: boolean; readonly at: number }>;
  close(): void;
}

const RECORDS_MAX = 100_000;
const RECORD_BYTES_MAX = 16 * 1024;
/** Of one subject: a server that floods its own has filled its own. */
const OF_ONE_MAX = 64;
const TRIES_MAX = 16;
const TIMES_MAX = 256;
const TRIED = 'write to the registry of';

export function registryStreamOf(prefix: string): string {
  return `${prefix}-servers`;
}

export async function openRegistryStream(
  link: Link,
  place: NatsPlace,
  options: { readonly isFollowed: boolean; readonly mayMake?: boolean },
): Promise<RegistryStream> {
  const { js, manager } = link;
  const { prefix } = place;
  const stream = registryStreamOf(prefix);
  const registry = createRegistry(prefix);
  const listeners = new Set<() => void>();
  /** The sequences of the records that count, and when the last ones were stored. */
  const counted = new Set<number>();
  const times = new Map<number, number>();
  let seq = 0;
  let ignored = 0;
  let newestAt = 0;
  let reading: Promise<void> = Promise.resolve();

  function take(
    message: { readonly seq: number; readonly subject: string; readonly data: Uint8Array },
    at: number,
  ): void {
    if (message.seq <= seq) return;
    seq = message.seq;
    newestAt = at;
    const text = Buffer.from(message.data).toString('utf8');
    times.set(seq, at);
    if (times.size > TIMES_MAX) times.delete(times.keys().next().value as number);
    if (!registry.take({ subject: message.subject, text, at })) {
      ignored++;
      return;
    }
    counted.add(seq);
    for (const listener of listeners) listener();
  }

  /** One after the other: a record is taken in the order of the stream. */
  function refresh(): Promise<void> {
    const done = reading.then(async () => {
      const { state } = await askAgain(() => manager.streams.info(stream));
      while (seq < state.last_seq) {
        const next = { seq: seq + 1 };
        const found = await askAgain(() => manager.streams.getMessage(stream, next)).catch(
          (error: unknown) => {
            // A message that was taken away is passed over: what it said counts no more for who starts now.
            if (apiCode(error) === API.noMessage) return null;
            throw error;
          },
        );
        if (found === null) seq++;
        else take(found, found.time.getTime());
      }
    });
    reading = done.catch(() => {});
    return done;
  }

  try {
    if (options.mayMake !== false) await ensureStream(link, place, stream);
    // A record that is forgotten is a server that was never taken out, or a token that is good again [NL6].
    requireKeeping(shownPlace(place), (await manager.streams.info(stream)).config, 0);
    await refresh();
  } catch (error) {
    throw natsFailure(shownPlace(place), 'read the registry of', error);
  }
  const following = options.isFollowed
    ? follow(link, stream, {
        async from() {
          // Whoever is to tell of the next may be lost as well: what there is by now is read first.
          await refresh();
          return { headers_only: true, ...startingAt(seq + 1) };
        },
        hear: refresh,
      })
    : null;

  return {
    registry,
    get ignored() {
      return ignored;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get newestAt() {
      return newestAt;
    },
    refresh,
    async add(judge, key, token) {
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        await refresh();
        const before = seq;
        const entry = judge();
        const text = writeRecord(entry, key, token);
        try {
          const { seq: stored } = await js.publish(subjectOf(prefix, entry), text, {
            expect: { lastSequence: before },
          });
          await refresh();
          return { counts: counted.has(stored), at: times.get(stored) ?? 0 };
        } catch (error) {
          if (apiCode(error) === API.wrongLastSequence) continue;
          throw fullError(place, entry, error) ?? natsFailure(shownPlace(place), TRIED, error);
        }
      }
      const busy = new Error('others write to it all the time; try again');
      throw natsFailure(shownPlace(place), TRIED, busy);
    },
    close() {
      following?.stop();
      listeners.clear();
    },
  };
}

/** It is added to for ever, and so is bounded; null where NATS had another reason. */
function fullError(place: NatsPlace, entry: Entry, cause: unknown): ClusterError | null {
  if (apiCode(cause) !== API.storeFailed) return null;
  const stream = registryStreamOf(place.prefix);
  const { message } = cause as Error;
  if (/maximum messages per subject/.test(message) && 'name' in entry) {
    return new ClusterError(
      'cluster.name-spent',
      `the registry has as many records of the server ${entry.name} as it keeps of one, and takes none away: choose another name, or let NATS keep more of each ("nats stream edit ${stream} --max-msgs-per-subject=…")`,
      { cause },
    );
  }
  if (!/maximum messages/.test(message)) return null;
  return new ClusterError(
    'cluster.registry-full',
    `the registry of ${shownPlace(place)} has as many records as it may, and takes none away: let NATS keep more ("nats stream edit ${stream} --max-msgs=…")`,
    { cause },
  );
}

async function ensureStream({ manager }: Link, place: NatsPlace, name: string): Promise<void> {
  try {
    await manager.streams.info(name);
  } catch (error) {
    if (apiCode(error) !== API.streamNotFound) throw error;
    const { prefix } = place;
    const config: Partial<StreamConfig> & { name: string } = {
      name,
      subjects: [`${prefix}.servers.*`, `${prefix}.joins.*`, `${prefix}.revoked.*`],
      ...({ storage: 'file', retention: 'limits', discard: 'new' } as Partial<StreamConfig>),
      num_replicas: place.replicas,
      ...{ max_msgs: RECORDS_MAX, max_msg_size: RECORD_BYTES_MAX },
      ...{ max_msgs_per_subject: OF_ONE_MAX, discard_new_per_subject: true },
      ...{ deny_delete: true, deny_purge: true },
    };
    try {
      await manager.streams.add(config);
    } catch (cause) {
      if (apiCode(cause) !== API.streamNameInUse) throw cause;
    }
  }
}
