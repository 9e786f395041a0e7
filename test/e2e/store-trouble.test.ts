/**
 * A data directory that cannot be used: `serve` ends with a message that names the file and the way
 * out, an exit code that is not zero, and not a byte changed. And a disk that fills while the hub
 * runs: refusals, no lies, no crash; with space again, it goes on.
 *
 * Disks are made small with a tmpfs of their own where this user may mount one; where not, the cases
 * that need one are skipped, and say so.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { until } from './deadline.ts';
import {
  type Exited,
  type HubProcess,
  isRunning,
  type StartOptions,
  startHubProcess,
} from './hub-process.ts';
import { fetchReply, type Json, type Reply } from './running-hub.ts';

let work: string;
/** A directory that a hub has used and left in order. */
let used: string;
const NOBODY = 65_534;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'synod-trouble-'));
  await chmod(work, 0o755);
  used = join(work, 'used');
  const hub = await start(used);
  await ask(hub, used, 'send', { channel: 'kept', body: { n: 1 } });
  expect(await hub.stop()).toBe(0);
});
afterAll(async () => {
  for (const path of mounted) attempt('umount', path);
  await rm(work, { recursive: true, force: true });
});

async function start(dir: string, options?: StartOptions): Promise<HubProcess> {
  const hub = await startHubProcess(dir, options);
  if (!isRunning(hub)) throw new Error(`the hub did not start: ${hub.stderr}`);
  return hub;
}

