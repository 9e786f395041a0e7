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
import { takeSoleLease } from '../sole-lease.ts';
import { askAgain } from './ask-again.ts';
import { API, apiCode, natsFailure } from './failure.ts';
import { createId, openPointers, pointersOf } from './generation.ts';
import { type Link, openLink } from './link.ts';
import { type NatsPlace, shownPlace } from './place.ts';
import { streamWord } from './streams.ts';

/** Waiting for it holds no process up that wants to end. */
export const STEADY: Steady = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Of servers that vouch for their words: others' words are as if nobody had said them. */
export interface LeaseVouch {
  seal(key: LeaseKey, text: string): string;
  /** Null when nobody who may say it vouches for it. */
  open(key: LeaseKey, sealed: string): string | null;
}

const NOBODYS: LeaseWord = { by: '', holder: '', isReleased: true };

export async function openLeaseStore(
  link: Link,
  place: NatsPlace,
  vouch: LeaseVouch | null = null,
): Promise<LeaseStore> {
  await openPointers(link, place);
  /** The number of the newest word about each thing that was read or written here. */
  const newest = new Map<LeaseKey, number>();
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
    if (key === null || subjectOf(key) !== subject) return null;
    return vouch === null || vouched(vouch, key, data) !== null ? key : null;
  }

  /** As it counts: a word that nobody vouches for, or that was said once before, is nobody's. */
  function wordOf(key: LeaseKey, data: Uint8Array, seq: number): LeaseWord {
    // A server without a name has no key to vouch with; what it says counts against opening, and nowhere else.
    if (vouch === null || key.startsWith('server =')) return parseWord(data) ?? NOBODYS;
    const said = vouched(vouch, key, data);
    const last = newest.get(key) ?? 0;
    newest.set(key, Math.max(last, seq));
    // The first word about a thing, also after it was forgotten, is said over none.
    const isOld = said !== null && seq > last && said.after !== 0 && said.after < last;
    return said === null || isOld ? NOBODYS : said.word;
  }

  return {
    async read(key) {
      const subject = subjectOf(key);
      keys.set(subject, key);
      const found = await askAgain(() =>
        link.manager.streams.getMessage(stream, { last_by_subj: subject }),
      );
      if (found === null) return null;
      return { word: wordOf(key, found.data, found.seq), seq: found.seq };
    },
    async readAlone(key) {
      const found = await link.manager.streams.getMessage(stream, { last_by_subj: subjectOf(key) });
      const word = found === null ? null : parseWord(found.data);
      return word?.isAlone === true && !word.isReleased ? word : null;
    },
    async write(key, word, previous) {
      const expect = { lastSubjectSequence: previous };
      try {
        const options = { expect, timeout: WRITE_MS_MAX };
        // In clear for people, and for who opens a log alone; servers go by what is sealed.
        const sealed = vouch?.seal(key, JSON.stringify({ word, after: previous }));
        const text = JSON.stringify({ ...word, sealed });
        const { seq } = await link.js.publish(subjectOf(key), text, options);
        newest.set(key, Math.max(newest.get(key) ?? 0, seq));
        return seq;
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
        const key = said === null ? null : keyOf(subject, said.data);
        if (said === null || key === null || vouch === null) return key;
        // Also one that was asked about before: it may have been taken out since.
        return vouched(vouch, key, said.data) === null ? null : key;
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
      newest.delete(key);
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
    const opened = await openLeaseStore(link, place);
    /** Why nothing could be written, where it was not another that was first. */
    let refusal: unknown = null;
    const store: LeaseStore = {
      ...opened,
      write: (key, word, previous) =>
        opened.write(key, word, previous).catch((cause: unknown) => {
          refusal = cause;
          throw cause;
        }),
    };
    const leases = await openLeases({
      ...{ name: `${hostname()} ${process.pid}`, id: createId(), isAlone: true, path },
      ...{ store, steady: STEADY, onLost: () => {} },
    });
    const isRefused = (): boolean => refusal !== null;
    const lease = await takeSoleLease(leases, space, STEADY, isRefused).catch(
      async (cause: unknown) => {
        await leases.close();
        throw cause;
      },
    );
    const release = async (): Promise<void> => {
      await lease?.close();
      await leases.close();
      await link.release();
    };
    if (lease !== null) return { release };
    await leases.close();
    if (refusal !== null) throw refusal;
    throw new LogError('log.locked', `${path} (${space}) was taken by another server just now`, {
      path,
    });
  } catch (error) {
    await link.release();
    throw natsFailure(path, 'lock', error);
  }
}

interface Vouched {
  readonly word: LeaseWord;
  /** The number of the word that it was said over. */
  readonly after: number;
}

function vouched(vouch: LeaseVouch, key: LeaseKey, data: Uint8Array): Vouched | null {
  const { sealed } = (parseWord(data) ?? {}) as { sealed?: unknown };
  const text = typeof sealed === 'string' ? vouch.open(key, sealed) : null;
  return text === null ? null : (JSON.parse(text) as Vouched);
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
