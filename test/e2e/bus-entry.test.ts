/** Who gets in, what the command line and the config may say, and what is measured: real processes. */
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BusHome, type BusProcess, openBusHome, talkOver } from './bus-process.ts';
import { within } from './deadline.ts';

const TOKEN = 'correct-horse-battery-staple';
const ADA = 'the-token-of-ada-and-nobody-else';
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

let home: BusHome;
beforeEach(() => {
  home = openBusHome();
});
afterEach(() => home.close());

describe('a token over TCP', () => {
  async function serve(
    document: object,
    env: Record<string, string>,
  ): Promise<[BusProcess, string]> {
    const bus = home.start(['--config', home.config(document), '--tcp', '0.0.0.0:0'], { env });
    const [, port] = await bus.logged(/ready on 0\.0\.0\.0:(\d+)/);
    return [bus, `127.0.0.1:${port}`];
  }
  const guarded = () => serve({ pools: [home.pool('a')] }, { SYNOD_BUS_TOKEN: TOKEN });

  test('[BD6] opens by a bare line, or by hello, whose answer is the bus’s own', async () => {
    const [, where] = await guarded();
    const bare = await home.connect(where);
    bare.send({ type: 'auth', token: TOKEN });
    expect((await bare.ask('m')).result).toMatchObject({
      ext: { identity: { subjectId: 'bus-token', assertedBy: 'bus' } },
    });
    const polite = await home.connect(where);
    const hello = await polite.ask('stdio_bus/hello', { token: TOKEN });
    expect(hello.result).toHaveProperty('negotiatedProtocolVersion');
    expect((await polite.ask('m')).result).toMatchObject({ method: 'm' });
  });

  test('[BD6] without one nothing is carried out: an error with the id, then the end', async () => {
    const [bus, where] = await guarded();
    for (const first of [
      { jsonrpc: '2.0', id: 9, method: 'm', params: { isSaid: true } },
      { jsonrpc: '2.0', id: 9, method: 'stdio_bus/hello', params: { token: `${TOKEN}x` } },
      { jsonrpc: '2.0', id: 9, method: 'stdio_bus/hello' },
    ]) {
      const client = await home.connect(where);
      client.send(first);
      // What comes behind it in the same breath is not carried out either.
      client.send({ jsonrpc: '2.0', id: 10, method: 'm', params: { isSaid: true } });
      expect(await client.next()).toMatchObject({ id: 9, error: { code: 7 } });
      await client.ended();
    }
    const flood = await home.connect(where);
    // Without an end of line: it is not kept until there is one.
    flood.socket.write('x'.repeat(20_000));
    expect(await flood.next()).toMatchObject({
      id: null,
      error: { message: expect.stringMatching(/wants a token first/) },
    });
    await flood.ended();
    expect(bus.log).not.toMatch(/at work/);
    expect(bus.log).not.toContain(TOKEN);
  });

  test('[BD6] who says nothing is sent away after five seconds', async () => {
    const [, where] = await guarded();
    const client = await home.connect(where);
    const began = performance.now();
    expect(await client.next()).toMatchObject({
      error: { message: expect.stringMatching(/no token came within 5 s/) },
    });
    await client.ended();
    expect(performance.now() - began).toBeGreaterThan(4_500);
  });

  test('[BD6] is known by its hash in the config, gives its owner a name, and can be taken away', async () => {
    const clients = [{ subjectId: 'ada', role: 'lead', token_sha256: hashOf(ADA) }];
    const document = {
      pools: [home.pool('a', { env_allow: ['SYNOD_BUS_TOKEN'] })],
      policy: [
        { effect: 'allow', role: 'lead' },
        { effect: 'deny', method: 'secret', reason: 'leads only' },
      ],
    };
    const [bus, where] = await serve({ ...document, clients }, { SYNOD_BUS_TOKEN: TOKEN });
    const ada = await home.connect(where);
    ada.send({ type: 'auth', token: ADA });
    const { result } = await ada.ask('secret', { env: 'SYNOD_BUS_TOKEN' });
    expect(result).toMatchObject({
      ext: { identity: { subjectId: 'ada', role: 'lead', assertedBy: 'bus' } },
      env: null,
    });
    const other = await home.connect(where);
    other.send({ type: 'auth', token: TOKEN });
    expect((await other.ask('secret')).error).toMatchObject({ code: 7 });
    home.config(document);
    bus.child.kill('SIGHUP');
    await ada.ended();
    expect((await other.ask('m')).result).toMatchObject({ method: 'm' });
  });

  test('[BD6] one that can be guessed is refused', async () => {
    const config = home.config({ pools: [home.pool('a')] });
    const env = { SYNOD_BUS_TOKEN: 'short' };
    const bus = home.start(['--config', config, '--tcp', '127.0.0.1:0'], { env });
    expect(await bus.exited()).toBe(2);
    expect(bus.log).toMatch(/SYNOD_BUS_TOKEN must have at least 16 characters/);
  });
});

