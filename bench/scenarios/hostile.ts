/**
 * Load as bad input: connections that say nothing, readers that never read, a thousand that wait for one message, a
 * megabyte at every door at once, and at the bus a flood of requests to a worker that dies. Whoever does nothing wrong
 * must not notice: the p99 of a bystander stays within twice of what it is alone, in turns, and memory stays bounded.
 *
 * Beside both stands the same load at another server of the same machine: what the bystander notices then is the
 * processors that it shares with the load, and no server can do anything about it.
 */
import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Hostility } from '../load/hostile.ts';
import { type Going, runLoad, startLoad } from '../load.ts';
import type { Percentiles } from '../percentiles.ts';
import { memoryOf } from '../process.ts';
import { type Measure, type Scenario, type Setting, type Sides, takeTurns } from '../scenario.ts';
import { createScratch, openServer, type Server } from '../server.ts';
import { openBus } from './bus.ts';

const ALONE = 'nobody hostile';
const ELSEWHERE = 'hostile to another';

interface Part {
  readonly what: Hostility;
  readonly count: number;
  readonly words: string;
  readonly trips: number;
  readonly counts: readonly ('held' | 'told' | 'cut')[];
}

const FATES = ['held', 'told', 'cut'] as const;

const PARTS: readonly Part[] = [
  {
    ...{ what: 'silent', count: 10_000, words: 'connections that say nothing' },
    ...{ trips: 1_000, counts: FATES },
  },
  {
    ...{ what: 'stopped', count: 1_000, words: 'readers that never read' },
    ...{ trips: 3_000, counts: [] },
  },
  {
    ...{ what: 'stopped-sse', count: 1_000, words: 'readers of SSE that never read' },
    ...{ trips: 3_000, counts: [] },
  },
  {
    ...{ what: 'stopped-synapse', count: 1_000, words: 'Synapse sockets that never read' },
    ...{ trips: 3_000, counts: [] },
  },
  {
    ...{ what: 'polls', count: 1_000, words: 'who wait for the same message' },
    ...{ trips: 3_000, counts: ['held'] },
  },
  {
    ...{ what: 'large', count: 200, words: 'bodies of 1 MB at four doors' },
    ...{ trips: 1_000, counts: ['told', 'cut'] },
  },
];

export const hostile: Scenario = {
  name: 'hostile',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const measures: Measure[] = [];
    for (const part of PARTS) measures.push(...(await atHub(setting, part)));
    measures.push(...(await atBus(setting)));
    return measures;
  },
};

const sizeOf = ({ isQuick }: Setting, count: number) => (isQuick ? count / 20 : count);

/** The bystander's figures while a load goes on, and what became of the load. */
async function beside<R extends object>(
  starting: Promise<Going<R>>,
  bystand: () => Promise<Percentiles>,
  pid: number,
): Promise<Record<string, number>> {
  const going = await starting;
  const stood = await bystand();
  return { ...(await going.end()), ...stood, ...memoryOf(pid) };
}

async function atHub(setting: Setting, part: Part): Promise<Measure[]> {
  const count = sizeOf(setting, part.count);
  const trips = sizeOf(setting, part.trips);
  const servers: Server[] = [];
  try {
    for (const _ of [ELSEWHERE, 'hub']) servers.push(await openServer('hub', { hasSynapse: true }));
    const [another, server] = servers as [Server, Server];
    const bystand = () => runLoad({ kind: 'bystander', url: server.url, trips });
    const loadAt = ({ url, synapse }: Server) =>
      startLoad({ kind: 'hostile', url, synapse, what: part.what, count });
    const sides: Sides = {
      [ALONE]: async () => ({ ...(await bystand()) }),
      [ELSEWHERE]: () => beside(loadAt(another), bystand, another.pid),
      hub: () => beside(loadAt(server), bystand, server.pid),
    };
    const figures = await takeTurns(Math.min(setting.rounds, 3), sides);
    return rows(`${count.toLocaleString('en')} ${part.words}`, figures, part.counts);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

async function atBus(setting: Setting): Promise<Measure[]> {
  const dir = await createScratch();
  const config = join(dir, 'bus.json');
  const plain = join(import.meta.dirname, '../baseline/plain-worker.ts');
  const pool = (id: string, args: readonly string[]) => ({
    ...{ id, command: process.execPath, args, instances: 1 },
  });
  const pools = [
    pool('dead', ['-e', 'process.exit(1)']),
    ...[pool('alive', [plain]), pool('talker', [plain])],
  ];
  await writeFile(config, JSON.stringify({ pools }));
  const open = async (path: string) => {
    const bus = await openBus(['--config', config, '--unix', path], () => connect(path));
    return { ...bus, path };
  };
  const buses = await Promise.all(
    ['another.sock', 'bus.sock'].map((name) => open(join(dir, name))),
  );
  const [another, bus] = buses as [(typeof buses)[0], (typeof buses)[0]];
  try {
    const trips = sizeOf(setting, 3_000);
    const asks = sizeOf(setting, 100_000);
    const clients = sizeOf(setting, 1_000);
    const bystand = () => runLoad({ kind: 'bus-bystander', path: bus.path, trips });
    const measure = (load: (path: string) => Promise<Going<object>>) =>
      takeTurns(Math.min(setting.rounds, 3), {
        [ALONE]: async () => ({ ...(await bystand()) }),
        [ELSEWHERE]: () => beside(load(another.path), bystand, another.pid),
        hub: () => beside(load(bus.path), bystand, bus.pid),
      });
    const flood = await measure((path) => startLoad({ kind: 'dead-worker', path, asks }));
    const stopped = await measure((path) => startLoad({ kind: 'bus-stopped', path, clients }));
    const named = (count: number, words: string) => `${count.toLocaleString('en')} ${words}`;
    return [
      ...rows(named(asks, 'requests to a dead worker'), flood, ['refused', 'unanswered']),
      ...rows(named(clients, 'clients of the bus that never read'), stopped, ['held']),
    ];
  } finally {
    await Promise.all(buses.map((one) => one.close()));
    await rm(dir, { recursive: true, force: true });
  }
}

function rows(
  words: string,
  figures: (figure: string) => Record<string, number[]>,
  counts: readonly string[],
): Measure[] {
  const only = (figure: string, ...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, figures(figure)[name] ?? []]));
  const ours = (figure: string) => only(figure, 'hub');
  return [
    {
      ...{ what: `${words}: p99 of a bystander`, unit: 'ms', sides: figures('p99') },
      goal: { against: ALONE, atMost: 2 },
    },
    { what: `${words}: the same`, unit: 'ms', sides: only('p99', ELSEWHERE, 'hub') },
    { what: `${words}: p50 of a bystander`, unit: 'ms', sides: figures('p50') },
    { what: `${words}: resident at the most`, unit: 'MB', sides: ours('peakMb') },
    ...counts.map((count) => ({ what: `${words}: ${count}`, unit: '', sides: ours(count) })),
  ];
}
