/**
 * Passkeys: a key that a person's own device keeps, as another way to prove to be that person [PK1]. The law
 * knows the public half and how often it was used. It is added by a person who proved to be there with the
 * passphrase, so that a key which was lost or lent makes no other; whoever is removed takes them along.
 */
import { type Asked, type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import type { World, WorldView } from '../law/state.ts';
import { isLine, isPrintable } from '../law/text.ts';
import { checkPerson, OWNER_CREDENTIAL } from './decider.ts';
import type { Came, PasskeyAdded, PasskeyEvent } from './gate-events.ts';
import {
  PASSKEY_CHARS_MAX,
  PASSKEY_LABEL_CHARS_MAX,
  PASSKEYS_PER_PERSON_MAX,
} from './gate-limits.ts';
import type { Passkey, Person } from './gate-state.ts';

export interface AddPasskey extends Asked, Came {
  readonly type: 'passkey.add';
  readonly id: string;
  readonly publicKey: string;
  readonly label: string | null;
  readonly signCount: number;
}

export interface RemovePasskey extends Asked, Came {
  readonly type: 'passkey.remove';
  readonly id: string;
}

/** A signature of it was found to be right. */
export interface UsePasskey extends Asked {
  readonly type: 'passkey.use';
  readonly id: string;
  readonly credential: string;
  readonly signCount: number;
}

export type PasskeyCommand = AddPasskey | RemovePasskey | UsePasskey;

export function decidePasskey(
  world: WorldView,
  command: PasskeyCommand,
): Decision<PasskeyEvent, string> {
  switch (command.type) {
    case 'passkey.add':
      return decideAdd(world, command);
    case 'passkey.remove':
      return decideRemove(world, command);
    case 'passkey.use':
      return decideUse(world, command);
  }
}

function decideAdd(world: WorldView, command: AddPasskey): Decision<PasskeyEvent, string> {
  const { by, at, id, publicKey, label, signCount } = command;
  const name = checkPerson(world, command);
  if (typeof name === 'object') return name;
  if (command.how === 'passkey') {
    return refuse('gate.unproved', 'a passkey is added by who proves it with the passphrase');
  }
  const isFit = isPrintable(id, PASSKEY_CHARS_MAX) && isPrintable(publicKey, PASSKEY_CHARS_MAX);
  if (!isFit) return refuse('input.invalid', 'a passkey is two lines of text');
  if (label !== null && !isLine(label, PASSKEY_LABEL_CHARS_MAX)) {
    return refuse('input.invalid', `a label is a line of ${PASSKEY_LABEL_CHARS_MAX} characters`);
  }
  if (findPasskey(world, id) !== null) {
    return refuse('input.invalid', 'that passkey is known here already');
  }
  const known = world.gates.people.get(name)?.passkeys ?? [];
  if (known.length >= PASSKEYS_PER_PERSON_MAX) {
    return refuseFull('PASSKEYS_PER_PERSON_MAX', PASSKEYS_PER_PERSON_MAX);
  }
  const event = { type: 'passkey.added', at, by: by.id, name, id, publicKey, label, signCount };
  return { events: [event as PasskeyAdded], answer: name };
}

function decideRemove(world: WorldView, command: RemovePasskey): Decision<PasskeyEvent, string> {
  const { by, at, id } = command;
  const person = checkPerson(world, command);
  if (typeof person === 'object') return person;
  const found = findPasskey(world, id);
  // Another person's is not told apart from none, unless an administrator asks.
  if (found === null || (found.person.name !== person && by.kind !== 'admin')) return unknown();
  const { name } = found.person;
  return { events: [{ type: 'passkey.removed', at, by: by.id, name, id }], answer: name };
}

/** A count that does not grow is a copy of the key; devices that do not count always say 0 [PK3]. */
function decideUse(world: WorldView, command: UsePasskey): Decision<PasskeyEvent, string> {
  const { by, at, id, credential, signCount } = command;
  const found = findPasskey(world, id);
  if (found === null) return unknown();
  const { name } = found.person;
  if (credential !== OWNER_CREDENTIAL && by.id !== name) return unknown();
  const before = found.passkey.signCount;
  if (before === 0 && signCount === 0) return { events: [], answer: name };
  if (signCount <= before) {
    const message =
      'this passkey was used elsewhere since: it may be a copy; remove it and add it anew';
    return refuse('proof.wrong', message, { id });
  }
  return { events: [{ type: 'passkey.used', at, by: by.id, name, id, signCount }], answer: name };
}

export function evolvePasskey(world: World, event: PasskeyEvent): void {
  const { people } = world.gates;
  const person = people.get(event.name);
  if (person === undefined) return;
  const { id } = event;
  const known = person.passkeys ?? [];
  people.set(event.name, { ...person, passkeys: changed(known, id, event) });
}

function changed(known: readonly Passkey[], id: string, event: PasskeyEvent): readonly Passkey[] {
  switch (event.type) {
    case 'passkey.added': {
      const { publicKey, label, signCount, at: addedAt } = event;
      return [...known, { id, publicKey, label, signCount, addedAt }];
    }
    case 'passkey.removed':
      return known.filter((one) => one.id !== id);
    case 'passkey.used':
      return known.map((one) => (one.id === id ? { ...one, signCount: event.signCount } : one));
  }
}

export function findPasskey(
  world: WorldView,
  id: string,
): { readonly person: Person; readonly passkey: Passkey } | null {
  for (const person of world.gates.people.values()) {
    const passkey = person.passkeys?.find((one) => one.id === id);
    if (passkey !== undefined) return { person, passkey };
  }
  return null;
}

function unknown(): Refusal {
  return refuse('passkey.not-found', 'there is no such passkey of yours here');
}
