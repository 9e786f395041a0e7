/**
 * A gate asked on somebody's behalf, by who waits for its end: asked, waited for, and used in the same
 * breath when it was approved. Whatever is refused on the way is no approval.
 */
import { GATE_SUBJECT_CHARS_MAX } from '../core/gates/gate-limits.ts';
import { isFields, textOf } from './fields.ts';
import type { GateOutcome } from './gate-words.ts';
import type { OperationId } from './operations/table.ts';

/** Calls as the asker: the answer, or a sentence that says why there is none. */
export type Asking<Signal = unknown> = (
  id: OperationId,
  input: object,
  signal?: Signal,
) => Promise<Readonly<Record<string, unknown>> | string>;

export interface Wish {
  readonly action: string;
  readonly subject: string;
  readonly payload?: unknown;
  /** Seconds. */
  readonly deadline?: number;
  readonly thread?: string;
  readonly tell?: boolean;
}

const WAIT_MS = 60_000;
const LEFT_OUT_CHARS = 60;
const STATES = ['approved', 'denied', 'expired', 'withdrawn', 'superseded'] as const;

/** What does not fit is left out, and how much that is stands there: nobody approves what looks whole and is not. */
export function fitSubject(subject: string): string {
  if (subject.length <= GATE_SUBJECT_CHARS_MAX) return subject;
  const room = GATE_SUBJECT_CHARS_MAX - LEFT_OUT_CHARS;
  const shown = subject.slice(0, room).toWellFormed();
  return `${shown}… (${subject.length - room} more characters are not shown)`;
}

export async function askGate<Signal extends { readonly aborted: boolean }>(
  ask: Asking<Signal>,
  { payload, ...wish }: Wish,
  signal: Signal,
  onAsked: (gateId: string) => void = () => {},
): Promise<GateOutcome> {
  const sum = isFields(payload) ? { payload } : { payload: { value: payload ?? null } };
  let gate = await ask('gates.ask', { ...wish, ...sum }, signal);
  if (typeof gate !== 'string') onAsked(String(gate.gate_id));
  while (typeof gate !== 'string' && gate.state === 'pending' && !signal.aborted) {
    gate = await ask('gates.get', { gate_id: gate.gate_id, wait_ms: WAIT_MS }, signal);
  }
  if (typeof gate === 'string') return { state: 'denied', by: null, reason: gate };
  if (gate.state === 'approved') {
    // It is for this action, once; a moment later it may be for nothing any more.
    const used = await ask('gates.consume', { gate_id: gate.gate_id, ...sum });
    if (typeof used === 'string') return { state: 'denied', by: null, reason: used };
  }
  const state = STATES.find((one) => one === (gate as { state?: unknown }).state) ?? 'withdrawn';
  return { state, by: textOf(gate, 'decided_by'), reason: textOf(gate, 'reason') };
}
