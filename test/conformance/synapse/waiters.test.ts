/**
 * Waiters, listeners and the inbox of the original, at our door: the frames its programs send, as
 * they were seen on the wire, and what they must be shown to do their work.
 */
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../e2e/deadline.ts';
import { type Json, openRunningHub, type RunningHub } from '../../e2e/running-hub.ts';
import { connectSynapse, type SynapseClient, synapseUrl } from './synapse-client.ts';

let hub: RunningHub;
let url: string;
const token = 'a-shared-secret';
const feed = join(tmpdir(), `synod-feed-${process.pid}.ndjson`);
const clients: SynapseClient[] = [];

beforeAll(async () => {
  hub = await openRunningHub({ flags: { synapse: '0', synapseToken: token, synapseRelay: feed } });
  url = await synapseUrl(hub.dir);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(async () => {
  await hub.close();
  await rm(feed, { force: true });
});

async function connect(name: string, options = {}): Promise<SynapseClient> {
  const client = await connectSynapse(url, name, { token, ...options });
  clients.push(client);
  return client;
}

const arm = (name: string): Promise<SynapseClient> => connect(`${name}-rx`, { takeover: true });
const chats = ({ frames }: SynapseClient): Json[] => frames.filter(({ type }) => type === 'chat');

describe('a waiter', () => {
  test.each(['bob', 'proj/bob'])('[SY4] of %s hears what is directed to the name', async (name) => {
    const waiter = await arm(name);
    const ada = await connect('ada');
    ada.send({ type: 'chat', target: name, payload: 'wake up' });
    const heard = await waiter.next('chat');
    expect(heard).toMatchObject({ sender: 'ada', target: name, payload: 'wake up' });
  });

  test('[SY4] hears what another door sends to the name, and the name is still owed it', async () => {
    const waiter = await arm('cyd');
    await hub.ask('webby', 'send', { channel: 'dm/cyd~webby', body: { text: 'from the web' } });
    expect(await waiter.next('chat')).toMatchObject({ target: 'cyd', payload: 'from the web' });
    const { messages } = await hub.ask('cyd', 'recv', {});
    expect(messages).toMatchObject([{ body: { text: 'from the web' } }]);
    const eve = await connect('eve');
    await eve.ask({ type: 'who_request' }, 'who_snapshot');
    expect(chats(eve)).toEqual([]);
  });

  test('[SY4] of one agent of a project is shown it by the project’s name, which is all it listens for', async () => {
    const waiter = await arm('work/claude-7');
    const ada = await connect('ada');
    ada.send({ type: 'chat', target: 'work/claude-7', payload: 'you alone' });
    await waiter.next('chat', ({ target }) => target === 'work/claude-7');
    expect(await waiter.next('chat')).toMatchObject({ target: 'work', payload: 'you alone' });
    ada.send({ type: 'chat', target: 'work', payload: 'all of you' });
    const heard = await waiter.next('chat', ({ payload }) => payload === 'all of you');
    expect(heard.target).toBe('work');
    expect(heard.recipients).toEqual(['work/claude-7']);
  });
});

test('[SY4] a listener hears every chat of the door once, and each recipient its own', async () => {
  const [listener, bob, eve] = [await connect('USER'), await connect('bob'), await connect('eve')];
  const ada = await connect('ada');
  for (const target of ['bob', 'bob,eve', 'nobody-yet']) {
    ada.send({ type: 'chat', target, payload: `to ${target}` });
    await ada.next('chat', ({ payload }) => payload === `to ${target}`);
  }
  ada.send({ type: 'chat', target: 'all', payload: 'the end' });
  const said = ['to bob', 'to bob,eve', 'to nobody-yet', 'the end'];
  for (const one of [listener, bob, eve, ada]) {
    await one.next('chat', ({ payload }) => payload === 'the end');
    expect(chats(one).map(({ payload }) => payload)).toEqual(said);
  }
});

describe('text', () => {
  test('[SY12] a chat is a text at every other door, and comes back whole at this one', async () => {
    await hub.ask('webby', 'subscribe', { pattern: 'synapse/chat' });
    const [ada, bob] = [await connect('ada'), await connect('bob')];
    ada.send({ type: 'chat', payload: 'plain' });
    ada.send({
      type: 'chat',
      payload: 'marked',
      priority: true,
      memory_tag: 'm1',
      timestamp: 12.5,
    });
    ada.send({ type: 'chat', target: 'webby', payload: 'for you' });
    await ada.next('chat', ({ payload }) => payload === 'for you');
    const { messages } = await hub.ask('webby', 'recv', {});
    expect(messages.map(({ body }: Json) => body)).toEqual([
      { text: 'plain' },
      { text: 'marked', synapse: { priority: true, memory_tag: 'm1', timestamp: 12.5 } },
      { text: 'for you', synapse: { target: 'webby', recipients: ['webby'] } },
    ]);
    const marked = await bob.next('chat', ({ payload }) => payload === 'marked');
    expect(marked).toMatchObject({ priority: true, memory_tag: 'm1', timestamp: 12.5 });
    expect(marked).not.toHaveProperty('synapse');
    expect(marked).not.toHaveProperty('text');
  });
});

test('[RL5] the relay for Synapse’s readers has chat, directed chat once, and claims; no dm of another door', async () => {
  const ada = await connect('ada');
  ada.send({ type: 'chat', target: 'x1,x2', payload: 'twice\nstored, once told' });
  await ada.next('chat', ({ target }) => target === 'x1,x2');
  await hub.ask('webby', 'send', { channel: 'dm/bob~webby', body: { text: 'secret' } });
  await ada.ask({ type: 'claim', task_id: 'R1', worktree: 'r', paths: ['x'] }, 'claim_granted');
  ada.send({ type: 'chat', payload: 'last' });
  const lines = await until(
    'the last line',
    async () =>
      (await readFile(feed, 'utf8'))
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    (all) => all.at(-1)?.p === 'last',
  );
  expect(lines.slice(-3)).toMatchObject([
    { v: 1, ty: 'chat', s: 'ada', to: 'x1,x2', p: 'twice\nstored, once told' },
    { v: 1, ty: 'claim_granted', s: 'SynapseHub', to: 'all', i: 0 },
    { v: 1, ty: 'chat', s: 'ada', to: 'all', p: 'last', t: expect.any(Number) },
  ]);
  expect(lines.at(-1).i).toBe(lines.at(-1).n + 1);
  expect(JSON.stringify(lines)).not.toContain('secret');
});
