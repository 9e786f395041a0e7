/** Where the original hurt its users and we do not: each test is a weakness of 0.43 that is gone. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../e2e/deadline.ts';
import {
  fetchReply,
  type HubOptions,
  type Json,
  openRunningHub,
  type RunningHub,
} from '../../e2e/running-hub.ts';
import { CLIENT_TYPES } from './message-types.ts';
import { connectSynapse, type SynapseClient, synapseUrl } from './synapse-client.ts';

let hub: RunningHub;
let url: string;
const clients: SynapseClient[] = [];

async function start(options: HubOptions = {}): Promise<void> {
  hub = await openRunningHub({ ...options, flags: { synapse: '0', ...options.flags } });
  url = await synapseUrl(hub.dir);
}

async function connect(name: string): Promise<SynapseClient> {
  const client = await connectSynapse(url, name);
  clients.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await hub.close();
});

describe('availability', () => {
  test('[SY2] one that stops reading is cut off and slows nobody', async () => {
    await start({ hooks: { synapse: { outputBytesMax: 256 * 1024 } } });
    const stopped = await connect('stopped');
    const ada = await connect('ada');
    const bob = await connect('bob');
    stopped.pause();
    const payload = 'x'.repeat(200_000);
    for (let i = 0; i < 60; i++) {
      ada.send({ type: 'chat', payload, n: i });
      await bob.next('chat', (one) => one.n === i);
    }
    await until(
      'the slow reader is gone from the roster',
      () => bob.ask({ type: 'who_request' }, 'who_snapshot'),
      ({ online_agents }) => !online_agents.includes('stopped'),
    );
    stopped.resume();
    await stopped.closed;
  });

  test('[HL1] frames of a host that asks too often are answered with an error and not carried out', async () => {
    await start({ file: { host_rate_limit: 5 } });
    const ada = await connect('ada');
    for (let n = 0; n < 30; n++) ada.send({ type: 'claim', task_id: `t${n}` });
    const refused = await ada.next('error', (one) => one.reason_code === 'rate.limited');
    expect(refused.retry_at).toBeGreaterThan(0);
    // The owner's socket has no address and so no limit: it shows what was really carried out.
    const { status, body } = await fetchReply('http://hub/v1/ops/claims_list', {
      method: 'POST',
      socketPath: hub.socketPath,
      headers: { 'x-sox-agent-id': 'bob' },
      body: '{}',
    });
    expect(status).toBe(200);
    // Two seconds' worth of burst, less the upgrade, and what trickled in meanwhile.
    expect(body.claims.length).toBeGreaterThan(0);
    expect(body.claims.length).toBeLessThan(20);
  });

  test('[SY5] snapshots stay under 1 MiB, keep the newest and say that they are cut', async () => {
    await start();
    const ada = await connect('ada');
    const payload = 'y'.repeat(9_000);
    for (let i = 0; i < 150; i++) ada.send({ type: 'chat', payload, n: i });
    await ada.next('chat', (one) => one.n === 149);
    const all = await ada.ask({ type: 'history_request' }, 'history_snapshot');
    expect(all.truncated).toBe(true);
    expect(all.history.at(-1).n).toBe(149);
    const seen: number[] = [];
    for (let since = 0; ; ) {
      const page: Json = await ada.ask({ type: 'resume_request', since }, 'resume_snapshot');
      seen.push(...page.messages.map(({ n }: { n: number }) => n));
      if (!page.truncated) break;
      since = page.next_since;
    }
    expect(seen).toEqual(Array.from({ length: 150 }, (_, n) => n));
    for (let i = 0; i < 300; i++) {
      ada.send({
        type: 'ledger_task',
        task_id: `t${i}`,
        title: 't',
        description: 'd'.repeat(4_000),
      });
    }
    await ada.next('ledger_task_posted', (one) => one.task.task_id === 't299');
    const { board, truncated } = await ada.ask({ type: 'board_request' }, 'board_snapshot');
    expect(truncated).toBe(true);
    expect(board.tasks.map((task: Json) => task.task_id)).toContain('t299');
  });

  test('[SY13] what was sent before the socket closed is carried out', async () => {
    await start();
    const bob = await connect('bob');
    for (const name of ['x', 'y', 'z']) {
      const hasty = await connectSynapse(url, name, { isBinding: false });
      for (let n = 0; n < 5; n++)
        hasty.send({ type: 'ledger_task', task_id: `${name}${n}`, title: 't' });
      hasty.send({ type: 'chat', payload: `${name} was here` });
      await hasty.close();
      await bob.next('chat', ({ payload }) => payload === `${name} was here`);
      await bob.next('presence_update', ({ agent, event }) => agent === name && event === 'left');
    }
    const { board } = await bob.ask({ type: 'board_request' }, 'board_snapshot');
    expect(board.tasks).toHaveLength(15);
  });

  test('[SY7] wrong types cost an error at the most, never the connection or the log', async () => {
    await start();
    const ada = await connect('ada');
    expect(await ada.ask({ type: 'chat', payload: 'a', timestamp: 'noon' }, 'chat')).toMatchObject({
      payload: 'a',
    });
    const offered = await ada.ask(
      { type: 'resource', kind: 'k', name: 'n', capacity: 'much' },
      'resource_offered',
    );
    expect(offered.key).toBe('ada:k:n');
    await ada.ask({ type: 'resource', kind: 'k', name: 'n', meta: [1] }, 'error');
    expect(await ada.ask({ type: 'chat', payload: { deep: 1 } }, 'chat')).toMatchObject({
      payload: '{"deep":1}',
    });
  });

  test('[SY7] random frames never hurt the hub or another socket', async () => {
    await start();
    const bob = await connect('bob');
    const types = [...CLIENT_TYPES, 'constructor', '__proto__'];
    const field = fc.constantFrom(
      'task_id',
      'payload',
      'paths',
      'worktree',
      'ttl_seconds',
      'epoch',
      'idem_key',
      'status',
      'to_agent',
      'target',
      'checkpoint',
      'kind',
      'name',
      'capacity',
      'meta',
      'title',
      'depends_on',
      'skills',
      'limit',
      'since',
      'statement',
      'provenance',
      'validity',
      'git',
      'note',
      'type',
      '__proto__',
    );
    const value = fc.oneof(
      fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown),
      fc.string(),
      fc.constantFrom(-1, 0, 1e308, 'bob', 'all', 'T', 'done', ['a'], [''], ['..'], {}, null),
    );
    const frame = fc.tuple(fc.constantFrom(...types), fc.dictionary(field, value, { maxKeys: 8 }));
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 30 }), fc.string(), async (frames, noise) => {
        const ada = await connectSynapse(url, `ada-${++round}`);
        ada.sendText(noise);
        for (const [type, fields] of frames)
          ada.sendText(JSON.stringify({ type, ...fields, sender: ada.name }));
        ada.send({ type: 'who_request' });
        await ada.next('who_snapshot');
        await ada.close();
        const who = await bob.ask({ type: 'who_request' }, 'who_snapshot');
        expect(who.online_agents).toContain('bob');
      }),
      { numRuns: 60 },
    );
    expect(hub.log.filter((line) => line.startsWith('error'))).toEqual([]);
  });
});

describe('correctness', () => {
  test('[SY8] paths that are no list claim nothing; an empty list is the whole worktree', async () => {
    await start();
    const ada = await connect('ada');
    const bob = await connect('bob');
    expect(
      await ada.ask({ type: 'claim', task_id: 'A', paths: 'src/a.ts' }, 'claim_denied'),
    ).toMatchObject({
      task_id: 'A',
      reason_code: 'scope.invalid',
    });
    await ada.ask({ type: 'claim', task_id: 'A', paths: [''] }, 'claim_denied');
    await ada.ask({ type: 'claim', task_id: 'A', paths: [] }, 'claim_granted');
    expect(
      await bob.ask({ type: 'claim', task_id: 'B', paths: ['/any'] }, 'claim_denied'),
    ).toMatchObject({ holder: 'ada' });
    await bob.ask({ type: 'claim', task_id: 'B', worktree: 'other' }, 'claim_granted');
  });

  test('[SY8] renewing without paths keeps scope, status and checkpoint', async () => {
    await start();
    const ada = await connect('ada');
    await ada.ask(
      { type: 'claim', task_id: 'A', worktree: 'w', paths: ['src'], note: 'n' },
      'claim_granted',
    );
    await ada.ask(
      { type: 'task_update', task_id: 'A', status: 'working', data_ref: 'r' },
      'task_updated',
    );
    await ada.ask({ type: 'checkpoint', task_id: 'A', checkpoint: 'c' }, 'checkpoint_saved');
    const renewed = await ada.ask({ type: 'claim', task_id: 'A' }, 'claim_granted');
    expect(renewed).toMatchObject({
      worktree: 'w',
      paths: ['src'],
      status: 'working',
      checkpoint: 'c',
      note: 'n',
    });
  });

  test('[SY7] a lease is finite and bounded, and every frame is strict JSON', async () => {
    await start();
    const ada = await connect('ada');
    const now = Date.now() / 1000;
    ada.sendText('{"sender":"ada","type":"claim","task_id":"A","ttl_seconds":1e999,"paths":["a"]}');
    expect((await ada.next('claim_granted')).lease_expires_at - now).toBeLessThan(3_700);
    const long = await ada.ask(
      { type: 'claim', task_id: 'B', ttl_seconds: 1e12, paths: ['b'] },
      'claim_granted',
    );
    expect(long.lease_expires_at - now).toBeLessThan(86_500);
    const short = await ada.ask(
      { type: 'claim', task_id: 'C', ttl_seconds: -5, paths: ['c'] },
      'claim_granted',
    );
    expect(short.lease_expires_at - now).toBeGreaterThan(29);
  });

  test('[SY8] an idem_key is its sender’s own: a repeat is answered in private, another’s key hides nothing', async () => {
    await start();
    const ada = await connect('ada');
    const bob = await connect('bob');
    const claim = { type: 'claim', task_id: 'A', idem_key: 'k' };
    const first = await ada.ask(claim, 'claim_granted');
    const again = await ada.ask(claim, 'claim_granted');
    expect(again).toMatchObject({ target: 'ada', epoch: first.epoch });
    const mine = await bob.ask(
      { type: 'claim', task_id: 'B', worktree: 'b', idem_key: 'k' },
      'claim_granted',
    );
    expect(mine).toMatchObject({ task_id: 'B', owner: 'bob' });
    expect(
      bob.frames.filter((one) => one.type === 'claim_granted' && one.task_id === 'A'),
    ).toHaveLength(1);
    const other = await ada.ask({ type: 'claim', task_id: 'Z', idem_key: 'k' }, 'claim_denied');
    expect(other.reason_code).toBe('claim.key-reused');
  });

  test('[SY9] a wait is given up when its socket goes', async () => {
    await start();
    const ada = await connect('ada');
    const bob = await connect('bob');
    const eve = await connect('eve');
    await ada.ask({ type: 'claim', task_id: 'A' }, 'claim_granted');
    await bob.ask({ type: 'wait_request', task_id: 'A' }, 'wait_granted');
    await bob.close();
    await eve.next('presence_update', (one) => one.event === 'left');
    await ada.ask({ type: 'release', task_id: 'A' }, 'release_granted');
    expect((await eve.ask({ type: 'claim', task_id: 'A' }, 'claim_granted')).owner).toBe('eve');
  });

  test('[SY4] what a socket was shown counts as read at the other doors too', async () => {
    await start({ hooks: { synapse: { pingMs: 20 } } });
    const ada = await connect('ada');
    const bob = await connect('bob');
    const sent = await ada.ask({ type: 'chat', target: 'bob', payload: 'psst' }, 'chat');
    await bob.next('chat');
    const { receipts } = await until(
      'the receipt says so',
      () => hub.ask('ada', 'receipts_get', { message_id: `m${sent.msg_id - 1}` }),
      (answer: Json) => answer.receipts.some(({ state }: Json) => state === 'consumed'),
    );
    expect(receipts).toMatchObject([{ agent_id: 'bob' }]);
    const { messages } = await hub.ask('bob', 'recv', {});
    expect(messages).toEqual([]);
  });

  test('[SY6] agents of other doors are in the roster, and counted among those who come and go', async () => {
    await start();
    const ada = await connect('ada');
    await hub.ask('webby', 'channels_heartbeat', { status: 'online' });
    const joined = await ada.next('presence_update', ({ agent }) => agent === 'webby');
    expect(joined).toMatchObject({ event: 'joined', online_agents: ['ada', 'webby'] });
    const { agents } = await hub.ask('webby', 'presence_list', {});
    expect(agents).toMatchObject([
      { agent_id: 'ada', state: 'idle', evidence: { connections: 1 } },
      { agent_id: 'webby' },
    ]);
    await hub.ask('webby', 'channels_heartbeat', { status: 'offline' });
    await ada.next('presence_update', ({ agent, event }) => agent === 'webby' && event === 'left');
  });

  test('[SY15] of a crowd that goes at once each is told, and the last with the whole roster', async () => {
    await start();
    const watcher = await connect('watcher');
    const names = Array.from({ length: 40 }, (_, n) => `go-${String(n).padStart(2, '0')}`);
    const crowd = await Promise.all(names.map(connect));
    for (const client of crowd) void client.close();
    const isLeft = ({ type, event }: Json) => type === 'presence_update' && event === 'left';
    await Promise.all(
      names.map((name) =>
        watcher.next('presence_update', (one) => isLeft(one) && one.agent === name),
      ),
    );
    const told = watcher.frames.filter(isLeft);
    expect(told.map(({ agent }) => agent).sort()).toEqual(names);
    expect(told.at(-1)?.online_agents).toEqual(['watcher']);
    for (const { online_agents, truncated } of told) {
      expect(online_agents.length === 0).toBe(truncated === true);
    }
    expect(told.filter(({ truncated }) => truncated).length).toBeGreaterThan(0);
  });

  test('[SY4] a message to one who is away waits for it', async () => {
    await start();
    const ada = await connect('ada');
    const first = await connect('bob');
    await first.close();
    await ada.next('presence_update', (one) => one.event === 'left');
    await ada.ask({ type: 'chat', target: 'bob', payload: 'while you were out' }, 'chat');
    const bob = await connect('bob');
    const { messages } = await bob.ask({ type: 'resume_request', since: 0 }, 'resume_snapshot');
    expect(messages).toMatchObject([
      { sender: 'ada', target: 'bob', payload: 'while you were out' },
    ]);
  });
});
