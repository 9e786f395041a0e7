/** What is asked of sessions, and what then happened. */
import type { Asked } from '../law/decider.ts';
import type { MessageSent } from '../talk/message.ts';
import type { ClaimOffered } from '../work/claim/claim-events.ts';
import type { Sharing } from './session-state.ts';

export type ItemKind = 'user' | 'assistant' | 'tool_call' | 'tool_result' | 'handoff' | 'note';

/** How a call ended; `unknown`: nobody can say, ask by its key. */
export type CallOutcome = 'ok' | 'error' | 'unknown';

/** One item of a history. The body is opaque: the law never looks inside. */
export interface Item {
  readonly kind: ItemKind;
  /** Of a call, and of the result that belongs to it. */
  readonly callId?: string;
  /** Of a call: which tool, and the key under which it can be asked what became of it. */
  readonly name?: string;
  readonly key?: string;
  /** Of a result. */
  readonly outcome?: CallOutcome;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface CreateSession extends Asked {
  readonly type: 'session.create';
  /** Who works with it; null is who asks. */
  readonly holder: string | null;
  /** The creator's own name for it: asked again under it, it is the same session. */
  readonly key: string | null;
  readonly ttlMs: number | null;
  readonly items: readonly Item[];
}

interface OnSession extends Asked {
  readonly id: string;
  /** How long the caller believes the history to be; null is not to be checked. */
  readonly expectedLength: number | null;
}

export interface AppendItems extends OnSession {
  readonly type: 'session.append';
  readonly items: readonly Item[];
}

export interface ForkSession extends OnSession {
  readonly type: 'session.fork';
  readonly key: string | null;
  readonly ttlMs: number | null;
  /** How much of the history; null is up to the newest place that splits no call from its result. */
  readonly length: number | null;
  /** Of one that is over: its places, as the event that ended it has them. */
  readonly places?: readonly number[] | null;
}

export interface RewindSession extends OnSession {
  readonly type: 'session.rewind';
  readonly length: number;
}

export interface CompactSession extends OnSession {
  readonly type: 'session.compact';
  /** How many of the newest items stay as they are. */
  readonly keep: number;
  readonly summary: Item;
}

export interface ShareSession extends OnSession {
  readonly type: 'session.share';
  readonly with: string;
  readonly access: Sharing | null;
}

export interface CloseSession extends OnSession {
  readonly type: 'session.close';
  readonly reason: string | null;
}

export interface HandOffSession extends OnSession {
  readonly type: 'session.hand-off';
  readonly to: string;
  readonly why: string;
  /** The item that tells of it, with what is handed on. */
  readonly item: Item;
  /** Which items the next holder gets, as ranges [from, until), ascending; null is all. */
  readonly keep: readonly (readonly [number, number])[] | null;
  /** Claims of the holder that are offered along; null is all that it holds. */
  readonly claims: readonly string[] | null;
  /** What the doors know of the recipient; absent where nobody looked. */
  readonly isRecipientThere?: boolean;
}

interface OfSession {
  readonly at: number;
  readonly by: string;
  readonly id: string;
}

export interface SessionCreated extends OfSession {
  readonly type: 'session.created';
  readonly holder: string;
  readonly key: string | null;
  readonly ttlMs: number;
  readonly items: readonly Item[];
}

export interface SessionForked extends OfSession {
  readonly type: 'session.forked';
  readonly key: string | null;
  readonly ttlMs: number;
  readonly from: string;
  readonly length: number;
  /** Where the history was over: memory has it no more. */
  readonly places?: readonly number[];
}

export interface SessionAppended extends OfSession {
  readonly type: 'session.appended';
  readonly items: readonly Item[];
}

/** What takes places out of a history names them all, and the cut before it: nothing is lost [SN5]. */
interface Cut extends OfSession {
  readonly cut: readonly number[];
  readonly previousCut: number | null;
}

export interface SessionRewound extends Cut {
  readonly type: 'session.rewound';
  readonly length: number;
}

export interface SessionCompacted extends Cut {
  readonly type: 'session.compacted';
  /** How many of the oldest items went; the summary is in their place. */
  readonly count: number;
  readonly items: readonly Item[];
}

export interface SessionHandedOff extends OfSession {
  readonly type: 'session.handed-off';
  readonly holder: string;
  readonly to: string;
  readonly why: string;
  readonly items: readonly Item[];
  readonly claims: readonly string[];
  /** What the next holder gets of the history, where it was filtered: the places, and all as they were. */
  readonly kept?: readonly number[];
  readonly cut?: readonly number[];
  readonly previousCut?: number | null;
}

/** It went round too often and waits for a person. */
export interface SessionParked extends OfSession {
  readonly type: 'session.parked';
  readonly to: string;
  readonly why: string;
  readonly returns: number;
}

export interface SessionShared extends OfSession {
  readonly type: 'session.shared';
  readonly with: string;
  readonly access: Sharing | null;
}

export interface SessionEnded extends Cut {
  readonly type: 'session.ended';
  readonly how: 'closed' | 'lapsed';
  readonly reason: string | null;
}

export type SessionEvent =
  | SessionCreated
  | SessionForked
  | SessionAppended
  | SessionRewound
  | SessionCompacted
  | SessionHandedOff
  | SessionParked
  | SessionShared
  | SessionEnded;

/** A hand-off tells the next holder, and offers it the claims. */
export type SessionDecided = SessionEvent | ClaimOffered | MessageSent;
