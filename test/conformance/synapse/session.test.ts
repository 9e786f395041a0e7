/** Names, tokens, takeover, bounds and close codes of the Synapse door. */
import { afterEach, describe, expect, test } from 'vitest';
import { parseConfig } from '../../../src/server/run/config.ts';
import { type HubOptions, openRunningHub, type RunningHub } from '../../e2e/running-hub.ts';
import { connectSynapse, type SynapseClient, synapseUrl } from './synapse-client.ts';

let hub: RunningHub;
let url: string;
const clients: SynapseClient[] = [];

async function start(options: HubOptions = {}): Promise<void> {
  hub = await openRunningHub({ ...options, flags: { synapse: '0', ...options.flags } });
  url = await synapseUrl(hub.dir);
}

async function connect(name: string, options = {}): Promise<SynapseClient> {
  const client = await connectSynapse(url, name, options);
  clients.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await hub.close();
});

const SECRET = 'never-on-the-wire-again';
const secured = (synapse: object = {}): HubOptions => ({
  flags: { synapseToken: SECRET },
  hooks: { synapse: { wrongTokenMs: 1, ...synapse } },
});

describe('an open hub', () => {
  test('[SY1] says welcome before it knows a name, and on any path', async () => {
    await start();
    const client = await connect('ada', { isBinding: false, path: '/any/path?x=1' });
    expect(await client.next('welcome')).toMatchObject({ online_agents: [], connected_clients: 1 });
  });

  test('[SY1] the first frame of any type binds, and a socket without a sender gets a name', async () => {
    await start();
    const ada = await connect('ada', { isBinding: false });
    const who = await ada.ask({ type: 'who_request' }, 'who_snapshot');
    expect(who.online_agents).toEqual(['ada']);
    const nameless = await connect('  ', { isBinding: false });
    nameless.send({ type: 'heartbeat', sender: '  ' });
    expect((await ada.next('presence_update', (one) => one.agent !== 'ada')).agent).toBe('anon-1');
  });

  test('a bound socket keeps its name: another closes it with 4009', async () => {
    await start();
    const ada = await connect('ada');
    ada.send({ type: 'chat', sender: 'bob', payload: 'as bob' });
    await ada.next('name_conflict');
    expect((await ada.closed).code).toBe(4009);
    const bob = await connect('bob');
    const { history } = await bob.ask({ type: 'history_request' }, 'history_snapshot');
    expect(history).toEqual([]);
  });

  test.each(['SynapseHub', '__server__', 'a b', 'a~b', 'a*', 'x'.repeat(129)])(
    '[SY10] the name %s is not given',
    async (name) => {
      await start();
      const client = await connect('whoever', { isBinding: false });
      client.send({ type: 'heartbeat', sender: name });
      await client.next('name_conflict');
      expect((await client.closed).code).toBe(4009);
    },
  );

  test('takeover evicts the holder with 4010 and without a word about presence; again too soon is 4014', async () => {
    await start();
    const watcher = await connect('watcher');
    const first = await connect('ada');
    await watcher.next('presence_update', (one) => one.agent === 'ada');
    const second = await connect('x', { isBinding: false });
    second.send({ sender: 'ada', type: 'heartbeat', takeover: true });
    expect(await first.closed).toEqual({ code: 4010, reason: 'superseded' });
    const third = await connect('x', { isBinding: false });
    third.send({ sender: 'ada', type: 'heartbeat', takeover: true });
    expect((await third.closed).code).toBe(4014);
    expect(third.frames.map(({ type }) => type)).toEqual(['welcome']);
    const who = await second.ask({ sender: 'ada', type: 'who_request' }, 'who_snapshot');
    expect(who.online_agents).toEqual(['ada', 'watcher']);
    await watcher.ask({ type: 'who_request' }, 'who_snapshot');
    const told = watcher.frames.filter(({ type }) => type === 'presence_update');
    expect(told.map(({ event, agent }) => `${event} ${agent}`)).toEqual([
      'joined watcher',
      'joined ada',
    ]);
  });

  test('a hub that is full closes with 4013 before anything is said, and how many it takes is a setting', async () => {
    await start({ file: { synapse_clients: 1 } });
    await connect('ada');
    const late = await connect('late', { isBinding: false });
    expect((await late.closed).code).toBe(4013);
    expect(late.frames).toEqual([]);
  });

  test.each([
    ['no JSON', '{'],
    ['no object', '[1]'],
    ['a number', '7'],
    ['too deep', `{"payload":${'['.repeat(64)}${']'.repeat(64)}}`],
  ])('[SY7] %s is a private error, and the socket goes on', async (_, text) => {
    await start();
    const ada = await connect('ada');
    const bob = await connect('bob');
    ada.sendText(text);
    expect(await ada.next('error')).toMatchObject({ target: 'all' });
    await ada.ask({ type: 'who_request' }, 'who_snapshot');
    await bob.ask({ type: 'who_request' }, 'who_snapshot');
    expect(bob.frames.some(({ type }) => type === 'error')).toBe(false);
  });

  test('a frame above 1 MiB closes with 1009', async () => {
    await start();
    const ada = await connect('ada');
    ada.send({ type: 'chat', payload: 'x'.repeat(1024 * 1024) });
    expect((await ada.closed).code).toBe(1009);
  });

  test('[SY10] a page of another origin and a foreign Host are turned away', async () => {
    await start();
    const page = connectSynapse(url, 'page', { headers: { origin: 'http://evil.example' } });
    await expect(page).rejects.toThrow('HTTP 403');
    const rebound = connectSynapse(url, 'page', { headers: { host: 'evil.example' } });
    await expect(rebound).rejects.toThrow('HTTP 421');
  });

  test('the hub says good-bye with 1001', async () => {
    await start();
    const ada = await connect('ada');
    await hub.close();
    expect((await ada.closed).code).toBe(1001);
  });
});

