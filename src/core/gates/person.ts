/**
 * People: human principals who can prove to be one. The first is added with the owner's credential, for
 * there is nobody to ask; from then on a person vouches for every change, so that a credential alone,
 * which an agent may have read, makes nobody a person [GT4].
 */
import { type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { AGENT_NAME_RULE, isAgentName } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import { isPrintable } from '../law/text.ts';
import { liveTokens } from '../law/token.ts';
import { checkPerson } from './decider.ts';
import type { AddPerson, PersonCommand, PersonEvent, RemovePerson } from './gate-events.ts';
import { PEOPLE_MAX, VERIFIER_CHARS_MAX } from './gate-limits.ts';

export function decidePerson(
  world: WorldView,
  command: PersonCommand,
): Decision<PersonEvent, null> {
  if (command.by.kind !== 'admin') {
    return refuse('access.denied', 'only an administrator adds and removes people');
  }
  return command.type === 'person.add' ? decideAdd(world, command) : decideRemove(world, command);
}

function decideAdd(world: WorldView, command: AddPerson): Decision<PersonEvent, null> {
  const { by, at, name, verifier } = command;
  const { people } = world.gates;
  const vouched = people.size === 0 ? null : checkPerson(world, command);
  if (vouched !== null && typeof vouched === 'object') return vouched;
  if (!isAgentName(name)) return refuse('agent.name-invalid', AGENT_NAME_RULE);
  if (people.has(name)) {
    return refuse('person.exists', `${name} is a person here already; remove that one first`, {
      name,
    });
  }
  if (liveTokens(world, name, at).some(({ kind }) => kind !== 'human' && kind !== 'admin')) {
    return refuse('person.exists', `${name} is an agent here: a person has a name of its own`, {
      name,
    });
  }
  if (!isPrintable(verifier, VERIFIER_CHARS_MAX)) {
    return refuse('input.invalid', 'a verifier is a line of text');
  }
  if (people.size >= PEOPLE_MAX) return refuseFull('PEOPLE_MAX', PEOPLE_MAX);
  const event = {
    type: 'person.added',
    at,
    by: by.id,
    name,
    verifier,
    vouchedBy: vouched,
  } as const;
  return { events: [event], answer: null };
}

/** The last one may go too: then nobody decides until another is added. */
function decideRemove(world: WorldView, command: RemovePerson): Decision<PersonEvent, null> {
  const { by, at, name } = command;
  const known = checkKnown(world, name);
  if (known !== null) return known;
  const vouched = checkPerson(world, command);
  if (typeof vouched === 'object') return vouched;
  return {
    events: [{ type: 'person.removed', at, by: by.id, name, vouchedBy: vouched }],
    answer: null,
  };
}

export function checkKnown(world: WorldView, name: string): Refusal | null {
  if (world.gates.people.has(name)) return null;
  return refuse(
    'person.not-found',
    `there is no person ${name.slice(0, 128)} here; see synod person list`,
    {
      name: name.slice(0, 128),
    },
  );
}
