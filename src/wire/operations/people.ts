/** People: who may decide, and how one of them proves to be there. */
import { z } from 'zod';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import { agentId, idempotencyKey, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';
import { proofText } from './gates.ts';

export const PASSPHRASE_CHARS_MIN = 8;
const passphrase = shape(() => z.string().min(1).max(1_024));

export const personView = shape(() =>
  z.object({
    name: z.string(),
    added_at: seconds(),
    added_by: z.string(),
    vouched_by: z.string().nullable().describe('the person who let it in; null for the first'),
  }),
);

export const personAdd = operation({
  id: 'people.add',
  name: 'people_add',
  title: 'Add a person',
  doc: 'Make somebody known as a person, with a passphrase. From the second on, a person vouches with a proof.',
  access: 'admin',
  toolset: 'admin',
  hints: ADDS,
  input: () =>
    z.strictObject({
      name: agentId(),
      passphrase: passphrase().min(PASSPHRASE_CHARS_MIN),
      proof: proofText(),
    }),
  output: () => personView(),
});

export const personList = operation({
  id: 'people.list',
  name: 'people_list',
  title: 'List people',
  doc: 'Who can decide gates here, since when, and who let them in.',
  access: 'person',
  toolset: 'admin',
  hints: READS,
  input: () => z.strictObject({}),
  output: () => z.object({ people: z.array(personView()) }),
});

export const personRemove = operation({
  id: 'people.remove',
  name: 'people_remove',
  title: 'Remove a person',
  doc: 'That person decides nothing any more. A person vouches with a proof.',
  access: 'admin',
  toolset: 'admin',
  hints: REMOVES,
  input: () =>
    z.strictObject({ name: agentId(), proof: proofText(), idempotency_key: idempotencyKey() }),
  output: () => z.object({ name: z.string(), removed: z.boolean() }),
});

export const personProve = operation({
  id: 'people.prove',
  name: 'people_prove',
  title: 'Prove to be a person',
  doc: 'The passphrase of a person for a proof that lasts a while and is bound to this caller. Wrong ones are slowed and on the record.',
  access: 'person',
  toolset: 'admin',
  hints: SETS,
  input: () => z.strictObject({ name: agentId(), passphrase: passphrase() }),
  output: () => z.object({ name: z.string(), proof: z.string(), expires_at: seconds() }),
});
