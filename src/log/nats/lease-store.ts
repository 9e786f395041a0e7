/**
 * The words of leases, kept in the stream of pointers; and the lease of a server that has a space for itself [NL5].
 * A word is heard by the others as it is published, stored or not, so that who hears it reads what counts.
 */
import { hostname } from 'node:os';
import { openLeases } from '../lease.ts';
import {
  type LeaseKey,
  type LeaseStore,
  type LeaseWord,
  type Steady,
  serverKey,
  WRITE_MS_MAX,
} from '../lease-words.ts';
import { LogError } from '../log.ts';
import { API, apiCode, natsFailure } from './failure.ts';
import { createId, openPointers, pointersOf, streamWord } from './generation.ts';
import { type Link, openLink } from './link.ts';
import { type NatsPlace, shownPlace } from './place.ts';

/** Waiting for it holds no process up that wants to end. */
export const STEADY: Steady = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

export async function openLeaseStore(link: Link, place: NatsPlace): Promise<LeaseStore> {
  await openPointers(link, place);
  const { prefix } = place;
  const stream = pointersOf(prefix);
  /** Of what was asked about here. */
  const keys = new Map<string, LeaseKey>();

  function subjectOf(key: LeaseKey): string {
    const [kind, name = ''] = key.split(' ');
    // A name never begins with what stands before those that have none.
    const word = name.startsWith('=') ? name : streamWord(name);
    return `${prefix}.${kind === 'server' ? 'alive' : 'lease'}.${word}`;
  }

  function keyOf(subject: string, data: Uint8Array): LeaseKey | null {
    const known = keys.get(subject);
    if (known !== undefined) return known;
    const word = parseWord(data);
    const key = word === null ? null : serverKey(word);
    return key !== null && subjectOf(key) === subject ? key : null;
  }

  return {
    async read(key) {
      const subject = subjectOf(key);
      keys.set(subject, key);
      const found = await link.manager.streams.getMessage(stream, { last_by_subj: subject });
      const word = found === null ? null : parseWord(found.data);
      return found === null || word === null ? null : { word, seq: found.seq };
    },
    async write(key, word, previous) {
      const expect = { lastSubjectSequence: previous };
      try {
        const options = { expect, timeout: WRITE_MS_MAX };
        return (await link.js.publish(subjectOf(key), JSON.stringify(word), options)).seq;
      } catch (cause) {
        if (apiCode(cause) === API.wrongLastSequence) return 'stale';
        throw cause;
      }
    },
    async servers() {
      const subjects_filter = `${prefix}.alive.*`;
      const { state } = await link.manager.streams.info(stream, { subjects_filter });
      const found = Object.keys(state.subjects ?? {}).map(async (subject) => {
        const said = await link.manager.streams.getMessage(stream, { last_by_subj: subject });
        return said === null ? null : keyOf(subject, said.data);
      });
      return (await Promise.all(found)).filter((key) => key !== null);
    },
    hear(listener) {
      const subscriptions = ['alive', 'lease'].map((kind) =>
        link.connection.subscribe(`${prefix}.${kind}.*`, {
          callback(error, message) {
            const key = error === null ? keyOf(message.subject, message.data) : null;
            if (key !== null) listener(key);
          },
        }),
      );
      return () => {
        for (const one of subscriptions) one.unsubscribe();
      };
    },
    async forget(key) {
      await link.manager.streams.purge(stream, { filter: subjectOf(key) });
    },
  };
}

export interface SoleLease {
  release(): Promise<void>;
}

/** For a server without a name: the space is its own, or it is told whose. */
export async function takeLease(place: NatsPlace, space: string): Promise<SoleLease> {
  const path = shownPlace(place);
  const link = await openLink(place);
  try {
    const store = await openLeaseStore(link, place);
    const leases = await openLeases({
      ...{ name: `${hostname()} ${process.pid}`, id: createId(), isAlone: true, path },
      ...{ store, steady: STEADY, onLost: () => {} },
    });
    const release = async (): Promise<void> => {
      await lease?.close();
      await leases.close();
      await link.release();
    };
    const lease = await leases.of(space).catch(async (cause: unknown) => {
      await leases.close();
      throw cause;
    });
    const isMine = new Promise<boolean>((resolve) => {
      lease.onChange(() => lease.isMine && resolve(true));
      STEADY.after(WRITE_MS_MAX, () => resolve(lease.isMine));
      lease.stand();
    });
    if (await isMine) return { release };
    await lease.close();
    await leases.close();
    throw new LogError('log.locked', `${path} (${space}) was taken by another server just now`, {
      path,
    });
  } catch (error) {
    await link.release();
    throw natsFailure(path, 'lock', error);
  }
}

/** Null for what no server of ours says. */
function parseWord(data: Uint8Array): LeaseWord | null {
  try {
    const word = JSON.parse(Buffer.from(data).toString('utf8')) as LeaseWord;
    const isWhole = typeof word.by === 'string' && typeof word.holder === 'string';
    return isWhole && typeof word.isReleased === 'boolean' ? word : null;
  } catch {
    return null;
  }
}
