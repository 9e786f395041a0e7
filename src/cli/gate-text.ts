/** Gates as a person reads them. What others wrote is neutralised. */
import type { CallOutput } from '../client/operations.ts';
import { clockTime } from './message-text.ts';
import { neutralise } from './terminal.ts';

type Gate = CallOutput<'gates.get'>;

export function gateRow(gate: Gate): string[] {
  const { approvals, by } = gate;
  const some = by.count > 1 ? ` ${approvals.length} of ${by.count}` : '';
  return [
    gate.gate_id,
    `${gate.state}${some}${gate.tier === 2 ? ', tier 2' : ''}`,
    gate.asker,
    gate.action,
    gate.subject,
  ];
}

export function gateLines(gate: Gate): string[] {
  const facts: [string, string | null][] = [
    ['gate', gate.gate_id],
    ['state', outcomeLine(gate)],
    ['asked by', `${gate.asker}, ${clockTime(gate.asked_at)}`],
    ['action', gate.action],
    ['subject', gate.subject],
    ['tier', String(gate.tier)],
    ['for', whoDecides(gate)],
    ['deadline', gate.deadline_at === null ? 'never' : clockTime(gate.deadline_at)],
    ['thread', gate.thread],
    ['holds', gate.message_id],
    ['payload', gate.payload_hash],
    ['rule', gate.policy],
    ['turn', gate.turn_id],
    ...gate.approvals.map((one): [string, string] => [
      'approved by',
      `${one.by} (${one.proof}), ${clockTime(one.at)}${one.reason === null ? '' : `: ${one.reason}`}`,
    ]),
  ];
  return facts.flatMap(([name, value]) =>
    value === null ? [] : [`${`${name}:`.padEnd(13)} ${neutralise(value)}`],
  );
}

/** A post whose approval was its delivery. */
export function isDelivered({ state, message_id }: Gate): boolean {
  return state === 'consumed' && message_id !== null;
}

/** One line: what became of it, whose word that is, and what now. */
export function outcomeLine(gate: Gate): string {
  const { gate_id: id, state, decided_by: who, reason, approvals, by } = gate;
  const why = reason === null ? '' : `: ${reason}`;
  if (state === 'pending') {
    return `${id} is pending, ${approvals.length} of ${by.count} approved; no answer is no approval`;
  }
  if (isDelivered(gate)) {
    const whose = approvals.map((one) => one.by).join(', ');
    return `${id} is approved by ${whose}; ${gate.message_id} is delivered`;
  }
  const whose = who === null ? '' : ` by ${who}`;
  const unproved = approvals.some((one) => one.proof !== 'passphrase')
    ? ' (owner, not proved)'
    : '';
  const until = gate.use_until === null ? '' : `; to be used by ${clockTime(gate.use_until)}`;
  return `${id} is ${state}${whose}${unproved}${why}${until}`;
}

function whoDecides({ by: { kinds, names, count } }: Gate): string {
  const who =
    names.length > 0 ? names.join(', ') : kinds.length > 0 ? kinds.join(', ') : 'any person';
  return count > 1 ? `${count} of ${who}` : who;
}
