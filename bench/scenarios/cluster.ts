/**
 * Durable sends at a cluster of three servers on three NATS nodes: one, two and four spaces, with senders at one, two
 * and three of the servers, beside one server with SQLite, and beside a bare loop of JetStream appends. The loop is
 * given what the hub's appends were: as many bytes, for as many sends.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BenchCluster, openBenchCluster, takeAgain, untilSent } from '../cluster.ts';
import { runLoad } from '../load.ts';
import { busyUsOf } from '../process.ts';
import { type Measure, type Scenario, type Setting, type Sides, takeTurns } from '../scenario.ts';
import { openServer } from '../server.ts';

const SPACES = ['a', 'b', 'c', 'd'] as const;
/** So many that each space has senders at each server. */
const SENDERS = 12;
const LOOP = join(import.meta.dirname, '../baseline/jetstream-loop.ts');
const SHAPES = [1, 2, 4].flatMap((spaces) => [1, 2, 3].map((servers) => ({ spaces, servers })));

async function appendsPerSecond(
  { store }: BenchCluster,
  streams: number,
  bytes: number,
  ms: number,
): Promise<number> {
  const args = [LOOP, store, String(streams), String(Math.round(bytes)), String(ms)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return (JSON.parse(stdout) as { appendsPerSecond: number }).appendsPerSecond;
}

async function run(setting: Setting): Promise<Measure[]> {
  await using cluster = await openBenchCluster();
  const alone = await openServer('hub');
  const { measureMs, window } = setting;
  // A space that is new is three streams at three nodes: that takes longer than what is measured.
  for (const space of SPACES) for (const url of cluster.urls) await untilSent([url], space);
  const shape = { kind: 'flood', senders: SENDERS, listeners: 0, window, warmMs: 500 } as const;
  const flood = (url: string, beside: readonly string[], spaces: number) =>
    runLoad({ ...shape, url, beside, spaces: SPACES.slice(0, spaces), measureMs });
  /** Of all servers: what is decided at one and forwarded by another costs both. */
  const busyUs = () =>
    cluster.names.reduce((sum, name) => sum + busyUsOf(cluster.server(name).pid), 0);
  const sides: Sides = {};
  for (const { spaces, servers } of SHAPES) {
    const take = async () => {
      const before = await cluster.stored();
      const busyBefore = busyUs();
      const [url = '', ...beside] = cluster.urls.slice(0, servers);
      const { sendsPerSecond, sends } = await flood(url, beside, spaces);
      const cost = (busyUs() - busyBefore) / sends;
      const after = await cluster.stored();
      const count = after.batches - before.batches;
      const bytes = (after.bytes - before.bytes) / count;
      // At once: what the hub had of the machine, the loop has too.
      const loop = await appendsPerSecond(cluster, spaces, bytes, measureMs);
      const batch = sends / count;
      return { hub: sendsPerSecond, jetstream: loop * batch, batch, cost };
    };
    sides[`hub ${spaces} ${servers}`] = () => takeAgain(take);
  }
  for (const spaces of [1, 2, 4]) {
    sides[`sqlite ${spaces}`] = async () => {
      const busyBefore = busyUsOf(alone.pid);
      const { sendsPerSecond, sends } = await flood(alone.url, [], spaces);
      return { hub: sendsPerSecond, cost: (busyUsOf(alone.pid) - busyBefore) / sends };
    };
  }
  try {
    const figures = await takeTurns(setting.rounds, sides);
    const [hub, jetstream, batch] = [figures('hub'), figures('jetstream'), figures('batch')];
    const cost = figures('cost');
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
            sqlite: hub[`sqlite ${spaces}`] ?? [],
          },
          goal: { against: 'jetstream', atLeast: 0.6 },
        },
        { what: `sends in one append, ${at}`, unit: '', sides: { hub: batch[key] ?? [] } },
        {
          what: `processor time of one send, all servers, ${at}`,
          unit: 'µs',
          sides: { hub: cost[key] ?? [], sqlite: cost[`sqlite ${spaces}`] ?? [] },
        },
      ];
    });
  } finally {
    await alone.close();
  }
}

export const cluster: Scenario = { name: 'cluster', isAskedFor: true, run };