async function ask(
  hub: HubProcess,
  dir: string,
  operation: string,
  input: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const credential = (await readFile(join(dir, 'credential'), 'utf8')).trim();
  return fetchReply(`${hub.url}/v1/ops/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'x-sox-agent-id': 'ada', ...headers },
    body: JSON.stringify(input),
  });
}

async function copyOfUsed(name: string): Promise<string> {
  const dir = join(work, name);
  await cp(used, dir, { recursive: true });
  return dir;
}

/** Names and contents of what must not change; the lock's own files are the hub's to write. */
async function fingerprint(dir: string): Promise<string> {
  const hash = createHash('sha256');
  const files = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = files
    .filter(
      (file) => file.isFile() && !/^(lock\.sqlite|holder\.json)|\.(LOCK|HOLDER)/.test(file.name),
    )
    .map((file) => join(file.parentPath, file.name))
    .sort();
  for (const path of paths) hash.update(path).update(await readFile(path));
  return hash.digest('hex');
}

/** Puts an entry behind the last one, as a program does that writes other entries than ours. */
async function append(path: string, entry: string): Promise<number> {
  const log = await openSqliteLog(path);
  const position = log.length;
  await log.append(position, [entry]);
  await log.close();
  return position;
}

/** The refusal to start, when it is one that helps. */
async function refusal(dir: string, options?: StartOptions): Promise<Json> {
  const outcome = await startHubProcess(dir, options);
  if (isRunning(outcome)) {
    await outcome.kill();
    throw new Error('the hub started');
  }
  const { exitCode, stderr } = outcome as Exited;
  expect(exitCode).toBeGreaterThan(0);
  expect(stderr).not.toMatch(/\n\s+at /);
  const last = stderr.trim().split('\n').at(-1) ?? '';
  return { exitCode, ...JSON.parse(last) };
}

const mounted: string[] = [];
function mount(name: string, options: string): string {
  const path = join(work, name);
  mkdirSync(path);
  need('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', path);
  mounted.push(path);
  return path;
}

/** Runs a program of the operating system; false when it fails or is not there. */
function attempt(program: string, ...args: string[]): boolean {
  return spawnSync(program, args).status === 0;
}

function need(program: string, ...args: string[]): void {
  if (!attempt(program, ...args)) throw new Error(`${program} ${args.join(' ')} failed`);
}

const mayMount = ((): boolean => {
  const path = mkdtempSync(join(tmpdir(), 'synod-mount-'));
  const isMounted = attempt('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path);
  if (isMounted) attempt('umount', path);
  rmdirSync(path);
  return isMounted;
})();
const isRoot = process.getuid?.() === 0;

describe('serve refuses a data directory that is', () => {
  test('[G10] held by another hub, and says by whom and since when', async () => {
    const dir = await copyOfUsed('held');
    const holder = await start(dir);
    const before = await fingerprint(dir);
    const failure = await refusal(dir);
    expect(failure.error_code).toBe('log.locked');
    expect(failure.message).toContain(dir);
    expect(failure.message).toContain(String(holder.child.pid));
    expect(failure.message).toMatch(/since \d{4}-\d\d-\d\dT/);
    expect(await fingerprint(dir)).toBe(before);
    // The first one did not notice.
    expect((await ask(holder, dir, 'send', { channel: 'kept', body: {} })).status).toBe(200);
    expect(await holder.stop()).toBe(0);
  });

  test.each(['sqlite', 'file'])(
    '[G10] its own, with a %s store that a hub in another directory writes to',
    async (kind) => {
      const store = join(work, `shared-${kind}`, 'log');
      const link = join(work, `link-${kind}`);
      const [first, second] = [join(work, `first-${kind}`), join(work, `second-${kind}`)];
      const holder = await start(first, { args: ['--store', `${kind}://${store}`] });
      await symlink(join(work, `shared-${kind}`), link);
      for (const spelt of [
        store,
        join(link, 'log'),
        `${work}/./link-${kind}/../link-${kind}/log`,
      ]) {
        const failure = await refusal(second, { args: ['--store', `${kind}://${spelt}`] });
        expect([failure.error_code, failure.exitCode]).toEqual(['log.locked', 75]);
        expect(failure.message).toContain(`the store ${spelt}`);
        expect(failure.message).toContain(`kill ${holder.child.pid}`);
        expect(failure.message).toMatch(/choose another store/);
      }
      expect((await ask(holder, first, 'send', { channel: 'a', body: {} })).status).toBe(200);
      // Killed without warning it holds nothing any more, and what it acknowledged is there.
      await holder.kill();
      const next = await start(second, { args: ['--store', `${kind}://${join(link, 'log')}`] });
      const sent = await ask(next, second, 'send', { channel: 'a', body: {} });
      expect(sent.body.seq).toBe(2);
      expect(await next.stop()).toBe(0);
    },
  );

  test('[ST1] newer than the program', async () => {
    const dir = await copyOfUsed('newer');
    const path = join(dir, 'spaces', 'default.sqlite');
    const db = new DatabaseSync(path);
    db.exec('PRAGMA user_version = 999');
    db.close();
    const before = await fingerprint(dir);
    const failure = await refusal(dir);
    expect(failure.error_code).toBe('log.newer');
    expect(failure.message).toContain(path);
    expect(failure.message).toContain('upgrade');
    expect(await fingerprint(dir)).toBe(before);
  });

  test('[ST1] newer than the program, as a directory of files', async () => {
    const dir = join(work, 'newer-files');
    const path = join(dir, 'log', 'format');
    const args = ['--store', `file://${join(dir, 'log')}`];
    expect(await (await start(dir, { args })).stop()).toBe(0);
    await writeFile(path, 'synod-log 999\n');
    const before = await fingerprint(dir);
    const failure = await refusal(dir, { args });
    expect([failure.error_code, failure.exitCode]).toEqual(['log.newer', 65]);
    expect(failure.message).toContain(path);
    expect(failure.message).toContain('upgrade');
    expect(await fingerprint(dir)).toBe(before);
  });

  test.each([
    ['newer', 'log.newer', '{"type":"future.thing","at":1}', /future\.thing.*upgrade/],
    ['unknown', 'log.shape', '{"type":"message.sent","at":1,"by":"ada"}', /message\.sent.*restore/],
  ])('[L2] with an entry of a program that is %s', async (name, code, entry, message) => {
    const dir = await copyOfUsed(`entry-${name}`);
    const path = join(dir, 'spaces', 'default.sqlite');
    const position = await append(path, entry);
    const before = await fingerprint(dir);
    const failure = await refusal(dir);
    expect([failure.error_code, failure.exitCode]).toEqual([code, 65]);
    expect(failure.message).toContain(path);
    expect(failure.message).toContain(`entry ${position} `);
    expect(failure.message).toMatch(message);
    expect(await fingerprint(dir)).toBe(before);
  });

  test.each([
    ['foreign', async (path: string) => writeFile(path, 'my shopping list\n'.repeat(500))],
    [
      'damaged',
      async (path: string) => {
        const bytes = await readFile(path);
        bytes.fill(0x5a, 4_096, bytes.length);
        await writeFile(path, bytes);
      },
    ],
    [
      'cut short',
      async (path: string) => writeFile(path, (await readFile(path)).subarray(0, 5_000)),
    ],
  ])('[ST1] %s', async (name, spoil) => {
    const dir = await copyOfUsed(name.replace(' ', '-'));
    const path = join(dir, 'spaces', 'default.sqlite');
    await spoil(path);
    const before = await fingerprint(dir);
    const failure = await refusal(dir);
    expect(failure.error_code).toBe('log.corrupt');
    expect(failure.message).toContain(path);
    expect(failure.message).toMatch(/restore|move (it|that file) away/);
    expect(await fingerprint(dir)).toBe(before);
  });

  test.runIf(isRoot)('[ST1] another user’s, or not writable', async () => {
    const dir = await copyOfUsed('not-mine');
    await chmod(dir, 0o755);
    const before = await fingerprint(dir);
    const failure = await refusal(dir, { uid: NOBODY });
    expect(failure.error_code).toBe('log.unavailable');
    expect(failure.message).toContain(dir);
    expect(failure.message).toMatch(/give this user access|choose another/);
    expect(await fingerprint(dir)).toBe(before);
  });

  test.runIf(isRoot)('[ST1] its own, but with a log of another user in it', async () => {
    const dir = await copyOfUsed('log-not-mine');
    for (const file of ['.', 'spaces', 'credential', 'lock.sqlite'])
      await chown(join(dir, file), NOBODY, NOBODY);
    const before = await fingerprint(dir);
    const failure = await refusal(dir, { uid: NOBODY });
    expect(failure.error_code).toBe('log.unavailable');
    expect(failure.message).toContain(join(dir, 'spaces', 'default.sqlite'));
    expect(await fingerprint(dir)).toBe(before);
  });

  test.runIf(mayMount)('[ST1] on a file system mounted read-only', async () => {
    const disk = mount('read-only', 'size=8m');
    await cp(used, join(disk, 'hub'), { recursive: true });
    need('mount', '-o', 'remount,ro', disk);
    const before = await fingerprint(join(disk, 'hub'));
    const failure = await refusal(join(disk, 'hub'));
    expect(failure.error_code).toBe('log.unavailable');
    expect(failure.message).toContain(disk);
    expect(failure.message).toMatch(/read-only/);
    expect(await fingerprint(join(disk, 'hub'))).toBe(before);
  });

  test.runIf(mayMount)('[ST1] on a disk that is full', async () => {
    const disk = mount('full', 'size=512k');
    await writeFile(join(disk, 'ballast'), Buffer.alloc(512 * 1024)).catch(() => {});
    const failure = await refusal(join(disk, 'hub'));
    expect(failure.error_code).toBe('log.unavailable');
    expect(failure.message).toContain(disk);
    expect(failure.message).toMatch(/full|free some space/);
  });

  test('[ST1] no directory at all', async () => {
    const path = join(work, 'a-file');
    await writeFile(path, 'not a directory');
    for (const dir of [path, join(path, 'below')]) {
      const failure = await refusal(dir);
      expect(failure.error_code).toBe('log.unavailable');
      expect(failure.message).toContain(path);
    }
    expect(await readFile(path, 'utf8')).toBe('not a directory');
  });
});

