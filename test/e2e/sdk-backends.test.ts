/** What is particular to a backend: how it begins, breaks, comes back and ends. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ConnectionEvent,
  InvalidStateError,
  PolicyDeniedError,
  StdioBus,
  type StdioBusOptions,
  TransportError,
  UnavailableError,
} from '../../src/bus/sdk/index.ts';
import { freePort } from '../free-ports.ts';
import { until as untilAnswered, within } from './deadline.ts';
import { configOf, fakeEngine, nextNotification, scratch, startBusProcess } from './sdk-buses.ts';

let dir: string;
let remove: () => void;
const open: { stop(timeoutSec?: number): Promise<unknown> }[] = [];

beforeEach(() => {
  ({ dir, remove } = scratch());
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop(2);
  remove();
});

async function start(options: StdioBusOptions): Promise<StdioBus> {
  const bus = new StdioBus({ onLog() {}, ...options });
  open.push(bus);
  await bus.start();
  return bus;
}

async function busProcess(config: object = configOf({ one: 1 })) {
  const bus = await startBusProcess(dir, config);
  open.push(bus);
  return bus;
}

const broken = { pools: [{ id: 'typo', command: 'no-such-command-here', instances: 1 }] };

/** What is looked at here is not asked over a wire: the loop must turn between two looks. */
function until<T>(what: string, look: () => T, isWanted: (seen: T) => boolean): Promise<T> {
  const turn = async (): Promise<T> => {
    await new Promise((go) => setTimeout(go, 5));
    return look();
  };
  return untilAnswered(what, turn, isWanted);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a start that fails', () => {
  test.each(['embedded', 'subprocess'] as const)(
    '[SD1] %s: a command that is not there is a start error that names it',
    async (backend) => {
      const subprocess = { startTimeoutSec: 15 };
      const failed = start({
        config: broken,
        backend,
        ...(backend === 'subprocess' && { subprocess }),
      });
      const error = await failed.catch((caught) => caught);
      expect(error).toBeInstanceOf(UnavailableError);
      expect(error.message).toContain('typo');
      expect(error.message).toContain('no-such-command-here');
      expect(open.length).toBe(1);
      expect((open[0] as StdioBus).getStateName()).toBe('STOPPED');
    },
  );

  test('[SD1] socket: nobody at the address', async () => {
    const unixPath = join(dir, 'nobody.sock');
    const error = await start({ socket: { unixPath } }).catch((caught) => caught);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toContain(unixPath);
  });

  test('[SD1] subprocess: a program that is not there, and one that ends at once', async () => {
    const config = configOf({ one: 1 });
    const missing = start({
      ...{ config, backend: 'subprocess' },
      subprocess: { binaryPath: join(dir, 'no-bus') },
    });
    await expect(missing).rejects.toMatchObject({
      code: 8,
      message: expect.stringMatching(/ENOENT.*check the path/),
    });
    const binaryPath = join(dir, 'bad-bus');
    writeFileSync(binaryPath, '#!/bin/sh\necho "cannot go on" >&2\nexit 9\n');
    chmodSync(binaryPath, 0o755);
    const ended = start({
      ...{ config, backend: 'subprocess' },
      subprocess: { binaryPath, dialect: 'synod' },
    });
    await expect(ended).rejects.toMatchObject({
      code: 8,
      message: expect.stringMatching(/code 9.*cannot go on/),
    });
  });

  test('[SD21] docker: no engine, and an engine that refuses', async () => {
    const config = configOf({ one: 1 });
    const missing = start({ config, backend: 'docker', docker: { enginePath: join(dir, 'none') } });
    await expect(missing).rejects.toMatchObject({
      code: 8,
      message: expect.stringMatching(/no container engine.*embedded/),
    });
    const enginePath = join(dir, 'refusing');
    writeFileSync(enginePath, '#!/bin/sh\nprintf "no such image\\nsee --help\\n" >&2\nexit 125\n');
    chmodSync(enginePath, 0o755);
    const refused = start({ config, backend: 'docker', docker: { enginePath } });
    await expect(refused).rejects.toMatchObject({
      message: expect.stringMatching(
        /code 125.*no such image \| see --help; .* build --tag localhost\/synod-bus:\d+\.\d+\.\d+ \//,
      ),
    });
  });
});

