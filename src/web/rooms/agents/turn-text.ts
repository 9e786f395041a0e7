/** A turn in few words: why it began and what came of it. Pure. */
import type { CallOutput } from '../../../client/index.ts';

export type Turn = CallOutput<'turns.list'>['turns'][number];

export function reasonText({ reason }: Pick<Turn, 'reason'>): string {
  const count = reason.message_ids.length;
  const what = count === 1 ? 'a message' : `${count} messages`;
  const from = reason.senders.length === 0 ? '' : ` of ${reason.senders.join(', ')}`;
  const where = reason.channels.length === 0 ? '' : ` on ${reason.channels.join(', ')}`;
  return `${what}${from}${where}`;
}

export function turnStateText({ state, fruitless, attempt }: Turn): string {
  const words = state === 'gave_up' ? 'gave up' : state;
  if (fruitless) return `${words}, read nothing`;
  return attempt > 1 ? `${words}, attempt ${attempt}` : words;
}

const RUNNING: ReadonlySet<string> = new Set(['waking', 'busy', 'failed']);
const AGAIN: ReadonlySet<string> = new Set(['dead', 'gave_up', 'cancelled', 'failed']);

export function mayCancel({ state }: Pick<Turn, 'state'>): boolean {
  return RUNNING.has(state);
}

export function mayRetry({ state }: Pick<Turn, 'state'>): boolean {
  return AGAIN.has(state);
}
