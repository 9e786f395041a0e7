/**
 * Who may write what others read or are bound by: plan, claims, offers, cards, findings, notes and
 * reasons. An observer only looks; what an untrusted agent writes would reach others unreviewed, so
 * where a space holds its messages [R6] it writes none of these either [R13].
 */
import { type Refusal, refuse } from './decider.ts';
import type { Principal } from './principal.ts';

/** What a decider of shared work must know of the space; its settings will do. */
export interface WriteContext {
  readonly doesHoldUntrusted: boolean;
}

export function checkWriter(by: Principal, context: WriteContext): Refusal | null {
  if (by.kind === 'observer') return refuse('access.denied', 'an observer writes nothing');
  return checkTrust(by, context);
}

export function checkTrust(by: Principal, context: WriteContext): Refusal | null {
  if (by.tier !== 'untrusted' || !context.doesHoldUntrusted) return null;
  return refuse(
    'access.denied',
    `${by.id} is untrusted here: what it writes would reach others unreviewed; send a message, a person releases it`,
  );
}

export function invalid(message: string): Refusal {
  return refuse('input.invalid', message);
}
