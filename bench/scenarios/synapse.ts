/**
 * The Synapse wire, ours beside the original where its path is given: chat from one to ten, claims
 * among few and many, connects, and what the server's process costs meanwhile. Ours has each message
 * on the disk before anybody hears of it; the original does so for claims alone.
 */
import { runLoad } from '../load.ts';
import { type WireServer, wireServers } from '../peers.ts';
import { busyUsOf, memoryOf } from '../process.ts';
import { type Goal, type Measure, type Scenario, type Sides, takeTurns } from '../scenario.ts';

const original = 'original';
const CONNECTS = 200;
/** The original listens with a backlog of 100: what the kernel drops comes again after a second, in most rounds and not in all. */
const CONNECTS_ROUNDS = 5;

/** The same servers for all rounds; what `take` does to each is taken in turns. */
async function beside(
  rounds: number,
  hasHub: boolean,
  take: (server: WireServer) => Promise<Record<string, number>>,
  fill?: (server: WireServer) => Promise<unknown>,
): Promise<(figure: string) => Record<string, number[]>> {
  const servers: WireServer[] = [];
  const sides: Sides = {};
  try {
    for (const [side, open] of Object.entries(wireServers(hasHub))) {
      const server = await open();
      servers.push(server);
      await fill?.(server);
      sides[side] = () => take(server);
    }
    return await takeTurns(rounds, sides);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

const CHATS: readonly { inFlight: number; goal: Goal }[] = [
  { inFlight: 64, goal: { against: original, atLeast: 20 } },
  { inFlight: 512, goal: { against: original, atLeast: 30 } },
  { inFlight: 1, goal: { against: original, atMost: 0.9 } },
];

export const wireChat: Scenario = {
  name: 'synapse-chat',
  isPeer: true,
  async run(setting): Promise<Measure[]> {
    const measures: Measure[] = [];
    for (const { inFlight, goal } of CHATS) {
      const { measureMs } = setting;
      const job = {
        kind: 'synapse-chat',
        listeners: 10,
        inFlight,
        warmMs: 700,
        measureMs,
      } as const;
      const figures = await beside(setting.rounds, setting.hasHub, async ({ url, pid }) => {
        const busy = busyUsOf(pid);
        const result = await runLoad({ ...job, url });
        const busyUs = (busyUsOf(pid) - busy) / result.messages;
        return { ...result, busyUs, residentMb: memoryOf(pid).residentMb };
      });
      const what = `Synapse wire, chat 1 → 10, ${inFlight} in flight`;
      if (inFlight === 1) {
        measures.push({ what: `${what}, p50`, unit: 'ms', sides: figures('p50'), goal });
      } else {
        measures.push({ what, unit: '/s', sides: figures('messagesPerSecond'), goal });
      }
      measures.push(
        { what: `${what}, processor time of one`, unit: 'µs', sides: figures('busyUs') },
        {
          ...{ what: `${what}, resident after it`, unit: 'MB', sides: figures('residentMb') },
          goal: { atMost: 100 },
        },
      );
    }
    return measures;
  },
};

interface ClaimShape {
  readonly what: string;
  readonly live: number;
  readonly paths: number;
  readonly agents: number;
  readonly figure: 'perSecond' | 'p50';
  readonly goal: Goal;
}

const CLAIMS: readonly ClaimShape[] = [
  {
    ...{ what: 'claim, one in flight, 10 live, p50', live: 10, paths: 1, agents: 1 },
    ...{ figure: 'p50', goal: { against: original, atMost: 0.7 } },
  },
  {
    ...{ what: 'claims + releases, 8 agents, 10 live', live: 10, paths: 1, agents: 8 },
    ...{ figure: 'perSecond', goal: { against: original, atLeast: 10 } },
  },
  {
    ...{ what: 'claims + releases, 8 agents, 1,000 live', live: 1_000, paths: 1, agents: 8 },
    ...{ figure: 'perSecond', goal: { against: original, atLeast: 20 } },
  },
  {
    ...{
      what: 'claims + releases, 8 agents, 100 live of 20 paths',
      live: 100,
      paths: 20,
      agents: 8,
    },
    ...{ figure: 'perSecond', goal: { against: original, atLeast: 100 } },
  },
];

export const wireClaims: Scenario = {
  name: 'synapse-claims',
  isPeer: true,
  async run(setting): Promise<Measure[]> {
    const measures: Measure[] = [];
    for (const { what, live, paths, agents, figure, goal } of CLAIMS) {
      const job = { kind: 'synapse-claims', paths, agents } as const;
      const figures = await beside(
        setting.rounds,
        setting.hasHub,
        async ({ url, pid }) => {
          const busy = busyUsOf(pid);
          const result = await runLoad({ ...job, url, live: 0, measureMs: setting.measureMs });
          return { ...result, busyUs: (busyUsOf(pid) - busy) / result.operations };
        },
        ({ url }) => runLoad({ ...job, url, live, measureMs: 500 }),
      );
      const unit = figure === 'p50' ? 'ms' : '/s';
      const name = `Synapse wire, ${what}`;
      measures.push({ what: name, unit, sides: figures(figure), goal });
      measures.push({
        ...{ what: `${name}: processor time of one`, unit: 'µs', sides: figures('busyUs') },
      });
    }
    return measures;
  },
};

export const wireConnects: Scenario = {
  name: 'synapse-connects',
  isPeer: true,
  async run(setting): Promise<Measure[]> {
    const rounds = setting.rounds * CONNECTS_ROUNDS;
    const figures = await beside(rounds, setting.hasHub, async ({ url, pid }) => {
      const busy = busyUsOf(pid);
      const { allMs } = await runLoad({ kind: 'synapse-connects', url, agents: CONNECTS });
      return { allMs, busyMs: (busyUsOf(pid) - busy) / 1000 };
    });
    const what = `Synapse wire, ${CONNECTS} connects, until all are welcomed`;
    return [
      {
        ...{ what, unit: 'ms', sides: figures('allMs') },
        goal: { against: original, atMost: 0.8 },
      },
      { what: `${what}: processor time`, unit: 'ms', sides: figures('busyMs') },
    ];
  },
};
