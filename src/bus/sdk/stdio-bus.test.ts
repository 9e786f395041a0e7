import { expect, test } from 'vitest';
import { ScriptedBackend, scripted } from '../../../test/e2e/sdk-scripted.ts';
import {
  BusState,
  InvalidArgumentError,
  InvalidStateError,
  StdioBus,
  StdioBusBuilder,
  type StdioBusOptions,
} from './index.ts';

const config = { pools: [{ id: 'a', command: 'cat', instances: 1 }] };

const REFUSED: readonly [string, StdioBusOptions, RegExp][] = [
  ['neither config', {}, /config, configPath or functions/],
  ['both configs', { config, configPath: 'x.json' }, /both given/],
  ['a backend nobody knows', { config, backend: 'magic' as 'auto' }, /magic.*embedded/],
  ['no pools', { config: { pools: [] } }, /pools/],
  ['a pool without id', { config: { pools: [{ command: 'cat' } as never] } }, /pools\[0\]\.id/],
  ['a pool without command', { config: { pools: [{ id: 'a' }] } }, /pools\[0\]\.command/],
  [
    'no instances',
    { config: { pools: [{ id: 'a', command: 'cat', instances: 0 }] } },
    /pools\[0\]\.instances/,
  ],
  [
    'a limit that is text',
    { config: { ...config, limits: { max_restarts: 'x' as never } } },
    /max_restarts/,
  ],
  ['tcp without port', { config, embedded: { listenMode: 'tcp' } }, /tcpPort/],
  ['port 0', { config, embedded: { listenMode: 'tcp', tcpPort: 0 } }, /1 to 65535/],
  ['port 65536', { config, embedded: { listenMode: 'tcp', tcpPort: 65_536 } }, /65536/],
  ['unix without path', { config, embedded: { listenMode: 'unix' } }, /unixPath/],
  ['a listener nobody knows', { config, embedded: { listenMode: 'shm' as 'tcp' } }, /shm/],
  [
    'a listener with subprocess',
    { config, backend: 'subprocess', embedded: { listenMode: 'tcp', tcpPort: 9 } },
    /only the embedded/,
  ],
  [
    'a listener with docker',
    { config, backend: 'docker', embedded: { listenMode: 'tcp', tcpPort: 9 } },
    /only the embedded/,
  ],
  ['a socket without address', { socket: {} }, /unixPath or tcpPort/],
  ['a socket with a config', { config, socket: { unixPath: '/x' } }, /its own config/],
  ['a function elsewhere', { functions: { f: () => 1 }, backend: 'subprocess' }, /embedded/],
  [
    'a command and a function',
    { config: { pools: [{ id: 'a', command: 'cat', function: () => 1 }] } },
    /a command and a function/,
  ],
  ['a timeout that is none', { config, timeoutMs: 0 }, /timeoutMs/],
];

test.each(REFUSED)(
  '[SD14] %s: refused by the constructor, and by build, alike',
  (_, options, why) => {
    expect(() => new StdioBus(options)).toThrow(InvalidArgumentError);
    expect(() => new StdioBus(options)).toThrow(why);
    const builder = new StdioBusBuilder();
    for (const [name, value] of Object.entries(options)) {
      const set = builder[name as 'config'] as (given: unknown) => StdioBusBuilder;
      expect(set.call(builder, value)).toBe(builder);
    }
    expect(() => builder.build()).toThrow(why);
  },
);

test('[SD14] the last setter wins, and a builder makes the same object', () => {
  const builder = new StdioBusBuilder().backend('docker').backend('native').config(config);
  const bus = builder.timeoutMs(-1).timeoutMs(5).build();
  expect(bus.getBackendType()).toBe('embedded');
  expect(bus.getStateName()).toBe('CREATED');
  expect(new StdioBus({ config }).getBackendType(), 'auto').toBe('embedded');
  expect(new StdioBus({ socket: { tcpPort: 9 } }).getBackendType(), 'auto').toBe('socket');
  expect(new StdioBus({ config, backend: 'docker' }).getBackendType()).toBe('docker');
});

