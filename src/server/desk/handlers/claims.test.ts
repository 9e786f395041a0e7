/** Claims at both doors: shapes, refusals that say who and until when, waiting, and a restart. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { until, within } from '../../../../test/e2e/deadline.ts';
import { openRawSocket } from '../../../../test/e2e/raw-socket.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';
import { CLAIMS_PER_AGENT_MAX } from '../../../core/work/claim/claim-limits.ts';

const MIN_S = 30;
/** Longer than a busy machine takes to come to it. */
const WAIT_MS = 60_000;

/** Starts a take that waits; it is in the queue when this resolves. */
async function queue(
  door: Door,
  agent: string,
  task_id: string,
): Promise<{ taking: Promise<Json> }> {
  const mark = async (): Promise<number> =>
    (await door.ask('counter', 'claims.take', { task_id: 'mark' })).claim.epoch;
  let before = await mark();
  const taking = door.ask(agent, 'claims.take', { task_id, wait_ms: WAIT_MS });
  taking.catch(() => {});
  // A wait draws a number from the counter that epochs are drawn from.
  await until(
    `${agent} waits`,
    async () => {
      const now = await mark();
      const isDrawn = now - before > 1;
      before = now;
      return isDrawn;
    },
    Boolean,
  );
  return { taking };
}

