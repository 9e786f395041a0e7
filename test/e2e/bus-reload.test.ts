/** SIGHUP and what it may not do: open a door, leave somebody in, leave a pool down. Real processes. */
import { createHash } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type BusHome,
  type BusProcess,
  type LineClient,
  openBusHome,
  talkOver,
} from './bus-process.ts';

const ADA = 'the-token-of-ada-and-nobody-else';
const BOB = 'the-token-of-bob-and-nobody-else';
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
const client = (subjectId: string, token: string, role = 'lead') => ({
  subjectId,
  role,
  token_sha256: hashOf(token),
});

let home: BusHome;
beforeEach(() => {
  home = openBusHome();
});
afterEach(() => home.close());

async function serve(document: object, host: string): Promise<[BusProcess, string]> {
  const bus = home.start(['--config', home.config(document), '--tcp', `${host}:0`]);
  const [, port] = await bus.logged(/ready on \S+:(\d+)/);
  return [bus, `127.0.0.1:${port}`];
}

async function enter(where: string, token: string): Promise<LineClient> {
  const one = await home.connect(where);
  one.send({ type: 'auth', token });
  expect((await one.ask('m')).result).toMatchObject({ method: 'm' });
  return one;
}

test('[BD7] [BD11] a reload that would leave TCP without a token is refused', async () => {
  const pools = [home.pool('a')];
  const [bus, where] = await serve({ pools, clients: [client('ada', ADA)] }, '127.0.0.1');
  const ada = await enter(where, ADA);
  home.config({ pools: [...pools, home.pool('b')] });
  bus.child.kill('SIGHUP');
  await bus.logged(
    /not reloaded, the old config stays: .*clients: no token would open 127\.0\.0\.1:/,
  );
  expect((await ada.ask('m', {}, { pool: 'b' })).error).toMatchObject({ code: 1 });
  const stranger = await home.connect(where);
  stranger.send({ jsonrpc: '2.0', id: 1, method: 'm' });
  expect(await stranger.next()).toMatchObject({
    error: { code: 7, data: { remedy: expect.stringMatching(/^show a token/) } },
  });
});

test('[BD18] whose token now stands for somebody else is cut off, and only they', async () => {
  const pools = [home.pool('a')];
  const clients = [client('ada', ADA), client('bob', BOB)];
  const [bus, where] = await serve({ pools, clients }, '127.0.0.1');
  const ada = await enter(where, ADA);
  const bob = await enter(where, BOB);
  home.config({ pools, clients: [client('ada', ADA, 'guest'), client('bob', BOB)] });
  bus.child.kill('SIGHUP');
  await ada.ended();
  expect((await bob.ask('m')).result).toMatchObject({ method: 'm' });
  const again = await enter(where, ADA);
  expect((await again.ask('m')).result).toMatchObject({ ext: { identity: { role: 'guest' } } });
  home.config({ pools, clients: [client('eve', ADA, 'guest'), client('bob', BOB)] });
  bus.child.kill('SIGHUP');
  await again.ended();
  expect((await bob.ask('m')).result).toMatchObject({ method: 'm' });
});

test('[BD20] 64 who say nothing do not keep out who has a token: the first of them goes', async () => {
  const pools = [home.pool('a')];
  const [, where] = await serve({ pools, clients: [client('ada', ADA)] }, '127.0.0.1');
  const silent: LineClient[] = [];
  for (let i = 0; i < 64; i += 1) silent.push(await home.connect(where));
  const ada = await enter(where, ADA);
  const [first, ...others] = silent as [LineClient, ...LineClient[]];
  expect(await first.next()).toMatchObject({
    id: null,
    error: { code: 7, data: { code: 'bus.policy', retryable: true } },
  });
  await first.ended();
  // The rest still has its time.
  const last = others.at(-1) as LineClient;
  last.send({ type: 'auth', token: ADA });
  expect((await last.ask('m')).result).toMatchObject({ method: 'm' });
  expect((await ada.ask('m')).result).toMatchObject({ method: 'm' });
});

test('[BU24] a pool that was given up is started again by a reload of the same config', async () => {
  const worker = home.path('mended.sh');
  const good = `#!/bin/sh\nexec "${process.execPath}" "${home.path('worker.mjs')}"\n`;
  writeFileSync(worker, '#!/bin/sh\nexit 3\n');
  chmodSync(worker, 0o755);
  const config = home.config({
    pools: [home.pool('a'), { id: 'b', command: worker, instances: 1 }],
    limits: { max_restarts: 0 },
  });
  const bus = home.start(['--config', config]);
  const talk = talkOver(bus.stdout, bus.stdin);
  await bus.logged(/\[worker=b\/0\] .*not started again/);
  const before = await talk.ask('m', {}, { pool: 'a' });
  expect((await talk.ask('m', {}, { pool: 'b' })).error?.data).toMatchObject({
    code: 'bus.no-worker',
    remedy: expect.stringMatching(/reload the config/),
  });
  writeFileSync(worker, good);
  bus.child.kill('SIGHUP');
  await bus.logged(/reloaded .*: changed b/);
  expect((await talk.ask('m', {}, { pool: 'b' })).result).toMatchObject({ method: 'm' });
  const after = await talk.ask('m', {}, { pool: 'a' });
  expect(after.result?.pid).toBe(before.result?.pid);
});

test('[BU18] a limit that workers live under is that of the config they run with', async () => {
  const pools = [home.pool('a')];
  const bus = home.start(['--config', home.config({ pools, limits: { max_restarts: 5 } })]);
  const talk = talkOver(bus.stdout, bus.stdin);
  const before = await talk.ask('m');
  home.config({ pools, limits: { max_restarts: 0 } });
  bus.child.kill('SIGHUP');
  await bus.logged(/reloaded .*: changed a/);
  const after = await talk.ask('m');
  expect(after.result?.pid).not.toBe(before.result?.pid);
  process.kill(Number(after.result?.pid), 'SIGKILL');
  await bus.logged(/was killed by SIGKILL; not started again/);
});

test.each(['ndjson', 'length'] as const)(
  '[BD19] %s: what is no UTF-8 is answered with -32700, and its neighbours pass',
  async (framing) => {
    const config = home.config({ pools: [home.pool('a')] });
    const bus = home.start(['--config', config, '--framing', framing]);
    const talk = talkOver(bus.stdout, bus.stdin, framing);
    const body = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"m","params":{"t":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}}'),
    ]);
    const head = Buffer.alloc(framing === 'length' ? 4 : 0);
    if (framing === 'length') head.writeUInt32BE(body.length);
    bus.stdin.write(Buffer.concat([head, body, Buffer.from(framing === 'length' ? '' : '\n')]));
    expect(await talk.next()).toMatchObject({
      id: null,
      error: { code: -32_700, data: { code: 'bus.parse', mayHaveRun: false } },
    });
    expect((await talk.ask('m', { t: 'é' })).result).toMatchObject({ echo: { t: 'é' } });
  },
);
