/**
 * What people are in the middle of is kept in memory and has a bound: whoever begins without end pushes
 * out what it began itself, and nobody else's.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSoftPasskey, type SoftPasskey } from '../e2e/soft-passkey.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

const passphrase = 'a long walk by the sea';
/** More than is kept for everybody together. */
const MANY = 1_001;

let hub: AttackedHub;
let key: SoftPasskey;
beforeAll(async () => {
  hub = await openAttackedHub();
  key = createSoftPasskey(`http://localhost:${hub.port}`);
  await hub.owned.ask('people_add', { name: 'hilda', passphrase });
  const { proof } = await hub.human.ask('people_prove', { name: 'hilda', passphrase });
  const begun = await hub.human.ask('people_passkey_begin', { purpose: 'add', proof });
  await hub.human.ask('people_passkey_add', { ...key.offer(begun.challenge), proof });
});
afterAll(() => hub.close());

test('[PK2] challenges of one caller push out no other caller’s', async () => {
  const asked = { purpose: 'prove', name: 'hilda' };
  const { challenge } = await hub.human.ask('people_passkey_begin', asked);
  const hank = await (await hub.holder('hank', { kind: 'human' })).socket();
  const begun = Array.from({ length: MANY }, () => hank.call('people.passkey_begin', asked));
  expect((await Promise.all(begun)).filter(({ error }) => error !== undefined)).toEqual([]);
  await hank.close();
  const proved = await hub.human.ask('people_passkey_prove', key.claim(challenge));
  expect(proved.name).toBe('hilda');
});
