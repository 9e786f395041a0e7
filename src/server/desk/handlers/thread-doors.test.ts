/** Threads at both doors, each answer in exactly its declared shape. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

describe.each(DOORS)('threads over %s', (name) => {
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

  test('[O1] [TM3] [TM7] describe, post, reply, read, list, mark, digest', async () => {
    const { ask } = door;
    await ask('ada', 'channels.describe', { channel: 'board', title: 'Board', types: ['plan'] });
    const body = { kind: 'post', type: 'plan', title: 'First' };
    const { message_id } = await ask('ada', 'channels.send', { channel: 'board', body });
    const reply = { channel: 'board', body: { text: 'yes' }, reply_to: message_id };
    await ask('bob', 'channels.send', reply);
    expect(await ask('bob', 'messages.get', { message_id })).toMatchObject({ message: { body } });
    await ask('ada', 'threads.mark', { message_id, mark: 'close', note: 'agreed' });
    const closed = { detail: { reason: 'thread.closed', note: 'agreed' } };
    expect(await door.refusal('bob', 'channels.send', reply)).toMatchObject(closed);
    const whole = { root: { message_id }, replies: [{ sender: 'bob' }], marks: [{ by: 'ada' }] };
    expect(await ask('bob', 'threads.get', { message_id })).toMatchObject(whole);
    const { threads } = await ask('bob', 'threads.list', { state: 'closed' });
    expect(threads).toMatchObject([{ message_id, title: 'First', type: 'plan' }]);
    for (const view of ['headlines', 'recent', 'full']) {
      const digest = await ask('bob', 'channels.digest', { view, channels: ['board'] });
      expect(digest.channels).toMatchObject([{ channel: 'board', title: 'Board' }]);
    }
  });
});