describe('subprocess', () => {
  test('[SD20] stderr is kept; a bus that is killed fails what is pending', async () => {
    const bus = await start({
      ...{ config: configOf({ one: 1 }), backend: 'subprocess' },
      subprocess: { startTimeoutSec: 15 },
    });
    const { pid, ppid } = await bus.request<{ pid: number; ppid: number }>('echo');
    await until(
      'stderr',
      () => bus.stderrTail(),
      (tail) => tail.join().includes('the worker is up'),
    );
    expect(bus.stderrTail(1)).toHaveLength(1);
    const hangs = nextNotification(bus, 'hangs');
    const pending = bus.request('hang').catch((caught) => caught);
    await within('hangs', hangs);
    const subscriber = bus.notifications();
    process.kill(ppid, 'SIGKILL');
    const error = await within('the failure', pending);
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ mayHaveRun: true, message: expect.stringMatching(/SIGKILL/) });
    expect((await subscriber.next()).done).toBe(true);
    expect(bus.getStateName()).toBe('STOPPED');
    await expect(bus.request('echo')).rejects.toBeInstanceOf(InvalidStateError);
    await until(
      'the worker is gone',
      () => isAlive(pid),
      (alive) => !alive,
    );
  });

  test('[SD20] another bus program: config over the descriptor, an allow-listed environment, no questions', async () => {
    const binaryPath = join(dir, 'their-bus.mjs');
    writeFileSync(
      binaryPath,
      `#!${process.execPath}
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const config = JSON.parse(readFileSync(3, 'utf8'));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, sessionId, method } = JSON.parse(line);
  const result = { config, sessionId, method, argv: process.argv.slice(2), env: process.env };
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});
`,
    );
    chmodSync(binaryPath, 0o755);
    process.env.SDK_TEST_SECRET = 'not for them';
    const config = configOf({ one: 1 }, { limits: { max_restarts: 3 } });
    const subprocess = { binaryPath, env: { GIVEN: 'yes' } };
    const bus = await start({ config, backend: 'subprocess', subprocess });
    const answer = await bus.request<Record<string, unknown>>('echo');
    expect(answer.config).toEqual(config);
    expect(answer.argv).toEqual(['--config-fd', '3', '--stdio']);
    expect(answer.env).toMatchObject({ GIVEN: 'yes', PATH: process.env.PATH });
    expect(answer.env).not.toHaveProperty('SDK_TEST_SECRET');
    expect(answer.sessionId, 'a session a call would fill its table').toBe(bus.clientSessionId);
    expect(await bus.getStats()).toMatchObject({
      messagesIn: 1,
      messagesOut: 1,
      workerRestarts: -1,
    });
    expect(await bus.getWorkerCount()).toBe(-1);
    expect(await bus.getClientCount()).toBe(1);
    const began = performance.now();
    await bus.stop();
    expect(performance.now() - began, 'the end of input is enough').toBeLessThan(4_000);
  });

  test('[SD20] the first error says what the bus said last, also while a worker holds its pipes', async () => {
    const binaryPath = join(dir, 'broken-bus.sh');
    const words = 'echo started >&2; echo "the cause" >&2; echo "   at line 7" >&2';
    writeFileSync(binaryPath, `#!/bin/sh\n${words}\nsleep 60 & echo $! >&2\nexec 1>&-; exit 3\n`);
    chmodSync(binaryPath, 0o755);
    const bus = await start({
      ...{ config: configOf({ one: 1 }), backend: 'subprocess', subprocess: { binaryPath } },
    });
    const error = await within(
      'the failure',
      bus.request('echo').catch((caught) => caught),
    );
    process.kill(Number(bus.stderrTail(1)[0]));
    expect(error).toBeInstanceOf(TransportError);
    expect(String(error)).toMatch(/exited with code 3; it said last: started \| the cause \|/);
    const late = await bus.request('echo').catch((caught) => caught);
    expect(late).toBeInstanceOf(InvalidStateError);
  });

  test('[SD4] a bus that ignores the end of its input is made to go', async () => {
    const binaryPath = join(dir, 'stubborn.mjs');
    writeFileSync(
      binaryPath,
      `#!${process.execPath}
process.stderr.write('pid ' + process.pid + '\\n');
process.on('SIGTERM', () => process.exit(0));
setInterval(() => {}, 1000);
`,
    );
    chmodSync(binaryPath, 0o755);
    const bus = await start({
      ...{ config: configOf({ one: 1 }), backend: 'subprocess' },
      subprocess: { binaryPath },
    });
    const [said] = await until(
      'its pid',
      () => bus.stderrTail(),
      (tail) => tail.length > 0,
    );
    await bus.stop(0.1);
    expect(isAlive(Number(said?.split(' ')[1]))).toBe(false);
  });
});

