/** Long polls without end: an agent comes to its own bound, and the others go on waiting. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WAITS_OF_ONE_MAX } from '../../src/hub/watch.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub({ file: { rate_limit: 100_000 } });
});
afterAll(() => hub.close());

test('[N9] [GT11] one agent that waits on its gate more often than it may keeps no other from waiting', async () => {
  const { gate_id } = await hub.agent.ask('gates_ask', { action: 'push', subject: 'main' });
  const socket = await hub.agent.socket();
  const waits = Array.from({ length: WAITS_OF_ONE_MAX + 1 }, () =>
    socket.call('gates.get', { gate_id, wait_ms: 60_000 }),
  );
  // The one too many is answered at once, and by it we know that all others wait.
  const { error } = await Promise.race(waits);
  expect(error.data.detail.reason).toBe('limit.reached');
  const drain = await hub.agent.refusal('recv', { wait_ms: 1_000 });
  expect(drain.detail.reason).toBe('limit.reached');
  const other = await hub.other.socket();
  const waiting = other.call('recv', { wait_ms: 20_000 });
  await hub.other.ask('subscribe', { pattern: 'news' });
  await hub.human.ask('send', { channel: 'news', body: { text: 'here' } });
  expect((await waiting).result.messages).toHaveLength(1);
  // The way out: what was waited for comes, or who waits goes.
  await hub.agent.ask('gates_withdraw', { gate_id });
  const ended = await Promise.all(waits);
  expect(ended.filter(({ result }) => result?.state === 'withdrawn')).toHaveLength(
    WAITS_OF_ONE_MAX,
  );
  await Promise.all([socket.close(), other.close()]);
});
