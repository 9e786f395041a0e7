/**
 * Laws that forget, each one thing that must be told in two places: a field between freezing
 * and thawing, a kind of event between writing and reading. The compiler stops who leaves out a
 * row; these stand for rows that are wrong.
 */
import type { decodeEvent } from '../../src/core/law/entry.ts';
import { EntryError } from '../../src/core/law/entry.ts';
import type { beginFreeze, freezeWorld } from '../../src/core/law/snapshot.ts';

export interface ForgetfulParts {
  freezeWorld: typeof freezeWorld;
  beginFreeze: typeof beginFreeze;
  decodeEvent: typeof decodeEvent;
}

interface Forgetful {
  readonly path: string;
  mutate(part: ForgetfulParts): Partial<ForgetfulParts>;
}

/** Fields of a snapshot, and what they are when nobody set them. */
const FIELDS: readonly (readonly [field: string, unset: unknown])[] = [
  ['keys', []],
  ['fates', []],
  ['replies', []],
  ['channels.past', []],
  ['channels.drained', 0],
  ['channels.threads.replies', []],
  ['channels.threads.marks', []],
  ['channels.threads.pins', []],
  ['channels.members.again', []],
  ['channels.members.leased', null],
  ['channels.members.cursor', 0],
  ['agents.patterns', []],
  ['claims.inherited', []],
  ['claims.waits', []],
  ['plan.nodes.movedAt', 0],
  ['turns.agents.pending', []],
  ['turns.agents.epoch', 0],
  ['turns.turns.leaseUntil', null],
  ['gates.open.approvals', []],
  ['gates.people', []],
  ['docket.items.taken', null],
];

const KINDS: readonly string[] = ['ack.recorded', 'claim.handed-off', 'thread.marked'];

export const FORGETFUL: Readonly<Record<string, Forgetful>> = Object.fromEntries([
  ...FIELDS.map(([field, unset]): [string, Forgetful] => [
    `forgets ${field} when it freezes`,
    {
      path: '../../src/core/law/snapshot.ts',
      mutate: (part) => ({
        beginFreeze(world) {
          const frozen = JSON.parse(part.freezeWorld(world));
          forget(frozen, field.split('.'), unset);
          return inOneSlice(JSON.stringify(frozen));
        },
      }),
    },
  ]),
  ...KINDS.map((kind): [string, Forgetful] => [
    `does not know ${kind} when it reads it`,
    {
      path: '../../src/core/law/entry.ts',
      mutate: (part) => ({
        decodeEvent(entry) {
          const event = part.decodeEvent(entry);
          if (event.type === kind) throw new EntryError(kind, { problem: 'newer' });
          return event;
        },
      }),
    },
  ]),
]);

export function* inOneSlice(text: string): Generator<void, string> {
  yield;
  return text;
}

/** On the way through a list it is forgotten in each element; between them may lie keys. */
function forget(value: unknown, [field = '', ...rest]: readonly string[], unset: unknown): void {
  if (Array.isArray(value)) {
    for (const one of value) forget(one, [field, ...rest], unset);
  } else if (typeof value !== 'object' || value === null) {
    return;
  } else if (rest.length === 0) {
    (value as Record<string, unknown>)[field] = unset;
  } else {
    forget((value as Record<string, unknown>)[field], rest, unset);
  }
}
