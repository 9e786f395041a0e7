/** Passkeys of people: another way to prove to be one of them, on the page. */
import { z } from 'zod';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import { agentId, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';
import { proofText } from './gates.ts';

const base64url = shape(() =>
  z
    .string()
    .min(1)
    .max(8_192)
    .regex(/^[\w-]+$/)
    .describe('base64url'),
);
const key = shape(() => base64url().max(1_400));
const challenge = shape(() => base64url().max(128));

export const passkeyBegin = operation({
  id: 'people.passkey_begin',
  name: 'people_passkey_begin',
  title: 'Begin with a passkey',
  doc: 'A challenge for navigator.credentials, good once and for five minutes; to add one, prove it with the passphrase first.',
  access: 'person',
  toolset: 'admin',
  hints: SETS,
  input: () =>
    z.strictObject({
      purpose: z.enum(['add', 'prove']),
      name: agentId().optional().describe('who; omitted: the caller'),
      proof: proofText(),
    }),
  output: () =>
    z.object({
      challenge: z.string(),
      rp_id: z.string(),
      name: z.string(),
      passkey_ids: z.array(z.string()),
    }),
});

export const passkeyAdd = operation({
  id: 'people.passkey_add',
  name: 'people_passkey_add',
  title: 'Add a passkey',
  doc: 'What navigator.credentials.create answered: getPublicKey(), getAuthenticatorData() and clientDataJSON.',
  access: 'person',
  toolset: 'admin',
  hints: ADDS,
  input: () =>
    z.strictObject({
      challenge: challenge(),
      passkey_id: key(),
      public_key: key(),
      client_data: base64url(),
      authenticator_data: base64url(),
      label: z.string().min(1).max(64).optional(),
      proof: proofText(),
    }),
  output: () => z.object({ passkey_id: z.string(), name: z.string() }),
});

export const passkeyProve = operation({
  id: 'people.passkey_prove',
  name: 'people_passkey_prove',
  title: 'Prove to be a person with a passkey',
  doc: 'What navigator.credentials.get answered, for a proof as of people.prove. Wrong ones are slowed and on the record.',
  access: 'person',
  toolset: 'admin',
  // A challenge is answered once.
  hints: { ...SETS, idempotentHint: false },
  input: () =>
    z.strictObject({
      challenge: challenge(),
      passkey_id: key(),
      client_data: base64url(),
      authenticator_data: base64url(),
      signature: base64url(),
    }),
  output: () => z.object({ name: z.string(), proof: z.string(), expires_at: seconds() }),
});

export const passkeyList = operation({
  id: 'people.passkey_list',
  name: 'people_passkey_list',
  title: 'List passkeys',
  doc: 'One’s own, or everybody’s for an administrator.',
  access: 'person',
  toolset: 'admin',
  hints: READS,
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      passkeys: z.array(
        z.object({
          passkey_id: z.string(),
          name: z.string(),
          label: z.string().nullable(),
          added_at: seconds(),
        }),
      ),
    }),
});

export const passkeyRemove = operation({
  id: 'people.passkey_remove',
  name: 'people_passkey_remove',
  title: 'Remove a passkey',
  doc: 'It proves nothing any more. A person vouches with a proof.',
  access: 'person',
  toolset: 'admin',
  hints: { ...REMOVES, idempotentHint: false },
  input: () => z.strictObject({ passkey_id: key(), proof: proofText() }),
  output: () => z.object({ passkey_id: z.string(), name: z.string() }),
});
