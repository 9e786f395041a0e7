/**
 * What is promised of one key: a value that is exchanged only for the one it was decided on, a lock with one holder, and a
 * gate that is decided once and used once.
 */
import type { ActOf, Outcome } from './history.ts';
import type { Model } from './linearize.ts';

export interface Answered<A> {
  readonly act: A;
  readonly outcome: Outcome;
  readonly by: string;
}

type RegisterAct = Answered<ActOf<'set' | 'get'>>;
type GateAct = Answered<ActOf<'decide' | 'consume' | 'gate'>>;
type LockAct = Answered<ActOf<'take' | 'release' | 'holder'>>;

/** Wrapped, since nothing being there is a state and not the lack of one. */
interface Register {
  readonly value: string | null;
}

/** Values are never set twice, so that a value tells who set it. */
export const REGISTER: Model<Register, RegisterAct> = {
  initial: { value: null },
  step(state, { act, outcome }) {
    if (act.op === 'get') return act.value === state.value ? state : null;
    const fits = act.from === undefined || act.from === state.value;
    if (outcome === 'fail') return fits ? null : state;
    return fits ? { value: act.to } : null;
  },
  name: ({ value }) => JSON.stringify(value),
};

interface Lock {
  readonly holder: string | null;
}

export const LOCK: Model<Lock, LockAct> = {
  initial: { holder: null },
  step(state, { act, outcome, by }) {
    if (act.op === 'holder') return act.owner === state.holder ? state : null;
    const isMine = state.holder === by;
    const fits = act.op === 'take' ? isMine || state.holder === null : isMine;
    if (outcome === 'fail') return fits ? null : state;
    if (!fits) return null;
    return { holder: act.op === 'take' ? by : null };
  },
  name: ({ holder }) => holder ?? '',
};

interface Gate {
  readonly state: string;
}

export const GATE: Model<Gate, GateAct> = {
  initial: { state: 'pending' },
  step(gate, { act, outcome }) {
    if (act.op === 'gate') return act.state === gate.state ? gate : null;
    const fits = gate.state === (act.op === 'decide' ? 'pending' : 'approved');
    if (outcome === 'fail') return fits ? null : gate;
    if (!fits) return null;
    if (act.op === 'consume') return { state: 'consumed' };
    return { state: act.answer === 'approve' ? 'approved' : 'denied' };
  },
  name: ({ state }) => state,
};
