/** The doors of a running bus: real processes, real sockets, and how they end. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BusHome, openBusHome, talkOver } from './bus-process.ts';
import { until } from './deadline.ts';

let home: BusHome;
beforeEach(() => {
  home = openBusHome();
});
afterEach(() => home.close());

function isAlive(pid: unknown): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}

describe('stdio', () => {
  test('[BD8] end of input: what was asked is answered, then it leaves with 0 and no worker stays', async () => {
    const bus = home.start(['--config', home.config({ pools: [home.pool('a')] })]);
    const talk = talkOver(bus.stdout, bus.stdin);
    const slow = talk.ask('slow', { delayMs: 400 });
    const quick = await talk.ask('quick');
    bus.stdin.end();
    await bus.logged(/end of input: draining/);
    expect((await slow).result).toMatchObject({ method: 'slow' });
    expect(await bus.exited()).toBe(0);
    expect(isAlive(quick.result?.pid)).toBe(false);
  });

  test('[BD8] requests piped in one go are all answered, the last one without its newline too', async () => {
    const bus = home.start(['--config', home.config({ pools: [home.pool('a')] }), '--stdio']);
    const talk = talkOver(bus.stdout, bus.stdin);
    const lines = Array.from(
      { length: 500 },
      (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"m"}`,
    );
    bus.stdin.end(lines.join('\n'));
    const ids = new Set<unknown>();
    while (ids.size < 500) ids.add((await talk.next()).id);
    expect(await bus.exited()).toBe(0);
  });

  test('[BD8] a client that no longer reads ends it the same way', async () => {
    const bus = home.start(['--config', home.config({ pools: [home.pool('a')] })]);
    const talk = talkOver(bus.stdout, bus.stdin);
    await talk.ask('hello');
    bus.stdout.destroy();
    talk.send({ jsonrpc: '2.0', id: 1, method: 'm' });
    await bus.logged(/the client is gone \(closed\): draining/);
    expect(await bus.exited()).toBe(0);
  });

  test('[BD12] a malformed line is answered and the next one works; so does length framing', async () => {
    const bus = home.start([
      '--config',
      home.config({ pools: [home.pool('a')] }),
      '--framing=length',
    ]);
    const talk = talkOver(bus.stdout, bus.stdin, 'length');
    talk.send('{"jsonrpc":"2.0",');
    expect(await talk.next()).toMatchObject({ id: null, error: { code: -32_700 } });
    expect((await talk.ask('m', { text: 'line\nbreak ü' })).result).toMatchObject({
      echo: { text: 'line\nbreak ü' },
    });
    talk.send('{\n  "jsonrpc": "2.0",\n  "id": 7,\n  "method": "pretty"\n}');
    expect(await talk.next()).toMatchObject({ id: 7, result: { method: 'pretty' } });
    bus.stdin.end();
    expect(await bus.exited()).toBe(0);
  });
});

describe('a Unix socket', () => {
  const serve = (...more: string[]) =>
    home.start([
      '--config',
      home.config({ pools: [home.pool('a')] }),
      '--unix',
      home.path('s'),
      ...more,
    ]);

  test('[BD5] only its owner may connect, whatever the umask, and it is gone at the end', async () => {
    const bus = home.start(
      ['--config', home.config({ pools: [home.pool('a')] }), '--unix', home.path('s')],
      { shell: 'umask 000' },
    );
    await bus.logged(/ready on/);
    expect(statSync(home.path('s')).mode & 0o777).toBe(0o600);
    const client = await home.connect(home.path('s'));
    expect((await client.ask('m')).result).toMatchObject({ method: 'm' });
    bus.child.kill('SIGTERM');
    expect(await bus.exited()).toBe(0);
    expect(statSync(home.path('s'), { throwIfNoEntry: false })).toBeUndefined();
  });

  test('[BD14] a socket left by a killed bus is taken over', async () => {
    const first = serve();
    await first.logged(/ready on/);
    first.child.kill('SIGKILL');
    await expect(first.exited()).rejects.toThrow(/SIGKILL/);
    expect(statSync(home.path('s')).isSocket()).toBe(true);
    await serve().logged(/ready on/);
    const client = await home.connect(home.path('s'));
    expect((await client.ask('m')).result).toMatchObject({ method: 'm' });
  });

  test('[BD14] one that answers is refused, before a worker is started, and goes on', async () => {
    await serve().logged(/ready on/);
    const client = await home.connect(home.path('s'));
    const second = serve();
    expect(await second.exited()).toBe(71);
    expect(second.log).toMatch(/bus\.address-taken: .*\/s is in use: a bus answers there/);
    expect(second.log).not.toMatch(/started as process/);
    expect((await client.ask('m')).result).toMatchObject({ method: 'm' });
    expect(statSync(home.path('s')).isSocket()).toBe(true);
  });

  test('[BD14] a file that is no socket is left alone', async () => {
    writeFileSync(home.path('s'), 'precious');
    const bus = serve();
    expect(await bus.exited()).toBe(71);
    expect(bus.log).toMatch(/is no socket; it was left alone/);
    expect(readFileSync(home.path('s'), 'utf8')).toBe('precious');
  });

  test('[BD14] a path too long for a socket, or in no folder, is said', async () => {
    const config = home.config({ pools: [home.pool('a')] });
    const long = home.start(['--config', config, '--unix', home.path('x'.repeat(120))]);
    expect(await long.exited()).toBe(71);
    expect(long.log).toMatch(/too long for a socket: \d+ bytes/);
    const nowhere = home.start(['--config', config, '--unix', home.path('no/such/s')]);
    expect(await nowhere.exited()).toBe(71);
    expect(nowhere.log).toMatch(
      /bus\.address-unusable: cannot listen on .*no\/such\/s: there is no folder .*no\/such; make it/,
    );
  });

  test('[BD3] whoever ends its sending side gets its answers, and then the end', async () => {
    await serve().logged(/ready on/);
    const client = await home.connect(home.path('s'));
    client.socket.end('{"jsonrpc":"2.0","id":1,"method":"slow","params":{"delayMs":300}}\n');
    expect(await client.next()).toMatchObject({ id: 1, result: { method: 'slow' } });
    await client.ended();
  });

  test('[BD10] SIGTERM delivers what is in flight, lets nobody new in, and leaves with 0', async () => {
    const bus = serve();
    await bus.logged(/ready on/);
    const client = await home.connect(home.path('s'));
    const slow = client.ask('slow', { delayMs: 500, isSaid: true });
    await bus.logged(/at work on slow/);
    bus.child.kill('SIGTERM');
    await bus.logged(/SIGTERM: draining/);
    await expect(home.connect(home.path('s'))).rejects.toThrow();
    expect((await client.ask('late')).error?.data).toMatchObject({ code: 'bus.draining' });
    expect((await slow).result).toMatchObject({ method: 'slow' });
    await client.ended();
    expect(await bus.exited()).toBe(0);
  });

  test('[BD10] a second signal ends it now', async () => {
    const bus = serve();
    await bus.logged(/ready on/);
    const client = await home.connect(home.path('s'));
    const never = client.ask('slow', { delayMs: 60_000, isSaid: true }).catch(() => 'gone');
    const { result } = await client.ask('m');
    bus.child.kill('SIGINT');
    await bus.logged(/SIGINT: draining/);
    bus.child.kill('SIGINT');
    expect([0, 130]).toContain(await bus.exited());
    await until(
      'the worker gone',
      async () => isAlive(result?.pid),
      (isThere) => !isThere,
    );
    await never;
  });

  test('[BD11] SIGHUP takes a new config; one that cannot be used changes nothing', async () => {
    const bus = serve();
    await bus.logged(/ready on/);
    const client = await home.connect(home.path('s'));
    const before = await client.ask('m', {}, { pool: 'a' });
    home.config('{"pools": [{"id": "a"}]}');
    bus.child.kill('SIGHUP');
    await bus.logged(/not reloaded, the old config stays: .*pools\[0\]\.command: is missing/);
    home.config({ pools: [home.pool('a'), home.pool('b')] });
    bus.child.kill('SIGHUP');
    await bus.logged(/reloaded .*: added b/);
    expect((await client.ask('m', {}, { pool: 'b' })).result).toMatchObject({ method: 'm' });
    // The pool that did not change was not touched.
    const after = await client.ask('m', {}, { pool: 'a' });
    expect(after.result?.pid).toBe(before.result?.pid);
  });
});

describe('TCP', () => {
  const config = () => home.config({ pools: [home.pool('a')] });

  test('[BD7] a name of this machine will do, and 0 takes any free port', async () => {
    const bus = home.start(['--config', config(), '--tcp', 'localhost:0']);
    const [, where = ''] = await bus.logged(/ready on (\S+)/);
    const client = await home.enter(where);
    expect((await client.ask('m')).result).toMatchObject({ method: 'm' });
  });

  test.each([
    ['127.0.0.1:70000', 2, /bus\.address: the port of --tcp must be from 0 to 65535.*70000/],
    ['127.0.0.1', 2, /bus\.address: --tcp must be HOST:PORT/],
    ['no-such-host.invalid:9', 71, /bus\.address-unusable: there is no host no-such-host\.invalid/],
  ])('[BD7] --tcp %s is refused with %d', async (address, code, wanted) => {
    const bus = home.start(['--config', config(), '--tcp', address]);
    expect(await bus.exited()).toBe(code);
    expect(bus.log).toMatch(wanted);
    expect(bus.log).not.toMatch(/started as process/);
  });

  test('[BD7] a port that is taken is said', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const bus = home.start(['--config', config(), '--tcp', `127.0.0.1:${port}`]);
    expect(await bus.exited()).toBe(71);
    expect(bus.log).toMatch(/bus\.address-taken: 127\.0\.0\.1:\d+ is in use/);
    other.close();
  });
});
