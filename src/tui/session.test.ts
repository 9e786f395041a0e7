/** The hub behind the screen: real clients on a real hub, and what their states come to. */
import { afterAll, beforeAll, test } from 'vitest';
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