/** Stands between client and bus, and can cut the line without either knowing why. */
async function openCutter(target: string): Promise<{ path: string; cut(): void; mend(): void }> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const path = join(dir, 'cutter.sock');
  const server: Server = createServer((client) => {
    if (isCut) return void client.destroy();
    const bus = createConnection(target);
    for (const each of [client, bus]) {
      sockets.add(each);
      each.on('error', () => {});
      each.on('close', () => sockets.delete(each));
    }
    client.pipe(bus).pipe(client);
  });
  server.listen(path);
  await once(server, 'listening');
  open.push({
    async stop() {
      for (const each of sockets) each.destroy();
      server.close();
    },
  });
  return {
    path,
    cut() {
      isCut = true;
      for (const each of sockets) each.destroy();
    },
    mend() {
      isCut = false;
    },
  };
}

describe('socket', () => {
  test('[SD19] a cut line comes back, with its sessions and what they missed', async () => {
    const { path } = await busProcess();
    const cutter = await openCutter(path);
    const reconnect = { waitMsMin: 50, waitMsMax: 200 };
    const bus = await start({ socket: { unixPath: cutter.path, reconnect } });
    const other = await start({ socket: { unixPath: path } });
    const events: ConnectionEvent[] = [];
    const isUp = Promise.withResolvers<void>();
    bus.onConnection((event) => {
      events.push(event);
      if (event.isUp) isUp.resolve();
    });
    const session = bus.session();
    session.notify('later', { hold: 'cut' });
    await session.request('echo');
    const missed = nextNotification(bus, 'said-later');
    cutter.cut();
    await untilAnswered(
      'the bus knows',
      () => other.getClientCount(),
      (count) => count === 1,
    );
    // While nobody is there, the worker goes on.
    other.notify('release', { hold: 'cut' });
    await other.request('echo');
    const waiting = bus.request('echo', { asked: 'while down' });
    cutter.mend();
    await within('the line', isUp.promise);
    expect(await waiting).toMatchObject({ echo: { asked: 'while down' } });
    expect(await within('what was missed', missed)).toMatchObject({ sessionId: session.id });
    expect(events.map(({ isUp: up }) => up)).toEqual([false, true]);
    expect(bus.isRunning()).toBe(true);
  });

  test('[SD19] a bus that is killed fails what was sent, and is found again when it is back', async () => {
    const first = await busProcess();
    const reconnect = { waitMsMin: 50, waitMsMax: 200 };
    const bus = await start({ socket: { unixPath: first.path, reconnect } });
    await bus.session('mine').request('echo');
    const hangs = nextNotification(bus, 'hangs');
    const sent = bus.request('hang').catch((caught) => caught);
    await within('hangs', hangs);
    await first.kill();
    expect(await within('the failure', sent)).toMatchObject({
      name: 'TransportError',
      mayHaveRun: true,
    });
    const waiting = bus.request('echo', { n: 1 }, { timeoutMs: 15_000 });
    await busProcess();
    expect(await waiting).toMatchObject({ echo: { n: 1 } });
    expect(await bus.session('mine').request('echo', { n: 2 })).toMatchObject({ echo: { n: 2 } });
  });

  test('[SD19] a bus that stays away is given up, and what waited did not run', async () => {
    const gone = await busProcess();
    const reconnect = { waitMsMin: 10, waitMsMax: 20, attemptsMax: 3 };
    const bus = await start({ socket: { unixPath: gone.path, reconnect } });
    const ended = Promise.withResolvers<ConnectionEvent>();
    const isDown = Promise.withResolvers<void>();
    bus.onConnection((event) => {
      isDown.resolve();
      if (!event.isUp && !event.willReturn) ended.resolve(event);
    });
    await gone.kill();
    await within('down', isDown.promise);
    const waiting = bus.request('echo').catch((caught) => caught);
    expect(bus.notify('echo'), 'nobody to tell').toBe(false);
    expect(await within('the end', ended.promise)).toMatchObject({ willReturn: false });
    expect(await waiting).toMatchObject({ name: 'TransportError', mayHaveRun: false });
    expect(bus.getStateName()).toBe('STOPPED');
  });
});

describe('a listener', () => {
  test('[SD22] others join the embedded bus, and the token is asked for', async () => {
    const port = await freePort();
    const token = 'a-token-of-some-length';
    const host = await start({
      config: configOf({ one: 1 }),
      embedded: { listenMode: 'tcp', tcpPort: port, token },
    });
    expect(host.getListenMode()).toBe('tcp');
    const guest = await start({ socket: { tcpPort: port, token } });
    const mine = await host.request<{ pid: number }>('echo');
    const theirs = await guest.request<{ pid: number }>('echo');
    expect(theirs.pid).toBe(mine.pid);
    expect(await host.getClientCount()).toBe(2);
    expect(await guest.getClientCount()).toBe(2);
    const wrong = start({ socket: { tcpPort: port, token: 'another-token-altogether' } });
    await expect(wrong).rejects.toBeInstanceOf(PolicyDeniedError);
    const none = start({ socket: { tcpPort: port, connectTimeoutSec: 2 } });
    await expect(none).rejects.toBeInstanceOf(PolicyDeniedError);
  });

  test('[SD22] a Unix socket, taken away at the end; the guests are told', async () => {
    const unixPath = join(dir, 'host.sock');
    const host = await start({
      config: configOf({ one: 1 }),
      embedded: { listenMode: 'unix', unixPath },
    });
    const guest = await start({ socket: { unixPath, reconnect: false } });
    expect(await guest.request('echo', { a: 1 })).toMatchObject({ echo: { a: 1 } });
    const told = new Promise<ConnectionEvent>((resolve) => guest.onConnection(resolve));
    await host.stop(5);
    expect(existsSync(unixPath)).toBe(false);
    expect(await within('the guest is told', told)).toMatchObject({
      isUp: false,
      willReturn: false,
    });
  });
});

