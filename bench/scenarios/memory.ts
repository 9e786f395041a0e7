/**
 * Memory per idle connected agent and per stored message, after a full collection.
 *
 * Both are slopes, not totals: the first agents and messages warm up code and fill bounded caches, and V8's space for
 * the young grows once, by megabytes. Only what the following ones add is counted, so there are many of both.
 */

import type { Memory } from '../inspector.ts';
import { openHold, runLoad } from '../load.ts';
import { type Measure, type Scenario, type Sides, takeTurns } from '../scenario.ts';
import { openServer, type ServerName } from '../server.ts';

const names = (hasHub: boolean): ServerName[] => (hasHub ? ['bare', 'hub'] : ['bare']);

function slope(before: Memory, after: Memory, count: number): { rss: number; heap: number } {
  return { rss: (after.rss - before.rss) / count, heap: (after.heap - before.heap) / count };
}

async function perConnection(
  name: ServerName,
  { warm, agents }: { readonly warm: number; readonly agents: number },
): Promise<{ rss: number; heap: number }> {
  const server = await openServer(name, { isInspected: true });
  try {
    const { url } = server;
    await using _warm = await openHold({ kind: 'hold', url, agents: warm });
    // What a hub begins by itself, after five and ten seconds, is megabytes once.
    await server.settled();
    const before = await server.readMemory();
    await using _held = await openHold({ kind: 'hold', url, agents });
    return slope(before, await server.readMemory(), agents);
  } finally {
    await server.close();
  }
}

async function perMessage(name: ServerName, sends: number): Promise<{ rss: number; heap: number }> {
  const server = await openServer(name, { isInspected: true });
  try {
    const shape = { senders: 10, listeners: 0, window: 256, warmMs: 0, measureMs: 0 };
    const job = { kind: 'flood', url: server.url, ...shape, sends } as const;
    await runLoad(job);
    const before = await server.readMemory();
    await runLoad(job);
    return slope(before, await server.readMemory(), sends);
  } finally {
    await server.close();
  }
}

function createMemory(
  name: string,
  options: { unit: string; bytes: number; goal: number; goalOn: 'rss' | 'heap' },
  what: (figure: 'rss' | 'heap') => string,
  take: (server: ServerName, isQuick: boolean) => Promise<{ rss: number; heap: number }>,
): Scenario {
  return {
    name,
    async run(setting): Promise<Measure[]> {
      const sides: Sides = {};
      for (const server of names(setting.hasHub)) {
        sides[server] = async () => {
          const { rss, heap } = await take(server, setting.isQuick);
          return { rss: rss / options.bytes, heap: heap / options.bytes };
        };
      }
      const figures = await takeTurns(Math.min(setting.rounds, 3), sides);
      return (['rss', 'heap'] as const).map((figure) => ({
        what: what(figure),
        unit: options.unit,
        sides: figures(figure),
        ...(figure === options.goalOn ? { goal: { atMost: options.goal } } : {}),
      }));
    },
  };
}

export const memoryConnection: Scenario = createMemory(
  'memory-connection',
  { unit: 'KB', bytes: 1024, goal: 30, goalOn: 'rss' },
  (figure) => `memory per idle connected agent (${figure === 'rss' ? 'resident' : 'heap'})`,
  (server, isQuick) =>
    perConnection(server, isQuick ? { warm: 100, agents: 100 } : { warm: 600, agents: 1_500 }),
);

export const memoryMessage: Scenario = createMemory(
  'memory-message',
  { unit: 'B', bytes: 1, goal: 40, goalOn: 'heap' },
  (figure) => `memory per stored message (${figure === 'rss' ? 'resident' : 'heap'})`,
  (server, isQuick) => perMessage(server, isQuick ? 20_000 : 200_000),
);
