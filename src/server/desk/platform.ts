/**
 * What the desk takes from the machine it runs on: time, chance, a digest, schemas and the disk. They are
 * handed in, so that the whole desk runs inside the simulator, where the same seed gives the same story.
 */
import type { Refusal } from '../../core/law/decider.ts';
import type { Scope } from '../../core/work/claim/scope.ts';
import type { RunnerSpec } from '../../wire/operations/runner-spec.ts';
import type { Caller } from './caller.ts';
import type { ClusterWindow } from './cluster-window.ts';
import type { Past } from './past.ts';
import type { RecordView } from './record-view.ts';
import type { SearchPort } from './search-port.ts';
import type { TurnWindow } from './turn-window.ts';
import type { VitalsWindow } from './vitals-window.ts';

export interface Platform {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a clock that only goes forward, for measuring. */
  elapsedMs(): number;
  /** Runs once after a while, if the hub is still there. */
  after(ms: number, run: () => void): void;
  /** A UUID that nobody can guess. */
  newId(): string;
  /** A secret of 32 bytes as base64url. */
  newSecret(): string;
  /** SHA-256 in hex. */
  digest(text: string): string;
  /** What checks a passphrase later, as a line of text: slow to make, and the passphrase is not in it. */
  sealPassphrase(passphrase: string): Promise<string>;
  /** As slow for nobody's seal, null, as for somebody's. */
  checkPassphrase(passphrase: string, seal: string | null): Promise<boolean>;
  /**
   * Where the files of a claim really lie; what cannot be placed is refused there. Who is not to be
   * told of this disk is refused, without a word of it, what lies elsewhere than its name says.
   */
  placeScope(
    worktree: string,
    paths: readonly string[],
    isTold: boolean,
  ): Promise<Omit<Scope, 'branch'> | Refusal>;
  readonly schemas: SchemaCheck;
  /** What is known of the record of a space; null or absent where none is kept. */
  record?(space: string): RecordView | null;
  /** The runner that is meant, ready to be kept, or why it cannot be used here; absent where none runs. */
  checkRunner?(choice: string | RunnerSpec): Promise<RunnerSpec | Refusal>;
  /** Full text search; absent where nothing is indexed. */
  readonly search?: SearchPort;
  /** What turns say that run here; absent where none runs. */
  readonly turns?: TurnWindow;
  /** Absent where none is checked. */
  readonly passkeys?: PasskeyCheck;
  /** The page for a phone; absent where nothing listens. */
  readonly phone?: PhoneDoor;
  /** How the hub is doing; absent where nothing measures. */
  readonly vitals?: VitalsWindow;
  /** The servers that share the store; absent where this one is alone. */
  readonly cluster?: ClusterWindow | undefined;
  /** What was answered at earlier moments; absent where nobody can look back. */
  readonly past?: Past;
}

/** What a browser hands over of a passkey, each part in base64url. */
interface PasskeyData {
  readonly clientData: string;
  readonly authenticatorData: string;
}

export interface PasskeyOffer extends PasskeyData {
  readonly id: string;
  /** SPKI in DER. */
  readonly publicKey: string;
}

export interface PasskeyClaim extends PasskeyData {
  readonly signature: string;
}

/** For which page and which question it must have been made. */
export interface PasskeyPlace {
  readonly rpId: string;
  readonly origin: string;
  readonly challenge: string;
}

/** The count of the key, or what is wrong. */
export interface PasskeyCheck {
  offered(offer: PasskeyOffer, place: PasskeyPlace): { readonly signCount: number } | string;
  claimed(
    claim: PasskeyClaim,
    publicKey: string,
    place: PasskeyPlace,
  ): { readonly signCount: number } | string;
}

/** Where a phone is to find the page. */
export interface PhoneWish {
  /** An address of this machine; null: the one that is near, or where it stands open. */
  readonly host: string | null;
  readonly port: number | null;
}

export interface OpenPhone {
  /** Without a slash at the end. */
  readonly url: string;
  /** Of the certificate, SHA-256. */
  readonly fingerprint: string;
  /** Then it closes unless it is asked for again; milliseconds. */
  readonly until: number;
}

export interface PhoneDoor {
  open(wish: PhoneWish): Promise<OpenPhone | Refusal>;
  /** Whether it was open. */
  close(): Promise<boolean>;
}

export interface Violation {
  readonly field: string;
  readonly issue: string;
}

export interface Checked {
  /** Empty when the body conforms; of very many the first. */
  readonly violations: readonly Violation[];
  readonly count: number;
}

/** Both refuse what takes too long, and who had too much checked lately [T5]. */
export interface SchemaCheck {
  check(
    schema: string,
    body: unknown,
    asked: { readonly whose: string; readonly isTrusted: boolean },
  ): Checked | Refusal;
  /** Why the text is no usable schema, or null. */
  problem(schema: string, whose: string): string | Refusal | null;
}

/** For whom something is checked. */
export function checkedFor({ space, principal }: Pick<Caller, 'space' | 'principal'>): string {
  return `${space}/${principal.id}`;
}
