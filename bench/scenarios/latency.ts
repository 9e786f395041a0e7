/**
 * One send in flight, from one agent's socket to another's, beside what the machine charges for it.
 *
 * The cost side is one SQLite commit and one loopback round trip, measured between the rounds: no
 * durable hub can be faster than that.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runLoad, runNode } from '../load.ts';
import type { Percentiles } from '../percentiles.ts';
import { type Measure, type Scenario, type Sides, takeTurns } from '../scenario.ts';
import { createScratch, openServers } from '../server.ts';

export interface MachineCost {
  readonly fsync: Percentiles;
  readonly loopback: Percentiles;
}

export async function readMachineCost(count: number): Promise<MachineCost> {
  const dir = await createScratch();
  const program = join(import.meta.dirname, '../baseline/fsync-loop.ts');
  const cost = await runNode(program, [dir, String(count)]);
  await rm(dir, { recursive: true, force: true });
  return cost as MachineCost;
}

export const latency: Scenario = {
  name: 'latency',
  async run(setting): Promise<Measure[]> {
    const count = setting.isQuick ? 300 : 3_000;
    await using servers = await openServers(['bare', 'broadcast', 'hub'], setting.hasHub);
    const sides: Sides = {
      async 'fsync + loopback'() {
        const { fsync, loopback } = await readMachineCost(count);
        return { p50: fsync.p50 + loopback.p50, p99: fsync.p99 + loopback.p99 };
      },
    };
    for (const [name, url] of servers.urls) {
      sides[name] = async () => ({
        ...(await runLoad({ kind: 'latency', url, warm: 200, count })),
      });
    }
    const figures = await takeTurns(setting.rounds, sides);
    const cost = 'fsync + loopback';
    return [
      {
        what: 'send → other agent’s socket, one in flight, p50',
        unit: 'ms',
        sides: figures('p50'),
        goal: { atMost: 0.5 },
      },
      {
        what: 'send → other agent’s socket, one in flight, p99',
        unit: 'ms',
        sides: figures('p99'),
        goal: { against: cost, atMost: 2 },
      },
    ];
  },
};
