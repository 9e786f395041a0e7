/**
 * Durable sends at a cluster of one, two and three servers on three NATS nodes: one, two and four spaces, with senders at
 * all of them, and of three also at one and two. Beside one server with SQLite, and beside the bare loop on JetStream, which takes the same
 * load; `alike` is the same loop with as many sends in one message as the hub's appends had. `appends` is JetStream
 * alone: a loop that has as many bytes ready for as many sends as the hub's appends had.
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
/** Instead of ten minutes: a server that nobody asks for a space has closed its copy by then [SQ29]. */
const UNUSED_S = 2;
/** A space that is not where its senders are goes there within some seconds of a flood [SQ27]. */
const WARMINGS_MAX = 6;
/** As many sends in one append as the hub has at most. */
const BATCH_MAX = 2_048;
/** How many servers there are, and how many of them have senders: one that has none follows. */
const CROWDS = [
  { servers: 3, at: 1 },
  { servers: 3, at: 2 },
  { servers: 3, at: 3 },
  { servers: 2, at: 2 },
  { servers: 1, at: 1 },
];
const SHAPES = CROWDS.flatMap((crowd) => [1, 2, 4].map((spaces) => ({ spaces, ...crowd })));

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

/** The others are stopped, or started again; every space can be written to at those that are there then. */
async function gather(cluster: BenchCluster, servers: number): Promise<void> {
  const wanted = cluster.names.slice(0, servers);
  for (const name of cluster.running)
    if (!wanted.includes(name)) await cluster.end(name, 'SIGTERM');
  for (const name of wanted) if (!cluster.running.includes(name)) await cluster.start(name);
  for (const space of SPACES) for (const url of cluster.urls) await untilSent([url], space);
}

/** Whether each space is sequenced at a server that has senders of it, where it stays, and closed at those that have none. */
async function areNear(cluster: BenchCluster, spaces: number, servers: number): Promise<boolean> {
  const [url = ''] = cluster.urls;
  const answers = await Promise.all(
    SPACES.slice(0, spaces).map((space) => ask(url, 'status', {}, space)),
  );
  const near: readonly unknown[] = cluster.names.slice(0, servers);
  if (!answers.every((one) => near.includes(one?.cluster?.sequencer))) return false;
  const [first = 'one'] = cluster.running;
  const open = SPACES.slice(0, spaces).map((space) => cluster.openAt(first, space));
  return (await Promise.all(open)).flat().every((name) => near.includes(name));
}

interface BareCounts {
  readonly appends: number;
  readonly sends: number;
}

function meanBatch(from: BareCounts, to: BareCounts): number {
  return (to.sends - from.sends) / (to.appends - from.appends);
}

interface BareFigures {
  readonly sendsPerSecond: number;
  readonly batch: number;
}

