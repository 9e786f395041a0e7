/** What is promised of one key: a value that is exchanged only for the one it was decided on, and a lock with one holder. */
import type { ActOf, Outcome } from './history.ts';
import type { Model } from './linearize.ts';

export interface Answered<A> {
  readonly act: A;
  readonly outcome: Outcome;
  readonly by: string;
}

type RegisterAct = Answered<ActOf<'set' | 'get'>>;
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