test('[SD21] docker: without an image it is the one of our Dockerfile, and nobody is asked for it', async () => {
  const bus = await start({
    ...{ config: configOf({ one: 1 }), backend: 'docker' },
    docker: { enginePath: fakeEngine(dir), startupTimeoutSec: 20 },
  });
  const args: string[] = JSON.parse(readFileSync(join(dir, 'engine-args.json'), 'utf8'));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(args).toContain(`localhost/synod-bus:${version}`);
  expect(args[args.indexOf('--pull') + 1]).toBe('never');
  await bus.stop(5);
  const dockerfile = readFileSync('Dockerfile', 'utf8');
  expect(dockerfile).toContain(`localhost/synod-bus:${version} `);
  expect(dockerfile).toContain('EXPOSE 8765');
  for (const [, path = ''] of dockerfile.matchAll(/\/opt\/synod\/(bin\/[\w.-]+)/g)) {
    expect(existsSync(path), path).toBe(true);
  }
});

test('[SD21] docker: the engine is told what the reference tells it, and no secret', async () => {
  const enginePath = fakeEngine(dir);
  const bus = await start({
    ...{ config: configOf({ one: 1 }), backend: 'docker' },
    docker: {
      ...{ enginePath, image: 'some/synod', pullPolicy: 'never', containerNamePrefix: 'mine' },
      ...{ env: { API_KEY: 'a-secret' }, extraArgs: ['--memory', '1g'], startupTimeoutSec: 20 },
    },
  });
  const args: string[] = JSON.parse(readFileSync(join(dir, 'engine-args.json'), 'utf8'));
  const text = args.join(' ');
  expect(text).toMatch(
    /^run --rm --init --name mine-\w+ --pull never --publish 127\.0\.0\.1:\d+:8765/,
  );
  expect(text).toMatch(/target=\/app\/config\.json,readonly .*--env API_KEY/);
  expect(text).toMatch(
    /--memory 1g some\/synod --config \/app\/config\.json --tcp 0\.0\.0\.0:8765$/,
  );
  expect(text).not.toContain('a-secret');
  const [, source = ''] = /source=([^,]+),/.exec(text) ?? [];
  expect(existsSync(source)).toBe(true);
  const { pid } = await bus.request<{ pid: number }>('echo');
  await bus.stop(5);
  expect(existsSync(source), 'the config is taken away').toBe(false);
  expect(isAlive(pid)).toBe(false);
});

test.each(['subprocess', 'docker'] as const)(
  '[SD4] %s: a program that ends without stopping leaves nothing behind',
  async (backend) => {
    const sdk = new URL('../../src/bus/sdk/index.ts', import.meta.url).href;
    const options = {
      ...{ config: configOf({ one: 1 }), backend },
      ...(backend === 'docker' && { docker: { enginePath: fakeEngine(dir), image: 'synod' } }),
    };
    const program = join(dir, 'program.mjs');
    writeFileSync(
      program,
      `import { StdioBus } from ${JSON.stringify(sdk)};
const bus = new StdioBus(${JSON.stringify(options)});
await bus.start();
console.log((await bus.request('echo')).pid);
process.exit(0);
`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [program], { timeout: 15_000 });
    expect(Number(stdout)).toBeGreaterThan(0);
    await until(
      'the worker is gone',
      () => isAlive(Number(stdout)),
      (alive) => !alive,
    );
  },
);

test('[SD4] destroy leaves no worker, and every pending request fails', async () => {
  const bus = await start({ config: configOf({ one: 2 }) });
  const { pid } = await bus.request<{ pid: number }>('echo');
  const pending = bus.request('hang').catch((caught) => caught);
  bus.destroy();
  expect(await pending).toBeInstanceOf(TransportError);
  await until(
    'the worker is gone',
    () => isAlive(pid),
    (alive) => !alive,
  );
});
