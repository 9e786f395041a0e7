/** Threads at both doors, each answer in exactly its declared shape. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

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

  test('[TM13] marks are pushed to a stream that asks, of what it follows and may read', async () => {
    const root = async (channel: string, by = 'ada'): Promise<string> =>
      (await door.ask(by, 'channels.send', { channel, body: {} })).message_id;
    const [seen, private_] = [await root('seen'), await root('dm/ada~bob')];
    const [mine, eve] = await Promise.all([door.socket('eve'), door.socket('zoe')]);
    await mine.call('stream.open', { channels: ['seen'], marks: true });
    await eve.call('stream.open', { channels: ['seen'] });
    for (const message_id of [private_, seen]) {
      await door.ask('ada', 'threads.mark', { message_id, mark: 'pin', note: 'look' });
    }
    const told = await mine.next('mark');
    expect(told).toMatchObject({ thread_id: seen, mark: 'pin', by: 'ada', note: 'look' });
    // Whoever did not ask is pushed the next message, and nothing before it.
    await root('seen');
    expect((await eve.frame()).method).toBe('message');
    expect(mine.said.filter(({ method }: Json) => method === 'mark')).toHaveLength(1);
  });

  test('[TM15] a waiting recv is woken by a mark only where it asked for marks, and may read it', async () => {
    const root = async (channel: string): Promise<string> =>
      (await door.ask('ada', 'channels.send', { channel, body: {} })).message_id;
    const [told, other, private_] = [
      await root('told'),
      await root('other'),
      await root('dm/ada~bob'),
    ];
    for (const agent of ['kim', 'lee'])
      await door.ask(agent, 'channels.subscribe', { pattern: 'told' });
    const wait_ms = 30_000;
    const woken = door.ask('kim', 'channels.recv', { wait_ms, marks: true });
    const deaf = door.ask('lee', 'channels.recv', { wait_ms });
    // Marks that came before the wait wake nobody: it is marked until the wait has heard of one.
    let isOver = false;
    const first = woken.finally(() => {
      isOver = true;
    });
    for (let i = 0; !isOver; i++) {
      const mark = i % 2 === 0 ? 'pin' : 'unpin';
      for (const message_id of [other, private_, told]) {
        await door.ask('ada', 'threads.mark', { message_id, mark });
      }
    }
    const { messages, marks } = await first;
    expect(messages).toEqual([]);
    expect(marks.length).toBeGreaterThan(0);
    expect(new Set(marks.map((one: Json) => one.thread_id))).toEqual(new Set([told]));
    await root('told');
    const heard = await deaf;
    expect(heard.messages).toHaveLength(1);
    expect(heard.marks).toBeUndefined();
  });
});
