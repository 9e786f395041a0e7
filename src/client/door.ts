/**
 * Why a hub did not let us in. A browser hides the status of a refused WebSocket,
 * so the door is asked once more over plain HTTP, where it says why. A credential
 * that opens nothing will open nothing in a second either: that ends the
 * attempts [K7]; everything else may pass.
 */
import { isFields } from '../wire/fields.ts';
import { readJson } from '../wire/json.ts';
import type { Address } from './address.ts';
import { envelopeError, SynodError } from './error.ts';

const ASK_TIMEOUT_MS = 5_000;

/** The close code of a credential that was revoked, or that never opened anything. */
export const CLOSED_BY_CREDENTIAL = 4001;

export function credentialError(message: string, cause?: unknown): SynodError {
  return new SynodError(
    'access.unknown',
    `${message}; the client has stopped, connect again with a credential that is valid`,
    { soxCode: 'identity_failure', cause },
  );
}

/** From the words of a socket that tells (`ws` names the status); null when it says nothing of it. */
export function refusalInWords(words: string): SynodError | null {
  const status = /\b(401|403|421)\b/.exec(words)?.[0];
  return status === undefined
    ? null
    : credentialError(`the hub refused the credential (${status})`);
}

/** The hub's reason never to let this credential in; null when it may yet do so. */
export async function askWhyRefused(
  address: Address,
  signal: AbortSignal,
): Promise<SynodError | null> {
  try {
    const response = await fetch(`${address.http}/v1/ops/whoami`, {
      method: 'POST',
      headers: { ...address.headers, 'content-type': 'application/json' },
      body: '{}',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_TIMEOUT_MS)]),
    });
    const body = readJson(await response.text());
    const error = envelopeError(envelopeIn(body), null, `the hub answered ${response.status}`);
    const isFinal =
      response.status === 401 ||
      response.status === 403 ||
      response.status === 421 ||
      error.soxCode === 'identity_failure' ||
      error.soxCode === 'version_mismatch';
    return isFinal ? error : null;
  } catch {
    // Nobody there, or not a hub, or a page that may not ask: nothing was learned.
    return null;
  }
}

function envelopeIn(body: unknown): unknown {
  return isFields(body) && isFields(body.error) ? body.error : body;
}
