/** People. A passphrase is turned into what checks it here, and goes no further [GT4]. */
import { checkPerson } from '../../../core/gates/decider.ts';
import type { Came } from '../../../core/gates/gate-events.ts';
import { PROOF_MS } from '../../../core/gates/gate-limits.ts';
import type { Person } from '../../../core/gates/gate-state.ts';
import { checkKnown } from '../../../core/gates/person.ts';
import { isRefusal, refuse } from '../../../core/law/decider.ts';
import { idempotencyOf } from '../idempotency.ts';
import { credentialOf } from '../proofs.ts';
import type { Handlers, Room } from '../room.ts';

export const peopleHandlers: Handlers<
  'people.add' | 'people.list' | 'people.remove' | 'people.prove'
> = {
  async 'people.add'(room, { name, passphrase, proof }) {
    const { hub, by, platform } = room;
    const came = cameWith(room, proof);
    // Whoever may not is told before a passphrase is worked on, which takes its time.
    const vouched = await hub.ask((world) =>
      world.gates.people.size === 0 ? '' : checkPerson(world, { by, ...came }),
    );
    if (isRefusal(vouched)) return vouched;
    const verifier = await platform.sealPassphrase(passphrase);
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'person.add', by, at, name, verifier, ...came });
    if (isRefusal(answer)) return answer;
    return hub.ask((world) => {
      const person = world.gates.people.get(name);
      return person === undefined
        ? refuse('person.not-found', `${name} was removed again`)
        : personOutput(person);
    });
  },

  async 'people.list'({ hub }) {
    return hub.ask((world) => ({
      people: Array.from(world.gates.people.values(), personOutput),
    }));
  },

  async 'people.remove'(room, input) {
    const { hub, by, platform } = room;
    const { proof, ...wish } = input;
    const answer = await hub.submit({
      type: 'person.remove',
      by,
      at: hub.stamp(),
      name: input.name,
      ...cameWith(room, proof),
      idempotency: idempotencyOf(platform, wish),
    });
    if (isRefusal(answer)) return answer;
    room.proofs.forget(room.caller.space, input.name);
    return { name: input.name, removed: true };
  },

  async 'people.prove'(room, { name, passphrase }) {
    const { hub, by, caller, platform, proofs } = room;
    const known = await hub.ask((world) => ({
      verifier: checkKnown(world, name) === null ? world.gates.people.get(name)?.verifier : null,
      isEmpty: world.gates.people.size === 0,
      lastsMs: world.settings.gateProofMs ?? PROOF_MS,
    }));
    if (isRefusal(known)) return known;
    if (known.isEmpty) {
      return refuse('person.not-found', 'nobody is known as a person here: synod person add NAME');
    }
    const credential = credentialOf(caller);
    const proof = await proofs.prove(caller, name, known.lastsMs, 'passphrase', async () => {
      // A name nobody has takes as long as a wrong passphrase; a token is one person's.
      const isRight = await platform.checkPassphrase(passphrase, known.verifier ?? null);
      return isRight && (credential === 'owner' || by.id === name);
    });
    if (isRefusal(proof)) return proof;
    return { name, proof, expires_at: (platform.now() + known.lastsMs) / 1000 };
  },
};

/** With what, and as which person, somebody came; for the law. */
export function cameWith({ caller, proofs }: Room, proof: string | null | undefined): Came {
  const person = proofs.personOf(caller, proof);
  const how = proofs.howOf(proof) === 'passkey' ? ({ how: 'passkey' } as const) : null;
  return { credential: credentialOf(caller), person, ...how };
}

function personOutput({ name, addedAt, addedBy, vouchedBy }: Omit<Person, 'verifier'>) {
  return { name, added_at: addedAt / 1000, added_by: addedBy, vouched_by: vouchedBy };
}
