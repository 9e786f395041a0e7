/** A supervisor outside of the hub holds a turn: the hub goes and comes back, and the turn goes on. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRunningHub } from './running-hub.ts';

test('[TN9] a turn that is held outside keeps its lease, its token and its mail over a restart of the hub', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'synod-outside-'));
  try {
    const first = await openRunningHub({ dir });
    await first.ask('wes', 'subscribe', { pattern: 'jobs' });
    await first.admin('agents_manage', { agent_id: 'wes', runner: { kind: 'outside' } });
    const sent = await first.ask('ada', 'send', { channel: 'jobs', body: { n: 1 } });
    const { turn, token } = await first.admin('turns_take', {
      ...{ agents: ['wes'], wait_ms: 20_000, lease_ms: 600_000 },
    });
    const later = await first.ask('ada', 'send', { channel: 'jobs', body: { n: 2 } });
    await first.close();

    const hub = await openRunningHub({ dir });
    const held = { turn_id: turn.turn_id, epoch: turn.epoch };
    const none = await hub.admin('turns_take', { agents: ['wes'] });
    expect(none.turn).toBeNull();
    const renewed = await hub.admin('turns_renew', { ...held, pid: 7 });
    expect(renewed).toMatchObject({
      ...held,
      ...{ state: 'busy', attempt: 1, failures: 0, after_restart: false, pid: 7 },
    });
    expect(renewed.lease_until).toBeGreaterThanOrEqual(turn.lease_until);
    const headers = { authorization: `Bearer ${token}` };
    expect((await hub.post('send', { channel: 'out', body: {} }, headers)).status).toBe(200);
    const done = { ...held, outcome: 'done', consumed: [sent.message_id] };
    expect(await hub.admin('turns_finish', done)).toMatchObject({ state: 'done', sends: 1 });
    const next = await hub.admin('turns_take', { agents: ['wes'], wait_ms: 20_000 });
    expect(next.messages).toMatchObject([{ message_id: later.message_id, body: { n: 2 } }]);
    expect(next.turn.epoch).toBe(turn.epoch + 1);
    await hub.close();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
