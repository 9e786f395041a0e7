/**
 * A send that lands once. It gets a key of its own where the caller gave none, so
 * that asking again after a break never makes two messages of one [K2].
 */
import { isRepeatable } from './operations.ts';

type Input = Readonly<Record<string, unknown>>;

export async function sendOnce(
  send: (input: Input) => Promise<unknown>,
  input: Input,
): Promise<unknown> {
  if (isRepeatable('channels.send', input)) return send(input);
  return send({ ...input, idempotency_key: randomKey() });
}

function randomKey(): string {
  // Not randomUUID: a page that was not served over TLS does not have it.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // The hub keeps keys of this form for minutes only: all that a broken connection needs.
  return `retry:${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
