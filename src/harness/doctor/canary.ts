/**
 * Who the doctor is on the hub, and how it gets there. The canary is the agent that the vendor's own
 * parts speak for; the witness stands at the other end. Their names are of this run alone, so that two
 * doctors at once do not meet, and both are removed at its end with all that was theirs [DO9].
 */
import { randomBytes } from 'node:crypto';
import type { SpokenInput } from '../../client/node/call.ts';
import type { CallId, CallOutput } from '../../client/operations.ts';
import type { Vendor } from '../../wire/tool-names.ts';

/** The hub, asked as the owner may ask: under any name, or as the owner for null. */
export interface DoctorHub {
  call<Id extends CallId>(
    agent: string | null,
    operation: Id,
    input: SpokenInput<Id>,
  ): Promise<HubAnswer<Id>>;
}

/** A refusal is a value here: the doctor wants to say what it means. */
export type HubAnswer<Id extends CallId> =
  | { readonly answer: CallOutput<Id> }
  | { readonly refused: string; readonly message: string };

const RUN = createMark();
export const WITNESS: string = `doctor-${RUN}`;
const DRAINED_MAX = 500;

export function canaryName(vendor: Vendor): string {
  return `doctor-${vendor}-${RUN}`;
}

/** Where the vendor's server and the witness meet. */
export function canaryChannel(vendor: Vendor): string {
  return `doctor/${vendor}-${RUN}`;
}

/** Unlike any other run's. */
export function createMark(): string {
  return randomBytes(6).toString('hex');
}

/** What it says, to whoever reads it by accident too. */
export function canaryBody(mark: string): { readonly text: string; readonly type: string } {
  return { text: `synod doctor: a canary, nothing to do (${mark})`, type: 'canary' };
}

export function isRefused(
  answer: object,
): answer is { readonly refused: string; readonly message: string } {
  return 'refused' in answer;
}

/** What the receipts of a message say of one agent. */
export async function stateFor(
  agent: string,
  hub: DoctorHub,
  sender: string,
  id: string,
): Promise<string> {
  const said = await hub.call(sender, 'receipts.get', { message_id: id });
  const receipts = isRefused(said) ? [] : said.answer.receipts;
  return receipts.find(({ agent_id }) => agent_id === agent)?.state ?? 'nothing';
}

/** Leaves the hub as it was found. With the second of two agents their direct channel goes too. */
export async function takeLeave(hub: DoctorHub, agent: string): Promise<void> {
  await hub.call(agent, 'channels.recv', { max_messages: DRAINED_MAX });
  await hub.call(agent, 'channels.heartbeat', { status: 'offline' });
  await hub.call(null, 'agents.remove', { agent_id: agent, force: true });
}

export async function retireChannel(hub: DoctorHub, vendor: Vendor): Promise<void> {
  await hub.call(null, 'channels.retire', { channel: canaryChannel(vendor), force: true });
}