describe('serve starts with', () => {
  test('[SP2] a space that a newer program has written, which alone is refused', async () => {
    const dir = await copyOfUsed('newer-space');
    const first = await start(dir);
    const other = { 'x-sox-namespace': 'other' };
    expect((await ask(first, dir, 'send', { channel: 'c', body: {} }, other)).status).toBe(200);
    expect(await first.stop()).toBe(0);
    const path = join(dir, 'spaces', 'other.sqlite');
    await append(path, '{"type":"future.thing","at":1}');
    const before = await readFile(path);
    const hub = await start(dir);
    const refused = await ask(hub, dir, 'send', { channel: 'c', body: {} }, other);
    expect([refused.status, refused.body.detail.failure]).toEqual([503, 'log.newer']);
    expect((await ask(hub, dir, 'send', { channel: 'kept', body: {} })).status).toBe(200);
    expect(await hub.stop()).toBe(0);
    expect(hub.stderr()).toContain(path);
    expect(hub.stderr()).toContain('upgrade synod');
    expect(await readFile(path)).toEqual(before);
  });

  test('[H8] a snapshot of another log, which is told, left as it is, and not believed', async () => {
    const stores = ['one', 'another'].map((name) => join(work, `snapshot-of-${name}`));
    const dir = join(work, 'snapshots');
    const said = async (store: string, n: number): Promise<HubProcess> => {
      const hub = await start(dir, { args: ['--store', `file://${store}`] });
      for (let i = 0; i < n; i++) await ask(hub, dir, 'send', { channel: 'c', body: { n, i } });
      return hub;
    };
    for (const [i, store] of stores.entries()) {
      expect(await (await said(store, 2 + 7 * i)).stop()).toBe(0);
    }
    const [store = '', another = ''] = stores;
    const [name = ''] = (await readdir(another)).filter((one) => one.endsWith('.snapshot'));
    await cp(join(another, name), join(store, name));
    const before = await readFile(join(store, name));
    const hub = await said(store, 0);
    await ask(hub, dir, 'subscribe', { pattern: 'c' });
    const { body } = await ask(hub, dir, 'replay', { channel: 'c', since: 0, limit: 10 });
    expect(body.messages.map((one: Json) => one.body.n)).toEqual([2, 2]);
    expect(await hub.stop()).toBe(0);
    expect(hub.stderr()).toMatch(/log\.snapshot: .*remove the snapshot/);
    expect(await readFile(join(store, name))).toEqual(before);
  });
});