describe('the config', () => {
  test.each<[string, string | object | null, RegExp]>([
    ['is not there', null, /bus\.config: .*none\.json: there is no such file/],
    ['is not JSON', '{\n  "pools": [}\n', /bus\.json: is not JSON: .* at line 2, column 13/],
    [
      'has pools twice',
      {
        pools: [
          { id: 'a', command: 'cat', instances: 1 },
          { id: 'a', command: 'cat', instances: 1 },
        ],
      },
      /pools\[1\]\.id: "a" is already/,
    ],
    [
      'has a limit out of range',
      { pools: [{ id: 'a', command: 'cat', instances: 1 }], limits: { max_restarts: -1 } },
      /limits\.max_restarts: must be from 0/,
    ],
    ['has no command', { pools: [{ id: 'a', instances: 1 }] }, /pools\[0\]\.command: is missing/],
  ])('[BC5] that %s ends it with 78 and the name of what is wrong', async (_, document, wanted) => {
    const path = document === null ? home.path('none.json') : home.config(document);
    const bus = home.start(['--config', path]);
    expect(await bus.exited()).toBe(78);
    expect(bus.log).toMatch(wanted);
  });

  const single = (pool: object) => ({
    pools: [{ id: 'a', instances: 1, ...pool }],
    limits: { max_restarts: 0 },
  });

  test.each<[string, object, RegExp]>([
    ['is not there', { command: 'no-such-command' }, /pool a cannot start.*no-such-command/],
    ['has no folder', { command: 'cat', cwd: 'nowhere' }, /pool a cannot start.*nowhere/],
    [
      'exits before it is ready',
      { command: 'false', ready: { method: 'ping' } },
      /pool a cannot start.*exited with code 1/,
    ],
  ])(
    '[BD15] a command that %s fails the start, and what was asked is answered',
    async (_, pool, wanted) => {
      const bus = home.start(['--config', home.config(single(pool))]);
      const talk = talkOver(bus.stdout, bus.stdin);
      const answer = talk.ask('m').catch(() => null);
      expect(await bus.exited()).toBe(70);
      expect(bus.log).toMatch(wanted);
      // The start may have failed before the question was read; then there is no half of an answer.
      const given = await answer;
      if (given !== null) expect(given).toMatchObject({ error: { data: { mayHaveRun: false } } });
    },
  );

  test('[BD15] one that exits at once and promised nothing is named to whoever asks', async () => {
    const bus = home.start(['--config', home.config(single({ command: 'false' }))]);
    await bus.logged(/exited with code 1; not started again/);
    const { error } = await talkOver(bus.stdout, bus.stdin).ask('m');
    expect(error).toMatchObject({ code: 8, data: { code: 'bus.no-worker', mayHaveRun: false } });
    expect(error?.message).toMatch(/exited with code 1/);
  });

  test('[BC9] comes over a descriptor, read to its end', async () => {
    const bus = home.start(['--config-fd', '3', '--stdio'], { third: 'pipe' });
    const config = JSON.stringify({ pools: [home.pool('a')] });
    const third = bus.child.stdio[3] as NodeJS.WritableStream;
    third.write(config.slice(0, 10));
    third.end(config.slice(10));
    const talk = talkOver(bus.stdout, bus.stdin);
    expect((await talk.ask('m')).result).toMatchObject({ method: 'm' });
    bus.child.kill('SIGHUP');
    await bus.logged(/nothing to reload/);
    bus.stdin.end();
    expect(await bus.exited()).toBe(0);
  });

  test('[BC9] a descriptor that is not open is said', async () => {
    const bus = home.start(['--config-fd', '77']);
    expect(await bus.exited()).toBe(78);
    expect(bus.log).toMatch(/bus\.config: descriptor 77: is not open in this process/);
  });

  // The runtime has taken the number for a file of its own, or for a pipe to itself.
  test.each([3, 4, 5, 6, 7, 8, 9])('[BC9] descriptor %i, closed, is said', async (fd) => {
    const bus = home.start(['--config-fd', String(fd)], { shell: `exec ${fd}<&-` });
    expect(await bus.exited()).toBe(78);
    expect(bus.log).toMatch(/bus\.config: descriptor \d+: is not open in this process/);
  });

  test('[BC10] relative folders and commands are meant from the folder of the file', async () => {
    const { mkdirSync, writeFileSync, realpathSync } = await import('node:fs');
    mkdirSync(home.path('conf/bin'), { recursive: true });
    const script = `#!/bin/sh\nexec "${process.execPath}" "${home.path('worker.mjs')}"\n`;
    writeFileSync(home.path('conf/bin/worker'), script, { mode: 0o755 });
    const pools = [{ id: 'a', command: 'bin/worker', cwd: 'bin', instances: 1 }];
    const bus = home.start(['--config', home.config({ pools }, 'conf/bus.json')]);
    const talk = talkOver(bus.stdout, bus.stdin);
    expect((await talk.ask('m')).result?.cwd).toBe(realpathSync(home.path('conf/bin')));
    // As the reference means it, when there is nothing else it could mean.
    writeFileSync(home.path('start.sh'), script, { mode: 0o755 });
    const old = [{ id: 'a', command: './start.sh', instances: 1 }];
    const other = home.start(['--config', home.config({ pools: old }, 'conf/old.json')]);
    await other.logged(/pools\[0\]\.command: taken from the folder the bus runs in/);
    expect((await talkOver(other.stdout, other.stdin).ask('m')).result).toMatchObject({
      method: 'm',
    });
  });
});

