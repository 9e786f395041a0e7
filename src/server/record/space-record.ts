/**
 * The signed heads of one space: made as the log grows, every minute in which it did, and when it is
 * closed [RC1]; and what is known of its record: the last signed head, the last anchor, and what the last
 * verification said. The newest signed head is compared with the log when it is opened [RC4].
 */
import type { Heads } from '../../log/heads.ts';
import type { Log } from '../../log/log.ts';
import { headOf, originOf } from '../../log/origin.ts';
import { hasGoodSignature, type SignedHead, type SigningKey } from '../../log/signed-head.ts';
import type { RecordView, Verification } from '../desk/record-view.ts';

/** A head is signed after so many entries. */
const SIGN_EVERY_ENTRIES = 10_000;

export interface SpaceRecordOptions {
  readonly space: string;
  readonly log: Log;
  /** Null where the log is not kept: then heads are in memory alone. */
  readonly heads: Heads | null;
  /** Of several servers one signs, that which sequences. */
  readonly maySign: () => boolean;
  /** Null: nothing is signed. */
  readonly key: SigningKey | null;
  readonly now: () => number;
  readonly onTrouble: (what: string, cause: unknown) => void;
}

/** The head that was signed, how much of the log may still be that one, and why not all. */
export interface Contradiction {
  readonly through: number;
  readonly head: string;
  readonly reason: string;
}

export interface SpaceRecord {
  /** Why the log is not the one whose head was signed last; null when it is. */
  check(): Promise<Contradiction | null>;
  /** To be called after every batch. */
  onGrown(): void;
  /** Signs the head as it is, unless it is signed. */
  sign(): Promise<void>;
  /** A log that is closed does not tell its first head any more. */
  findOrigin(): Promise<void>;
  /** What a verification said. */
  note(verification: Verification): void;
  view(): RecordView;
}

export function openSpaceRecord(options: SpaceRecordOptions): SpaceRecord {
  const { space, log, heads, key, now } = options;
  /** Where there is nowhere else to keep it. */
  let unkept: SignedHead | null = null;
  const newest = (): SignedHead | null => (heads === null ? unkept : (heads.heads.at(-1) ?? null));
  let origin: string | null = null;
  let verification: Verification | null = null;
  let isTold = false;
  let isSigning = false;

  async function findOrigin(): Promise<void> {
    if (log.length > 0) origin ??= await originOf(log);
  }

  async function sign(): Promise<void> {
    if (key === null || log.length === 0 || !options.maySign() || isSigning) return;
    isSigning = true;
    try {
      if (origin === null) await findOrigin();
      // Both are of one moment: nothing is waited for between them and the signature.
      const { length, head } = log;
      const last = newest();
      if (origin === null || (last?.position === length && last.head === head)) return;
      const at = new Date(now()).toISOString();
      unkept = key.sign({ space, origin, position: length, head, at });
      await heads?.add(unkept);
    } catch (cause) {
      // Once: a disk that is full says so to everybody who writes.
      if (!isTold) options.onTrouble('the head of the log could not be signed', cause);
      isTold = true;
    } finally {
      isSigning = false;
    }
  }

  /** The newest alone: whatever was changed before it has changed the head there. */
  async function check(): Promise<Contradiction | null> {
    const strange = heads?.strange ?? 0;
    const signed = newest();
    // A crash can cut the last line short, and no other.
    if (strange > 1) return setAside(`${strange} lines of ${heads?.where} are no signed heads`);
    if (signed === null) return null;
    const when = `the head signed at ${signed.at}`;
    if (!hasGoodSignature(signed)) return setAside(`${when} does not carry the signature it says`);
    // Another server may have come further than this opening knows.
    if (signed.position > log.length) for await (const _ of log.read(log.length));
    if (signed.position > log.length) {
      return setAside(`${log.length} entries, ${when} says at least ${signed.position}`);
    }
    if ((await headOf(log, signed.position)) !== signed.head) {
      return setAside(`${when} is not the head of the log at position ${signed.position}`);
    }
    return null;
  }

  /** The heads are kept as they are, and signing goes on from what is there. */
  async function setAside(why: string): Promise<Contradiction> {
    const { position, head } = newest() ?? { position: log.length, head: log.head };
    const aside = (await heads?.setAside(now())) ?? null;
    unkept = null;
    const reason = aside === null ? why : `${why}; what was signed is kept in ${aside}`;
    return { through: Math.min(position, log.length), head, reason };
  }

  function lastAnchor(): RecordView['anchor'] {
    const note = heads?.notes.at(-1);
    return note === undefined ? null : { ...note.head, way: note.way };
  }

  return {
    check,
    sign,
    findOrigin,
    onGrown() {
      if (log.length - (newest()?.position ?? 0) >= SIGN_EVERY_ENTRIES) void sign();
    },
    note(verified) {
      verification = verified;
    },
    view: () => ({
      length: log.length,
      head: log.head,
      signed: newest(),
      anchor: lastAnchor(),
      verification,
    }),
  };
}