test('[SD15] states by name and number; one life each', async () => {
  expect(BusState).toEqual({ CREATED: 0, STARTING: 1, RUNNING: 2, STOPPING: 3, STOPPED: 4 });
  const bus = new StdioBus({ backend: new ScriptedBackend() });
  expect(bus.getState()).toBe(0);
  expect(bus.agentSessionId).toBeNull();
  await expect(bus.request('echo')).rejects.toBeInstanceOf(InvalidStateError);
  await expect(bus.stream('echo').next()).rejects.toThrow(/CREATED; start it first/);
  expect(() => bus.notify('echo')).toThrow(InvalidStateError);
  expect(bus.send('{}')).toBe(false);
  const started = bus.start();
  expect(bus.getState()).toBe(1);
  await started;
  expect(bus.getState()).toBe(2);
  await expect(bus.start()).rejects.toBeInstanceOf(InvalidStateError);
  await Promise.all([bus.stop(), bus.stop()]);
  expect(bus.getState()).toBe(4);
  await expect(bus.start()).rejects.toThrow(/starts once/);
});

test('[SD15] `await using` stops it', async () => {
  let kept: StdioBus;
  {
    await using bus = new StdioBus({ backend: new ScriptedBackend() });
    await bus.start();
    kept = bus;
  }
  expect(kept.getState()).toBe(BusState.STOPPED);
});

test('[SD8] auto takes a session a call, object takes one, a name takes that one', async () => {
  const sessionsOf = async (options: StdioBusOptions, dialect?: 'stdio_bus'): Promise<string[]> => {
    const { bus, backend } = await scripted(options, dialect);
    for (const n of [1, 2]) bus.notify('echo', { n });
    bus.notify('echo', {}, { session: 'object' });
    bus.notify('echo', {}, { sessionId: 'given' });
    const own = bus.clientSessionId;
    return backend.sent.map(({ sessionId }) => (sessionId === own ? 'own' : sessionId));
  };
  const [first, second, ...rest] = await sessionsOf({});
  expect(first).not.toBe(second);
  expect(rest).toEqual(['own', 'given']);
  expect(await sessionsOf({ session: 'object' })).toEqual(['own', 'own', 'own', 'given']);
  expect(await sessionsOf({ session: 'mine' })).toEqual(['mine', 'mine', 'own', 'given']);
  expect(await sessionsOf({}, 'stdio_bus')).toEqual(['own', 'own', 'own', 'given']);
});

test('[BU12] [SD8] a key is done once also where each call has its own session', async () => {
  let runs = 0;
  const bus = new StdioBus({ functions: { f: () => ({ run: ++runs }) } });
  await bus.start();
  try {
    const once = { idempotencyKey: 'k' };
    const first = await bus.request('f', {}, once);
    expect(await bus.request('f', {}, once)).toEqual(first);
    expect(await bus.request('f', {}, { ...once, sessionId: 'mine' })).toEqual({ run: 2 });
    expect(await bus.request('f', {}, { ...once, sessionId: 'mine' })).toEqual({ run: 2 });
  } finally {
    await bus.stop();
  }
});

test('[SD8] an agent session is remembered for its pool and agent, until its worker is gone', async () => {
  const { bus, backend } = await scripted();
  const opened = bus.request('session/new', {}, { pool: 'a' });
  const home = backend.last.sessionId;
  backend.answer(backend.last, { sessionId: 'x' });
  await opened;
  bus.notify('session/prompt', { sessionId: 'x' }, { pool: 'a' });
  expect(backend.last.sessionId).toBe(home);
  bus.notify('session/prompt', { sessionId: 'x' }, { pool: 'b' });
  expect(backend.last.sessionId, 'another pool may use the same name').not.toBe(home);
  bus.notify('session/load', { sessionId: 'y' });
  const loaded = backend.last.sessionId;
  bus.notify('session/prompt', { sessionId: 'y' });
  expect(backend.last.sessionId).toBe(loaded);
  backend.say({ method: 'stdio_bus/session_lost', params: { sessionId: home } });
  bus.notify('session/prompt', { sessionId: 'x' }, { pool: 'a' });
  expect(backend.last.sessionId).not.toBe(home);
});

test('[SD18] a bus that does not negotiate cannot pass for one that did', async () => {
  const { bus, backend } = await scripted({}, 'stdio_bus');
  const blank = bus.hello({ extensions: { cancel: {} } });
  backend.answer(backend.last, { echo: {} });
  expect(await blank).toEqual({
    ...{ negotiatedProtocolVersion: '', sessionId: '' },
    extensions: { cancel: { version: '', required: false, active: false } },
  });
  expect(bus.agentSessionId).toBeNull();
  const required = bus.hello({ extensions: { cancel: { required: true } } });
  backend.answer(backend.last, { echo: {} });
  await expect(required).rejects.toMatchObject({ code: 6, details: { missing: ['cancel'] } });
});
