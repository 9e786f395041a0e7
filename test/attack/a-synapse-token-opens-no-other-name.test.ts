/** The Synapse door: a stranger gets nothing, and who has its one token is nobody else. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  connectSynapse,
  type SynapseClient,
  synapseUrl,
} from '../conformance/synapse/synapse-client.ts';
import { openRunningHub, type RunningHub } from '../e2e/running-hub.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
let url: string;
const clients: SynapseClient[] = [];
beforeAll(async () => {
  const flags = { synapse: '0', synapseToken: undefined };
  hub = await openAttackedHub({ flags, hooks: { synapse: { wrongTokenMs: 1 } } });
  url = await synapseUrl(hub.dir);
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await hub.close();
});

const tokenPath = (): string => join(hub.dir, 'synapse-token');
const ownToken = (): string => readFileSync(tokenPath(), 'utf8').trim();

async function open(name: string): Promise<SynapseClient> {
  const client = await connectSynapse(url, name, { isBinding: false });
  clients.push(client);
  return client;
}

/** The type and close code a first frame is answered with. */
async function turnedAway(name: string, token?: string): Promise<[string | undefined, number]> {
  const client = await open(name);
  client.send({ type: 'state_request', sender: name, takeover: true, ...(token && { token }) });
  const { code } = await client.closed;
  return [client.frames.at(-1)?.type as string | undefined, code];
}

test('[SY3] without asking for it a token is made, for this user alone', () => {
  expect(statSync(tokenPath()).mode & 0o777).toBe(0o600);
  expect(ownToken()).toMatch(/^syp_.{43}$/);
});

test('[SY3] [SY11] without the token or with a wrong one nothing is told, and it is on the record', async () => {
  const before = await hub.mark();
  expect(await turnedAway('eve')).toEqual(['auth_denied', 4010]);
  expect(await turnedAway('eve', `${ownToken()}x`)).toEqual(['auth_denied', 4010]);
  expect(await hub.mark()).not.toBe(before);
});

test('[SY10] [I13] the token gives nobody the name of an agent with a token, or what it is told', async () => {
  for (const name of ['ada', 'hilda', 'mallory', 'ada-rx', 'owner']) {
    expect(await turnedAway(name, ownToken()), name).toEqual(['name_conflict', 4009]);
  }
});

test('[SY10] [I13] nor that of one that came by another door', async () => {
  await hub.ask('claude', 'subscribe', { pattern: 'team/plan' });
  expect(await turnedAway('claude', ownToken())).toEqual(['name_conflict', 4009]);
  expect(await turnedAway('claude-rx', ownToken())).toEqual(['name_conflict', 4009]);
});

test('[SY10] a name of its own stays its own, also when its owner speaks for it elsewhere', async () => {
  const first = await open('sylvia');
  first.send({ type: 'heartbeat', sender: 'sylvia', token: ownToken() });
  await first.next('welcome');
  await hub.ask('sylvia', 'send', { channel: 'team/plan', body: { text: 'for her' } });
  await first.close();
  const again = await open('sylvia');
  again.send({ type: 'heartbeat', sender: 'sylvia', token: ownToken() });
  await again.next('welcome');
});

test('[I13] after a restart each name is still of the door it came by, before anybody has come back', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'synod-names-'));
  const flags = { synapse: '0', synapseToken: 'a secret of this test' };
  const start = () => openRunningHub({ dir, flags });
  const hook = ({ url: at, owner }: RunningHub, vendor: string) =>
    fetch(`${at}/v1/hooks/${vendor}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner}`, 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: vendor, cwd: '/', hook_event_name: 'UserPromptSubmit' }),
    });
  const firstAnswer = async (name: string): Promise<string> => {
    const client = await connectSynapse(await synapseUrl(dir), name, { isBinding: false });
    clients.push(client);
    client.send({ type: 'heartbeat', sender: name, token: flags.synapseToken });
    const answer = await Promise.race([client.next('welcome'), client.next('name_conflict')]);
    await client.close();
    return answer.type;
  };
  const before = await start();
  await hook(before, 'codex');
  await before.ask('bea', 'subscribe', { pattern: 'team/plan' });
  await before.ask('carl', 'send', {
    channel: 'dm/carl~sylvia',
    body: { text: 'before she came' },
  });
  expect(await firstAnswer('sylvia')).toBe('welcome');
  expect(await firstAnswer('bea')).toBe('name_conflict');
  await before.close();
  const after = await start();
  try {
    // Any answer of the hooks says that their book is open.
    await hook(after, 'claude');
    for (const name of ['codex', 'bea', 'bea-rx', 'carl']) {
      expect([name, await firstAnswer(name)]).toEqual([name, 'name_conflict']);
    }
    await after.ask('sylvia', 'whoami');
    expect(await firstAnswer('sylvia')).toBe('welcome');
    expect(await firstAnswer('sylvia-rx')).toBe('welcome');
  } finally {
    await after.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
