/** Presence with its evidence, and speaking to agents by name, project, role or glob. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { until } from '../../../../test/e2e/deadline.ts';
import { openRpcSocket } from '../../../../test/e2e/rpc-socket.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

describe.each(DOORS)('presence over %s', (name) => {
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
  const rowOf = async (agent: string): Promise<Json> => {
    const { agents } = await door.ask('watcher', 'presence.list', { limit: 500 });
    return agents.find((one: Json) => one.agent_id === agent);
  };
  const heard = async (agent: string): Promise<unknown[]> =>
    (await hub.ask(agent, 'recv')).messages.map((one: Json) => one.body.n);

  test('[PE2] each state comes with its evidence: connected, idle, busy, blocked', async () => {
    await hub.ask('vera', 'send', { channel: 'hello', body: {} });
    expect(await rowOf('vera')).toMatchObject({
      evidence: { connections: 0, last_heartbeat: null, last_operation: 'send' },
    });
    const sockets = await Promise.all([1, 2].map(() => openRpcSocket(hub.url, hub.as('vera'))));
    expect(await rowOf('vera')).toMatchObject({
      state: 'connected',
      evidence: { connections: 2 },
    });
    const report = (state: string, more: object = {}) =>
      door.ask('vera', 'presence.report', { state, ...more });
    await hub.admin('agents_assign', { agent_id: 'vera', roles: ['reviewer'] });
    const answer = await report('idle', { roles: ['reviewer'], process: 4711 });
    expect(answer).toMatchObject({ agent_id: 'vera', state: 'idle' });
    const idle = await rowOf('vera');
    expect(idle).toMatchObject({ state: 'idle', roles: ['reviewer'], evidence: { process: 4711 } });
    expect(idle.evidence.last_heartbeat).toBeGreaterThan(0);
    await report('blocked', { note: 'may I delete it?' });
    const blocked = await rowOf('vera');
    expect(blocked).toMatchObject({ state: 'blocked', note: 'may I delete it?' });
    await report('blocked', { note: 'still' });
    expect(await rowOf('vera')).toMatchObject({ since: blocked.since, note: 'still' });
    await report('busy');
    await hub.ask('vera', 'claims.take', { task_id: `v-${name}` });
    expect(await rowOf('vera')).toMatchObject({ state: 'busy', note: null, claims: 1 });
    for (const socket of sockets) await socket.close();
    await until(
      'the sockets are gone',
      () => rowOf('vera'),
      (row) => row.evidence.connections <= 1,
    );
    await hub.ask('vera', 'channels.heartbeat', { status: 'offline' });
    // What it said of itself is over, whatever else shows that it is near.
    expect(['connected', 'gone']).toContain((await rowOf('vera')).state);
  });

  test('[PE2] what was reported lapses with its time', async () => {
    await door.ask('short', 'presence.report', { state: 'blocked', ttl: 3 });
    expect((await rowOf('short')).state).toBe('blocked');
    await until(
      'it is over',
      () => rowOf('short'),
      ({ state }) => state !== 'blocked',
    );
  });

  test('[PE2] the list is filtered by state and project, and pages', async () => {
    for (const agent of ['proj/a', 'proj/b', 'proj/c']) {
      await hub.ask(agent, 'presence.report', { state: 'idle' });
    }
    const page = await door.ask('watcher', 'presence.list', { project: 'proj', limit: 2 });
    expect(page.agents.map((one: Json) => one.agent_id)).toEqual(['proj/a', 'proj/b']);
    const rest = await door.ask('watcher', 'presence.list', { project: 'proj', after: page.next });
    expect(rest.agents.map((one: Json) => one.agent_id)).toEqual(['proj/c']);
    expect(rest.next).toBeNull();
    const none = await door.ask('watcher', 'presence.list', { project: 'proj', state: ['stale'] });
    expect(none.agents).toEqual([]);
    const bad = await door.refusal('watcher', 'presence.report', { state: 'asleep' });
    expect(bad.detail.reason).toBe('input.invalid');
  });

  test('[AD1] [AD2] a directed message goes to its recipients only: one, several, project, role, glob, all', async () => {
    const everybody = ['t/a', 't/b', 'u/a', 'lone'];
    for (const agent of everybody) await hub.ask(agent, 'presence.report', { state: 'idle' });
    await hub.admin('agents_assign', { agent_id: 'u/a', roles: ['tester'] });
    await hub.ask('lone', 'subscribe', { pattern: '*' });
    let n = 0;
    const tell = async (to: string | readonly string[], expected: readonly string[]) => {
      n++;
      const { recipients, unmatched } = await door.ask('t/a', 'agents.tell', { to, body: { n } });
      expect(recipients.map((one: Json) => one.agent_id)).toEqual(expected);
      expect(unmatched).toEqual([]);
      // The sender is a party to its own direct channels and is not looked at.
      for (const agent of everybody.slice(1)) {
        const wanted = expected.includes(agent) ? [n] : [];
        expect(await heard(agent), `${agent} on ${to}`).toEqual(wanted);
      }
    };
    await tell('lone', ['lone']);
    await tell(['lone', 'u/a'], ['lone', 'u/a']);
    await tell('t', ['t/b']); // the project, without oneself [AD2]
    await hub.ask('t', 'presence.report', { state: 'idle' });
    await tell('t', ['t', 't/b']); // an agent of that name takes nothing from the project
    await tell('role:tester', ['u/a']);
    await tell('[tu]/a', ['u/a']);
    await tell(['t/*', 'lone', 'lone'], ['lone', 't/b']);
    const all = await door.ask('t/a', 'agents.tell', { to: 'all', body: { n: ++n } });
    const names = all.recipients.map((one: Json) => one.agent_id);
    expect(names).toEqual(expect.arrayContaining(['lone', 't/b', 'u/a']));
    expect(names).not.toContain('t/a');
  });

  test('[AD3] whom nobody answers for is told: all unmatched is a refusal, some is not', async () => {
    await hub.ask('here', 'presence.report', { state: 'idle' });
    const { detail } = await door.refusal('t/a', 'agents.tell', { to: 'nobody', body: {} });
    expect(detail).toMatchObject({ reason: 'recipient.unknown', unmatched: ['nobody'] });
    const some = await door.ask('t/a', 'agents.tell', { to: ['here', 'role:cook'], body: {} });
    expect(some.unmatched).toEqual(['role:cook']);
    const self = await door.refusal('t/a', 'agents.tell', { to: 't/a', body: {} });
    expect(self.detail.reason).toBe('recipient.unknown');
    const bad = await door.refusal('t/a', 'agents.tell', { to: [], body: {} });
    expect(bad.detail.reason).toBe('input.invalid');
  });
});
