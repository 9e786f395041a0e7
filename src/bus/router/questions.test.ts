/** Questions of workers: to the one client that is meant, and back; never answered for a person. */
import { expect, test } from 'vitest';
import {
  hear,
  openSmallBus,
  refused,
  type SmallBus,
  type SmallClient,
  say,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

const QUESTION = { id: 7, method: 'session/request_permission', sessionId: 's', params: {} };

/** Two clients in session `s`; the first is asked. */
async function openSession(
  limits = {},
): Promise<{ small: SmallBus; ada: SmallClient; bob: SmallClient }> {
  const small = await openSmallBus({ limits });
  const [ada, bob] = [small.connect(), small.connect()];
  for (const client of [ada, bob]) {
    client.ask(1, 'm', { sessionId: 's' });
    serve(small.worker('a/0'));
    client.got();
  }
  return { small, ada, bob };
}

test('[BU14] a question goes to one client, under another id, and its answer back under the first', async () => {
  const { small, ada, bob } = await openSession();
  const worker = small.worker('a/0');
  say(worker, QUESTION);
  const [asked] = ada.got();
  expect(asked).toEqual({ jsonrpc: '2.0', ...QUESTION, id: expect.stringMatching(/^w/) });
  expect(bob.got()).toEqual([]);
  // Somebody else cannot answer it.
  bob.send({ id: asked.id, result: { outcome: 'forged' } });
  expect(hear(worker)).toEqual([]);
  ada.send({ id: asked.id, result: { outcome: 'allowed' } });
  ada.send({ id: asked.id, result: { outcome: 'twice' } });
  expect(hear(worker)).toEqual([{ jsonrpc: '2.0', id: 7, result: { outcome: 'allowed' } }]);
});

test('[BU14] the request it belongs to says who is asked', async () => {
  const { small, ada, bob } = await openSession();
  const worker = small.worker('a/0');
  bob.ask(2, 'm', { sessionId: 's' });
  const [{ id: requestId }] = hear(worker);
  say(worker, { ...QUESTION, _ext: { requestId } });
  expect(ada.got()).toEqual([]);
  expect(bob.got()).toMatchObject([{ method: QUESTION.method }]);
});

test('[BU14] without a client the worker is told at once', async () => {
  const { small, ada, bob } = await openSession();
  for (const { peer } of [ada, bob]) peer.close('closed', false);
  say(small.worker('a/0'), QUESTION);
  expect(hear(small.worker('a/0'))).toEqual([refused(7, 'bus.no-client')]);
});

test('[BU14] when the client leaves, the next one of the session is asked; with none it is refused', async () => {
  const { small, ada, bob } = await openSession();
  const worker = small.worker('a/0');
  const stranger = small.connect();
  say(worker, QUESTION);
  const [asked] = ada.got();
  ada.peer.close('closed', false);
  expect(hear(worker)).toEqual([]);
  expect(bob.got()).toEqual([asked]);
  bob.send({ id: asked.id, result: { outcome: 'allowed' } });
  expect(hear(worker)).toEqual([{ jsonrpc: '2.0', id: 7, result: { outcome: 'allowed' } }]);
  say(worker, { ...QUESTION, id: 'next' });
  bob.peer.close('closed', false);
  expect(hear(worker)).toEqual([refused('next', 'bus.no-client')]);
  expect(stranger.got()).toEqual([]);
});

test('[BU14] when the client does not answer in time, it is refused', async () => {
  const { small, ada, bob } = await openSession({ requestMs: 1_000 });
  const worker = small.worker('a/0');
  ada.peer.close('closed', false);
  say(worker, { ...QUESTION, id: 'next' });
  const [asked] = bob.got();
  small.clock.advance(999);
  expect(hear(worker)).toEqual([]);
  small.clock.advance(1);
  expect(hear(worker)).toEqual([refused('next', 'bus.no-client')]);
  bob.send({ id: asked.id, result: 'late' });
  expect(hear(worker)).toEqual([]);
});

test('[BU14] when the worker dies, or takes it back, the client is told under the id it knows', async () => {
  const { small, ada } = await openSession();
  const worker = small.worker('a/0');
  say(worker, QUESTION);
  const [{ id }] = ada.got();
  say(worker, { method: '$/cancelRequest', params: { id: 7 } });
  expect(ada.got()).toEqual([{ jsonrpc: '2.0', method: '$/cancelRequest', params: { id } }]);
  worker.crash(true);
  expect(ada.got()).toContainEqual({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id } });
  worker.comeUp();
  ada.send({ id, result: 'late' });
  expect(hear(worker)).toEqual([]);
});

test('[BU14] of several clients in a session the one that asks is asked back', async () => {
  const { worker, connect } = await openSmallBus();
  const [first, second] = [connect(), connect()];
  first.send({ method: 'n', sessionId: 's' });
  second.ask(1, 'm', { sessionId: 's' });
  hear(worker('a/0'));
  say(worker('a/0'), { id: 'q', method: 'may/i', sessionId: 's' });
  expect(first.got()).toEqual([]);
  expect(second.got()).toMatchObject([{ method: 'may/i' }]);
});
