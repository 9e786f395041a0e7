/** What gates outlive: two faces at once, a token that falls, an asker that is gone, a hub that is killed. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AttackedHub, openAttackedHub } from '../attack/attacked-hub.ts';
import { startHubProcess } from './hub-process.ts';
import { fetchReply, type Json } from './running-hub.ts';

const SECRET = 'correct horse battery';
const PERSON = { name: 'mia', passphrase: SECRET };

describe('one hub', () => {
  let hub: AttackedHub;
  let proof: string;
  beforeAll(async () => {
    hub = await openAttackedHub();
    await hub.owned.ask('people_add', PERSON);
    ({ proof } = await hub.owned.ask('people_prove', PERSON));
  });
  afterAll(() => hub.close());

  const ask = async (wishes: object = {}): Promise<string> =>
    (await hub.agent.ask('gates_ask', { action: 'push', subject: 'main', ...wishes })).gate_id;

  test('[GT11] from two faces at once one decision wins, and both faces are pushed it', async () => {
    const gate_id = await ask({ subject: 'two faces' });
    const socket = await hub.owned.socket();
    await socket.ask('stream.open', { gates: true });
    const events = await hub.owned.events('?gates=1');
    const foreign = await hub.other.socket();
    await foreign.ask('stream.open', { gates: true });
    const decide = (decision: string): Promise<{ status: number; body: Json }> =>
      hub.owned.post('gates_decide', { gate_id, decision, reason: 'so', proof });
    const both = await Promise.all([decide('approve'), decide('deny')]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = both.find(({ status }) => status === 200)?.body;
    const lost = both.find(({ status }) => status === 409)?.body;
    expect(lost.detail).toMatchObject({ reason: 'gate.ended', state: won.state, by: 'mia' });
    expect(await socket.next('gate')).toMatchObject({ gate_id, state: won.state });
    expect((await events.next('gate')).body).toMatchObject({ gate_id, state: won.state });
    // Another agent is pushed nothing of it.
    await foreign.ask('hub.whoami');
    expect(foreign.said.filter(({ method }) => method === 'gate')).toEqual([]);
    events.close();
    await Promise.all([socket.close(), foreign.close()]);
  });

  test('[GT2] a decider whose token is revoked meanwhile decides nothing more', async () => {
    await hub.owned.ask('people_add', { name: 'tom', passphrase: SECRET, proof });
    const made = await hub.admin('tokens_create', { agent_id: 'tom', kind: 'human' });
    const tom = { authorization: `Bearer ${made.token}` };
    const proved = await hub.post('people_prove', { name: 'tom', passphrase: SECRET }, tom);
    const gate_id = await ask({ subject: 'count', by: { count: 2 } });
    const yes = { gate_id, decision: 'approve', proof: proved.body.proof };
    expect((await hub.post('gates_decide', yes, tom)).body.approvals).toHaveLength(1);
    await hub.admin('tokens_revoke', { token_id: made.token_id });
    const second = await ask({ subject: 'after' });
    const late = await hub.post('gates_decide', { ...yes, gate_id: second }, tom);
    expect(late.status).toBe(401);
    // What was said before stands: the second person opens it.
    const opened = await hub.owned.ask('gates_decide', { ...yes, proof });
    expect(opened).toMatchObject({ state: 'approved' });
  });

  test('[GT9] [GT11] an asker that is gone leaves nothing to decide, and one whose token falls hears nothing', async () => {
    const gone = await hub.holder('gone');
    const { gate_id } = await gone.ask('gates_ask', { action: 'push', subject: 'x' });
    const waiting = gone.post('gates_get', { gate_id, wait_ms: 60_000 });
    const { tokens } = await hub.admin('tokens_list');
    const { token_id } = tokens.find((one: Json) => one.agent_id === 'gone');
    await hub.admin('tokens_revoke', { token_id });
    await hub.owned.ask('gates_decide', { gate_id, decision: 'deny', reason: 'no', proof });
    expect((await waiting).status).toBe(401);
    const left = await hub.holder('left');
    const asked = await left.ask('gates_ask', { action: 'push', subject: 'y' });
    await hub.admin('agents_remove', { agent_id: 'left', force: true });
    const wish = { gate_id: asked.gate_id, decision: 'approve', proof };
    const late = await hub.owned.refusal('gates_decide', wish);
    expect(late.detail).toMatchObject({ reason: 'gate.ended', state: 'withdrawn' });
  });

  test('[GT2] with less the owner’s credential decides tier 1, and the record says so', async () => {
    await hub.owned.ask('spaces_configure', { gates_proof: 'none', proof });
    const gate_id = await ask({ subject: 'less' });
    const opened = await hub.owned.ask('gates_decide', { gate_id, decision: 'approve' });
    expect(opened.approvals).toMatchObject([{ by: 'owner', proof: 'owner, not proved' }]);
    const grave = { gate_id: await ask({ subject: 'grave', tier: 2 }), decision: 'approve' };
    expect((await hub.owned.refusal('gates_decide', grave)).detail.reason).toBe('gate.unproved');
    // Asked with the owner's own credential, under whatever name, it is nobody else's word.
    const own = await hub.ask('shadow', 'gates_ask', { action: 'push', subject: 'own' });
    const mine = { gate_id: own.gate_id, decision: 'approve' };
    expect((await hub.owned.refusal('gates_decide', mine)).detail.reason).toBe('gate.unproved');
    await hub.owned.ask('spaces_configure', { gates_proof: 'person', proof });
    const lapsed = await hub.agent.refusal('gates_consume', { gate_id });
    expect(lapsed.detail.reason).toBe('gate.lapsed');
  });
});

test('[GT1] [GT3] a hub killed between decision and answer has decided once, and proofs died with it', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'synod-gates-'));
  const open = async () => {
    const hub = await startHubProcess(dir);
    if (!('url' in hub)) throw new Error(hub.stderr);
    const owner = (await readFile(join(dir, 'credential'), 'utf8')).trim();
    const post = (operation: string, input: object, agent?: string) =>
      fetchReply(`${hub.url}/v1/ops/${operation}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${owner}`,
          'content-type': 'application/json',
          ...(agent !== undefined && { 'x-sox-agent-id': agent }),
        },
        body: JSON.stringify(input),
      });
    return { hub, post };
  };
  const first = await open();
  await first.post('people_add', PERSON);
  const { proof } = (await first.post('people_prove', PERSON)).body;
  const { gate_id } = (await first.post('gates_ask', { action: 'a', subject: 's' }, 'ada')).body;
  const verdict = { gate_id, decision: 'approve', idempotency_key: 'once' };
  // The answer is not waited for; killed whenever that may be.
  const answer = first.post('gates_decide', { ...verdict, proof }).catch(() => null);
  await first.post('gates_get', { gate_id }, 'ada').catch(() => null);
  await first.hub.kill();
  await answer;
  const second = await open();
  const stale = await second.post('gates_decide', { ...verdict, idempotency_key: 'o', proof });
  expect([403, 409]).toContain(stale.status);
  const again = (await second.post('people_prove', PERSON)).body.proof;
  const decided = await second.post('gates_decide', { ...verdict, proof: again });
  expect([decided.status, decided.body.state]).toEqual([200, 'approved']);
  expect(decided.body.approvals).toHaveLength(1);
  const used = await second.post('gates_consume', { gate_id }, 'ada');
  expect(used.body.state).toBe('consumed');
  await second.hub.kill();
  await rm(dir, { recursive: true, force: true });
});
