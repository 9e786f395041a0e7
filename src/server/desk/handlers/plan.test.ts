/** The plan and the board at both doors: shapes, refusals, and how claims move tasks [WK1]. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

describe.each(DOORS)('the plan over %s', (name) => {
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
  const declare = (task_id: string, depends_on: readonly string[] = [], more: object = {}) =>
    door.ask('ada', 'plan.declare', { task_id, title: task_id, depends_on, ...more });
  const boardOf = async (project: string): Promise<Record<string, string>> => {
    const { tasks } = await door.ask('ada', 'plan.board', { project });
    return Object.fromEntries(tasks.map((one: Json) => [one.task_id, one.status]));
  };

  test('[PL17] a dependency on nothing or on itself is refused, and changes nothing', async () => {
    const before = await hub.mark();
    for (const [needs, reason] of [
      [['nowhere'], 'task.not-found'],
      [['lonely'], 'task.cycle'],
    ] as const) {
      const wish = { task_id: 'lonely', title: 'x', depends_on: needs };
      const refusal = await door.refusal('ada', 'plan.declare', wish);
      expect(refusal.detail.reason).toBe(reason);
    }
    expect(await hub.mark()).toBe(before);
  });

  test('[PL1] [PL3] [PL15] a task is declared, changed and removed, and says what it waits for', async () => {
    const { task, unmet, unknown } = await declare('build', ['design', 'nowhere'], {
      project: 'life',
      description: 'all of it',
      suggested_owner: 'bob',
      causal_parent: 'm-1',
      allow_unknown: true,
    });
    expect(task).toMatchObject({
      task_id: 'build',
      status: 'open',
      version: 1,
      created_by: 'ada',
      depends_on: ['design', 'nowhere'],
      project: 'life',
      suggested_owner: 'bob',
      causal_parent: 'm-1',
    });
    // A dependency on nothing is kept and told: it may be declared yet, or be a typing mistake.
    expect([unmet, unknown]).toEqual([
      ['design', 'nowhere'],
      ['design', 'nowhere'],
    ]);
    await declare('design', [], { project: 'life' });
    expect((await declare('build', ['design'], { project: 'life' })).unknown).toEqual([]);
    const needed = await door.refusal('bob', 'plan.remove', { task_id: 'design' });
    expect(needed.detail.reason).toBe('task.needed');
    await door.ask('bob', 'plan.update', { task_id: 'design', status: 'done' });
    const { tasks } = await door.ask('bob', 'plan.board', { project: 'life', ready: true });
    expect(tasks.map((one: Json) => one.task_id)).toEqual(['build']);
    await door.ask('bob', 'plan.update', { task_id: 'build', status: 'cancelled' });
    expect(await door.ask('bob', 'plan.remove', { task_id: 'build' })).toEqual({
      task: null,
      unmet: [],
      unknown: [],
    });
    const gone = await door.refusal('bob', 'plan.update', { task_id: 'build', status: 'open' });
    expect(gone.detail.reason).toBe('task.not-found');
  });

  test('[PL2] a cycle is refused and named', async () => {
    await declare('one', ['three'], { allow_unknown: true });
    await declare('two', ['one']);
    const { detail, message } = await door.refusal('ada', 'plan.declare', {
      task_id: 'three',
      title: 'three',
      depends_on: ['two'],
    });
    expect(detail.reason).toBe('task.cycle');
    for (const id of ['one', 'two', 'three']) expect(message).toContain(id);
  });

  test('[PL7] [PL8] a version that has moved on is refused, and so is what is no task', async () => {
    await declare('versioned');
    const stale = { task_id: 'versioned', status: 'blocked', expected_version: 7 };
    const { detail } = await door.refusal('ada', 'plan.update', stale);
    expect(detail).toMatchObject({ reason: 'task.version', expected: 7, actual: 1 });
    for (const bad of [
      { task_id: 'a\u0000', title: 'x' },
      { task_id: '   ', title: 'x' },
      { task_id: 'x', title: 'two\nlines' },
      { task_id: 'x', title: 'x', depends_on: Array.from({ length: 129 }, (_, i) => `d${i}`) },
      { task_id: 'x', title: 'x', expected_version: -1 },
    ]) {
      const refusal = await door.refusal('ada', 'plan.declare', bad);
      expect(refusal.detail.reason).toBe('input.invalid');
    }
    const status = await door.refusal('ada', 'plan.update', {
      task_id: 'versioned',
      status: 'lost',
    });
    expect(status.detail.reason).toBe('input.invalid');
  });

  test('[WK1] a claim starts its task; done ends it, failed blocks it, a release opens it', async () => {
    for (const id of ['w-done', 'w-failed', 'w-released']) {
      await declare(id, [], { project: 'work' });
      await door.ask('bob', 'claims.take', { task_id: id });
    }
    const { tasks } = await door.ask('ada', 'plan.board', { project: 'work' });
    expect(tasks.map((one: Json) => [one.status, one.claim.owner])).toEqual([
      ['in_progress', 'bob'],
      ['in_progress', 'bob'],
      ['in_progress', 'bob'],
    ]);
    await door.ask('bob', 'claims.update', { task_id: 'w-done', status: 'done' });
    await door.ask('bob', 'claims.update', {
      task_id: 'w-failed',
      status: 'failed',
      note: 'no compiler',
    });
    await door.ask('bob', 'claims.release', { task_id: 'w-released' });
    expect(await boardOf('work')).toEqual({
      'w-done': 'done',
      'w-failed': 'blocked',
      'w-released': 'open',
    });
    const { notes } = await door.ask('ada', 'plan.notes', { task_id: 'w-failed' });
    expect(notes).toMatchObject([
      {
        task_id: 'w-failed',
        kind: 'blocked',
        author: 'bob',
        text: 'the claim failed: no compiler',
      },
    ]);
  });

  test('[PL9] progress is appended and read in pages, by task, for the plan, or all', async () => {
    const { seq } = await door.ask('ada', 'plan.progress', { text: 'to all' });
    await door.ask('bob', 'plan.progress', { task_id: 'noted', kind: 'assessment', text: 'fine' });
    const page = await door.ask('ada', 'plan.notes', { after: seq - 1, limit: 1 });
    expect(page.notes).toMatchObject([{ seq, task_id: null, kind: 'note', text: 'to all' }]);
    const rest = await door.ask('ada', 'plan.notes', { after: page.next });
    expect(rest.notes).toMatchObject([{ task_id: 'noted', author: 'bob', kind: 'assessment' }]);
    const whole = await door.ask('ada', 'plan.notes', { task_id: null });
    expect(whole.notes.every((one: Json) => one.task_id === null)).toBe(true);
    const empty = await door.refusal('ada', 'plan.progress', { text: '  ' });
    expect(empty.detail.reason).toBe('input.invalid');
  });
});

test('[PL10] a board of 5,000 tasks comes in pages that hold each task once', {
  timeout: 60_000,
}, async () => {
  const hub = await openRunningHub();
  const door = createDoor(hub, 'WebSocket');
  try {
    const socket = await door.socket('ada');
    const title = 'a title of usual length for a task of a plan';
    for (let from = 0; from < 5_000; from += 250) {
      await Promise.all(
        Array.from({ length: 250 }, (_, i) =>
          socket.ask('plan.declare', { task_id: `t${from + i}`, title, project: 'big' }),
        ),
      );
    }
    await socket.ask('claims.take', { task_id: 't42' });
    const seen = new Map<string, Json>();
    let after: string | undefined;
    let pages = 0;
    do {
      const page = await door.ask('ada', 'plan.board', { limit: 500, ...(after && { after }) });
      expect(page.totals).toMatchObject({ tasks: 5_000, in_progress: 1, open: 4_999 });
      for (const task of page.tasks) {
        expect(seen.has(task.task_id)).toBe(false);
        seen.set(task.task_id, task);
      }
      expect(JSON.stringify(page).length).toBeLessThan(400_000);
      after = page.next;
      pages++;
    } while (after);
    expect(seen.size).toBe(5_000);
    expect(pages).toBeLessThan(30);
    expect(seen.get('t42').claim.owner).toBe('ada');
  } finally {
    await door.close();
    await hub.close();
  }
});

test('[L3] a restart keeps plan, notes, offers, cards and findings', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'synod-plan-'));
  try {
    let hub = await openRunningHub({ dir });
    await hub.ask('ada', 'plan.declare', {
      task_id: 'b',
      title: 'b',
      depends_on: ['a'],
      allow_unknown: true,
    });
    await hub.ask('ada', 'plan.declare', { task_id: 'a', title: 'a' });
    await hub.ask('ada', 'claims.take', { task_id: 'a' });
    await hub.ask('ada', 'plan.progress', { task_id: 'a', text: 'going' });
    await hub.ask('ada', 'channels.heartbeat', { status: 'online' });
    await hub.ask('ada', 'offers.make', { kind: 'llm', name: 'local', meta: { q: 4 } });
    await hub.ask('ada', 'cards.advertise', { card: { skills: ['rust'] } });
    await hub.ask('ada', 'findings.recall', { query_text: 'where?' });
    const look = async () => [
      await hub.ask('ada', 'plan.board'),
      await hub.ask('ada', 'plan.notes'),
      await hub.ask('ada', 'offers.list'),
      await hub.ask('ada', 'cards.manifest'),
      await hub.ask('ada', 'findings.list'),
    ];
    const before = await look();
    await hub.close();
    hub = await openRunningHub({ dir });
    // Where the next page begins is behind what the stop itself put on the record.
    const [findings, ...rest] = (await look()).toReversed();
    expect(rest.toReversed()).toEqual(before.slice(0, -1));
    expect(findings).toEqual({ ...before.at(-1), next: expect.any(Number) });
    await hub.close();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
