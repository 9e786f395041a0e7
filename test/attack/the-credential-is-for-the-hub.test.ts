/** A hub without a Unix socket proves itself before anybody shows it the owner's credential. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callHub } from '../../src/client/node/call.ts';
import { resolveTarget } from '../../src/client/node/target.ts';
import { fetchReply } from '../e2e/running-hub.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub({ flags: { socket: false } });
});
afterAll(() => hub.close());

test('[CL3] the owner’s client finds its hub proved, and is let in', async () => {
  const target = resolveTarget({ dir: hub.dir, as: 'ada' }, {});
  expect(target).toMatchObject({ socketPath: null, mustProve: true });
  expect((await callHub(target, 'hub.whoami', {})).agent_id).toBe('ada');
});

test('[CL3] a proof is of the number asked for, and of nothing that is no number', async () => {
  const prove = (nonce: string) => fetchReply(`${hub.url}/v1/proof?nonce=${nonce}`);
  const nonce = 'ab'.repeat(16);
  const { body } = await prove(nonce);
  const signed = createHmac('sha256', hub.owner).update(`synod hub proof ${nonce}`).digest('hex');
  expect(body).toEqual({ proof: signed });
  expect((await prove('cd'.repeat(16))).body.proof).not.toBe(signed);
  for (const odd of ['', 'xyz', 'ab', 'ab'.repeat(40)]) expect((await prove(odd)).status).toBe(404);
});
