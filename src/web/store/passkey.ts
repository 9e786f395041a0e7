/**
 * A key of this device, as another way to prove to be a person: made once after the passphrase, then a touch
 * or a look is enough. The browser keeps the secret half and shows it for this page alone; the hub checks
 * what it signed. Where the page has no name, on a phone's address, there are none.
 */
import type { CallOutput, Client } from '../../client/index.ts';

type Asks = Pick<Client, 'call'>;

export function canPasskey(): boolean {
  return location.hostname === 'localhost' && 'PublicKeyCredential' in globalThis;
}

/** Has the device make one for whoever made the proof with the passphrase; throws when it does not, or is refused. */
export async function addPasskey(
  { call }: Asks,
  proof: string,
  label: string,
): Promise<CallOutput<'people.passkey_add'>> {
  const begun = await call('people.passkey_begin', { purpose: 'add', proof });
  const made = await navigator.credentials.create({
    publicKey: {
      challenge: bytesOf(begun.challenge),
      rp: { id: begun.rp_id, name: 'Synod' },
      // The hub tells people apart by name, and so does the list that the device shows.
      user: { id: new TextEncoder().encode(begun.name), name: begun.name, displayName: begun.name },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
      excludeCredentials: begun.passkey_ids.map(keyOf),
      authenticatorSelection: { userVerification: 'required' },
      attestation: 'none',
    },
  });
  const { id, response } = made as PublicKeyCredential;
  const said = response as AuthenticatorAttestationResponse;
  return call('people.passkey_add', {
    challenge: begun.challenge,
    passkey_id: id,
    public_key: textOf(said.getPublicKey() ?? new ArrayBuffer(0)),
    client_data: textOf(said.clientDataJSON),
    authenticator_data: textOf(said.getAuthenticatorData()),
    ...{ label, proof },
  });
}

/** A proof like that of the passphrase; throws when the person turned away, or the hub refuses it. */
export async function proveByPasskey(
  { call }: Asks,
  name: string,
): Promise<CallOutput<'people.passkey_prove'>> {
  const begun = await call('people.passkey_begin', { purpose: 'prove', name });
  const shown = await navigator.credentials.get({
    publicKey: {
      challenge: bytesOf(begun.challenge),
      rpId: begun.rp_id,
      allowCredentials: begun.passkey_ids.map(keyOf),
      userVerification: 'required',
    },
  });
  const { id, response } = shown as PublicKeyCredential;
  const said = response as AuthenticatorAssertionResponse;
  return call('people.passkey_prove', {
    challenge: begun.challenge,
    passkey_id: id,
    client_data: textOf(said.clientDataJSON),
    authenticator_data: textOf(said.authenticatorData),
    signature: textOf(said.signature),
  });
}

function keyOf(id: string): PublicKeyCredentialDescriptor {
  return { type: 'public-key', id: bytesOf(id) };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (one) => one.charCodeAt(0));
}

function textOf(buffer: ArrayBuffer): string {
  let binary = '';
  for (const byte of new Uint8Array(buffer)) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
