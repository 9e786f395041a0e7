import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSoftPasskey, type Wrongs } from '../../../test/e2e/soft-passkey.ts';
import { passkeyCheck } from './passkey.ts';

const PLACE = { rpId: 'localhost', origin: 'http://localhost:8765', challenge: 'c2F5LWl0' };

const WRONGS: readonly Wrongs[] = [
  { origin: 'http://localhost:8766' },
  { origin: 'https://localhost:8765' },
  { origin: 'http://localhost:8765.evil.example' },
  { crossOrigin: true },
  { rpId: 'evil.example' },
  { flags: 0x40 },
  { flags: 0x41 },
  { flags: 0x44 },
  { type: 'payment.get' },
];

type Made = Record<string, string>;
const offerOf = (made: Made) => ({
  id: made.passkey_id as string,
  publicKey: made.public_key as string,
  clientData: made.client_data as string,
  authenticatorData: made.authenticator_data as string,
});
const claimOf = (made: Made) => ({
  clientData: made.client_data as string,
  authenticatorData: made.authenticator_data as string,
  signature: made.signature as string,
});

test('[PK2] what a device made on the page is taken, with its count', () => {
  const key = createSoftPasskey(PLACE.origin);
  const offer = offerOf(key.offer(PLACE.challenge, { signCount: 7 }));
  expect(passkeyCheck.offered(offer, PLACE)).toMatchObject({ signCount: 7 });
  const claim = claimOf(key.claim(PLACE.challenge, { signCount: 8 }));
  expect(passkeyCheck.claimed(claim, offer.publicKey, PLACE)).toMatchObject({ signCount: 8 });
});

test.each(WRONGS)('[PK2] what is otherwise is not: %j', (wrongs) => {
  const key = createSoftPasskey(PLACE.origin);
  const offer = offerOf(key.offer(PLACE.challenge, wrongs));
  expect(passkeyCheck.offered(offer, PLACE)).toEqual(expect.any(String));
  const claim = claimOf(key.claim(PLACE.challenge, wrongs));
  expect(passkeyCheck.claimed(claim, offer.publicKey, PLACE)).toEqual(expect.any(String));
});

test('[PK2] another challenge, another key, a changed signature and rubbish prove nothing', () => {
  const key = createSoftPasskey(PLACE.origin);
  const other = createSoftPasskey(PLACE.origin);
  const { publicKey } = offerOf(key.offer(PLACE.challenge));
  const right = claimOf(key.claim(PLACE.challenge));
  const later = right.authenticatorData.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  for (const claim of [
    claimOf(key.claim('other')),
    claimOf(other.claim(PLACE.challenge)),
    { ...right, signature: `${right.signature.slice(0, -4)}AAAA` },
    { ...right, signature: '' },
    { ...right, authenticatorData: later },
    { ...right, authenticatorData: 'AAAA' },
    { ...right, clientData: 'bnVsbA' },
    { ...right, clientData: 'AAAA' },
  ]) {
    expect(passkeyCheck.claimed(claim, publicKey, PLACE)).toEqual(expect.any(String));
  }
});

test('[PK2] a key of an unknown kind, too short, or of another id is not added', () => {
  const key = createSoftPasskey(PLACE.origin);
  const offer = offerOf(key.offer(PLACE.challenge));
  const spki = (made: { publicKey: import('node:crypto').KeyObject }): string =>
    made.publicKey.export({ type: 'spki', format: 'der' }).toString('base64url');
  for (const wrong of [
    { publicKey: 'AAAA' },
    { publicKey: spki(generateKeyPairSync('rsa', { modulusLength: 1_024 })) },
    { publicKey: spki(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })) },
    { publicKey: spki(generateKeyPairSync('x25519')) },
    { id: createSoftPasskey(PLACE.origin).id },
  ]) {
    expect(passkeyCheck.offered({ ...offer, ...wrong }, PLACE)).toEqual(expect.any(String));
  }
  const good = { publicKey: spki(generateKeyPairSync('ed25519')) };
  expect(passkeyCheck.offered({ ...offer, ...good }, PLACE)).toEqual(expect.any(Object));
});
