/**
 * The words by which servers agree who has what. A server says twice a second that it is there; of a space it says
 * once that it has it, and that holds while the server is there. So ten thousand spaces cost no more words than one.
 */

export interface LeaseWord {
  /** The opening that has it. */
  readonly by: string;
  /** Its name; of a server without one, its machine and process. */
  readonly holder: string;
  readonly isReleased: boolean;
  /** The server has no name, and shares with nobody. */
  readonly isAlone?: boolean;
  /** The server takes nothing more; said of the server alone. */
  readonly isDraining?: boolean;
  /** The server reads batches that are compressed [NL9]; said of the server alone, and not by those from before. */
  readonly readsCompressed?: boolean;
  /** The server counts itself among those that make a space [SP3]; likewise. */
  readonly countsMakers?: boolean;
}

/** What servers from before do not know, and nobody does before all do. */
export type Skill = 'readsCompressed' | 'countsMakers';

export interface SaidWord {
  readonly word: LeaseWord;
  readonly seq: number;
}

/** What a word is about. */
export type LeaseKey = `server ${string}` | `space ${string}`;

/** Keeps the last word about each thing, and numbers them. */
export interface LeaseStore {
  read(key: LeaseKey): Promise<SaidWord | null>;
  /** What a server without a name says of it, whom nobody vouches for; null when it is none's. */
  readAlone?(key: LeaseKey): Promise<LeaseWord | null>;
  /** Its number, or 'stale' when the last word about it is another than `previous`; throws when nobody knows. */
  write(key: LeaseKey, word: LeaseWord, previous: number): Promise<number | 'stale'>;
  /** Servers that words were said of. */
  servers(): Promise<readonly LeaseKey[]>;
  /** A word may have been said about it. Not each is heard, and some were not taken: who hears, reads. */
  hear(listener: (key: LeaseKey) => void): () => void;
  /** Nobody will ask for it any more. */
  forget(key: LeaseKey): Promise<void>;
}

/** Time that never jumps. */
export interface Steady {
  now(): number;
  after(ms: number, run: () => void): () => void;
}

/** How often a server says that it is there. */
export const RENEW_MS = 500;
/** Without a word for so long, it is gone. */
export const LOST_MS = 2_200;
/** One that could not say so for so long does nothing more: before anybody else may begin. */
export const STEP_DOWN_MS = 1_500;
/** A word that is not answered for is said again by then. */
export const WRITE_MS_MAX = 800;

/** Servers without a name are known by their opening; no name begins like this. */
export function serverKey({ by, holder, isAlone }: LeaseWord): LeaseKey {
  return `server ${isAlone ? `=${by}` : holder}`;
}