describe.each(DOORS)('claims over %s', (name) => {
  let hub: RunningHub;
  let door: Door;
  beforeAll(async () => {
    hub = await openRunningHub();
    door = createDoor(hub, name);
  });
  afterAll(async () => {
    await door.close();
    await hub.close();
  });
  const take = (agent: string, task_id: string, more: object = {}): Promise<Json> =>
    door.ask(agent, 'claims.take', { task_id, ...more });

  test('[CM1] the second is refused by name, waits, is told, gets the claim and the checkpoint [WK2]', async () => {
    const scope = { worktree: 'repo', paths: ['src/**/*.ts'], branch: 'fix' };
    const git = { repository: 'git@host:x', base: 'main', auto_release_on: 'commit' };
    const { claim, renewed } = await take('ada', 'parser', { ...scope, git, note: 'mine' });
    expect(renewed).toBe(false);
    expect(claim).toMatchObject({ owner: 'ada', status: 'claimed', ...scope, git, note: 'mine' });
    expect(claim.lease_expires_at - claim.claimed_at).toBe(3600);

    const held = await door.refusal('bob', 'claims.take', { task_id: 'parser' });
    expect(held).toMatchObject({
      error_code: 'validation_error',
      retry_after: claim.lease_expires_at,
      detail: { reason: 'claim.held', holder: 'ada', wait: { task_id: 'parser' } },
    });
    expect(held.message).toMatch(/held by ada for \d+ s more.*claims\.wait/);

    const wish = { task_id: 'lexer', worktree: 'repo', paths: ['src/lex/*.ts'] };
    const overlap = await door.refusal('bob', 'claims.take', wish);
    expect(overlap.detail).toMatchObject({
      reason: 'claim.overlap',
      id: 'parser',
      holder: 'ada',
      lapses_at: claim.lease_expires_at,
      overlaps: [{ mine: 'src/lex/*.ts', theirs: 'src/**/*.ts', witness: 'src/lex/x.ts' }],
      wait: { worktree: 'repo', paths: ['src/lex/*.ts'] },
    });
    // What the refusal says about waiting is what claims.wait takes.
    const inLine = await door.ask('bob', 'claims.wait', {
      ...overlap.detail.wait,
      task_id: 'parser',
    });
    expect(inLine).toMatchObject({ ahead: 0, reserved: false });
    const second = await door.ask('cat', 'claims.wait', { task_id: 'parser' });
    expect(second).toMatchObject({ ahead: 1, reserved: false });

    await door.ask('ada', 'claims.checkpoint', { task_id: 'parser', checkpoint: 'half' });
    const released = await door.ask('ada', 'claims.release', {
      task_id: 'parser',
      epoch: claim.epoch,
      evidence: 'commit 1',
    });
    expect(released).toEqual({ task_id: 'parser', released: true, was_owner: 'ada' });

    // Kept for the first in the queue; a passer-by and the second are refused.
    const reserved = await door.refusal('cat', 'claims.take', { task_id: 'parser' });
    expect(reserved.detail).toMatchObject({ reason: 'claim.reserved', holder: 'bob' });
    const { messages } = await hub.ask('bob', 'recv');
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatchObject({
      channel: 'sox/to/bob',
      sender: '__server__',
      body: { event: 'claim_free', task_id: 'parser', wait: inLine.wait },
    });
    expect((await hub.ask('cat', 'recv')).messages).toEqual([]);
    const got = await take('bob', 'parser', { worktree: 'repo', paths: ['src/lex/*.ts'] });
    expect(got.claim).toMatchObject({ owner: 'bob', checkpoint: 'half', status: 'claimed' });
    expect(got.claim.epoch).toBeGreaterThan(claim.epoch);

    expect(await door.ask('cat', 'claims.unwait', { wait: second.wait })).toEqual({ ended: true });
    const gone = await door.refusal('cat', 'claims.unwait', { wait: second.wait });
    expect(gone.detail.reason).toBe('wait.not-found');
    await door.ask('bob', 'claims.release', { task_id: 'parser' });
  });

  test('[WK2] take with wait_ms is granted in the order of the queue when it is freed', async () => {
    await take('ada', 'queue');
    const bob = await queue(door, 'bob', 'queue');
    const cat = await queue(door, 'cat', 'queue');
    await door.ask('ada', 'claims.release', { task_id: 'queue' });
    expect((await within('bob gets it', bob.taking)).claim.owner).toBe('bob');
    await door.ask('bob', 'claims.release', { task_id: 'queue' });
    expect((await within('cat gets it', cat.taking)).claim.owner).toBe('cat');
  });

  test('[WK2] a turn that comes while the wait is being written down is not missed', async () => {
    const startedAt = performance.now();
    for (let i = 0; i < 20; i++) {
      await take('ada', `brief-${i}`);
      const [got] = await Promise.all([
        take('bob', `brief-${i}`, { wait_ms: WAIT_MS }),
        door.ask('ada', 'claims.release', { task_id: `brief-${i}` }),
      ]);
      expect(got.claim.owner).toBe('bob');
    }
    expect(performance.now() - startedAt).toBeLessThan(WAIT_MS);
  });

  test('[WT3] a wait that ends in vain leaves the queue: nothing is kept for nobody', async () => {
    await take('ada', 'vain');
    const given = await door.refusal(
      'bob',
      'claims.take',
      {
        task_id: 'vain',
        wait_ms: 50,
      },
      'waits',
    );
    expect(given.detail).toMatchObject({ reason: 'claim.held', holder: 'ada' });
    await door.ask('ada', 'claims.release', { task_id: 'vain' });
    expect((await take('cat', 'vain')).claim.owner).toBe('cat');
  });

  test('[WT4] [WT7] who waits for whom is shown, and a circle of waiting is refused and named', async () => {
    await take('ada', 'left');
    await take('bob', 'right');
    const { wait } = await door.ask('ada', 'claims.wait', { task_id: 'right' });
    const { waits } = await door.ask('cat', 'claims.list');
    expect(waits).toMatchObject([{ agent_id: 'ada', task_id: 'right', waits_for: ['bob'] }]);
    const { detail, message } = await door.refusal('bob', 'claims.wait', { task_id: 'left' });
    expect(detail).toMatchObject({ reason: 'claim.cycle', cycle: ['bob', 'ada', 'bob'] });
    expect(message).toContain('bob waits for left, held by ada; ada waits for right, held by bob');
    await door.ask('ada', 'claims.unwait', { wait });
  });

  test('[CM14] a checkpoint that a claim left is forgotten by who left it', async () => {
    await door.ask('ada', 'claims.take', { task_id: 'left' });
    await door.ask('ada', 'claims.checkpoint', { task_id: 'left', checkpoint: 'half' });
    await door.ask('ada', 'claims.release', { task_id: 'left' });
    expect(await door.ask('ada', 'claims.forget', {})).toEqual({ forgotten: 1 });
    const gone = await door.refusal('ada', 'claims.forget', { task_id: 'left' });
    expect(gone.detail.reason).toBe('claim.not-found');
  });

  test('[CM2] a renewal keeps status, checkpoint, version and scope', async () => {
    const first = await take('ada', 'kept', { worktree: 'kept', paths: ['a'], ttl_seconds: MIN_S });
    await door.ask('ada', 'claims.update', {
      task_id: 'kept',
      status: 'working',
      data_ref: 'x://1',
    });
    const saved = await door.ask('ada', 'claims.checkpoint', { task_id: 'kept', checkpoint: 'c' });
    const { claim, renewed } = await take('ada', 'kept', { ttl_seconds: 600 });
    expect(renewed).toBe(true);
    expect(claim).toMatchObject({
      status: 'working',
      checkpoint: 'c',
      version: saved.claim.version,
      worktree: 'kept',
      paths: ['a'],
      data_ref: 'x://1',
      claimed_at: first.claim.claimed_at,
    });
    expect(claim.lease_expires_at).toBeGreaterThan(first.claim.lease_expires_at + 500);
  });

  test('[CM4] [CM5] [CM6] a stale epoch, another holder, an old version, a wrong step', async () => {
    const { claim } = await take('ada', 'law');
    const { claim: renewed } = await take('ada', 'law');
    const acts = [
      ['claims.update', { status: 'working' }],
      ['claims.checkpoint', { checkpoint: 'x' }],
      ['claims.release', {}],
      ['claims.handoff', { to: 'bob' }],
    ] as const;
    for (const [id, input] of acts) {
      const late = await door.refusal('ada', id, { task_id: 'law', epoch: claim.epoch, ...input });
      expect(late.detail).toMatchObject({
        reason: 'claim.fenced',
        epoch: renewed.epoch,
        given_epoch: claim.epoch,
      });
      const other = await door.refusal('bob', id, { task_id: 'law', ...input });
      expect(other.detail).toMatchObject({ reason: 'claim.not-holder', holder: 'ada' });
      const none = await door.refusal('ada', id, { task_id: 'nobody has it', ...input });
      expect(none.detail.reason).toBe('claim.not-found');
    }
    const old = { task_id: 'law', status: 'working', expected_version: renewed.version + 9 };
    expect((await door.refusal('ada', 'claims.update', old)).detail.reason).toBe('claim.version');
    await door.ask('ada', 'claims.update', { task_id: 'law', status: 'done' });
    const back = await door.refusal('ada', 'claims.update', { task_id: 'law', status: 'working' });
    expect(back.detail).toMatchObject({ reason: 'claim.status', status: 'done', allowed: [] });
    const forced = { task_id: 'law', force: true };
    expect((await door.refusal('bob', 'claims.release', forced)).detail.reason).toBe(
      'claim.not-holder',
    );
    expect(await hub.admin('claims.release', forced)).toMatchObject({ was_owner: 'ada' });
  });

  test('[CM8] a claim is offered, and taken over with scope, status and checkpoint; both are told', async () => {
    await take('ada', 'relay', { worktree: 'relay', paths: ['a'] });
    await door.ask('ada', 'claims.update', { task_id: 'relay', status: 'working' });
    await door.ask('ada', 'claims.checkpoint', { task_id: 'relay', checkpoint: 'lap 1' });
    const absent = await door.refusal('ada', 'claims.handoff', { task_id: 'relay', to: 'nobody' });
    expect(absent.detail).toMatchObject({ reason: 'claim.recipient-absent', presence: 'unknown' });
    await hub.ask('sleeper', 'channels.heartbeat', { status: 'offline' });
    const gone = await door.refusal('ada', 'claims.handoff', { task_id: 'relay', to: 'sleeper' });
    expect(gone.detail).toMatchObject({ reason: 'claim.recipient-absent', presence: 'absent' });
    const self = await door.refusal('ada', 'claims.handoff', { task_id: 'relay', to: 'ada' });
    expect(self.detail.reason).toBe('claim.recipient-self');
    // One that has only ever held a claim is somebody too.
    await take('quiet', 'something-else');
    const offered = await door.ask('ada', 'claims.handoff', { task_id: 'relay', to: 'quiet' });
    expect(offered.claim).toMatchObject({ owner: 'ada', offered_to: 'quiet' });
    const { messages } = await hub.ask('quiet', 'recv');
    expect(messages.map((one: Json) => one.body)).toMatchObject([
      { event: 'claim_offered', task_id: 'relay', from: 'ada' },
    ]);
    expect(messages[0]._meta).toMatchObject({ standing: 'agent/trusted', actor: 'ada' });
    const mine = await door.ask('quiet', 'claims.list', { offered_to: 'quiet' });
    expect(mine.claims.map((one: Json) => one.task_id)).toEqual(['relay']);
    const { claim, renewed } = await door.ask('quiet', 'claims.take', { task_id: 'relay' });
    expect(renewed).toBe(false);
    expect(claim).toMatchObject({
      owner: 'quiet',
      status: 'working',
      checkpoint: 'lap 1',
      paths: ['a'],
      offered_to: null,
    });
    const told = await hub.ask('ada', 'recv', { channels: ['sox/to/ada'] });
    expect(told.messages.at(-1).body).toEqual({
      event: 'claim_accepted',
      task_id: 'relay',
      by: 'quiet',
      epoch: claim.epoch,
    });
  });

  test('[CM12] a key does a thing once for each sender, and another thing not at all', async () => {
    const input = { task_id: 'once', worktree: 'once', paths: ['a'], idempotency_key: 'k' };
    const first = await door.ask('ada', 'claims.take', input);
    expect(await door.ask('ada', 'claims.take', input)).toEqual(first);
    const other = await door.refusal('ada', 'claims.take', { ...input, paths: ['b'] });
    expect(other.detail.reason).toBe('claim.key-reused');
    const bobs = await door.ask('bob', 'claims.take', { ...input, task_id: 'bobs', paths: ['c'] });
    expect(bobs.claim.owner).toBe('bob');
    const release = { task_id: 'once', idempotency_key: 'r' };
    const done = await door.ask('ada', 'claims.release', release);
    expect(await door.ask('ada', 'claims.release', release)).toEqual(done);
  });

  test('[CM3] a TTL that is none is refused; a short one is raised to the floor', async () => {
    for (const ttl of [0, -1, -1e300]) {
      const { detail } = await door.refusal('ada', 'claims.take', {
        task_id: 'ttl',
        ttl_seconds: ttl,
      });
      expect(detail.reason).toBe('ttl.invalid');
    }
    const huge = await door.refusal('ada', 'claims.take', { task_id: 'ttl', ttl_seconds: 86_401 });
    expect(huge.detail).toMatchObject({ reason: 'ttl.too-long', max_s: 86_400 });
    for (const ttl of ['NaN', 'Infinity', false]) {
      const { detail } = await door.refusal('ada', 'claims.take', {
        task_id: 'ttl',
        ttl_seconds: ttl,
      });
      expect(detail.reason).toBe('input.invalid');
    }
    const infinite = await hub.post(
      'claims.take',
      '{"task_id":"ttl","ttl_seconds":1e999}',
      hub.as('ada'),
    );
    expect(infinite.status).toBe(400);
    const { claim } = await take('ada', 'ttl', { ttl_seconds: 1 });
    expect(claim.lease_expires_at - claim.claimed_at).toBe(MIN_S);
  });

  test.each<[what: string, reason: string, paths: readonly string[]]>([
    ['an absolute path', 'scope.absolute', ['/etc/passwd']],
    ['a drive', 'scope.absolute', ['C:/Windows']],
    ['a path that escapes', 'scope.escape', ['../x']],
    ['a path that escapes on the way', 'scope.escape', ['a/../../x']],
    ['an empty path', 'scope.invalid', ['']],
    ['a NUL', 'scope.invalid', ['a\u0000b']],
    ['a character that turns the text round', 'scope.invalid', ['a\u202eb']],
    ['a backslash', 'scope.invalid', ['a\\b']],
    ['a path too long', 'scope.too-long', ['x'.repeat(4_097)]],
    ['too many paths', 'scope.too-many', Array.from({ length: 513 }, (_, i) => `f${i}`)],
    ['thousands of paths', 'input.invalid', Array.from({ length: 4_097 }, (_, i) => `f${i}`)],
    ['a glob that explodes', 'scope.too-complex', ['{a,b}'.repeat(20)]],
  ])('[SC2] %s is refused by take, wait and check (%s)', async (_, reason, paths) => {
    for (const id of ['claims.take', 'claims.wait', 'claims.check'] as const) {
      const task = id === 'claims.take' ? { task_id: 'bad' } : {};
      const { detail, message } = await door.refusal('ada', id, {
        ...task,
        worktree: 'bad',
        paths,
      });
      expect(detail.reason, id).toBe(reason);
      expect(message).not.toContain('\u0000');
    }
  });

  test('[CM1] check tells what is free, what is mine and what others hold', async () => {
    await take('ada', 'checked', { worktree: 'check', paths: ['src', 'docs/*.md'] });
    const ask = (agent: string, ...paths: string[]) =>
      door.ask(agent, 'claims.check', { worktree: 'check', paths });
    expect(await ask('ada', 'src/a.ts')).toEqual({ free: true, mine: true, conflicts: [] });
    expect(await ask('ada', 'src/a.ts', 'test/a.ts')).toMatchObject({ free: true, mine: false });
    expect(await ask('bob', 'test')).toEqual({ free: true, mine: false, conflicts: [] });
    const { free, mine, conflicts } = await ask('bob', 'SRC/a.ts', 'docs');
    expect([free, mine]).toEqual([false, false]);
    expect(conflicts).toHaveLength(1);
    expect(conflicts[0].claim).toMatchObject({ task_id: 'checked', owner: 'ada' });
    expect(conflicts[0].overlaps.map((one: Json) => one.theirs).sort()).toEqual([
      'docs/*.md',
      'src',
    ]);
  });

  test('[CM1] list pages by id, by owner and by worktree', async () => {
    for (let i = 0; i < 5; i++)
      await take('lister', `list-${i}`, { worktree: 'list', paths: [`${i}`] });
    const page = await door.ask('bob', 'claims.list', { owner: 'lister', limit: 2 });
    expect(page.claims.map((one: Json) => one.task_id)).toEqual(['list-0', 'list-1']);
    const rest = await door.ask('bob', 'claims.list', { worktree: 'list', after: page.next });
    expect(rest.claims.map((one: Json) => one.task_id)).toEqual(['list-2', 'list-3', 'list-4']);
    expect(rest.next).toBeNull();
  });

  test('[CM10] an agent holds so many claims and no more', async () => {
    for (let i = 0; i < CLAIMS_PER_AGENT_MAX; i++)
      await hub.ask('greedy', 'claims.take', { task_id: `g${i}` });
    const { detail } = await door.refusal('greedy', 'claims.take', { task_id: 'one-more' });
    expect(detail).toMatchObject({ reason: 'claim.quota', max: CLAIMS_PER_AGENT_MAX });
    await door.ask('greedy', 'claims.release', { task_id: 'g0' });
    await take('greedy', 'one-more');
  });

  test('[WK2] what happens to claims is told on sox/claims, without checkpoints', async () => {
    await hub.ask('follower', 'subscribe', { pattern: 'sox/claims' });
    await take('ada', 'public', { worktree: 'public', paths: ['a'], note: 'n' });
    await door.ask('ada', 'claims.update', { task_id: 'public', status: 'working' });
    await door.ask('ada', 'claims.checkpoint', { task_id: 'public', checkpoint: 'secret' });
    await door.ask('ada', 'claims.release', { task_id: 'public', evidence: 'done it' });
    const { messages } = await hub.ask('follower', 'recv');
    const mine = messages.filter((one: Json) => one.body.id === 'public');
    expect(mine.map((one: Json) => one.body.event)).toEqual([
      'claim_taken',
      'claim_updated',
      'claim_released',
    ]);
    expect(JSON.stringify(mine)).not.toContain('secret');
    const forged = await hub.post('send', { channel: 'sox/claims', body: {} }, hub.as('ada'));
    expect(forged.body.detail.reason).toBe('channel.reserved');
    const nosy = await hub.post('subscribe', { pattern: 'sox/to/bob' }, hub.as('ada'));
    expect(nosy.status).toBeGreaterThanOrEqual(400);
    await hub.ask('follower', 'unsubscribe', { channels: ['sox/claims'] });
  });
});

