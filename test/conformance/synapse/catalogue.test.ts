/** All 52 message types of synapse-channel 0.43 over a real socket, each field by field. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, openRunningHub, type RunningHub } from '../../e2e/running-hub.ts';
import { CLIENT_TYPES, HUB_TYPES } from './message-types.ts';
import {
  CLIENT_TYPES_SENT,
  connectSynapse,
  HUB_TYPES_SEEN,
  type SynapseClient,
  synapseUrl,
} from './synapse-client.ts';

describe.each(['open', 'secured'])('the catalogue at a hub that is %s', (mode) => {
  const token = mode === 'secured' ? 'a-shared-secret' : undefined;
  let hub: RunningHub;
  let url: string;
  let ada: SynapseClient;
  let bob: SynapseClient;
  const connect = (name: string, more = {}) =>
    connectSynapse(url, name, { ...(token !== undefined && { token }), ...more });

  beforeAll(async () => {
    hub = await openRunningHub({
      flags: { synapse: '0', ...(token !== undefined && { synapseToken: token }) },
    });
    url = await synapseUrl(hub.dir);
    ada = await connect('proj/ada');
    bob = await connect('proj/bob');
  });
  afterAll(async () => {
    await ada?.close();
    await bob?.close();
    await hub?.close();
  });

  test('[SY1] welcome names the hub and those who were here before; presence names who came', async () => {
    const welcome = await bob.next('welcome');
    expect(welcome).toMatchObject({
      sender: 'SynapseHub',
      target: 'self',
      online_agents: ['proj/ada'],
    });
    expect(welcome.hub_id).toMatch(/^syn-[0-9a-f]{8}$/);
    expect(welcome.connected_clients).toBe(2);
    const joined = await ada.next('presence_update', (one) => one.agent === 'proj/bob');
    expect(joined).toMatchObject({ event: 'joined', online_agents: ['proj/ada', 'proj/bob'] });
    expect(Math.abs(joined.timestamp - Date.now() / 1000)).toBeLessThan(60);
  });

  test('[SY1] heartbeat is taken in silence; an unknown type is a private error', async () => {
    ada.send({ type: 'heartbeat' });
    const error = await ada.ask({ type: 'no_such_thing', req_id: 7 }, 'error');
    expect(error).toMatchObject({
      target: 'proj/ada',
      reason_code: 'operation.unknown',
      req_id: 7,
    });
    expect(bob.frames.some(({ type }) => type === 'error')).toBe(false);
  });

  test('[SY4] chat to all reaches everybody with its extra fields and a growing msg_id', async () => {
    const heard = bob.next('chat');
    const first = await ada.ask(
      { type: 'chat', payload: 'hello', priority: true, memory_tag: 'm1', timestamp: 12.5 },
      'chat',
    );
    expect(await heard).toMatchObject({
      sender: 'proj/ada',
      target: 'all',
      payload: 'hello',
      priority: true,
      memory_tag: 'm1',
      timestamp: 12.5,
    });
    const second = await ada.ask({ payload: 'no type is chat', type: undefined }, 'chat');
    expect(second.msg_id).toBeGreaterThan(first.msg_id);
    expect(first.hub_id).toBe(await hubIdOf(ada));
  });

  test('[SY4] a directed chat reaches whom it means, by name, list, glob and project', async () => {
    const eve = await connect('other/eve');
    for (const target of ['proj/bob', 'x,proj/bob', 'proj/b*', 'proj']) {
      const heard = bob.next('chat', (one) => one.payload === `to ${target}`);
      ada.send({ type: 'chat', target, payload: `to ${target}` });
      expect(await heard).toMatchObject({ sender: 'proj/ada', target });
    }
    const { history } = await eve.ask({ type: 'history_request' }, 'history_snapshot');
    expect(history.some(({ payload }: Json) => String(payload).startsWith('to '))).toBe(false);
    await eve.close();
    const left = await ada.next('presence_update', (one) => one.event === 'left');
    expect(left).toMatchObject({ agent: 'other/eve', online_agents: ['proj/ada', 'proj/bob'] });
  });

  test('[SY6] claim and claim_denied, with what the original did not say', async () => {
    const seen = bob.next('claim_granted');
    const granted = await ada.ask(
      {
        type: 'CLAIM',
        task_id: ' T1 ',
        note: 'n',
        ttl_seconds: 60,
        worktree: 'w',
        paths: ['./src//a/'],
        git: { branch: 'b', base: 'main', auto_release_on: 'merge' },
      },
      'claim_granted',
    );
    expect(granted).toMatchObject({
      target: 'all',
      task_id: 'T1',
      owner: 'proj/ada',
      note: 'n',
      status: 'claimed',
      worktree: 'w',
      paths: ['src/a'],
      checkpoint: '',
      git: { branch: 'b', base: 'main', auto_release_on: 'merge' },
    });
    expect(Number.isInteger(granted.epoch)).toBe(true);
    expect(granted.version).toBe(0);
    expect(granted.lease_expires_at - Date.now() / 1000).toBeGreaterThan(50);
    expect((await seen).task_id).toBe('T1');
    const denied = await bob.ask(
      { type: 'claim', payload: 'T2', worktree: 'w', paths: ['src'] },
      'claim_denied',
    );
    expect(denied).toMatchObject({
      target: 'proj/bob',
      task_id: 'T2',
      reason_code: 'claim.overlap',
      holder: 'proj/ada',
      lease_expires_at: granted.lease_expires_at,
    });
  });

  test('[SY6] [CM5] task_update, checkpoint, handoff and release, granted and denied', async () => {
    const seen = bob.next('task_updated');
    const updated = await ada.ask(
      { type: 'task_update', id: 'T1', status: 'working', data_ref: 'ref', expected_version: 0 },
      'task_updated',
    );
    expect(updated).toMatchObject({
      task_id: 'T1',
      owner: 'proj/ada',
      status: 'working',
      data_ref: 'ref',
      version: 1,
    });
    expect((await seen).version).toBe(1);
    const stale = { type: 'task_update', task_id: 'T1', status: 'done', expected_version: 0 };
    expect(await ada.ask(stale, 'error')).toMatchObject({
      reason_code: 'claim.version',
      task_id: 'T1',
    });
    const saved = await ada.ask(
      { type: 'checkpoint', task_id: 'T1', checkpoint: 'half' },
      'checkpoint_saved',
    );
    expect(saved).toMatchObject({ target: 'proj/ada', task_id: 'T1', version: 2 });
    const foreign = { type: 'checkpoint', task_id: 'T1', payload: 'mine' };
    expect(await bob.ask(foreign, 'checkpoint_denied')).toMatchObject({ task_id: 'T1' });
    const nobody = { type: 'handoff', task_id: 'T1', to_agent: 'ghost' };
    expect(await ada.ask(nobody, 'handoff_denied')).toMatchObject({
      task_id: 'T1',
      reason_code: 'claim.recipient-absent',
    });
    const note = ada.next('ledger_progress_posted');
    const handed = await ada.ask(
      { type: 'handoff', task_id: 'T1', target: 'proj/bob', note: 'yours' },
      'handoff_granted',
    );
    expect(handed).toMatchObject({
      task_id: 'T1',
      owner: 'proj/bob',
      previous_owner: 'proj/ada',
      note: 'yours',
      status: 'working',
      worktree: 'w',
      paths: ['src/a'],
      checkpoint: 'half',
    });
    expect(handed).not.toHaveProperty('git');
    expect((await note).note).toMatchObject({ task_id: 'T1', author: 'proj/ada', kind: 'note' });
    const types = ada.frames.map(({ type }) => type);
    expect(types.indexOf('ledger_progress_posted')).toBeLessThan(types.indexOf('handoff_granted'));
    expect(await ada.ask({ type: 'release', task_id: 'T1' }, 'release_denied')).toMatchObject({
      task_id: 'T1',
      holder: 'proj/bob',
    });
    const freed = ada.next('release_granted');
    await bob.ask({ type: 'release', payload: 'T1' }, 'release_granted');
    expect(await freed).toMatchObject({ task_id: 'T1', owner: 'proj/bob' });
  });

  test('[SY9] [WT4] a waiter is told who holds it, and told again when it is free and kept for it', async () => {
    expect(await bob.ask({ type: 'wait_request', task_id: 'W1' }, 'wait_denied')).toMatchObject({
      task_id: 'W1',
      reason_code: 'claim.not-found',
    });
    await ada.ask({ type: 'claim', task_id: 'W1', worktree: 'v', paths: ['x'] }, 'claim_granted');
    const granted = await bob.ask({ type: 'wait_request', payload: 'W1' }, 'wait_granted');
    expect(granted).toMatchObject({ task_id: 'W1', holder: 'proj/ada', free: false });
    await bob.ask({ type: 'claim', task_id: 'W2', worktree: 'v', paths: ['y'] }, 'claim_granted');
    expect(await ada.ask({ type: 'wait_request', task_id: 'W2' }, 'wait_denied')).toMatchObject({
      task_id: 'W2',
      reason_code: 'claim.cycle',
      holder: 'proj/bob',
      cycle: ['proj/ada', 'proj/bob', 'proj/ada'],
      payload: expect.stringContaining('proj/bob waits for W1, held by proj/ada'),
    });
    ada.send({ type: 'release', task_id: 'W1' });
    const free = await bob.next('wait_granted', (one) => one.free === true);
    expect(free).toMatchObject({ task_id: 'W1', target: 'proj/bob' });
    await bob.ask({ type: 'claim', task_id: 'W1', worktree: 'v', paths: ['x'] }, 'claim_granted');
  });

  test('[SY1] resource by all its names', async () => {
    const seen = ada.next('resource_offered');
    for (const type of ['resource', 'resource_offer', 'offer_resource']) {
      const offered = await bob.ask(
        { type, resource_kind: 'llm', resource_name: type, capacity: 0.5, meta: { a: 1 } },
        'resource_offered',
        ({ name }) => name === type,
      );
      expect(offered).toMatchObject({
        agent: 'proj/bob',
        kind: 'llm',
        key: `proj/bob:llm:${type}`,
      });
    }
    expect((await seen).agent).toBe('proj/bob');
    const again = { type: 'resource', kind: 'llm', name: 'resource', meta: { a: 1 } };
    expect((await bob.ask(again, 'resource_offered')).name).toBe('resource');
    expect(
      await bob.ask({ type: 'resource', kind: 'llm', name: 'x', meta: [1] }, 'error'),
    ).toHaveProperty('reason_code');
  });

  test('[SY1] the plan: tasks, updates, progress, the board', async () => {
    const posted = await ada.ask(
      {
        type: 'ledger_task',
        task_id: 'P1',
        title: 'first',
        description: 'd',
        suggested_owner: 'proj/bob',
      },
      'ledger_task_posted',
    );
    expect(posted.task).toMatchObject({
      task_id: 'P1',
      title: 'first',
      description: 'd',
      depends_on: [],
      status: 'open',
      suggested_owner: 'proj/bob',
      created_by: 'proj/ada',
    });
    await ada.ask(
      { type: 'ledger_task', task_id: 'P2', title: 'second', depends_on: ['P1', 'P2', 'P1'] },
      'ledger_task_posted',
    );
    expect(
      await ada.ask(
        { type: 'ledger_task', task_id: 'P1', title: 'x', depends_on: ['P2'] },
        'error',
      ),
    ).toMatchObject({
      reason_code: 'task.cycle',
      task_id: 'P1',
    });
    expect(await ada.ask({ type: 'ledger_task', task_id: 'P3' }, 'error')).toHaveProperty(
      'reason_code',
    );
    const seen = ada.next('ledger_task_updated');
    const done = await bob.ask(
      { type: 'ledger_task_update', task_id: 'P1', status: 'done', suggested_owner: '' },
      'ledger_task_updated',
    );
    expect(done.task).toMatchObject({ status: 'done', suggested_owner: '' });
    await seen;
    const note = await bob.ask(
      { type: 'ledger_progress', task_id: 'P2', payload: 'on it', kind: 'assessment' },
      'ledger_progress_posted',
    );
    expect(note.note).toMatchObject({
      task_id: 'P2',
      author: 'proj/bob',
      kind: 'assessment',
      text: 'on it',
    });
    await bob.ask({ type: 'ledger_progress', text: 'board-wide' }, 'ledger_progress_posted');
    const { board } = await ada.ask({ type: 'board_request' }, 'board_snapshot');
    expect(board.tasks.map(({ task_id }: { task_id: string }) => task_id)).toEqual(['P1', 'P2']);
    expect(board.ready).toEqual(['P2']);
    expect(board.progress.at(-1)).toMatchObject({ task_id: '', text: 'board-wide' });
  });

  test('[SY1] cards and the manifest', async () => {
    const seen = ada.next('capability_advertised');
    await bob.ask(
      {
        type: 'advertise',
        description: 'tests',
        skills: ['ts', ' ts ', 'sql'],
        task_classes: ['heavy'],
        model: 'm',
        meta: { k: 1 },
      },
      'capability_advertised',
    );
    expect((await seen).card).toMatchObject({
      agent: 'proj/bob',
      description: 'tests',
      skills: ['ts', 'sql'],
      task_classes: ['heavy'],
      model: 'm',
      meta: { k: 1 },
    });
    const { manifest } = await ada.ask({ type: 'manifest_request' }, 'manifest_snapshot');
    expect(manifest.map(({ agent }: { agent: string }) => agent)).toEqual(['proj/bob']);
    expect(manifest[0].skills).toEqual(['ts', 'sql']);
  });

  test('[SY1] state and who', async () => {
    const { snapshot } = await ada.ask({ type: 'state_request' }, 'state_snapshot');
    expect(snapshot.active_claims.map(({ task_id }: { task_id: string }) => task_id)).toEqual([
      'W1',
      'W2',
    ]);
    expect(snapshot.active_claims[0]).toMatchObject({
      owner: 'proj/bob',
      note: '',
      data_ref: '',
      worktree: 'v',
      paths: ['x'],
      checkpoint: '',
      git: null,
    });
    expect(snapshot.agents.map(({ agent }: { agent: string }) => agent)).toContain('proj/ada');
    expect(snapshot.resources[0]).toEqual({
      agent: 'proj/bob',
      kind: 'llm',
      name: 'offer_resource',
      capacity: 1,
      meta: { a: 1 },
    });
    const who = await ada.ask({ type: 'who_request' }, 'who_snapshot');
    expect(who).toMatchObject({ online_agents: ['proj/ada', 'proj/bob'], connected_clients: 2 });
  });

  test('[SY4] history and resume come from the log and go on where they stopped', async () => {
    const all = await bob.ask({ type: 'history_request' }, 'history_snapshot');
    expect(all.requested_limit).toBe('all');
    expect(all.history.map(({ payload }: { payload: string }) => payload).slice(0, 2)).toEqual([
      'hello',
      'no type is chat',
    ]);
    expect(
      all.history.every(
        ({ type, hub_id }: { type: string; hub_id: string }) => type === 'chat' && hub_id,
      ),
    ).toBe(true);
    const one = await bob.ask({ type: 'history_request', limit: 1 }, 'history_snapshot');
    expect(one.history).toEqual(all.history.slice(-1));
    const [first] = all.history;
    const later = await bob.ask({ type: 'resume_request', since: first.msg_id }, 'resume_snapshot');
    expect(later).toMatchObject({ since: first.msg_id, messages: all.history.slice(1) });
    const bad = await bob.ask({ type: 'resume_request', since: 'x' }, 'resume_snapshot');
    expect(bad.since).toBe(0);
  });

  test('[SY1] findings and recalls', async () => {
    const rejected = await ada.ask(
      { type: 'finding', statement: 's', subkind: 'lesson' },
      'finding_rejected',
    );
    expect(rejected.reasons.length).toBeGreaterThan(1);
    const seen = bob.next('finding_recorded');
    const recorded = await ada.ask(
      {
        type: 'finding',
        statement: 's',
        subkind: 'lesson',
        evidence_kind: 'measured',
        claim_status: 'reference-validated',
        provenance: { session: 'x', actor: 'somebody else' },
        validity: {},
        tags: ['t'],
      },
      'finding_recorded',
    );
    expect(recorded).toMatchObject({ verdict: 'floor', claim_status: 'bounded-support' });
    expect(recorded.finding).toMatchObject({
      statement: 's',
      provenance: { actor: 'proj/ada', project: 'proj' },
      by: 'proj/ada',
    });
    await seen;
    const logged = await ada.ask(
      {
        type: 'recall_log',
        query_text: 'q',
        returned_claim_ids: ['a'],
        was_used: true,
        abstained: false,
      },
      'recall_logged',
    );
    expect(logged.target).toBe('proj/ada');
  });

  test('[SY6] what is done at another door is told here, and the other way round', async () => {
    const granted = ada.next('claim_granted', (one) => one.task_id === 'H1');
    await hub.ask('webby', 'claims_take', { task_id: 'H1', worktree: 'h', paths: ['z'] });
    expect(await granted).toMatchObject({ owner: 'webby', paths: ['z'] });
    const denied = await ada.ask(
      { type: 'claim', task_id: 'H2', worktree: 'h', paths: ['z/q'] },
      'claim_denied',
    );
    expect(denied.holder).toBe('webby');
    const { claims } = await hub.ask('webby', 'claims_list', { owner: 'proj/bob' });
    expect(claims.map(({ task_id }: { task_id: string }) => task_id)).toEqual(['W1', 'W2']);
    const said = ada.next('chat', (one) => one.sender === 'webby');
    await hub.ask('webby', 'send', { channel: 'synapse/chat', body: { text: 'from the web' } });
    expect(await said).toMatchObject({ payload: 'from the web', target: 'all' });
    await hub.ask('webby', 'plan_update', { task_id: 'P2', status: 'cancelled' });
    await hub.ask('webby', 'plan_remove', { task_id: 'P2' });
    expect(await ada.next('system')).toMatchObject({ event: 'task_removed', task_id: 'P2' });
    const mailed = ada.next('chat', (one) => one.target === 'proj/ada');
    await hub.ask('webby', 'agents_tell', { to: 'proj/ada', body: { text: 'psst' } });
    expect(await mailed).toMatchObject({ sender: 'webby', payload: 'psst' });
    ada.send({ type: 'chat', target: 'webby', payload: 'heard' });
    await ada.next('chat', (one) => one.payload === 'heard');
    const { messages } = await hub.ask('webby', 'recv', {});
    expect(messages.map(({ body }: { body: { text: string } }) => body.text)).toContain('heard');
  });

  test('a name is borne once: the second is told and closed with 4009', async () => {
    const second = await connect('proj/ada');
    await second.next('name_conflict');
    expect((await second.closed).code).toBe(4009);
  });

  if (mode === 'secured') {
    test('[SY3] a wrong token is denied with 4010', async () => {
      const eve = await connectSynapse(url, 'eve', { token: 'wrong' });
      await eve.next('auth_denied');
      expect((await eve.closed).code).toBe(4010);
    });
  }
});

describe('the catalogue', () => {
  test('[SY1] all 52 types have been seen on the wire: 21 in, and 31 out beside chat', () => {
    expect(CLIENT_TYPES.filter((type) => !CLIENT_TYPES_SENT.has(type))).toEqual([]);
    expect(HUB_TYPES.filter((type) => !HUB_TYPES_SEEN.has(type))).toEqual([]);
  });
});

async function hubIdOf(client: SynapseClient): Promise<string> {
  return (client.frames.find(({ type }) => type === 'welcome') as { hub_id: string }).hub_id;
}
