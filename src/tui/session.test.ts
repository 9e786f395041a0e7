/** The hub behind the screen: real clients on a real hub, and what their states come to. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { within } from '../../test/e2e/deadline.ts';
import { openRunningHub, type RunningHub } from '../../test/e2e/running-hub.ts';
import { type Client, connect } from '../client/index.ts';
import { openSession } from './session.ts';
import { initialState } from './state.ts';
import { createStore } from './store.ts';

let hub: RunningHub;
beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

const clientOf = (agent: string): Promise<Client> =>
  connect({ url: hub.url, token: hub.owner, agent });

test('[TU11] what I say in one window has its marks in the other', async () => {
  const bob = await clientOf('bob');
  await bob.subscribeTo('room');
  const windows = await Promise.all(
    [1, 2].map(async () => {
      const client = await clientOf('ada');
      const store = createStore(initialState(await client.whoami(), 0));
      return { client, store, session: await openSession({ client, store, channels: ['room'] }) };
    }),
  );
  const [one, other] = windows;
  const { message_id: id } = (await one?.client.send('room', { text: 'hello' })) ?? {};
  const marked = Promise.withResolvers<void>();
  const look = () => {
    const seen = other?.store.state().receipts.get(id ?? '');
    if (seen?.get('bob') === 'accepted') marked.resolve();
  };
  other?.store.watch(look);
  look();
  await within('the other window knows that bob is owed it', marked.promise);
  await Promise.all(windows.map(({ session }) => session.close()));
  await bob.close();
});

test('[TU12] a mark and a reply of another are on the screen as they are made, and a refusal is the hub’s', async () => {
  const { token } = await hub.admin('tokens_create', { agent_id: 'hana', kind: 'human' });
  const [client, bob] = await Promise.all([connect({ url: hub.url, token }), clientOf('bob')]);
  const store = createStore(initialState(await client.whoami(), 0));
  const session = await openSession({ client, store, channels: ['room'] });
  const { message_id: root } = await bob.send('room', { text: 'which shape?' });
  const shows = (what: string, isSo: () => boolean): Promise<void> => {
    const seen = Promise.withResolvers<void>();
    const look = () => {
      if (isSo()) seen.resolve();
    };
    const stop = store.watch(look);
    look();
    return within(what, seen.promise).finally(stop);
  };
  await session.threads.open(root);
  expect(store.state().panel).toMatchObject({ kind: 'thread', root, channel: 'room' });
  await bob.call('threads.mark', { message_id: root, mark: 'pin', note: 'look here' });
  const open = () => store.state().threads.open;
  await shows('the mark of bob', () => open()?.marks[0]?.note === 'look here');
  expect(store.state().threads.standings.get(root)).toMatchObject({ isPinned: true });
  const { message_id: reply } = await bob.send('room', { text: 'round' }, { reply_to: root });
  await shows('the reply of bob', () => open()?.replies.at(-1)?.id === reply);

  await session.threads.list('room', 'pinned');
  expect(store.state().threads.choices.map(({ id }) => id)).toEqual([root]);
  await bob.call('threads.mark', { message_id: root, mark: 'unpin' });
  await shows('that none is pinned', () => store.state().threads.choices.length === 0);

  expect(await session.threads.mark(reply, 'resolve', null)).toBe(`${root} is resolved`);
  expect(await session.threads.mark(reply, 'resolve', null)).toBe(`${root} is resolved already`);
  await expect(session.threads.mark(root, 'close', null)).rejects.toThrow(/say why in note/);
  await expect(session.threads.open('m999999')).rejects.toThrow(/no message m999999/);
  await session.close();
  await bob.close();
});
