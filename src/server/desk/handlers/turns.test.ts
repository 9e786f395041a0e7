/** Managed agents and turns at both doors. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

describe.each(DOORS)('turns over %s', (name) => {
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

  test('[TN11] [RA15] turns: manage, take, renew, finish, pause, resume, cancel, retry', async () => {
    await door.ask('wes', 'channels.subscribe', { pattern: 'jobs' });
    const unknown = await door.refusal(null, 'agents.manage', {
      agent_id: 'nobody-here',
      runner: { kind: 'outside' },
    });
    expect(unknown.detail).toMatchObject({ reason: 'agent.not-found' });
    const managed = await door.ask(null, 'agents.manage', {
      agent_id: 'wes',
      runner: { kind: 'outside' },
      wake: { channels: ['jobs'], min_tier: 'standard' },
      limits: { turns_per_day: 50 },
    });
    expect(managed).toMatchObject({ state: 'asleep', limits: { turns_per_day: 50, hops: 6 } });
    const waiting = door.ask(null, 'turns.take', { wait_ms: 20_000, lease_ms: 60_000 });
    const { message_id } = await door.ask('bob', 'channels.send', {
      channel: 'jobs',
      body: { n: 1 },
    });
    const { turn, messages, token } = await waiting;
    const held = { turn_id: turn.turn_id, epoch: turn.epoch };
    expect(messages).toMatchObject([{ message_id, sender: 'bob', body: { n: 1 }, kind: 'agent' }]);
    expect(token).toMatch(/^syt_default\.t\d+\../);
    const { agents } = await door.ask('wes', 'agents.managed');
    expect(agents).toMatchObject([{ agent_id: 'wes', state: 'busy', turn_id: held.turn_id }]);
    expect((await door.ask('bob', 'turns.list')).turns).toEqual([]);
    expect((await door.refusal('bob', 'turns.get', { turn_id: held.turn_id })).detail.reason).toBe(
      'turn.not-found',
    );
    await door.ask(null, 'turns.renew', { ...held, pid: 7, cost: { usd: 0.1 } });
    const done = { ...held, outcome: 'done', consumed: [message_id], cost: { usd: 0.25 } };
    const ended = await door.ask(null, 'turns.finish', done);
    expect(ended).toMatchObject({ state: 'done', fruitless: false, cost: { usd: 0.25 }, pid: 7 });
    expect(await door.ask('wes', 'turns.get', { turn_id: held.turn_id })).toEqual({
      ...ended,
      output: [],
    });
    expect((await door.ask(null, 'turns.list', { agent_id: 'wes' })).turns).toEqual([ended]);
    const { agents: spent } = await door.ask(null, 'agents.managed');
    expect(spent).toMatchObject([{ day: { turns: 1, usd: 0.25, tokens: 0 } }]);
    await door.ask('bob', 'channels.send', { channel: 'jobs', body: { n: 2 } });
    const next = await door.ask(null, 'turns.take', { agents: ['wes'], wait_ms: 20_000 });
    const { turn_id } = next.turn;
    expect(await door.ask(null, 'turns.pause', { all: true })).toEqual({ paused: ['wes'] });
    expect(await door.ask(null, 'turns.resume', { agent_id: 'wes' })).toEqual({ resumed: ['wes'] });
    const stale = await door.refusal(null, 'turns.finish', { ...done, turn_id, consumed: 'all' });
    expect(stale.detail).toMatchObject({ reason: 'turn.stale', state: 'cancelled' });
    const again = await door.ask(null, 'turns.take', { agents: ['wes'], wait_ms: 20_000 });
    const cancelled = await door.ask(null, 'turns.cancel', { turn_id: again.turn.turn_id });
    expect(cancelled.state).toBe('cancelled');
    await door.ask(null, 'turns.retry', { turn_id: again.turn.turn_id });
    expect(await door.ask(null, 'agents.unmanage', { agent_id: 'wes' })).toEqual({
      agent_id: 'wes',
      unmanaged: true,
    });
  });

  test('[TN7] the token of a turn opens what its agent may do, and nothing once it is over', async () => {
    await door.ask('tom', 'channels.subscribe', { pattern: 'tom' });
    await door.ask(null, 'agents.manage', { agent_id: 'tom', runner: { kind: 'outside' } });
    await door.ask('bob', 'channels.send', { channel: 'tom', body: {} });
    const { turn, token } = await door.ask(null, 'turns.take', {
      agents: ['tom'],
      wait_ms: 20_000,
    });
    const headers = { authorization: `Bearer ${token}` };
    const me = await hub.post('whoami', {}, headers);
    expect(me.body).toMatchObject({ agent_id: 'tom', kind: 'agent', tier: 'standard' });
    const denied = await hub.post('turns_take', {}, headers);
    expect(denied.body.detail.reason).toBe('access.denied');
    expect((await hub.post('send', { channel: 'out', body: {} }, headers)).status).toBe(200);
    const wrong = { authorization: `Bearer ${token}x` };
    expect((await hub.post('whoami', {}, wrong)).status).toBe(401);
    const { turn_id, epoch } = turn;
    const ended = await door.ask(null, 'turns.finish', { turn_id, epoch, outcome: 'done' });
    expect(ended.sends).toBe(1);
    const late = await hub.post('send', { channel: 'out', body: {} }, headers);
    expect([late.status, late.body.detail.reason]).toEqual([409, 'turn.stale']);
  });
});
