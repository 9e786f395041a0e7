/**
 * Who may decide a gate [GT2]: a person who proved to be one, or, where the space wants less and for
 * tier 1 alone, the owner's credential. Never an agent, an observer, the hub, who asked, or whoever came
 * with the asker's own credential.
 */
import { type Refusal, refuse } from '../law/decider.ts';
import type { Principal } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import type { Came } from './gate-events.ts';
import type { AnyGateView, Proof } from './gate-state.ts';
import { findGate } from './gate-view.ts';

/** What a caller of the owner's has come with, whatever its name. */
export const OWNER_CREDENTIAL = 'owner';

export interface Decider {
  readonly gate: AnyGateView;
  readonly person: string | null;
  readonly proof: Proof;
}

type Coming = Came & { readonly by: Principal };

export function checkDecider(world: WorldView, came: Coming, id: string): Decider | Refusal {
  const { by, credential } = came;
  if (by.kind !== 'human' && by.kind !== 'admin') {
    return notDecider(`${by.id} is ${by.kind === 'agent' ? 'an agent' : 'an observer'}`);
  }
  const gate = findGate(world.gates, by, id);
  if ('refused' in gate) return gate;
  if (by.id === gate.asker || came.person === gate.asker) {
    return notDecider(`${gate.asker} asked for ${id} itself`);
  }
  const isSame = credential === gate.credential;
  if (isSame && credential !== OWNER_CREDENTIAL) {
    return notDecider(`${by.id} came with the credential that ${gate.asker} asked with`);
  }
  const person = checkPerson(world, came);
  // The owner's credential goes by many names: who asked with it is told apart by a proof alone.
  const isEnough =
    !isSame &&
    came.person === null &&
    credential === OWNER_CREDENTIAL &&
    gate.tier === 1 &&
    world.settings.gateProof === 'none';
  if (typeof person === 'object' && !isEnough) return person;
  const name = typeof person === 'string' ? person : null;
  const unwanted = checkWanted(gate, by, name);
  if (unwanted !== null) return unwanted;
  return { gate, person: name, proof: name === null ? 'none' : (came.how ?? 'passphrase') };
}

/** The person behind the caller, proved and still one of this space; else what to do about it [GT3]. */
export function checkPerson(world: WorldView, came: Coming): string | Refusal {
  const { by, credential, person } = came;
  if (person === null) {
    return refuse(
      'gate.unproved',
      world.gates.people.size === 0
        ? 'only a person may do this, and none is known here: add one at a terminal with synod person add NAME'
        : 'only a person may do this: prove to be one, with synod gates or synod docket at a terminal',
    );
  }
  if (!world.gates.people.has(person)) {
    return refuse('gate.unproved', `${person} is no person of this space any more`);
  }
  // Who has a token is one person; the owner's credential tells nobody apart.
  if (credential === OWNER_CREDENTIAL || person === by.id) return person;
  return notDecider(`the token is ${by.id}’s, and the proof is ${person}’s`);
}

function checkWanted(gate: AnyGateView, by: Principal, person: string | null): Refusal | null {
  const { kinds, names } = gate.deciders;
  const isOfKind =
    kinds.length === 0 ||
    kinds.some((kind) => kind === by.kind || (kind === 'human' && person !== null));
  if (!isOfKind) return notDecider(`${gate.id} is for ${kinds.join(' and ')}`);
  if (names.length === 0 || names.includes(person ?? by.id)) return null;
  return notDecider(`${gate.id} is for ${names.join(', ')}`);
}

function notDecider(why: string): Refusal {
  return refuse('gate.not-decider', `${why}: a gate is decided by a person it is for`);
}
