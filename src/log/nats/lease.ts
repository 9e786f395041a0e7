/**
 * One server at a time opens the log of a space to write. The lease is a record that its holder writes anew every
 * second; whoever wants it watches for longer than that, so that no two clocks are compared [NL5]. It keeps
 * two servers apart, and no more than that: what holds a stale writer off is the sequence each append names.
 */
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { LogError } from '../log.ts';
import { API, apiCode, natsFailure } from './failure.ts';
import { createId, leaseSubject, openPointers, pointersOf } from './generation.ts';
import { type Link, openLink } from './link.ts';
import { type NatsPlace, shownPlace } from './place.ts';

export interface Lease {
  release(): Promise<void>;
}

const RENEW_MS = 1_000;
/** Three renewals may be late; a holder that is not heard of for so long has gone. */
const WATCH_MS = 4_000;

interface Held {
  readonly by: string;
  /** For people: machine and process. */
  readonly holder: string;
  readonly isReleased: boolean;
}

export async function takeLease(place: NatsPlace, space: string): Promise<Lease> {
  const link = await openLink(place);
  try {
    await openPointers(link, place);
    const by = createId();
    const before = await requireFree(link, place, space);
    const subject = leaseSubject(place, space);
    const say = async (isReleased: boolean, previous: number): Promise<number> => {
      const held: Held = { by, holder: `${hostname()} ${process.pid}`, isReleased };
      const expect = { lastSubjectSequence: previous };
      return (await link.js.publish(subject, JSON.stringify(held), { expect })).seq;
    };
    return hold(link, await taken(place, space, say(false, before)), say);
  } catch (error) {
    await link.release();
    throw natsFailure(shownPlace(place), 'lock', error);
  }
}

function hold(
  link: Link,
  first: number,
  say: (isReleased: boolean, previous: number) => Promise<number>,
): Lease {
  let seq = first;
  const ended = new AbortController();
  const renewing = (async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await wait(RENEW_MS, undefined, { ref: false, signal: ended.signal }).catch(() => {});
      if (ended.signal.aborted) return;
      // One that is late tries again; one that was overtaken finds its sequence stale, and holds nobody up.
      seq = await say(false, seq).catch(() => seq);
    }
  })();
  return {
    async release() {
      if (ended.signal.aborted) return;
      ended.abort();
      await renewing;
      await say(true, seq).catch(() => {});
      await link.release();
    },
  };
}

/** The sequence of the last word about it, when nobody holds it. */
async function requireFree(link: Link, place: NatsPlace, space: string): Promise<number> {
  const last = await read(link, place, space);
  if (last === null || last.held.isReleased) return last?.seq ?? 0;
  const stopAt = performance.now() + WATCH_MS;
  while (performance.now() < stopAt) {
    await wait(RENEW_MS / 4);
    const now = await read(link, place, space);
    if (now?.held.isReleased) return now.seq;
    if (now !== null && now.seq !== last.seq) throw locked(place, space, now.held);
  }
  return last.seq;
}

async function taken(place: NatsPlace, space: string, saying: Promise<number>): Promise<number> {
  try {
    return await saying;
  } catch (error) {
    if (apiCode(error) !== API.wrongLastSequence) throw error;
    throw locked(place, space, null);
  }
}

async function read(
  { manager }: Link,
  place: NatsPlace,
  space: string,
): Promise<{ readonly held: Held; readonly seq: number } | null> {
  const found = await manager.streams.getMessage(pointersOf(place.prefix), {
    last_by_subj: leaseSubject(place, space),
  });
  if (found === null) return null;
  return { held: JSON.parse(Buffer.from(found.data).toString('utf8')) as Held, seq: found.seq };
}

function locked(place: NatsPlace, space: string, held: Held | null): LogError {
  const who = held === null ? 'another server' : held.holder;
  return new LogError(
    'log.locked',
    `${shownPlace(place)} (${space}) is open at ${who}: stop that server, or use another prefix`,
    { path: shownPlace(place) },
  );
}
