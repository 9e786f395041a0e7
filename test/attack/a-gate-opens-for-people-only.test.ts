/**
 * A gate opens for people only: whatever token, name, header or door an agent comes with, and the owner's
 * credential too, which on one machine every agent can read.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectSynapse, synapseUrl } from '../conformance/synapse/synapse-client.ts';
import { until } from '../e2e/deadline.ts';
import { fetchReply } from '../e2e/running-hub.ts';
import { type AttackedHub, type Holder, openAttackedHub } from './attacked-hub.ts';

const SECRET = 'correct horse battery';
let hub: AttackedHub;
let gate: string;

beforeAll(async () => {
  hub = await openAttackedHub({ flags: { synapse: '0', synapseToken: undefined } });
  await hub.owned.ask('people_add', { name: 'mia', passphrase: SECRET });
  gate = (await hub.agent.ask('gates_ask', { action: 'push', subject: 'main' })).gate_id;
});
afterAll(() => hub.close());

const input = (wishes: object = {}): object => ({ gate_id: gate, decision: 'approve', ...wishes });
const stateOf = async (): Promise<string> =>
  (await hub.owned.ask('gates_get', { gate_id: gate })).state;

/** Everybody who is not a person at a terminal, with what each is told. */
const others = (): readonly (readonly [Holder, string])[] => [
  [hub.agent, 'gate.not-decider'],
  [hub.other, 'gate.not-decider'],
  [hub.untrusted, 'gate.not-decider'],
  [hub.observer, 'gate.not-decider'],
  [hub.human, 'gate.unproved'],
  [hub.spaceAdmin, 'gate.unproved'],
  [hub.owned, 'gate.unproved'],
];

test('[GT2] over HTTP every token is refused with 403 and a code of its own', async () => {
  for (const [holder, code] of others()) {
    const { status, body } = await holder.post('gates_decide', input());
    expect([holder.name, status, body.detail.reason]).toEqual([holder.name, 403, code]);
  }
  expect(await stateOf()).toBe('pending');
});

test('[GT2] over WebSocket as well', async () => {
  for (const [holder, code] of others()) {
    const socket = await holder.socket();
    const { error } = await socket.call('gates.decide', input());
    expect([holder.name, error.data.detail.reason]).toEqual([holder.name, code]);
    await socket.close();
  }
  expect(await stateOf()).toBe('pending');
});

test('[GT2] over MCP as well, where the tool is called though it is not listed', async () => {
  for (const [holder, code] of others()) {
    const { body } = await fetchReply(`${hub.url}/mcp`, {
      method: 'POST',
      headers: { ...holder.headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'gates__decide', arguments: input() },
      }),
    });
    expect(body.result.isError).toBe(true);
    expect(JSON.parse(body.result.content[0].text).detail.reason).toBe(code);
  }
  expect(await stateOf()).toBe('pending');
});

test('[GT2] the Synapse door has no word for it', async () => {
  const client = await connectSynapse(await synapseUrl(hub.dir), 'syn-1', { isBinding: false });
  for (const type of ['gate', 'gates.decide', 'approve', 'gate_decide']) {
    client.send({ type, sender: 'syn-1', ...input() });
  }
  await client.close();
  expect(await stateOf()).toBe('pending');
});

test('[GT2] another name with the owner’s credential is no person, nor is a header that says so', async () => {
  const names: Record<string, string>[] = [
    hub.as('mia'),
    { ...hub.as('mia'), 'x-synod-person': '1' },
    { ...hub.as('ada'), 'x-synod-owner': '1' },
    { ...hub.as('ada'), 'x-synod-person': '1' },
  ];
  for (const headers of names) {
    const { status } = await hub.post('gates_decide', input(), headers);
    expect(status).toBe(403);
  }
  expect(await stateOf()).toBe('pending');
});

test('[GT3] [GT4] the owner’s credential makes nobody a person, asks for less, or borrows a proof', async () => {
  const added = await hub.owned.refusal('people_add', { name: 'me', passphrase: 'eight or more' });
  const removed = await hub.owned.refusal('people_remove', { name: 'mia' });
  const less = await hub.owned.refusal('spaces_configure', { gates_proof: 'none' });
  const longer = await hub.owned.refusal('spaces_configure', { gates_proof_ms: 86_400_000 });
  for (const refused of [added, removed, less, longer]) {
    expect(refused.detail.reason).toBe('gate.unproved');
  }
  const { proof } = await hub.owned.ask('people_prove', { name: 'mia', passphrase: SECRET });
  // Seen over a shoulder, it opens nothing for anybody else.
  for (const [holder] of others().filter(([one]) => one !== hub.owned)) {
    expect((await holder.post('gates_decide', input({ proof }))).status).toBe(403);
  }
  const named = { ...hub.as('zed'), 'x-synod-person': '1' };
  expect((await hub.post('gates_decide', input({ proof }), named)).status).toBe(403);
  const elsewhere = { authorization: `Bearer ${hub.owner}`, 'x-sox-namespace': 'other' };
  expect((await hub.post('gates_decide', input({ proof }), elsewhere)).status).toBe(404);
  expect(await stateOf()).toBe('pending');
  const mine = await hub.owned.ask('gates_decide', input({ proof }));
  expect(mine).toMatchObject({ state: 'approved', decided_by: 'mia' });
});

test('[GT3] a token proves to be its own person alone, and agents may not try', async () => {
  const wish = { name: 'mia', passphrase: SECRET };
  expect((await hub.agent.post('people_prove', wish)).status).toBe(403);
  const borrowed = await hub.human.refusal('people_prove', wish);
  expect(borrowed.detail.reason).toBe('proof.wrong');
  // That one waits now; the owner's credential does not wait for it.
  const { proof } = await hub.owned.ask('people_prove', wish);
  expect(proof).toMatch(/^syp_/);
});

test('[GT3] a proof falls with its person, also when that name is given anew', async () => {
  const { proof } = await hub.owned.ask('people_prove', { name: 'mia', passphrase: SECRET });
  const nora = { name: 'nora', passphrase: 'another long one' };
  await hub.owned.ask('people_add', { ...nora, proof });
  const vouch = (await hub.owned.ask('people_prove', nora)).proof;
  await hub.owned.ask('people_remove', { name: 'mia', proof: vouch });
  const { gate_id } = await hub.other.ask('gates_ask', { action: 'push', subject: 'again' });
  const decide = { gate_id, decision: 'approve', proof };
  expect((await hub.owned.refusal('gates_decide', decide)).detail.reason).toBe('gate.unproved');
  await hub.owned.ask('people_add', { name: 'mia', passphrase: 'a new one of hers', proof: vouch });
  expect((await hub.owned.refusal('gates_decide', decide)).detail.reason).toBe('gate.unproved');
});

test('[GT2] [GT3] every one of these attempts is on the record', async () => {
  const wanted = ['ada gate.not-decider', 'owner gate.unproved', 'hilda proof.wrong'];
  await until('the refusals are stored', recorded, (lines) =>
    wanted.every((one) => lines.includes(one)),
  );
});

/** Who was refused with which code, as it lies on the disk. */
async function recorded(): Promise<string[]> {
  const folder = join(hub.dir, 'spaces');
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1')));
  const found = texts
    .join('')
    .matchAll(/"refusal\.recorded","at":\d+,"by":"([^"]*)","operation":"[^"]*","code":"([^"]*)"/g);
  return [...found].map(([, by, code]) => `${by} ${code}`);
}