describe('a secured hub', () => {
  test('[SY3] says nothing until the token was shown, and cuts silence off with 4012', async () => {
    await start(secured({ authTimeoutMs: 50 }));
    const silent = await connect('silent', { isBinding: false });
    expect((await silent.closed).code).toBe(4012);
    expect(silent.frames).toEqual([]);
  });

  test.each([
    ['no token', {}],
    ['an empty one', { token: '' }],
    ['a wrong one', { token: `${SECRET}x` }],
    ['one of another type', { token: [SECRET] }],
  ])('[SY3] %s is denied with 4010', async (_, shown) => {
    await start(secured());
    const eve = await connect('eve', { isBinding: false });
    eve.send({ type: 'chat', payload: 'let me in', ...shown });
    await eve.next('auth_denied');
    expect((await eve.closed).code).toBe(4010);
    expect(eve.frames.map(({ type }) => type)).toEqual(['auth_denied']);
  });

  test('a first frame that is malformed closes with 4010', async () => {
    await start(secured());
    const eve = await connect('eve', { isBinding: false });
    eve.sendText('{');
    expect((await eve.closed).code).toBe(4010);
  });

  test('[SY3] the token is neither told to others, nor kept in the log, nor in ours', async () => {
    await start(secured());
    const bob = await connect('bob', { token: SECRET });
    const ada = await connect('ada', { isBinding: false });
    ada.send({ type: 'chat', payload: 'hi', token: SECRET });
    expect(await bob.next('chat')).toMatchObject({ sender: 'ada', payload: 'hi' });
    ada.send({ type: 'chat', payload: 'again', token: SECRET, target: 'bob' });
    await bob.next('chat', (one) => one.payload === 'again');
    const { messages } = await hub.admin('replay', { channel: 'synapse/chat' });
    const history = await bob.ask({ type: 'history_request' }, 'history_snapshot');
    expect(messages).toHaveLength(1);
    expect(JSON.stringify([messages, history, bob.frames, ada.frames, hub.log])).not.toContain(
      SECRET,
    );
  });

  test('sockets that have not shown a token are so many at the most: 4014', async () => {
    await start(secured({ unauthenticatedMax: 1 }));
    const first = await connect('first', { isBinding: false });
    const second = await connect('second', { isBinding: false });
    expect((await second.closed).code).toBe(4014);
    first.send({ type: 'heartbeat', token: SECRET });
    await first.next('welcome');
    await connect('third', { token: SECRET });
  });

  test('[SY3] names are taken at their word on loopback alone, and a wrong token is not repeated', async () => {
    await start();
    const parse = (flags: object, file?: object) =>
      parseConfig({ flags, env: {}, file, home: '/', cwd: '/' });
    const open = { host: '0.0.0.0', synapse: true, synapseToken: 'none' };
    expect(parse(open)).toMatchObject([
      { code: 'config.open-not-loopback', field: 'synapse_port' },
    ]);
    expect(parse({ host: '0.0.0.0', synapse: true, synapseToken: SECRET })).toMatchObject({
      synapse: { port: 8876, auth: 'token', token: SECRET },
    });
    expect(parse({ synapse: true })).toMatchObject({ synapse: { auth: 'token', token: null } });
    expect(parse({ synapse: true, auth: 'open' })).toMatchObject({ synapse: { auth: 'open' } });
    expect(parse({ synapse: true, synapseToken: '1234567' })).toMatchObject([
      { field: '--synapse-token', message: expect.stringMatching(/at least 8 characters/) },
    ]);
    expect(JSON.stringify(parse({}, { synapse_token: 12_345_678 }))).not.toContain('12345678');
    expect(JSON.stringify(parse({ synapseToken: '1234567' }))).not.toContain('1234567');
  });
});
