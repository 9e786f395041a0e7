/** Where an agent's session is found again, and what its client hears when it is lost. */
import { expect, test } from 'vitest';
import { type ScriptedBackend, scripted } from '../../../test/e2e/sdk-scripted.ts';
import { InvalidArgumentError } from './errors.ts';
import {
  type RequestOptions,
  StdioBus,
  type StdioBusOptions,
  type WorkerFunction,
} from './index.ts';
import { REMEMBERED_SESSIONS_MAX } from './session-book.ts';

/** Opens an agent's session of this name; answers the bus session it lives in. */
async function open(
  { bus, backend }: { bus: StdioBus; backend: ScriptedBackend },
  agentSession: string,
  options: RequestOptions,
): Promise<string> {
  const asked = bus.request('session/new', {}, options);
  const { sessionId } = backend.last;
  backend.answer(backend.last, { sessionId: agentSession });
  await asked;
  return sessionId;
}

test.each<[string, StdioBusOptions]>([
  ['auto', {}],
  ['object', { session: 'object' }],
])(
  '[SD8] a session opened with pool and agent is found again without them (%s)',
  async (_, options) => {
    const side = await scripted(options);
    const { bus, backend } = side;
    const home = await open(side, 'x', { pool: 'b', agentId: 'ada' });
    for (const choice of [{}, { pool: 'b' }, { agentId: 'ada' }]) {
      bus.notify('session/prompt', { sessionId: 'x' }, choice);
      expect(backend.last).toMatchObject({ sessionId: home, pool: 'b', agentId: 'ada' });
    }
  },
);

test('[SD8] on a real bus of two pools, what speaks of a session goes where it was opened', async () => {
  const worker =
    (pool: string): WorkerFunction =>
    ({ method }) =>
      method === 'session/new' ? { sessionId: 'x' } : { pool };
  await using bus = new StdioBus({ functions: { a: worker('a'), b: worker('b') } });
  await bus.start();
  await bus.request('session/new', {}, { pool: 'b' });
  for (let n = 0; n < 6; n++) {
    expect(await bus.request('session/prompt', { sessionId: 'x' })).toEqual({ pool: 'b' });
  }
});

test('[SD8] a session first used with a pool, and one opened without, are found either way', async () => {
  const side = await scripted();
  const { bus, backend } = side;
  bus.notify('session/load', { sessionId: 'loaded' }, { pool: 'b' });
  const loaded = backend.last.sessionId;
  bus.notify('session/prompt', { sessionId: 'loaded' });
  expect(backend.last).toMatchObject({ sessionId: loaded, pool: 'b' });
  const plain = await open(side, 'plain', {});
  bus.notify('session/prompt', { sessionId: 'plain' }, { pool: 'a' });
  expect(backend.last).toMatchObject({ sessionId: plain, pool: 'a' });
});

test('[SD8] a name that two agents gave is refused until it is said which, and nothing is sent', async () => {
  const side = await scripted();
  const { bus, backend } = side;
  const homes = [await open(side, 'x', { pool: 'a' }), await open(side, 'x', { pool: 'b' })];
  const before = backend.sent.length;
  await expect(bus.request('session/prompt', { sessionId: 'x' })).rejects.toThrow(
    /"x" is open in several places \(pool a, .*pool b, .*say pool/,
  );
  expect(() => bus.notify('session/prompt', { sessionId: 'x' })).toThrow(InvalidArgumentError);
  expect(backend.sent).toHaveLength(before);
  bus.notify('session/prompt', { sessionId: 'x' }, { pool: 'b' });
  expect(backend.last.sessionId).toBe(homes[1]);
});

test('[SD19] a session that is not there after a break is told as lost; one never used is not', async () => {
  const side = await scripted();
  const { bus, backend } = side;
  const heard = bus.notifications();
  bus.session('unused');
  const home = await open(side, 'x', { pool: 'b' });
  backend.down(true);
  backend.up();
  const attached = backend.sent.filter(({ method }) => method === 'stdio_bus/attach');
  expect(attached).toHaveLength(2);
  // The line breaks before anybody answered: nothing is known to be lost.
  backend.down(true);
  backend.up();
  for (const { id } of backend.sent.slice(-2)) {
    const data = { code: 'bus.session-unknown' };
    backend.say({ jsonrpc: '2.0', id, error: { code: 1, message: 'no such session', data } });
  }
  bus.session('end').notify('echo');
  await bus.stop();
  const all: unknown[] = [];
  for await (const one of heard) all.push(one);
  expect(all).toEqual([
    {
      ...{ jsonrpc: '2.0', method: 'stdio_bus/session_lost', sessionId: home },
      params: { sessionId: home, reason: 'no such session' },
    },
  ]);
  expect(heard.dropped).toBe(0);
});

test('[SD8] an agent session this client forgets to make room is told as lost', async () => {
  const { bus, backend } = await scripted();
  const heard = bus.notifications();
  for (let n = 0; n <= REMEMBERED_SESSIONS_MAX; n++) {
    bus.notify('session/prompt', { sessionId: `s${n}` });
  }
  const { value } = await heard.next();
  const { sessionId } = backend.sent[0] as { sessionId: string };
  expect(value).toMatchObject({ method: 'stdio_bus/session_lost', sessionId });
});
