/**
 * Durable sends with ten senders, and fan-out from one sender to ten and to a hundred listeners.
 */
import { runLoad } from '../load.ts';
import { createMeter } from '../process.ts';
import {
  costs,
  type Measure,
  type Scenario,
  type Setting,
  type Sides,
  takeTurns,
} from '../scenario.ts';
import { openServers, type ServerName } from '../server.ts';

async function floodAll(
  setting: Setting,
  names: readonly ServerName[],
  shape: { senders: number; listeners: number },
): Promise<(figure: string) => Record<string, number[]>> {
  const sides: Sides = {};
  await using servers = await openServers(names, setting.hasHub);
  const { measureMs, window } = setting;
  for (const [name, { url, pid }] of servers.all) {
    sides[name] = async () => {
      const meter = createMeter(pid);
      const job = { kind: 'flood', url, ...shape, window, warmMs: 500, measureMs } as const;
      const result = await runLoad(job);
      return { ...result, ...meter.costOf(result.sends) };
    };
  }
  return await takeTurns(setting.rounds, sides);
}

export const sends: Scenario = {
  name: 'sends',
  async run(setting): Promise<Measure[]> {
    const shape = { senders: 10, listeners: 0 };
    const figures = await floodAll(setting, ['bare', 'hub'], shape);
    return [
      {
        what: 'durable sends, 10 senders, no listener',
        unit: '/s',
        sides: figures('sendsPerSecond'),
        goal: { against: 'bare', atLeast: 0.6 },
      },
      ...costs('a durable send', figures),
    ];
  },
};

function createFanOut(listeners: number): Scenario {
  return {
    name: `fan-out-${listeners}`,
    async run(setting): Promise<Measure[]> {
      const shape = { senders: 1, listeners };
      const figures = await floodAll(setting, ['bare', 'broadcast', 'hub'], shape);
      return [
        {
          what: `deliveries, fan-out 1 → ${listeners}`,
          unit: '/s',
          sides: figures('deliveriesPerSecond'),
          goal: { against: 'bare', atLeast: 0.6 },
        },
        ...costs(`a send to ${listeners}`, figures),
      ];
    },
  };
}

export const fanOut10: Scenario = createFanOut(10);
export const fanOut100: Scenario = createFanOut(100);
