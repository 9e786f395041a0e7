/**
 * One message that is stored once, or known not to be, or said to be unknown. An answer that does not come says nothing, so it
 * is asked for again under the same id [NL2]. Nor does one that names another place than the message must have: a server of
 * NATS before September 2024 says of what it has heard of and not stored, and may never store, that it had it before, as number 0 [G9].
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { MsgHdrs } from '@nats-io/transport-node';
import { API, apiCode } from './failure.ts';
import type { Link } from './link.ts';
import { readMessage, type Stored } from './message.ts';

export interface Outgoing {
  readonly stream: string;
  readonly subject: string;
  /** Of this message among all there ever were. */
  readonly id: string;
  readonly data: Uint8Array | string;
  readonly headers: MsgHdrs;
  /** It is stored right behind this one of the stream, or not at all. */
  readonly afterSeq: number;
  /** Whether what lies there is this message. */
  readonly isIt: (stored: Stored) => boolean;
}

export type Sent = 'stored' | 'conflict' | { readonly unknown: unknown };

const PAUSE_MS = 200;
/**
 * An answer that has not come by then is asked for again. The leader of a stream that was lost is followed by another
 * after four seconds at the earliest: what it took with it should be there again when that one begins.
 */
const ANSWER_MS = 2_000;

/** Throws what the server refused it with, when it is not stored for sure. */
export async function sendOnce(link: Link, message: Outgoing, patienceMs: number): Promise<Sent> {
  const { subject, id, data, headers, afterSeq } = message;
  const deadline = performance.now() + patienceMs;
  const options = { msgID: id, headers, expect: { lastSequence: afterSeq }, timeout: ANSWER_MS };
  let mayBeStored = false;
  for (;;) {
    let said: unknown;
    let isToldOf = false;
    try {
      const { seq } = await link.js.publish(subject, data, options);
      if (seq === afterSeq + 1) return 'stored';
      said = new Error('the server has heard of it and does not say that it is stored');
      [mayBeStored, isToldOf] = [true, true];
    } catch (error) {
      said = error;
      const code = apiCode(error);
      // A server may count a message that it has not stored yet, and it may be ours.
      isToldOf = code === API.wrongLastSequence;
      if (isToldOf && !mayBeStored) return 'conflict';
      // Any other refusal of the server's: it is not stored.
      if (code !== null && !mayBeStored) throw error;
      mayBeStored = true;
    }
    const whose = isToldOf ? await whoseAt(link, message) : null;
    if (whose !== null) return whose;
    if (performance.now() >= deadline || link.connection.isClosed()) return { unknown: said };
    await wait(PAUSE_MS);
  }
}

/** Null when nothing lies where it belongs, or nobody can say: it may come to lie there yet. */
async function whoseAt(
  { manager }: Link,
  { stream, afterSeq, isIt }: Outgoing,
): Promise<'stored' | 'conflict' | null> {
  const found = await manager.streams.getMessage(stream, { seq: afterSeq + 1 }).catch(() => null);
  if (found === null) return null;
  return isIt(readMessage(found)) ? 'stored' : 'conflict';
}
