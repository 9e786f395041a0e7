/**
 * A call that is done once. Where asking again would do a second thing, or be refused because the first
 * asking was heard, it gets a key of its own unless the caller gave one: after a break the hub answers
 * as it answered before [K2] [K8].
 */
import { type CallId, isKeyed } from './operations.ts';

type Input = Readonly<Record<string, unknown>>;

export function withKey(id: CallId, input: Input): Input {
  if (!isKeyed(id) || typeof input.idempotency_key === 'string') return input;
  return { ...input, idempotency_key: randomKey() };
}

function randomKey(): string {
  // Not randomUUID: a page that was not served over TLS does not have it.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // The hub keeps a send's key of this form for minutes only: all that a broken connection needs.
  return `retry:${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
