/**
 * Three hubs on one store that pass for one: whatever is asked of it is asked of any, by chance. It stands in for
 * the hub of a test, which knows nothing of it.
 */
import { existsSync, rmSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HubOptions, Json, RunningHub } from '../e2e/running-hub-types.ts';
import {
  createSharedStore,
  IS_CLUSTER,
  oneOf,
  SERVER_NAMES,
  type SharedStore,
  shareAddresses,
} from './shared-store.ts';

/** A test that names its store wants that one. */
export function isForCluster({ flags }: HubOptions): boolean {
  return IS_CLUSTER && flags?.store === undefined && flags?.serverName === undefined;
}

/** A hub that is opened again on its directory goes on with its store. */
const stores = new Map<string, { readonly store: SharedStore; readonly dirs: readonly string[] }>();
process.once('exit', () => {
  for (const { dirs } of stores.values()) {
    for (const dir of dirs.slice(1)) rmSync(dir, { recursive: true, force: true });
  }
});

export async function openRunningCluster(
  options: HubOptions,
  openOne: (options: HubOptions) => Promise<RunningHub>,
): Promise<RunningHub> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'synod-door-')));
  const known = stores.get(dir) ?? {
    store: createSharedStore(),
    dirs: SERVER_NAMES.map((name, i) => (i === 0 ? dir : `${dir}-${name}`)),
  };
  stores.set(dir, known);
  const { store, dirs } = known;
  const hubs: RunningHub[] = [];
  try {
    for (const [i, serverName] of SERVER_NAMES.entries()) {
      const own = dirs[i] as string;
      if (i > 0) await adopt(dir, own);
      // A file that a server writes is of its machine.
      const isElsewhere = i > 0 && options.flags?.synapseRelay !== undefined;
      const relay = isElsewhere ? { synapseRelay: join(own, 'relay.ndjson') } : {};
      const flags = { ...options.flags, ...relay, store: store.urls[i], serverName };
      hubs.push(await openOne({ ...options, dir: own, flags }));
    }
  } catch (cause) {
    await Promise.all(hubs.map((hub) => hub.close()));
    throw cause;
  }
  const doors = await Promise.all(dirs.map(synapseOf));
  shareAddresses(doors.filter((address) => address !== null));
  const any = (): RunningHub => oneOf(hubs);
  const first = hubs[0] as RunningHub;
  return {
    get url() {
      return any().url;
    },
    get port() {
      return any().port;
    },
    get socketPath() {
      return any().socketPath;
    },
    get log() {
      return hubs.flatMap(({ log }) => log);
    },
    ...{ dir, owner: first.owner, as: first.as },
    admin: (...asked) => any().admin(...asked),
    ask: (...asked) => any().ask(...asked),
    post: (...asked) => any().post(...asked),
    mark: (space) => any().mark(space),
    async close() {
      await Promise.all(hubs.map((hub) => hub.close()));
      if (options.dir !== undefined) return;
      await Promise.all(dirs.map((one) => rm(one, { recursive: true, force: true })));
      stores.delete(dir);
      await store.remove();
    },
  };
}

/** The owner is one person, with one credential, whichever server they are at. */
async function adopt(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const credential = join(to, 'credential');
  if (!existsSync(credential)) await copyFile(join(from, 'credential'), credential);
}

async function synapseOf(dir: string): Promise<string | null> {
  const told: Json = JSON.parse(await readFile(join(dir, 'hub.json'), 'utf8').catch(() => '{}'));
  return told.synapse ?? null;
}
