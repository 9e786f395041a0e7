/**
 * Who sequences a space: one server at a time, by a lease that it writes anew twice a second in the stream of
 * pointers. The others hear that, and when they have heard nothing for long enough one of them takes it: no two
 * clocks are compared. A server that cannot renew steps down before another may step in; should it not have
 * noticed, the sequence that its appends name is stale, and they are refused [SQ2].
 */

import { leaseSubject, openPointers, pointersOf } from '../../log/nats/generation.ts';
import type { Link } from '../../log/nats/link.ts';
import type { NatsPlace } from '../../log/nats/place.ts';

export interface Office {
  readonly isMine: boolean;
  /** Who has it, as far as is known here. */
  readonly holder: string | null;
  /** How often it has passed from one to another since we look. */
  readonly changes: number;
  onChange(listener: () => void): () => void;
  /** Gives it up, so that another need not wait, and takes it no more. */
  close(): Promise<void>;
}

export interface OfficeOptions {
  readonly link: Link;
  readonly place: NatsPlace;
  readonly space: string;
  /** The name of this server. */
  readonly name: string;
  onTrouble(what: string, cause: unknown): void;
}

interface Record {
  readonly by: string;
  readonly holder: string;
  readonly isReleased: boolean;
}

const RENEW_MS = 500;
/** Without a word for so long, the holder is gone. */
const LOST_MS = 2_500;
/** A holder that could not renew for so long does nothing more: before anybody else may begin. */
const STEP_DOWN_MS = 1_500;

export async function openOffice(options: OfficeOptions): Promise<Office> {
  const { link, place, space, name, onTrouble } = options;
  await openPointers(link, place);
  const subject = leaseSubject(place, space);
  const stream = pointersOf(place.prefix);
  const by = `${name} ${process.pid} ${Math.random().toString(36).slice(2)}`;
  const listeners = new Set<() => void>();
  let state: { readonly holder: string | null; readonly isMine: boolean } = {
    holder: null,
    isMine: false,
  };
  let changes = 0;
  let seq = 0;
  let heardAt = 0;
  let renewedAt = 0;
  let isClosed = false;

  function become(holder: string | null, isMine: boolean): void {
    if (holder === state.holder && isMine === state.isMine) return;
    if (state.holder !== null && holder !== null && holder !== state.holder) changes++;
    state = { holder, isMine };
    for (const listener of listeners) listener();
  }

  async function read(): Promise<{ readonly record: Record; readonly seq: number } | null> {
    const found = await link.manager.streams.getMessage(stream, { last_by_subj: subject });
    if (found === null) return null;
    return {
      record: JSON.parse(Buffer.from(found.data).toString('utf8')) as Record,
      seq: found.seq,
    };
  }

  async function say(isReleased: boolean): Promise<void> {
    const record: Record = { by, holder: name, isReleased };
    const expect = { lastSubjectSequence: seq };
    const begun = performance.now();
    seq = (await link.js.publish(subject, JSON.stringify(record), { expect, timeout: LOST_MS }))
      .seq;
    renewedAt = begun;
  }

  async function renew(): Promise<void> {
    try {
      await say(false);
      become(name, true);
    } catch (cause) {
      if ((cause as { code?: unknown }).code === 10_071) become(null, false);
      else if (performance.now() - renewedAt > STEP_DOWN_MS) {
        if (state.isMine)
          onTrouble(`space ${space}: the lease of the sequencer cannot be renewed`, cause);
        become(null, false);
      }
    }
  }

  /** Takes it when it is free, or nobody was heard of for long enough. */
  async function look(): Promise<void> {
    const last = await read();
    const now = performance.now();
    if (last !== null && last.seq !== seq) {
      seq = last.seq;
      heardAt = now;
    }
    const isFree = last === null || last.record.isReleased;
    if (!isFree && now - heardAt < LOST_MS) return become(last.record.holder, false);
    try {
      await say(false);
      become(name, true);
    } catch {
      // Another was quicker; the next look tells who.
    }
  }

  async function turn(): Promise<void> {
    try {
      if (state.isMine) await renew();
      else await look();
    } catch {
      // No NATS server answers: nothing can be decided by anybody, and the hub says so by itself.
      if (state.isMine && performance.now() - renewedAt > STEP_DOWN_MS) become(null, false);
      else if (!state.isMine) become(null, false);
    }
  }

  let timer: NodeJS.Timeout | undefined;
  let turning: Promise<void> = Promise.resolve();
  const again = (): void => {
    turning = turn().then(() => {
      if (!isClosed) timer = setTimeout(again, RENEW_MS).unref();
    });
  };
  const first = await read();
  if (first !== null) {
    seq = first.seq;
    heardAt = performance.now();
  }
  await turn();
  timer = setTimeout(again, RENEW_MS).unref();

  return {
    get isMine() {
      return state.isMine && performance.now() - renewedAt < LOST_MS;
    },
    get holder() {
      return state.holder;
    },
    get changes() {
      return changes;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(timer);
      await turning;
      if (state.isMine) await say(true).catch(() => {});
      become(null, false);
    },
  };
}