describe('who waits and may not go on', () => {
  let hub: RunningHub;
  beforeAll(async () => {
    hub = await openRunningHub();
  });
  afterAll(() => hub.close());

  /** A take that stands in the queue when this resolves, as raw HTTP, so that it can be broken off. */
  async function openWait(task_id: string, headers: Record<string, string>) {
    const { entries } = await hub.ask('watcher', 'status');
    const raw = await openRawSocket(hub.port);
    const body = JSON.stringify({ task_id, wait_ms: 60_000 });
    const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`);
    raw.write(
      `POST /v1/ops/claims.take HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    );
    const hasGrown = (status: Json): boolean => status.entries > entries;
    await until('it waits', () => hub.ask('watcher', 'status'), hasGrown);
    return raw;
  }

  test('[WT3] a caller that disconnects leaves the queue, and nothing is taken for it', async () => {
    await hub.ask('ada', 'claims.take', { task_id: 'left' });
    const raw = await openWait('left', hub.as('leaver'));
    const before = (await hub.ask('watcher', 'status')).entries;
    raw.close();
    await raw.ended;
    await until(
      'it has left the queue',
      () => hub.ask('watcher', 'status'),
      ({ entries }) => entries > before,
    );
    await hub.ask('ada', 'claims.release', { task_id: 'left' });
    expect((await hub.ask('cat', 'claims.take', { task_id: 'left' })).claim.owner).toBe('cat');
  });

  test('[I5] a token revoked while its caller waits gets no claim any more', async () => {
    const { token, token_id } = await hub.admin('tokens_create', { agent_id: 'fallen' });
    await hub.ask('ada', 'claims.take', { task_id: 'denied' });
    const raw = await openWait('denied', { authorization: `Bearer ${token}` });
    await hub.admin('tokens_revoke', { token_id });
    await hub.ask('ada', 'claims.release', { task_id: 'denied' });
    expect(await raw.until('}')).toContain('401 Unauthorized');
    raw.close();
    expect((await hub.ask('cat', 'claims.take', { task_id: 'denied' })).claim.owner).toBe('cat');
  });
});

