/**
 * Work at scale: claims beside few and many live ones, pages of a large board, a storm of
 * connections, and a reader that stops reading among a hundred.
 *
 * Where the question is whether size costs, the hub is its own baseline: the same load on another
 * hub with little in it, in turns.
 */
import { runLoad } from '../load.ts';
import { costs, type Measure, type Scenario, type Sides, takeTurns } from '../scenario.ts';
import { openServer, openServers, type Server } from '../server.ts';

export const claims: Scenario = {
  name: 'claims',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const servers: Server[] = [];
    const sides: Sides = {};
    try {
      for (const [side, live] of [
        ['with 10', 10],
        ['with 1,000', 1_000],
        ['hub', 10_000],
      ] as const) {
        const server = await openServer('hub');
        servers.push(server);
        const { url, pid } = server;
        await runLoad({ kind: 'claims', url, pid, live, agents: 64, measureMs: 500 });
        const { measureMs } = setting;
        sides[side] = async () => ({
          ...(await runLoad({ kind: 'claims', url, pid, live: 0, agents: 64, measureMs })),
        });
      }
      const figures = await takeTurns(setting.rounds, sides);
      return [
        {
          what: 'claim + release of 20 paths, 10,000 live, 64 agents',
          unit: '/s',
          sides: figures('pairsPerSecond'),
          goal: { against: 'with 10', atLeast: 0.9 },
        },
        ...costs('such a pair', figures),
      ];
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
  },
};

export const board: Scenario = {
  name: 'board',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const servers: Server[] = [];
    const sides: Sides = {};
    const reads = setting.isQuick ? 300 : 2_000;
    try {
      for (const [side, tasks] of [
        ['of 50', 50],
        ['hub', 5_000],
      ] as const) {
        const server = await openServer('hub');
        servers.push(server);
        const job = { kind: 'board', url: server.url, pid: server.pid, tasks } as const;
        await runLoad({ ...job, isFilled: false, reads: 100 });
        sides[side] = async () => ({ ...(await runLoad({ ...job, isFilled: true, reads })) });
      }
      const figures = await takeTurns(setting.rounds, sides);
      const pages = (['p50', 'p99'] as const).map((figure) => ({
        what: `a page of 50 of a board of 5,000, ${figure}`,
        unit: 'ms',
        sides: figures(figure),
      }));
      return [...pages, ...costs('such a page', figures)];
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
  },
};

export const connectStorm: Scenario = {
  name: 'connect-storm',
  async run(setting): Promise<Measure[]> {
    const sides: Sides = {};
    await using servers = await openServers(['bare', 'hub'], setting.hasHub);
    for (const [name, url] of servers.urls) {
      sides[name] = async () => ({ ...(await runLoad({ kind: 'storm', url, agents: 500 })) });
    }
    const figures = await takeTurns(Math.min(setting.rounds, 3), sides);
    return [
      {
        what: '500 agents connect at once, until all are there',
        unit: 'ms',
        sides: figures('allMs'),
      },
      { what: '500 agents connect at once, p99 of one', unit: 'ms', sides: figures('p99Ms') },
    ];
  },
};

export const stoppedReader: Scenario = {
  name: 'stopped-reader',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const sides: Sides = {};
    const { measureMs, window } = setting;
    const flood = {
      kind: 'flood',
      senders: 1,
      listeners: 99,
      window,
      warmMs: 500,
      measureMs,
    } as const;
    // A hub of its own each: who was cut off is owed messages for ever after.
    await using servers = await openServers(['hub'], true);
    await using others = await openServers(['hub'], true);
    const [url, other] = [servers.urls.get('hub'), others.urls.get('hub')] as [string, string];
    sides.hub = async () => ({ ...(await runLoad({ ...flood, url, stopped: 1 })) });
    sides['none stopped'] = async () => ({ ...(await runLoad({ ...flood, url: other })) });
    const figures = await takeTurns(setting.rounds, sides);
    return [
      {
        what: 'deliveries to 99 while a 100th has stopped reading',
        unit: '/s',
        sides: figures('deliveriesPerSecond'),
        goal: { against: 'none stopped', atLeast: 0.9 },
      },
    ];
  },
};
