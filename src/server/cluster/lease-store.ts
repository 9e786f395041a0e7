/** The word of the lease of a space, kept in the stream of pointers. */

import { type LeaseStore, type LeaseWord, type Steady, WRITE_MS_MAX } from '../../log/lease.ts';
import { API, apiCode } from '../../log/nats/failure.ts';
import { leaseSubject, openPointers, pointersOf } from '../../log/nats/generation.ts';
import type { Link } from '../../log/nats/link.ts';
import type { NatsPlace } from '../../log/nats/place.ts';

/** Waiting for it holds no process up that wants to end. */
export const STEADY: Steady = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

export async function openLeaseStore(
  link: Link,
  place: NatsPlace,
  space: string,
): Promise<LeaseStore> {
  await openPointers(link, place);
  const subject = leaseSubject(place, space);
  const stream = pointersOf(place.prefix);
  return {
    async read() {
      const found = await link.manager.streams.getMessage(stream, { last_by_subj: subject });
      if (found === null) return null;
      const word = JSON.parse(Buffer.from(found.data).toString('utf8')) as LeaseWord;
      return { word, seq: found.seq };
    },
    async write(word, previous) {
      const expect = { lastSubjectSequence: previous };
      try {
        const options = { expect, timeout: WRITE_MS_MAX };
        return (await link.js.publish(subject, JSON.stringify(word), options)).seq;
      } catch (cause) {
        if (apiCode(cause) === API.wrongLastSequence) return 'stale';
        throw cause;
      }
    },
  };
}
