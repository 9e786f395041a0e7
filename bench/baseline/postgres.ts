/** A PostgreSQL of its own for a baseline, where one is installed; null where none is. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const DEBIAN = '/usr/lib/postgresql';
const READY_TRIES = 200;

export interface Postgres {
  readonly url: string;
  close(): Promise<void>;
}

/** Settings are PostgreSQL's own: every commit is on the disk before it is answered. */
export async function openPostgres(scratch: string): Promise<Postgres | null> {
  const bin = await findPrograms();
  if (bin === null) return null;
  const dir = join(scratch, 'postgres');
  await mkdir(dir);
  // It must find its way there when it is somebody else.
  await chmod(scratch, 0o755);
  const who = process.getuid?.() === 0 ? await findUser('postgres') : {};
  if (who === null) return null;
  if (who.uid !== undefined) await chown(dir, who.uid, who.gid ?? 0);
  const data = join(dir, 'data');
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust'], { ...who, cwd: dir });
  const flags = ['-D', data, '-k', dir, '-c', 'listen_addresses='];
  const server = spawn(join(bin, 'postgres'), flags, { ...who, cwd: dir, stdio: 'ignore' });
  const exit = once(server, 'exit');
  const ask = (): Promise<unknown> =>
    run(join(bin, 'psql'), [
      '-h',
      dir,
      '-U',
      'bench',
      '-d',
      'postgres',
      '-c',
      'CREATE DATABASE bench',
    ]);
  for (let tries = 0; ; tries++) {
    try {
      await ask();
      break;
    } catch (cause) {
      if (tries >= READY_TRIES) throw new Error('PostgreSQL does not answer', { cause });
      await pause(50);
    }
  }
  return {
    url: `postgresql://bench@localhost/bench?host=${encodeURIComponent(dir)}`,
    async close() {
      server.kill('SIGINT');
      await exit;
    },
  };
}

async function findPrograms(): Promise<string | null> {
  const versions = existsSync(DEBIAN) ? (await readdir(DEBIAN)).sort().reverse() : [];
  const places = [...versions.map((version) => join(DEBIAN, version, 'bin')), '/usr/local/bin'];
  return places.find((place) => existsSync(join(place, 'initdb'))) ?? null;
}

/** PostgreSQL refuses to be root. */
async function findUser(name: string): Promise<{ uid?: number; gid?: number } | null> {
  const line = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .find((one) => one.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}