describe('the command line', () => {
  test.each([
    [[], /wants either --config FILE or --config-fd N/],
    [['--config', 'a', '--config-fd', '3'], /wants either --config FILE or --config-fd N/],
    [['--config-fd', '1025'], /--config-fd must be from 0 to 1024; found 1025/],
    [['--config', 'a', '--unix', 's', '--tcp', 'h:1'], /--unix and --tcp exclude each other/],
    [['--config', 'a', '--framing', 'raw'], /framing.*raw/],
    [['--config-fd', '0', '--stdio'], /stdin cannot be both/],
    [['--config', 'a', '--nonsense'], /unknown option '--nonsense'/],
  ])('[BD16] %j is a usage error', async (args, wanted) => {
    const bus = home.start(args);
    expect(await bus.exited()).toBe(2);
    expect(bus.log).toMatch(wanted);
  });

  test('[BD16] --help is no error, and --check only looks', async () => {
    const help = home.start(['--help']);
    const helpText = readText(help.stdout);
    expect(await help.exited()).toBe(0);
    expect(await helpText).toMatch(/--config-fd <n>/);
    const config = home.config({ pools: [home.pool('a')], limits: { nope: 1 } });
    const check = home.start(['--config', config, '--check']);
    const checkText = readText(check.stdout);
    expect(await check.exited()).toBe(0);
    expect(await checkText).toMatch(/limits\.nope: is not known here[\s\S]*can be used: a \(1\)/);
    expect(check.log).not.toMatch(/started/);
  });

  test('[BC15] --check refuses a command that is not there, by its field', async () => {
    const pools = [home.pool('a'), { id: 'b', command: 'no-such-program', instances: 1 }];
    const check = home.start(['--config', home.config({ pools }), '--check']);
    expect(await check.exited()).toBe(78);
    expect(check.log).toMatch(/pools\[1\]\.command: "no-such-program" is not on the PATH/);
  });

  test('[BD16] a mode in the config that needs an address asks for it', async () => {
    const document = { pools: [home.pool('a')], transport: { mode: 'tcp' } };
    const bus = home.start(['--config', home.config(document)]);
    expect(await bus.exited()).toBe(2);
    expect(bus.log).toMatch(/transport\.mode "tcp"[\s\S]*--tcp HOST:PORT/);
  });

  test('[BD17] the log is a line an event, and messages are none of them', async () => {
    const config = home.config({ pools: [home.pool('a')] });
    const bus = home.start(['--config', config, '--log-level', 'info']);
    const talk = talkOver(bus.stdout, bus.stdin);
    await bus.logged(/ready on stdio/);
    const before = bus.log;
    for (let i = 0; i < 50; i++) await talk.ask('m');
    expect(bus.log).toBe(before);
    const form = /^\[\d{4}-\d\d-\d\dT[\d:.]+\] \[(DEBUG|INFO|WARN|ERROR)\] /;
    expect(
      before
        .trimEnd()
        .split('\n')
        .filter((line) => !form.test(line)),
    ).toEqual([]);
    expect(before).toMatch(/\[INFO\] \[worker=a\/0\] started/);
  });
});

describe('metrics', () => {
  const read = (url: string, headers: Record<string, string> = {}) =>
    within(
      'the metrics',
      new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        const asked = request(url, { headers }, (response) => {
          readText(response).then((text) => resolve({ status: response.statusCode, text }), reject);
        });
        asked.on('error', reject).end();
      }),
    );

  test('[BD9] are the eight counters and what is held, for this machine under its own name', async () => {
    const config = home.config({ pools: [home.pool('a', { instances: 2 })] });
    const bus = home.start(['--config', config, '--metrics', 'localhost:0']);
    const [, url = ''] = await bus.logged(/metrics at (\S+)/);
    await bus.logged(/ready/);
    await talkOver(bus.stdout, bus.stdin).ask('m');
    const { status, text } = await read(url);
    expect(status).toBe(200);
    expect(text).toMatch(/^synod_bus_messages_in_total 1$/m);
    expect(text).toMatch(/^synod_bus_messages_out_total 1$/m);
    expect(text).toMatch(/^synod_bus_clients 1$/m);
    expect(text).toMatch(/^synod_bus_workers\{pool="a",state="ready"\} 2$/m);
    expect(text.match(/^synod_bus_\w+_total \d+$/gm)).toHaveLength(8);
    expect((await read(url, { host: 'evil.example' })).status).toBe(421);
    expect((await read(url.replace('/metrics', '/'))).status).toBe(404);
  });

  test('[BD9] are refused to other machines', async () => {
    const config = home.config({ pools: [home.pool('a')] });
    const bus = home.start(['--config', config, '--metrics', '0.0.0.0:0']);
    expect(await bus.exited()).toBe(78);
    expect(bus.log).toMatch(/metrics are for this machine only/);
  });
});