test('[L3] a restart keeps claims, epochs, queues, keys and checkpoints', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'synod-claims-'));
  try {
    let hub = await openRunningHub({ dir });
    const keyed = { task_id: 'kept', worktree: 'w', paths: ['src/*'], idempotency_key: 'k' };
    const first = await hub.ask('ada', 'claims.take', keyed);
    await hub.ask('ada', 'claims.checkpoint', { task_id: 'kept', checkpoint: 'so far' });
    const wait = await hub.ask('bob', 'claims.wait', { task_id: 'kept' });
    await hub.ask('cat', 'claims.wait', { task_id: 'kept' });
    const before = await hub.ask('ada', 'claims.list');
    await hub.close();
    hub = await openRunningHub({ dir });
    expect(await hub.ask('ada', 'claims.list')).toEqual(before);
    expect(await hub.ask('ada', 'claims.take', keyed)).toEqual(first);
    expect((await hub.ask('bob', 'claims.wait', { task_id: 'kept' })).wait).toBe(wait.wait);
    await hub.ask('ada', 'claims.release', { task_id: 'kept', epoch: first.claim.epoch });
    await hub.close();
    hub = await openRunningHub({ dir });
    const reserved = await hub.post('claims.take', { task_id: 'kept' }, hub.as('cat'));
    expect(reserved.body.detail).toMatchObject({ reason: 'claim.reserved', holder: 'bob' });
    const { claim } = await hub.ask('bob', 'claims.take', { task_id: 'kept' });
    expect(claim.checkpoint).toBe('so far');
    expect(claim.epoch).toBeGreaterThan(first.claim.epoch);
    await hub.close();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
