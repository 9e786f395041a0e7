/** What may be asked of gates and people, and what then happened. */
import type { Asked } from '../law/decider.ts';
import type { DeciderKind, Deciders, GateTier, Proof } from './gate-state.ts';

export interface AskGate extends Asked {
  readonly type: 'gate.ask';
  readonly action: string;
  readonly subject: string;
  readonly tier: GateTier;
  readonly kinds: readonly DeciderKind[];
  readonly names: readonly string[];
  readonly count: number;
  /** From now on; null: it waits for ever. */
  readonly deadlineMs: number | null;
  readonly thread: string | null;
  /** Hex SHA-256 of the canonical JSON of what would be done. */
  readonly payloadHash: string | null;
  readonly policy: string | null;
  readonly turn: string | null;
  readonly isKept: boolean;
  /** The asker hears the end where it waits, and is sent no message about it [GT6]. */
  readonly isAwaited?: true;
  /** What the caller came with; see `Came`. */
  readonly credential: string;
}

/** How somebody came to decide: with which credential, and as which person, if it proved to be one. */
export interface Came {
  readonly credential: string;
  readonly person: string | null;
  /** Left out, the person proved it with the passphrase. */
  readonly how?: 'passkey';
}

export interface DecideGate extends Asked, Came {
  readonly type: 'gate.decide';
  readonly id: string;
  readonly decision: 'approve' | 'deny';
  readonly reason: string | null;
  /** What the decider saw; left out, it is whatever was asked. */
  readonly payloadHash: string | null;
}

export interface WithdrawGate extends Asked {
  readonly type: 'gate.withdraw';
  readonly id: string;
  readonly reason: string | null;
}

export interface ConsumeGate extends Asked {
  readonly type: 'gate.consume';
  readonly id: string;
  readonly payloadHash: string | null;
  readonly policy: string | null;
}

export interface AddPerson extends Asked, Came {
  readonly type: 'person.add';
  readonly name: string;
  readonly verifier: string;
}

export interface RemovePerson extends Asked, Came {
  readonly type: 'person.remove';
  readonly name: string;
}

export type GateCommand = AskGate | DecideGate | WithdrawGate | ConsumeGate;
export type PersonCommand = AddPerson | RemovePerson;

export interface GateAsked {
  readonly type: 'gate.asked';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly credential: string;
  readonly action: string;
  readonly subject: string;
  readonly tier: GateTier;
  readonly deciders: Deciders;
  readonly deadlineAt: number | null;
  readonly thread: string | null;
  readonly payloadHash: string | null;
  readonly policy: string | null;
  readonly turn: string | null;
  readonly isKept: boolean;
  readonly holds?: number;
  readonly isAwaited?: true;
}

/** One person approved; the gate opens when as many as it asked for have. A denial ends it. */
export interface GateDecided {
  readonly type: 'gate.approved' | 'gate.denied';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly person: string | null;
  readonly proof: Proof;
  readonly reason: string | null;
}

export interface GateConsumed {
  readonly type: 'gate.consumed';
  readonly at: number;
  readonly by: string;
  readonly id: string;
}

export interface GateEnded {
  readonly type: 'gate.ended';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly state: 'expired' | 'withdrawn' | 'superseded' | 'lapsed';
  readonly reason: string | null;
}

export interface PersonAdded {
  readonly type: 'person.added';
  readonly at: number;
  readonly by: string;
  readonly name: string;
  readonly verifier: string;
  readonly vouchedBy: string | null;
}

export interface PersonRemoved {
  readonly type: 'person.removed';
  readonly at: number;
  readonly by: string;
  readonly name: string;
  readonly vouchedBy: string;
}

export interface PasskeyAdded {
  readonly type: 'passkey.added';
  readonly at: number;
  readonly by: string;
  readonly name: string;
  readonly id: string;
  readonly publicKey: string;
  readonly label: string | null;
  readonly signCount: number;
}

export interface PasskeyRemoved {
  readonly type: 'passkey.removed';
  readonly at: number;
  readonly by: string;
  readonly name: string;
  readonly id: string;
}

export interface PasskeyUsed {
  readonly type: 'passkey.used';
  readonly at: number;
  readonly by: string;
  readonly name: string;
  readonly id: string;
  readonly signCount: number;
}

export type PasskeyEvent = PasskeyAdded | PasskeyRemoved | PasskeyUsed;

export type GateEvent = GateAsked | GateDecided | GateConsumed | GateEnded;
export type PersonEvent = PersonAdded | PersonRemoved | PasskeyEvent;
