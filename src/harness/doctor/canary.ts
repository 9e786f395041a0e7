/**
 * Who the doctor is on the hub, and how it gets there. The canary is the agent that the vendor's own
 * parts speak for; the witness stands at the other end. Both keep their names, so that many runs leave
 * no crowd behind; what passes between them is marked with a word of this run alone.
 */
import { randomBytes } from 'node:crypto';
import type { Vendor } from '../../wire/tool-names.ts';

/** The hub, asked as the owner may ask: under any name, or as the owner for null. */
export interface DoctorHub {
  call(
    agent: string | null,
    operation: string,
    input: Readonly<Record<string, unknown>>,
    waitMs?: number,
  ): Promise<HubAnswer>;
}

/** A refusal is a value here: the doctor wants to say what it means. */
export type HubAnswer =
  | { readonly answer: Readonly<Record<string, unknown>> }
  | { readonly refused: string; readonly message: string };

export const WITNESS = 'doctor';
const DRAINED_MAX = 500;

export function canaryName(vendor: Vendor): string {
  return `doctor-${vendor}`;
}

/** Unlike any other run's. */
export function createMark(): string {
  return randomBytes(6).toString('hex');
}

export function isRefused(
  answer: HubAnswer,
): answer is { readonly refused: string; readonly message: string } {
  return 'refused' in answer;
}

/** The messages in an answer of recv, as far as they are ones. */
export function messagesIn(answer: HubAnswer): readonly Readonly<Record<string, unknown>>[] {
  if (isRefused(answer)) return [];
  const { messages } = answer.answer;
  return Array.isArray(messages) ? messages : [];
}

/** What the receipts of a message say of one agent. */
export function stateFor(agent: string, answer: HubAnswer): string {
  const receipts = isRefused(answer) ? [] : answer.answer.receipts;
  const found = (Array.isArray(receipts) ? receipts : []).find(
    ({ agent_id }) => agent_id === agent,
  );
  return String(found?.state ?? 'nothing');
}

/** Leaves the hub as it was found: nothing owed, nobody here. */
export async function takeLeave(hub: DoctorHub, agent: string): Promise<void> {
  await hub.call(agent, 'recv', { max_messages: DRAINED_MAX });
  await hub.call(agent, 'channels_heartbeat', { status: 'offline' });
}