/** Room that runs out, how a hub is started in it, and how there is room again. */
interface Tight {
  readonly dir: string;
  readonly through: readonly string[];
  free(hub: HubProcess): Promise<void>;
}

async function smallDisk(): Promise<Tight> {
  const disk = mount('fills', 'size=3m');
  const ballast = join(disk, 'ballast');
  await writeFile(ballast, Buffer.alloc(1024 * 1024));
  // Folding the journal into the file takes room for both.
  const free = async (): Promise<void> => {
    await rm(ballast);
    need('mount', '-o', 'remount,size=16m', disk);
  };
  return { dir: join(disk, 'hub'), through: [], free };
}

async function smallFile(): Promise<Tight> {
  return {
    dir: join(work, 'may-not-grow'),
    through: ['prlimit', '--fsize=1000000:unlimited'],
    async free({ child }) {
      need('prlimit', '--pid', String(child.pid), '--fsize=unlimited:unlimited');
    },
  };
}

const mayLimit = attempt('prlimit', '--fsize=1000:unlimited', 'true');

describe('while the hub runs', () => {
  test.for([
    ['a disk that fills', smallDisk, mayMount],
    ['a file that may not grow', smallFile, mayLimit],
  ] as const)(
    '[H2] %s is told to those who write, and once there is room the hub goes on',
    { timeout: 40_000 },
    async ([, makeTight, isPossible], { skip }) => {
      skip(!isPossible, 'this user may not make room run out');
      const { dir, through, free } = await makeTight();
      const hub = await start(dir, { through });
      const text = 'x'.repeat(20_000);
      const acked: number[] = [];
      let n = 0;
      const send = async (): Promise<Reply> => {
        const reply = await ask(hub, dir, 'send', { channel: 'disk', body: { n: ++n, text } });
        if (reply.status === 200) acked.push(n);
        return reply;
      };
      const refused = await until('no room', send, ({ status }) => status !== 200, 15_000);
      expect([refused.status, refused.body.error_code]).toEqual([503, 'store_unavailable']);
      expect(acked.length).toBeGreaterThan(5);
      // It says no again and again, and is still there to say it.
      for (let i = 0; i < 5; i++) {
        const again = await send();
        if (again.status !== 200) expect(again.body.error_code).toBe('store_unavailable');
      }
      expect(hub.child.exitCode).toBeNull();
      await free(hub);
      await until('the hub takes messages again', send, ({ status }) => status === 200, 15_000);
      await ask(hub, dir, 'subscribe', { pattern: 'disk' });
      expect((await fetchReply(`${hub.url}/health`)).body.store_ok).toBe(true);
      const stored = async (at: HubProcess): Promise<number[]> => {
        const { body } = await ask(at, dir, 'replay', { channel: 'disk', since: 0, limit: 1_000 });
        return body.messages.map((one: Json) => one.body.n);
      };
      // Exactly what was acknowledged, before and after a restart.
      expect(await stored(hub)).toEqual(acked);
      expect(await hub.stop()).toBe(0);
      const next = await start(dir);
      expect(await stored(next)).toEqual(acked);
      expect(await next.stop()).toBe(0);
    },
  );
});
