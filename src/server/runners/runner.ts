/**
 * The port of a runner: how one turn of a managed agent is run, whatever program does the work. A
 * runner is handed a job with everything decided (messages, directory, environment, token) and
 * answers with a result. It never rejects: what goes wrong is the outcome `failed` with a note.
 */
import type { Refusal } from '../../core/law/decider.ts';
import type { Recordable } from '../../guard/decision-queue.ts';
import type { GateOutcome } from '../../wire/gate-words.ts';
import type { RunnerSpec } from '../../wire/operations/runner-spec.ts';
import type { TurnLine } from '../desk/turn-window.ts';

export interface Runner<S extends RunnerSpec = RunnerSpec> {
  readonly kind: S['kind'];
  /** Why it cannot be used here, with a code and the field; null when it can. Probes once a program. */
  check(spec: S): Promise<Refusal | null>;
  run(job: TurnJob<S>): Promise<TurnResult>;
}

export interface TurnJob<S extends RunnerSpec = RunnerSpec> {
  readonly spec: S;
  readonly turn: TurnFacts;
  readonly messages: readonly GivenMessage[];
  /** This hub, and the token of this turn; the token dies with the turn. */
  readonly hub: { readonly url: string; readonly token: string };
  /** What the turn before gave as `session_ref`; null begins a fresh session. */
  readonly sessionRef: string | null;
  /** Absolute, looked up, inside an allowed root. */
  readonly cwd: string;
  /** The whole environment, by allow-list, with SYNOD_URL, SYNOD_TOKEN, SYNOD_AGENT and SYNOD_TURN. */
  readonly env: Readonly<Record<string, string>>;
  /** A directory of mode 0700 that is removed when the turn has ended. */
  readonly scratch: string;
  readonly transcript: Transcript;
  /** Aborted when the turn was cancelled, took too long, or lost its lease; `reason` is a TurnStopped. */
  readonly signal: AbortSignal;
  /** The process that does the work, for people to see. */
  started(pid: number): void;
  /** What it has cost so far, as it becomes known; a spent budget stops the turn. */
  spent(cost: TurnCost): void;
  /** Waits for a person. Anything but `approved` is no. */
  askGate(ask: GateAsk): Promise<GateOutcome>;
  /** What a guard decided about the turn, for the record. */
  decided?(entry: Recordable): void;
  /** Puts a question on the docket. */
  raise(question: string): Promise<void>;
}

export interface TurnFacts {
  readonly turn_id: string;
  readonly epoch: number;
  readonly agent_id: string;
  readonly space: string;
  /** 1 is the first. */
  readonly attempt: number;
  readonly reason: TurnReason;
  readonly after_restart: boolean;
  /** For what the turn sets going elsewhere; null while nobody follows a trace. */
  readonly traceparent?: string | null;
}

/** Why the turn began. */
export interface TurnReason {
  readonly rule: string;
  readonly message_ids: readonly string[];
}

export interface GivenMessage {
  readonly message_id: string;
  readonly channel: string;
  readonly sender: string;
  /** Principal kind and trust tier of the sender. */
  readonly kind: string;
  readonly trust: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Unix seconds, as everywhere on the wire. */
  readonly sent_at: number;
  readonly reply_to: string | null;
}

/** What a turn says while it runs: kept up to a bound, shown to people, and a sign of life. */
export interface Transcript {
  append(text: string, from?: TurnLine['from']): void;
  /** A secret that the program knows: wherever it says it, it is left out. */
  hide(secret: string): void;
}

export type TurnOutcome = 'done' | 'failed' | 'gave_up' | 'nothing';

export interface TurnResult {
  readonly outcome: TurnOutcome;
  readonly replies?: readonly TurnReply[];
  /** Left out with `done`: all that was given. */
  readonly consumed?: 'all' | readonly string[];
  readonly question?: string;
  /** What it said last, where it answers by tools of its own; it is compared and not kept [RA7]. */
  readonly output?: string;
  readonly note?: string;
  readonly session_ref?: string;
  readonly cost?: TurnCost;
  /** The vendor would not serve: all agents of that vendor wait; `until` is in milliseconds since the epoch. */
  readonly quota?: { readonly kind: 'exhausted' | 'overloaded'; readonly until?: number };
}

export interface TurnReply {
  readonly channel?: string;
  readonly reply_to?: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly wants_reply?: boolean;
}

export interface TurnCost {
  readonly usd?: number;
  readonly tokens_in?: number;
  readonly tokens_out?: number;
}

export interface GateAsk {
  /** What the agent wants to do, in a word or two: the name of a tool. */
  readonly action: string;
  /** On what, so that a person can decide: the command line, the file. */
  readonly subject: string;
  /** The arguments, canonical; the approval holds for these and no others. */
  readonly payload?: unknown;
  /** Seconds after which nobody answering ends it; else as long as gates wait. */
  readonly deadline?: number;
}

/** Why a turn is ended from outside. */
export class TurnStopped extends Error {
  override readonly name = 'TurnStopped';
  readonly why: 'cancelled' | 'timed_out' | 'lease_lost' | 'hub_closing';

  constructor(why: TurnStopped['why'], message: string) {
    super(message);
    this.why = why;
  }
}
