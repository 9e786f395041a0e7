/** Deciding a gate at a terminal: what is asked is shown first, and a proof is asked for where one is needed. */
import type { Person } from '../bus/programs/registry-setup.ts';
import { SynodError } from '../client/error.ts';
import type { CallOutput } from '../client/operations.ts';
import type { Call } from './context.ts';
import type { Prover } from './prove.ts';

type Gate = CallOutput<'gates.get'>;

export interface Decision {
  readonly gate_id: string;
  readonly decision: 'approve' | 'deny';
  readonly reason: string | undefined;
}

export async function decideGate(
  call: Call,
  person: Person,
  prover: Prover,
  { gate_id, decision, reason }: Decision,
): Promise<Gate> {
  const seen = await call('gates.get', { gate_id });
  person.say(`${seen.gate_id}: ${seen.asker} wants to ${seen.action}: ${seen.subject}`);
  const input = { gate_id, decision, reason, payload_hash: seen.payload_hash };
  const decided = await decideWithout(call, seen, input);
  return decided ?? call('gates.decide', { ...input, proof: await prover.prove() });
}

/** Where a person has asked for less, tier 1 goes without a proof; null when it does not. */
async function decideWithout(
  call: Call,
  seen: Gate,
  input: { gate_id: string; decision: string; payload_hash: string | null },
): Promise<Gate | null> {
  if (seen.tier !== 1) return null;
  try {
    const { gates_proof: wanted } = await call('spaces.configure', {});
    return wanted === 'none' ? await call('gates.decide', input) : null;
  } catch (error) {
    // Who asked came with the owner's credential too, or this is not the owner's: a proof tells.
    if (error instanceof SynodError && UNPROVED.has(error.code)) return null;
    throw error;
  }
}

const UNPROVED: ReadonlySet<string> = new Set(['gate.unproved', 'access.denied']);
