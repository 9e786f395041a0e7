/**
 * A send that lands once. It gets a key of its own where the caller gave none, so
 * that asking again after a break never makes two messages of one [K2].
 */
import { SynodError } from './error.ts';
import { isRepeatable } from './operations.ts';

type Input = Readonly<Record<string, unknown>>;

export async function sendOnce(
  send: (input: Input) => Promise<unknown>,
  input: Input,
): Promise<unknown> {
  if (isRepeatable('channels.send', input)) return send(input);
  try {
    return await send({ ...input, idempotency_key: randomKey() });
  } catch (error) {
    // The hub remembers only so many keys. Ours is a precaution: without it the send is merely not retried.
    if (!(error instanceof SynodError) || error.detail.limit !== 'IDEMPOTENCY_KEYS_MAX')
      throw error;
    return send(input);
  }
}

function randomKey(): string {
  // Not randomUUID: a page that was not served over TLS does not have it.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `auto-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
