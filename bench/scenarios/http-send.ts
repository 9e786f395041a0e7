/**
 * Sends over HTTP, sixteen in flight and one, beside the bare loop: Node's own server and the same
 * fsync, without a rule.
 */
import { runLoad } from '../load.ts';
import { busyUsOf } from '../process.ts';
import { type Measure, type Scenario, type Sides, takeTurns } from '../scenario.ts';
import { openServer, type Server } from '../server.ts';

export const httpSend: Scenario = {
  name: 'http-send',
  isPeer: true,
  async run(setting): Promise<Measure[]> {
    const measures: Measure[] = [];
    const servers: [string, Server][] = [];
    try {
      for (const name of setting.hasHub ? (['bare', 'hub'] as const) : (['bare'] as const)) {
        servers.push([name, await openServer(name)]);
      }
      for (const [inFlight, atLeast] of [
        [16, 0.7],
        [1, 0.6],
      ] as const) {
        const sides: Sides = {};
        for (const [name, { url, pid }] of servers) {
          sides[name] = async () => {
            const busy = busyUsOf(pid);
            const { measureMs } = setting;
            const job = { kind: 'http-send', url, inFlight, warmMs: 500, measureMs } as const;
            const result = await runLoad(job);
            return { ...result, busyUs: (busyUsOf(pid) - busy) / result.sends };
          };
        }
        const figures = await takeTurns(setting.rounds, sides);
        const what = `HTTP send, ${inFlight} in flight`;
        measures.push(
          {
            what,
            unit: '/s',
            sides: figures('sendsPerSecond'),
            goal: { against: 'bare', atLeast },
          },
          { what: `${what}: processor time of one`, unit: 'µs', sides: figures('busyUs') },
        );
      }
    } finally {
      await Promise.all(servers.map(([, server]) => server.close()));
    }
    return measures;
  },
};
