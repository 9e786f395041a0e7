/**
 * Durable sends at a cluster of three servers on three NATS nodes: one, two and four spaces, with senders at one, two
 * and three of the servers. Beside one server with SQLite, and beside the bare loop on JetStream, which takes the same
 * load. `appends` is JetStream alone: a loop that has as many bytes ready for as many sends as the hub's appends had.
 */
import { join } from 'node:path';
import { ask, type BenchCluster, openBenchCluster, takeAgain, untilSent } from '../cluster.ts';
import { runLoad, runNode } from '../load.ts';
import { atRest, ranUsOf } from '../process.ts';
import { type Measure, type Scenario, type Setting, type Sides, takeTurns } from '../scenario.ts';
import { openServer } from '../server.ts';

const SPACES = ['a', 'b', 'c', 'd'] as const;
/** So many that each space has senders at each server. */
const SENDERS = 12;
const LOOP = join(import.meta.dirname, '../baseline/jetstream-loop.ts');
/** A space that is not where its senders are goes there within some seconds of a flood [SQ27]. */
const WARMINGS_MAX = 6;
const SHAPES = [1, 2, 4].flatMap((spaces) => [1, 2, 3].map((servers) => ({ spaces, servers })));

async function appendsPerSecond(
  { store }: BenchCluster,
  streams: number,
  bytes: number,
  ms: number,
): Promise<number> {
  const parameters = [store, String(streams), String(Math.round(bytes)), String(ms)];
  const told = (await runNode(LOOP, parameters)) as { appendsPerSecond: number };
  return told.appendsPerSecond;
}

/** Whether each space is sequenced at a server that has senders of it: it stays there. */
async function areNear(cluster: BenchCluster, spaces: number, servers: number): Promise<boolean> {
  const [url = ''] = cluster.urls;
  const answers = await Promise.all(
    SPACES.slice(0, spaces).map((space) => ask(url, 'status', {}, space)),
  );
  const near: readonly unknown[] = cluster.names.slice(0, servers);
  return answers.every((one) => near.includes(one?.cluster?.sequencer));
}

async function run(setting: Setting): Promise<Measure[]> {
  await using cluster = await openBenchCluster();
  const alone = await openServer('hub');
  const bare = await openServer('jetstream', { args: [cluster.store] });
  const { measureMs, window } = setting;
  // A space that is new is three streams at three nodes: that takes longer than what is measured.
  for (const space of SPACES) for (const url of cluster.urls) await untilSent([url], space);
  const shape = { kind: 'flood', senders: SENDERS, listeners: 0, window, warmMs: 500 } as const;
  const flood = (url: string, beside: readonly string[], spaces: number) =>
    runLoad({ ...shape, url, beside, spaces: SPACES.slice(0, spaces), measureMs });
  const pids = () => [alone.pid, ...cluster.names.map((name) => cluster.server(name).pid)];
  /** Floods of the same shape that are not measured, until every space is where its senders are. */
  async function warm(servers: number, spaces: number): Promise<void> {
    const [url = '', ...beside] = cluster.urls.slice(0, servers);
    for (let times = 0; times < WARMINGS_MAX; times++) {
      await flood(url, beside, spaces);
      if (await areNear(cluster, spaces, servers)) return;
    }
    process.stderr.write(
      `${spaces} spaces, ${servers} servers: one is not where its senders are\n`,
    );
  }
  /** Of all servers: what is decided at one and forwarded by another costs both. */
  const ranUs = () =>
    cluster.names.reduce((sum, name) => sum + ranUsOf(cluster.server(name).pid), 0);
  const sides: Sides = {};
  for (const spaces of [1, 2, 4]) {
    sides[`sqlite ${spaces}`] = async () => {
      await flood(alone.url, [], spaces);
      const ranBefore = ranUsOf(alone.pid);
      const { sendsPerSecond, sends } = await flood(alone.url, [], spaces);
      return { hub: sendsPerSecond, cost: (ranUsOf(alone.pid) - ranBefore) / sends };
    };
  }
  for (const { spaces, servers } of SHAPES) {
    const take = async () => {
      // A hub that pauses writes its index, which would take the processor from whoever is measured then.
      await atRest(pids());
      await flood(bare.url, [], spaces);
      const { sendsPerSecond: jetstream } = await flood(bare.url, [], spaces);
      // At once: what the loop had of the machine, the hub has too.
      await warm(servers, spaces);
      const [before, exchangedBefore] = [await cluster.stored(), await cluster.exchanged()];
      const ranBefore = ranUs();
      const [url = '', ...beside] = cluster.urls.slice(0, servers);
      const { sendsPerSecond, sends } = await flood(url, beside, spaces);
      const cost = (ranUs() - ranBefore) / sends;
      const [after, exchangedAfter] = [await cluster.stored(), await cluster.exchanged()];
      const count = after.batches - before.batches;
      const bytes = (after.bytes - before.bytes) / count;
      const exchanged = (exchangedAfter - exchangedBefore) / count;
      await atRest(pids());
      const appends = await appendsPerSecond(cluster, spaces, bytes, measureMs);
      const batch = sends / count;
      return {
        ...{ hub: sendsPerSecond, jetstream, appends: appends * batch },
        ...{ batch, cost, exchanged },
      };
    };
    sides[`hub ${spaces} ${servers}`] = () => takeAgain(take);
  }
  try {
    // Its streams are made by the first who comes; that is not measured.
    await flood(bare.url, [], SPACES.length);
    const figures = await takeTurns(setting.rounds, sides);
    const [hub, jetstream, appends] = [figures('hub'), figures('jetstream'), figures('appends')];
    const [batch, cost, exchanged] = [figures('batch'), figures('cost'), figures('exchanged')];
    return SHAPES.flatMap(({ spaces, servers }): Measure[] => {
      const key = `hub ${spaces} ${servers}`;
      const at = `${spaces} ${spaces === 1 ? 'space' : 'spaces'}, senders at ${servers} of 3 servers`;
      return [
        {
          what: `durable sends, cluster, ${at}`,
          unit: '/s',
          sides: {
            hub: hub[key] ?? [],
            jetstream: jetstream[key] ?? [],
            appends: appends[key] ?? [],
            sqlite: hub[`sqlite ${spaces}`] ?? [],
          },
          goal: { against: 'jetstream', atLeast: 0.6 },
        },
        { what: `sends in one append, ${at}`, unit: '', sides: { hub: batch[key] ?? [] } },
        {
          what: `messages that servers and NATS exchanged for one append, ${at}`,
          unit: '',
          sides: { hub: exchanged[key] ?? [] },
        },
        {
          what: `processor time of one send, all servers, ${at}`,
          unit: 'µs',
          sides: { hub: cost[key] ?? [], sqlite: cost[`sqlite ${spaces}`] ?? [] },
        },
      ];
    });
  } finally {
    await bare.close();
    await alone.close();
  }
}

export const cluster: Scenario = { name: 'cluster', isAskedFor: true, run };
