/**
 * Keeps the record of every open space: one timer signs what has grown, and now and then a thread walks
 * each chain, so that the hub can say of its own log that it is whole, or where it is not [RC5].
 */
import { Worker } from 'node:worker_threads';
import { breakText } from '../../core/docket/log-broken.ts';
import { SERVER } from '../../core/law/principal.ts';
import type { Hub } from '../../hub/hub.ts';
import { type Heads, openHeadsBeside } from '../../log/heads.ts';
import type { Log } from '../../log/log.ts';
import type { NatsPlace } from '../../log/nats/place.ts';
import type { SigningKey } from '../../log/signed-head.ts';
import type { Verified } from '../../log/verify.ts';
import type { RecordView } from '../desk/record-view.ts';
import { type Contradiction, openSpaceRecord, type SpaceRecord } from './space-record.ts';

/** What grew is signed this often. */
const SIGN_EVERY_MS = 60_000;
/** How long after it was opened a log is walked, and how often again. */
const VERIFY_AFTER_MS = 10_000;
const VERIFY_EVERY_MS = 6 * 3_600_000;

/** Where the store of a space lies, for the thread that walks it. */
export type StorePlace = FilePlace | { readonly kind: 'nats'; readonly place: NatsPlace };

export interface FilePlace {
  readonly kind: 'sqlite' | 'file';
  readonly path: string;
}

/** What the thread is told. */
export type Walked = StorePlace & { readonly space: string };

export interface KeeperOptions {
  readonly key: SigningKey | null;
  readonly now: () => number;
  readonly onTrouble: (what: string, cause: unknown) => void;
  /** For tests. */
  readonly verifyAfterMs?: number | undefined;
}

export interface RecordKeeper {
  /** To be called before a hub has the log; what is wrong with it a person is told when one has. */
  open(space: string, log: Log, place: StorePlace | null): Promise<KeptSpace>;
  view(space: string): RecordView | null;
  close(): Promise<void>;
}

export interface KeptSpace {
  follow(hub: Hub): void;
  /** Before the log is closed, and after it: what closing stored is signed too. */
  beginClose(): Promise<void>;
  finishClose(isRemoved: boolean): Promise<void>;
}

interface Kept {
  hub: Hub | null;
  readonly record: SpaceRecord;
  readonly place: StorePlace | null;
  verifyAt: number;
}

/** Of several servers that which sequences signs and walks; the others would only repeat it. */
function isOurs(hub: Hub | null): boolean {
  const standing = hub?.standing ?? null;
  return standing === null || standing.sequencer === standing.server;
}

async function openHeads(place: StorePlace, space: string): Promise<Heads> {
  if (place.kind !== 'nats') return openHeadsBeside(place.path);
  const { openNatsHeads } = await import('../../log/nats/heads.ts');
  return openNatsHeads(place.place, space);
}

export function createRecordKeeper(options: KeeperOptions): RecordKeeper {
  const { now, onTrouble } = options;
  const verifyAfterMs = options.verifyAfterMs ?? VERIFY_AFTER_MS;
  const spaces = new Map<string, Kept>();
  let worker: Worker | null = null;
  let verifying: Promise<void> | null = null;
  let isClosed = false;
  const signTimer = setInterval(signAll, SIGN_EVERY_MS).unref();
  const verifyTimer = setInterval(() => {
    verifying ??= verifyNext().finally(() => {
      verifying = null;
    });
  }, verifyAfterMs).unref();

  function signAll(): void {
    for (const { record } of spaces.values()) void record.sign();
  }

  async function verifyNext(): Promise<void> {
    const due = [...spaces].find(
      ([, kept]) => kept.place !== null && kept.verifyAt <= now() && isOurs(kept.hub),
    );
    if (due === undefined || isClosed) return;
    const [space, kept] = due;
    kept.verifyAt = now() + VERIFY_EVERY_MS;
    try {
      const verified = await walk({ ...(kept.place as StorePlace), space });
      const before = kept.record.view().verification;
      const { ok } = verified;
      const through = ok ? verified.length : verified.position;
      const reason = ok ? null : verified.reason;
      kept.record.note({ at: now(), ok, through, reason });
      if (reason !== null && before?.reason !== reason) tell(space, kept, { through, reason });
    } catch (cause) {
      if (!isClosed) onTrouble(`the log of space ${space} could not be verified`, cause);
    }
  }

  /** A person is told, and the log of the hub. */
  function tell(
    space: string,
    { hub }: Kept,
    found: Omit<Contradiction, 'head'> & { head?: string },
  ): void {
    const what = { head: null, file: null, ...found };
    onTrouble(`space ${space}: ${breakText(what)}`, null);
    if (hub === null || spaces.get(space)?.hub !== hub) return;
    void hub.submit({ type: 'break.record', by: SERVER, at: hub.stamp(), ...what });
  }

  /** In a thread of its own: a walk over a long log would hold everybody up. */
  function walk(place: Walked): Promise<Verified> {
    return new Promise((resolve, reject) => {
      const end = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
      const thread = new Worker(new URL(`./verify-thread.${end}`, import.meta.url), {
        workerData: place,
      });
      worker = thread;
      thread.unref();
      thread.once('message', resolve);
      thread.once('error', reject);
      thread.once('exit', () => {
        worker = null;
        reject(new Error('the thread that verifies ended early'));
      });
    });
  }

  return {
    async open(space, log, place) {
      const heads = place === null ? null : await openHeads(place, space);
      /** Said when it closes: by then nobody sequences any more. */
      let isLast: boolean | null = null;
      const record = openSpaceRecord({
        ...{ space, log, heads, key: options.key, now },
        maySign: () => isLast ?? isOurs(kept.hub),
        onTrouble: (what, cause) => onTrouble(`space ${space}: ${what}`, cause),
      });
      const kept: Kept = { record, place, verifyAt: now(), hub: null };
      const wrong = await record.check();
      let stop = (): void => {};
      return {
        follow(hub) {
          spaces.set(space, kept);
          kept.hub = hub;
          stop = hub.watch.events(() => record.onGrown(), { isOfEveryHub: true });
          if (wrong !== null) tell(space, kept, wrong);
        },
        async beginClose() {
          stop();
          isLast = isOurs(kept.hub);
          if (spaces.get(space) === kept) spaces.delete(space);
          await record.findOrigin();
        },
        async finishClose(isRemoved) {
          if (!isRemoved) await record.sign();
          await heads?.close();
        },
      };
    },
    view: (space) => spaces.get(space)?.record.view() ?? null,
    async close() {
      isClosed = true;
      clearInterval(signTimer);
      clearInterval(verifyTimer);
      await worker?.terminate();
      await verifying;
    },
  };
}
