/** Passkeys: added by a person who proved it with the passphrase, and then as good a proof [PK1]. */
import { checkPerson } from '../../../core/gates/decider.ts';
import { PROOF_MS } from '../../../core/gates/gate-limits.ts';
import { findPasskey } from '../../../core/gates/passkey.ts';
import { checkKnown } from '../../../core/gates/person.ts';
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import type { PasskeyPlace } from '../platform.ts';
import { credentialOf, whoseOf } from '../proofs.ts';
import type { Handlers, Room } from '../room.ts';
import { cameWith } from './people.ts';

/** A passkey belongs to a name, and the page has one only there. */
const PLACE = 'localhost';

export const passkeyHandlers: Handlers<
  | 'people.passkey_begin'
  | 'people.passkey_add'
  | 'people.passkey_prove'
  | 'people.passkey_list'
  | 'people.passkey_remove'
> = {
  async 'people.passkey_begin'(room, { purpose, name, proof }) {
    const { hub, by, caller, proofs } = room;
    const place = placeOf(room, '');
    if (isRefusal(place)) return place;
    const found = await hub.ask((world) => {
      const person =
        purpose === 'add' ? checkPerson(world, { by, ...cameWith(room, proof) }) : name;
      if (isRefusal(person)) return person;
      const unknown = checkKnown(world, person ?? by.id);
      if (unknown !== null) return unknown;
      const passkeys = world.gates.people.get(person ?? by.id)?.passkeys ?? [];
      return { person: person ?? by.id, ids: passkeys.map(({ id }) => id) };
    });
    if (isRefusal(found)) return found;
    if (purpose === 'prove' && found.ids.length === 0) {
      return refuse('passkey.not-found', `${found.person} has no passkey here; use the passphrase`);
    }
    const challenge = proofs.challenges.make(whoseOf(caller), purpose, found.person);
    return { challenge, rp_id: place.rpId, name: found.person, passkey_ids: found.ids };
  },

  async 'people.passkey_add'(room, input) {
    const { hub, by, caller, proofs, platform } = room;
    const place = placeOf(room, input.challenge);
    if (isRefusal(place)) return place;
    const came = cameWith(room, input.proof);
    const person = proofs.challenges.take(whoseOf(caller), 'add', input.challenge);
    if (person === null || person !== came.person) return spent();
    const { passkey_id: id, public_key: publicKey, label = null } = input;
    const offer = { id, publicKey, ...dataOf(input) };
    const checked = platform.passkeys?.offered(offer, place) ?? 'no passkey is checked here';
    if (typeof checked === 'string') {
      return refuse('input.invalid', `the passkey was not added: ${checked}`);
    }
    const { signCount } = checked;
    const at = hub.stamp();
    const added = await hub.submit({
      ...{ type: 'passkey.add', by, at, ...came, id, publicKey, label, signCount },
    });
    return isRefusal(added) ? added : { passkey_id: id, name: added };
  },

  async 'people.passkey_prove'(room, input) {
    const { hub, by, caller, platform, proofs } = room;
    const place = placeOf(room, input.challenge);
    if (isRefusal(place)) return place;
    const person = proofs.challenges.take(whoseOf(caller), 'prove', input.challenge);
    if (person === null) return spent();
    const { passkey_id: id, signature } = input;
    const known = await hub.ask((world) => ({
      found: findPasskey(world, id),
      lastsMs: world.settings.gateProofMs ?? PROOF_MS,
    }));
    if (isRefusal(known)) return known;
    const { found, lastsMs } = known;
    const proof = await proofs.prove(caller, person, lastsMs, 'passkey', async () => {
      // A key of somebody else proves nothing, however right its signature is.
      if (found === null || found.person.name !== person) return false;
      const claim = { signature, ...dataOf(input) };
      const head = platform.passkeys?.claimed(claim, found.passkey.publicKey, place);
      if (head === undefined || typeof head === 'string') return false;
      const { signCount } = head;
      const credential = credentialOf(caller);
      const used = { type: 'passkey.use', by, at: hub.stamp(), id, credential, signCount } as const;
      const accepted = await hub.submit(used);
      return !isRefusal(accepted) || accepted;
    });
    if (isRefusal(proof)) return proof;
    return { name: person, proof, expires_at: (platform.now() + lastsMs) / 1000 };
  },

  async 'people.passkey_list'({ hub, by }) {
    return hub.ask((world) => ({
      passkeys: [...world.gates.people.values()]
        .filter(({ name }) => by.kind === 'admin' || name === by.id)
        .flatMap(({ name, passkeys = [] }) =>
          passkeys.map(({ id, label, addedAt }) => ({
            ...{ passkey_id: id, name, label, added_at: addedAt / 1000 },
          })),
        ),
    }));
  },

  async 'people.passkey_remove'(room, { passkey_id: id, proof }) {
    const { hub, by } = room;
    const at = hub.stamp();
    const came = cameWith(room, proof);
    const removed = await hub.submit({ type: 'passkey.remove', by, at, ...came, id });
    return isRefusal(removed) ? removed : { passkey_id: id, name: removed };
  },
};

function dataOf(input: { readonly client_data: string; readonly authenticator_data: string }): {
  readonly clientData: string;
  readonly authenticatorData: string;
} {
  return { clientData: input.client_data, authenticatorData: input.authenticator_data };
}

function placeOf({ about }: Room, challenge: string): PasskeyPlace | Refusal {
  const origin = about.pageUrl();
  if (origin.startsWith(`http://${PLACE}:`)) return { rpId: PLACE, origin, challenge };
  const message = `passkeys need the page at ${PLACE}, and it is at ${origin}; use the passphrase`;
  return refuse('operation.unknown', message);
}

function spent(): Refusal {
  const message =
    'the challenge was used, is older than five minutes or another caller’s; begin again';
  return refuse('input.invalid', message, {
    violations: [{ field: 'challenge', issue: 'is not one that waits for an answer' }],
  });
}
