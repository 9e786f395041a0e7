/** The configs under examples/bus/: each can be used, and answers what a person would type. */
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listFiles } from '../tidy/repository.ts';
import { type BusHome, openBusHome, type Talk, talkOver } from './bus-process.ts';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

let home: BusHome;
beforeEach(() => {
  home = openBusHome();
});
afterEach(() => home.close());

function serve(name: string): Talk {
  const bus = home.start(['--config', at(`examples/bus/${name}`)]);
  return talkOver(bus.stdout, bus.stdin);
}

test.each(listFiles('examples/bus', '.json'))('[BC11] %s has nothing to warn of', async (path) => {
  const bus = home.start(['--config', at(path), '--check', '--json']);
  const { ok, warnings } = JSON.parse((await bus.stdout.toArray()).join(''));
  expect({ ok, warnings }).toEqual({ ok: true, warnings: [] });
  expect(await bus.exited()).toBe(0);
});

test('[BC11] echo.json answers a line typed by hand, on both workers', async () => {
  const talk = serve('echo.json');
  talk.send('{"jsonrpc":"2.0","id":1,"method":"greet","params":{"name":"Ada"}}');
  expect(await talk.next()).toMatchObject({
    id: 1,
    result: { echo: { name: 'Ada' }, method: 'greet' },
  });
});

test('[BC11] two-pools.json routes by method, by agent and by name', async () => {
  const talk = serve('two-pools.json');
  expect((await talk.ask('tools/list')).result).toMatchObject({ method: 'tools/list' });
  const session = { sessionId: 's1' };
  talk.send({
    jsonrpc: '2.0',
    id: 1,
    method: 'session/prompt',
    params: { text: 'a b' },
    ...session,
  });
  expect(await talk.next()).toMatchObject({ method: 'session/update', sessionId: 's1' });
  expect((await talk.ask('greet', {}, { pool: 'echo' })).result).toMatchObject({ method: 'greet' });
  expect((await talk.ask('greet', {}, { pool: 'none' })).error).toMatchObject({
    code: 1,
    data: { code: 'bus.pool-unknown' },
  });
});

test('[BC11] acp.json answers ACP’s first request', async () => {
  const talk = serve('acp.json');
  const { result } = await talk.ask(
    'initialize',
    { protocolVersion: 1, clientCapabilities: {} },
    { sessionId: 's1' },
  );
  expect(result).toMatchObject({ protocolVersion: 1 });
});

test('[BC11] careful.json answers once its workers said they are ready, and guards admin/', async () => {
  const talk = serve('careful.json');
  expect((await talk.ask('greet')).result).toMatchObject({ method: 'greet' });
  expect((await talk.ask('admin/stop')).error).toMatchObject({ code: 7 });
});
