/** Agents as processes at both doors. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

describe.each(DOORS)('processes over %s', (name) => {
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

  test('[IP1] [IP4] [IP5] define, start, take, report, stop; the one too many is told the holders', async () => {
    const limits = { memory_mb: 256, wall: 600 };
    const defined = await door.ask(null, 'agents.define', {
      ...{ agent_id: 'rev', capabilities: ['review'], max_instances: 2, limits },
    });
    expect(defined).toMatchObject({ state: 'defined', managed: false, instances: 0, limits });
    const first = await door.ask('rev', 'agents.start', {
      ...{ agent_id: 'rev', hold: true, host: 'box/1', lease_ms: 60_000 },
    });
    expect(first).toMatchObject({ state: 'starting', epoch: 1, held_by: 'rev', limits });
    const waits = await door.ask(null, 'agents.start', { agent_id: 'rev' });
    expect(waits).toMatchObject({ held_by: null, epoch: 0 });
    const { detail } = await door.refusal(null, 'agents.start', { agent_id: 'rev' });
    expect(detail).toMatchObject({
      reason: 'instance.too-many',
      holders: [{ instance_id: first.instance_id, host: 'box/1' }, { host: null }],
    });
    const { instance } = await door.ask(null, 'agents.take', { host: 'box/2' });
    expect(instance).toMatchObject({ instance_id: waits.instance_id, epoch: 1 });
    expect(await door.ask(null, 'agents.take')).toEqual({ instance: null });
    const usage = { memory_mb: 20.5, cpu_seconds: 1.5, files: 12 };
    const held = { instance_id: first.instance_id, epoch: 1 };
    const up = await door.ask('rev', 'agents.report', { ...held, state: 'running', pid: 7, usage });
    expect(up).toMatchObject({ state: 'running', pid: 7, usage });
    const found = await door.ask('bob', 'agents.find', { capability: 'review', up: true });
    expect(found.agents).toMatchObject([{ agent_id: 'rev', state: 'running', instances: 2 }]);
    const stale = await door.refusal('rev', 'agents.report', { ...held, epoch: 9 });
    expect(stale.detail).toMatchObject({ reason: 'instance.stale' });
    const lines = ['secret of rev'];
    await door.ask('rev', 'agents.report', { ...held, state: 'failed', reason: 'died', lines });
    const seen = await door.ask('bob', 'agents.instances', { agent_id: 'rev', state: 'failed' });
    expect(seen.instances).toMatchObject([{ reason: 'died', lines: [] }]);
    const own = await door.ask('rev', 'agents.instances', { agent_id: 'rev', state: 'failed' });
    expect(own.instances).toMatchObject([{ lines }]);
    const { stopped } = await door.ask(null, 'agents.stop', { agent_id: 'rev' });
    expect(new Set(stopped)).toEqual(new Set([first.instance_id, waits.instance_id]));
    const arrow = { instance_id: waits.instance_id, epoch: 1, state: 'running' };
    expect((await door.refusal(null, 'agents.report', arrow)).detail).toMatchObject({
      ...{ reason: 'instance.state', from: 'stopping', to: 'running' },
    });
    await door.ask(null, 'agents.report', { ...arrow, state: 'stopped' });
    expect((await door.ask(null, 'agents.instances', { agent_id: 'rev' })).instances).toEqual([]);
    const all = await door.ask(null, 'agents.instances', { agent_id: 'rev', all: true, limit: 1 });
    expect(all).toMatchObject({ instances: [{ state: 'stopped' }], next: waits.instance_id });
    expect(await door.ask(null, 'agents.undefine', { agent_id: 'rev' })).toEqual({
      ...{ agent_id: 'rev', undefined: true },
    });
  });

  test('[IP2] a singleton stays one, whoever defines it again without the word', async () => {
    await door.ask(null, 'agents.define', { agent_id: 'lead', singleton: true });
    const { detail } = await door.refusal(null, 'agents.define', { agent_id: 'lead' });
    expect(detail.reason).toBe('agent.singleton');
    const rows = (await door.ask('bob', 'agents.find', { agent_id: 'lead' })).agents;
    expect(rows).toMatchObject([{ singleton: true, max_instances: 1 }]);
  });

  test('[IP9] a definition may be of a managed agent, and a card counts with it', async () => {
    await door.ask('wes', 'channels.subscribe', { pattern: 'jobs' });
    await door.ask(null, 'agents.manage', { agent_id: 'wes', runner: { kind: 'outside' } });
    await door.ask(null, 'agents.define', {
      ...{ agent_id: 'wes', capabilities: ['build'], card: { skills: ['typescript'] } },
    });
    const held = { agent_id: 'wes', hold: true };
    const { instance_id } = await door.ask('wes', 'agents.start', held);
    await door.ask('wes', 'agents.report', { instance_id, epoch: 1, state: 'running' });
    await door.ask('kim', 'cards.advertise', { card: { skills: ['typescript'] } });
    const { agents } = await door.ask('bob', 'agents.find', { capability: 'typescript' });
    expect(agents).toMatchObject([
      { agent_id: 'kim', defined: false, state: null },
      { agent_id: 'wes', defined: true, managed: true, state: 'running' },
    ]);
    await door.ask('wes', 'agents.stop', { instance_id });
    const { cards } = await door.ask('bob', 'cards.manifest');
    expect(cards.map((card: { agent_id: string }) => card.agent_id)).toEqual(['kim']);
  });

  test('[IP8] an agent starts, holds and stops itself alone, and defines nothing', async () => {
    await door.ask(null, 'agents.define', { agent_id: 'mine' });
    for (const [operation, input] of [
      ['agents.define', { agent_id: 'mal' }],
      ['agents.undefine', { agent_id: 'mine' }],
      ['agents.start', { agent_id: 'mine' }],
      ['agents.take', { agents: ['mine'] }],
      ['agents.stop', { agent_id: 'mine' }],
    ] as const) {
      const { detail } = await door.refusal('mal', operation, input, 'recorded');
      expect(detail.reason).toBe('access.denied');
    }
  });
});
