/** Runs of workflows at both doors. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

const TAKE = { workflows: [{ name: 'land' }], executor: 'box/1', lease_ms: 60_000 };

describe.each(DOORS)('workflows over %s', (name) => {
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

  test('[WF1] [WF4] [WF5] start, take, record, end; the same start is the same run, a stale word is refused', async () => {
    const start = { name: 'land', id: 'land-1', input: { branch: 'topic' } };
    const made = await door.ask('ada', 'workflows.start', start);
    expect(made).toMatchObject({ id: 'land-1', state: 'queued', existing: false, epoch: 0 });
    expect(await door.ask('ada', 'workflows.start', start)).toMatchObject({ existing: true });
    const other = await door.refusal('ada', 'workflows.start', { ...start, input: 2 });
    expect(other.detail).toMatchObject({
      reason: 'workflow.exists',
      run: { id: 'land-1', name: 'land', state: 'queued' },
    });
    const { runs } = await door.ask('ada', 'workflows.take', TAKE);
    expect(runs).toMatchObject([
      { run: { id: 'land-1', state: 'running', input: { branch: 'topic' } }, epoch: 1 },
    ]);
    const on = { id: 'land-1', epoch: 1 };
    const entries = [
      { kind: 'started', step: 'rebase', policy: 'ask' },
      { kind: 'completed', step: 'rebase', result: { at: 'abc' }, cost: { usd: 0.5 } },
      { kind: 'completed', step: 'lint', key: 'src/a b.ts', result: null },
    ];
    const told = await door.ask('ada', 'workflows.record', { ...on, entries });
    expect(told).toEqual({ id: 'land-1', news: 0, cancelling: null });
    const twice = await door.refusal('ada', 'workflows.record', {
      ...{ ...on, entries: [{ kind: 'started', step: 'new' }, entries[1]] },
    });
    expect(twice.detail).toMatchObject({ reason: 'workflow.step-completed', step: 'rebase' });
    const { steps } = await door.ask('ada', 'workflows.steps', { id: 'land-1' });
    expect(steps).toMatchObject([
      ...[{ step: 'rebase', state: 'completed', result: { at: 'abc' }, cost: { usd: 0.5 } }],
      ...[{ step: 'lint', key: 'src/a b.ts', state: 'completed', result: null, attempts: 1 }],
    ]);
    const stale = { ...on, epoch: 2, entries: [{ kind: 'released' }] };
    expect((await door.refusal('ada', 'workflows.record', stale)).detail).toMatchObject({
      ...{ reason: 'workflow.stale', epoch: 1 },
    });
    const waits = door.ask('ada', 'workflows.wait', { id: 'land-1', timeout_ms: 20_000 });
    const end = [{ kind: 'ended', state: 'completed', result: 42 }];
    await door.ask('ada', 'workflows.record', { ...on, entries: end });
    expect(await waits).toMatchObject({ over: true, state: 'completed', result: 42, error: null });
  });

  test('[WF8] [WF10] a run sleeps until its waits end, and who waits for work is woken by it', async () => {
    await door.ask('bob', 'workflows.start', { name: 'nap', id: 'nap-1' });
    const take = { ...TAKE, workflows: [{ name: 'nap' }] };
    await door.ask('bob', 'workflows.take', take);
    const gate = await door.ask('bob', 'gates.ask', {
      ...{ action: 'publish', subject: 'topic', deadline: 'never', tell: false },
    });
    const record = { id: 'nap-1', epoch: 1 };
    const waiting = await door.ask('bob', 'workflows.record', {
      ...record,
      entries: [
        { kind: 'waiting', step: 'go', step_kind: 'gate', on: { gate: gate.gate_id } },
        { kind: 'waiting', step: 'word', on: { signal: 'go' }, timeout_ms: 600_000 },
        { kind: 'released' },
      ],
    });
    expect(waiting).toMatchObject({ id: 'nap-1' });
    const asleep = await door.ask('bob', 'workflows.get', { id: 'nap-1' });
    expect(asleep).toMatchObject({ state: 'running', suspended: true, holder: null });
    const woken = door.ask('bob', 'workflows.take', { ...take, wait_ms: 20_000 });
    const sent = { id: 'nap-1', name: 'go', value: [1] };
    expect(await door.ask('cleo', 'workflows.signal', sent)).toMatchObject({ kept: false });
    const { runs } = await woken;
    expect(runs).toMatchObject([
      {
        ...{ epoch: 2, run: { id: 'nap-1' }, journal: [{ step: 'go' }, { step: 'word' }] },
        resolved: [{ step: 'word', by: 'signal', signal: { name: 'go', by: 'cleo', value: [1] } }],
      },
    ]);
    const news = door.ask('bob', 'workflows.take', {
      ...{ ...take, limit: 0, wait_ms: 20_000 },
      holding: [{ id: 'nap-1', epoch: 2, news: 0 }],
    });
    await door.ask(null, 'workflows.cancel', { id: 'nap-1', reason: 'enough' });
    expect((await news).news).toMatchObject([{ id: 'nap-1', ok: true, cancelling: 'enough' }]);
    const kept = { id: 'nap-1', name: 'later' };
    expect(await door.ask('cleo', 'workflows.signal', kept)).toMatchObject({ kept: true });
    const end = { ...record, epoch: 2, entries: [{ kind: 'ended', state: 'cancelled' }] };
    await door.ask('bob', 'workflows.record', end);
  });

  test('[WF2] [WF9] what is too large is refused, and a run of another is not there', async () => {
    await door.ask('ada', 'workflows.start', { name: 'lone', id: 'lone-1' });
    const large = 'x'.repeat(1024 * 1024);
    const refused = await door.refusal('ada', 'workflows.start', { name: 'lone', input: large });
    expect(refused.detail).toMatchObject({ reason: 'workflow.result-too-large' });
    const { token } = await door.ask(null, 'tokens.create', { agent_id: 'eve' });
    const asEve = async (operation: string, input: unknown) =>
      (await hub.post(operation, input, { authorization: `Bearer ${token}` })).body;
    const take = { ...TAKE, workflows: [{ name: 'lone' }] };
    expect(await asEve('workflows.take', take)).toEqual({ runs: [], news: [] });
    for (const operation of ['get', 'steps', 'cancel', 'retry', 'wait']) {
      const { detail } = await asEve(`workflows.${operation}`, { id: 'lone-1' });
      expect([operation, detail.reason]).toEqual([operation, 'workflow.not-found']);
    }
    expect((await asEve('workflows.list', {})).runs).toEqual([]);
    const { runs } = await door.ask('ada', 'workflows.list', { name: 'lone' });
    expect(runs).toMatchObject([{ id: 'lone-1', state: 'queued' }]);
    const queue = { name: 'lent', executors: ['eve'], per_key: 1, rate: { limit: 9, per_ms: 9 } };
    await door.ask(null, 'workflows.queue', queue);
    await door.ask('ada', 'workflows.start', { name: 'lone', id: 'lone-2', queue: 'lent' });
    const lent = await asEve('workflows.take', take);
    expect(lent.runs).toMatchObject([{ run: { id: 'lone-2', started_by: 'ada' } }]);
    const { queues } = await door.ask('ada', 'workflows.queues', {});
    expect(queues).toMatchObject([{ ...queue, concurrency: null, under_way: 1 }]);
    const removal = { name: 'lent', remove: true };
    const used = await door.refusal(null, 'workflows.queue', removal);
    expect(used.detail).toMatchObject({ reason: 'workflow.queue-in-use', id: 'lone-2' });
    const ended = await door.ask('ada', 'workflows.cancel', { id: 'lone-2', force: true });
    expect(ended).toMatchObject({ state: 'cancelled', over: true, holder: null });
    const late = { id: 'lone-2', epoch: 1, entries: [{ kind: 'completed', step: 's' }] };
    expect((await asEve('workflows.record', late)).detail.reason).toBe('workflow.stale');
    expect(await door.ask(null, 'workflows.queue', removal)).toMatchObject({ removed: true });
  });

  test('[WF7] [WF15] [WF16] [WF17] stuck, retried with another name, forked, asked and answered', async () => {
    const take = { ...TAKE, workflows: [{ name: 'odd' }] };
    const record = (id: string, epoch: number, ...entries: unknown[]) =>
      door.ask('ada', 'workflows.record', { id, epoch, entries });
    await door.ask('ada', 'workflows.start', { name: 'odd', id: 'odd-1', input: { n: 1 } });
    await door.ask('ada', 'workflows.take', take);
    const held = { runs: [{ id: 'odd-1', epoch: 1 }], executor: 'box/1' };
    expect((await door.ask('ada', 'workflows.renew', held)).runs).toMatchObject([{ ok: true }]);
    await record('odd-1', 1, { kind: 'completed', step: 'one', result: 1 });
    await record('odd-1', 1, { kind: 'completed', step: 'two', result: 2 });
    await record('odd-1', 1, { kind: 'stuck', difference: 'two is gone' });
    const stuck = await door.ask('ada', 'workflows.get', { id: 'odd-1' });
    expect(stuck).toMatchObject({ state: 'stuck', stuck: { difference: 'two is gone' } });
    const { items } = await door.ask(null, 'docket.list', {});
    expect(JSON.stringify(items)).toContain('odd-1: two is gone');
    const fork = { id: 'odd-1', at_step: { step: 'two' }, new_id: 'odd-2' };
    const forked = await door.ask('ada', 'workflows.fork', fork);
    expect(forked).toMatchObject({
      state: 'queued',
      input: { n: 1 },
      forked_from: { id: 'odd-1' },
    });
    const retried = await door.ask('ada', 'workflows.retry', { id: 'odd-1', map: { two: 'zwei' } });
    expect(retried).toMatchObject({ state: 'running', stuck: null });
    const { runs } = await door.ask('ada', 'workflows.take', { ...take, limit: 2 });
    const journals = Object.fromEntries(
      runs.map(({ run, journal }: Json) => [run.id, journal.map((one: Json) => one.result)]),
    );
    expect(journals).toEqual({ 'odd-1': [1, 2], 'odd-2': [1] });
    const ask = { kind: 'waiting', step: 'push', on: { ask: 'it may have been pushed' } };
    await record('odd-1', 2, ask, { kind: 'released' });
    const answered = await door.ask(null, 'workflows.answer', {
      ...{ id: 'odd-1', step: 'push', answer: 'fail' },
    });
    expect(answered.waiting_on).toMatchObject([{ step: 'push', ended: true }]);
    const again = await door.ask('ada', 'workflows.take', take);
    expect(again.runs[0].resolved).toEqual([
      { step: 'push', key: null, by: 'answer', answer: 'fail' },
    ]);
    await record('odd-1', 3, {
      kind: 'ended',
      state: 'failed',
      error: { name: 'E', message: 'm' },
    });
    const over = await door.ask('ada', 'workflows.get', { id: 'odd-1' });
    expect(over).toMatchObject({ state: 'failed', error: { name: 'E', terminal: false } });
  });

  test('[WF7] [WF11] who waits for work gets what a rate lets go, and what a lost executor held', async () => {
    await door.ask(null, 'workflows.queue', { name: 'slow', rate: { limit: 1, per_ms: 300 } });
    const take = { ...TAKE, workflows: [{ name: 'slow' }], wait_ms: 20_000 };
    for (const id of ['slow-1', 'slow-2']) {
      await door.ask('ada', 'workflows.start', { name: 'slow', id, queue: 'slow' });
    }
    const first = await door.ask('ada', 'workflows.take', { ...take, lease_ms: 3_000 });
    expect(first.runs).toMatchObject([{ run: { id: 'slow-1' }, epoch: 1 }]);
    const second = await door.ask('ada', 'workflows.take', { ...take, executor: 'box/2' });
    expect(second.runs).toMatchObject([{ run: { id: 'slow-2' }, epoch: 1 }]);
    const third = await door.ask('ada', 'workflows.take', { ...take, executor: 'box/2' });
    expect(third.runs).toMatchObject([{ run: { id: 'slow-1', attempts: 2 }, epoch: 2 }]);
    const lost = { id: 'slow-1', epoch: 1, news: 0 };
    const { news } = await door.ask('ada', 'workflows.take', {
      ...take,
      limit: 0,
      holding: [lost],
    });
    expect(news).toMatchObject([{ id: 'slow-1', ok: false }]);
  });
});
