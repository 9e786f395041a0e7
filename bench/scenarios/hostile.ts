/**
 * Load as bad input: connections that say nothing, readers that never read, a megabyte at every door at
 * once, and a flood of requests to a worker that dies. Whoever does nothing wrong must not notice: the p99
 * of a bystander stays within twice of what it is alone, in turns, and memory stays bounded.
 */
import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Hostility } from '../load/hostile.ts';
import { runLoad } from '../load.ts';
import { memoryOf } from '../process.ts';
import { type Measure, type Scenario, type Setting, type Sides, takeTurns } from '../scenario.ts';
import { createScratch, openServer } from '../server.ts';
import { openBus } from './bus.ts';

const ALONE = 'nobody hostile';

export const hostile: Scenario = {
  name: 'hostile',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const share = setting.isQuick ? 0.05 : 1;
    return [
      ...(await atHub(setting, 'silent', 10_000 * share, 'connections that say nothing')),
      ...(await atHub(setting, 'stopped', 1_000 * share, 'readers that never read')),
      ...(await atHub(setting, 'large', 200 * share, 'bodies of 1 MB at four doors')),
      ...(await atBus(setting, 100_000 * share)),
    ];
  },
};

async function atHub(
  setting: Setting,
  what: Hostility,
  count: number,
  words: string,
): Promise<Measure[]> {
  const server = await openServer('hub', { hasSynapse: true });
  try {
    const { url, synapse, pid } = server;
    const trips = setting.isQuick ? 200 : 1_000;
    const job = { kind: 'hostile', url, synapse, trips } as const;
    const sides: Sides = {
      [ALONE]: async () => ({ ...(await runLoad({ ...job, what: 'none', count: 0 })) }),
      hub: async () => ({
        ...(await runLoad({ ...job, what, count })),
        ...memoryOf(pid),
      }),
    };
    const figures = await takeTurns(Math.min(setting.rounds, 3), sides);
    const counts = what === 'stopped' ? [] : ['held', 'told', 'cut'];
    return rows(`${count.toLocaleString('en')} ${words}`, figures, counts);
  } finally {
    await server.close();
  }
}

async function atBus(setting: Setting, asks: number): Promise<Measure[]> {
  const dir = await createScratch();
  const config = join(dir, 'bus.json');
  const path = join(dir, 'bus.sock');
  const plain = join(import.meta.dirname, '../baseline/plain-worker.ts');
  const pool = (id: string, args: readonly string[]) => ({
    ...{ id, command: process.execPath, args, instances: 1 },
  });
  const pools = [pool('dead', ['-e', 'process.exit(1)']), pool('alive', [plain])];
  await writeFile(config, JSON.stringify({ pools }));
  const bus = await openBus(['--config', config, '--unix', path], () => connect(path));
  try {
    const trips = setting.isQuick ? 200 : 1_000;
    const bystand = () => runLoad({ kind: 'bus-bystander', path, trips });
    const flood = () => runLoad({ kind: 'dead-worker', path, asks });
    const sides: Sides = {
      [ALONE]: async () => ({ ...(await bystand()) }),
      async hub() {
        // The bystander is longer at it than one flood.
        let isOver = false;
        const stood = bystand().finally(() => {
          isOver = true;
        });
        let refused = 0;
        let unanswered = 0;
        do {
          const said = await flood();
          refused += said.refused;
          unanswered += said.unanswered;
        } while (!isOver);
        return { ...(await stood), refused, unanswered, ...memoryOf(bus.pid) };
      },
    };
    const figures = await takeTurns(Math.min(setting.rounds, 3), sides);
    const words = `${asks.toLocaleString('en')} requests to a dead worker`;
    return rows(words, figures, ['refused', 'unanswered']);
  } finally {
    await bus.close();
    await rm(dir, { recursive: true, force: true });
  }
}

function rows(
  words: string,
  figures: (figure: string) => Record<string, number[]>,
  counts: readonly string[],
): Measure[] {
  const ours = (figure: string) => ({ hub: figures(figure).hub ?? [] });
  return [
    {
      ...{ what: `${words}: p99 of a bystander`, unit: 'ms', sides: figures('p99') },
      goal: { against: ALONE, atMost: 2 },
    },
    { what: `${words}: p50 of a bystander`, unit: 'ms', sides: figures('p50') },
    { what: `${words}: resident at the most`, unit: 'MB', sides: ours('peakMb') },
    ...counts.map((count) => ({ what: `${words}: ${count}`, unit: '', sides: ours(count) })),
  ];
}