async function run(setting: Setting): Promise<Measure[]> {
  await using cluster = await openBenchCluster({ closeUnusedAfterS: UNUSED_S });
  const alone = await openServer('hub');
  const bare = await openServer('jetstream', { args: [cluster.store] });
  const { measureMs, window } = setting;
  // A space that is new is three streams at three nodes: that takes longer than what is measured.
  await gather(cluster, cluster.names.length);
  const shape = { kind: 'flood', senders: SENDERS, listeners: 0, window, warmMs: 500 } as const;
  const flood = (url: string, beside: readonly string[], spaces: number) =>
    runLoad({ ...shape, url, beside, spaces: SPACES.slice(0, spaces), measureMs });
  const pids = () => [alone.pid, ...cluster.running.map((name) => cluster.server(name).pid)];
  /** What it has had so far; no more than so many sends are in one message from then on. */
  async function tellBare(batchMax: number): Promise<BareCounts> {
    const answer = await fetch(`${bare.url}/batch/${Math.min(BATCH_MAX, Math.round(batchMax))}`);
    return (await answer.json()) as BareCounts;
  }
  /** The bare loop, warm, with batches of its own, or with such that hold so many sends on average, and what they held. */
  async function floodBare(spaces: number, alike?: number): Promise<BareFigures> {
    const begun = await tellBare(alike ?? BATCH_MAX);
    await flood(bare.url, [], spaces);
    const warm = await tellBare(alike ?? BATCH_MAX);
    // What bounds them is more than they hold on average.
    const bound = alike === undefined ? BATCH_MAX : alike ** 2 / meanBatch(begun, warm);
    const before = await tellBare(bound);
    const { sendsPerSecond } = await flood(bare.url, [], spaces);
    return { sendsPerSecond, batch: meanBatch(before, await tellBare(bound)) };
  }
  /** Floods of the same shape that are not measured, until every space is where its senders are. */
  async function warm(servers: number, spaces: number): Promise<void> {
    const [url = '', ...beside] = cluster.urls.slice(0, servers);
    for (let times = 0; times < WARMINGS_MAX; times++) {
      await flood(url, beside, spaces);
      if (await areNear(cluster, spaces, servers)) return;
    }
    process.stderr.write(
      `${spaces} spaces, ${servers} servers: one is not where its senders are, or open elsewhere\n`,
    );
  }
  /** Of all servers: what is decided at one and forwarded by another costs both. */
  const ranUs = () =>
    cluster.running.reduce((sum, name) => sum + ranUsOf(cluster.server(name).pid), 0);
  const sides: Sides = {};
  for (const spaces of [1, 2, 4]) {
    sides[`sqlite ${spaces}`] = async () => {
      await flood(alone.url, [], spaces);
      const ranBefore = ranUsOf(alone.pid);
      const { sendsPerSecond, sends } = await flood(alone.url, [], spaces);
      return { hub: sendsPerSecond, cost: (ranUsOf(alone.pid) - ranBefore) / sends };
    };
  }
  for (const { spaces, servers, at } of SHAPES) {
    const take = async () => {
      await gather(cluster, servers);
      // A hub that pauses writes its index, which would take the processor from whoever is measured then.
      await atRest(pids());
      const free = await floodBare(spaces);
      // At once: what the loop had of the machine, the hub has too.
      await warm(at, spaces);
      const [before, exchangedBefore] = [await cluster.stored(), await cluster.exchanged()];
      const ranBefore = ranUs();
      const [url = '', ...beside] = cluster.urls.slice(0, at);
      const { sendsPerSecond, sends } = await flood(url, beside, spaces);
      const cost = (ranUs() - ranBefore) / sends;
      const [after, exchangedAfter] = [await cluster.stored(), await cluster.exchanged()];
      const count = after.batches - before.batches;
      const bytes = (after.bytes - before.bytes) / count;
      const exchanged = (exchangedAfter - exchangedBefore) / count;
      const batch = sends / count;
      await atRest(pids());
      const alike = await floodBare(spaces, batch);
      const appends = await appendsPerSecond(cluster, spaces, bytes, measureMs);
      return {
        ...{ hub: sendsPerSecond, appends: appends * batch, batch, cost, exchanged },
        ...{ jetstream: free.sendsPerSecond, batchJetstream: free.batch },
        ...{ alike: alike.sendsPerSecond, batchAlike: alike.batch },
      };
    };
    sides[`hub ${spaces} ${servers} ${at}`] = () => takeAgain(take);
  }
  try {
    // Its streams are made by the first who comes; that is not measured.
    await flood(bare.url, [], SPACES.length);
    const figures = await takeTurns(setting.rounds, sides);
    const [hub, jetstream] = [figures('hub'), figures('jetstream')];
    const [alike, appends] = [figures('alike'), figures('appends')];
    const [batchJetstream, batchAlike] = [figures('batchJetstream'), figures('batchAlike')];
    const [batch, cost, exchanged] = [figures('batch'), figures('cost'), figures('exchanged')];
    return SHAPES.flatMap(({ spaces, servers, at }): Measure[] => {
      const key = `hub ${spaces} ${servers} ${at}`;
      const where = `${spaces} ${spaces === 1 ? 'space' : 'spaces'}, senders at ${at} of ${servers} servers`;
      return [
        {
          what: `durable sends, cluster, ${where}`,
          unit: '/s',
          sides: {
            hub: hub[key] ?? [],
            jetstream: jetstream[key] ?? [],
            alike: alike[key] ?? [],
            appends: appends[key] ?? [],
            sqlite: hub[`sqlite ${spaces}`] ?? [],
          },
          goal: { against: 'alike', atLeast: 0.6 },
        },
        {
          what: `sends in one append, ${where}`,
          unit: '',
          sides: {
            hub: batch[key] ?? [],
            jetstream: batchJetstream[key] ?? [],
            alike: batchAlike[key] ?? [],
          },
        },
        {
          what: `messages that servers and NATS exchanged for one append, ${where}`,
          unit: '',
          sides: { hub: exchanged[key] ?? [] },
        },
        {
          what: `processor time of one send, all servers, ${where}`,
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
