/**
 * Reading: recv of fifty at each door, and replay of history.
 *
 * The bare loop's recv moves a durable cursor and reads fifty rows by position, and its replay reads
 * a range of rows: no inbox, no access rule.
 */
import { runLoad } from '../load.ts';
import {
  costs,
  type Measure,
  type Scenario,
  type Setting,
  type Sides,
  takeTurns,
} from '../scenario.ts';
import { openServers, type Server } from '../server.ts';

async function readAll(
  setting: Setting,
  take: (server: Server) => Promise<Record<string, number>>,
): Promise<(figure: string) => Record<string, number[]>> {
  const sides: Sides = {};
  await using servers = await openServers(['bare', 'hub'], setting.hasHub);
  for (const [name, server] of servers.all) sides[name] = () => take(server);
  return await takeTurns(setting.rounds, sides);
}

export const recv: Scenario = {
  name: 'recv',
  async run(setting): Promise<Measure[]> {
    const measures: Measure[] = [];
    for (const door of ['ws', 'http'] as const) {
      const { measureMs } = setting;
      const figures = await readAll(setting, async ({ url, pid }) => ({
        ...(await runLoad({ kind: 'recv', url, pid, door, agents: 10, measureMs })),
      }));
      const what = `recv of 50, 10 agents, ${door === 'ws' ? 'WebSocket' : 'HTTP'}`;
      measures.push(
        { what, unit: '/s', sides: figures('recvsPerSecond') },
        ...costs(what, figures),
      );
    }
    return measures;
  },
};

export const recvWide: Scenario = {
  name: 'recv-wide',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const channels = setting.isQuick ? 500 : 5_000;
    const recvs = setting.isQuick ? 20 : 100;
    const figures = await takeTurns(setting.rounds, {
      async hub() {
        await using servers = await openServers(['hub'], true);
        const url = servers.urls.get('hub') ?? '';
        return { ...(await runLoad({ kind: 'wide', url, channels, mail: 20, recvs })) };
      },
    });
    const of = `over ${channels} channels with 20 messages each`;
    return [
      { what: `recv of 50 ${of}, p50`, unit: 'ms', sides: figures('recvP50') },
      { what: 'the same, p99', unit: 'ms', sides: figures('recvP99') },
      {
        what: 'another agent’s answer meanwhile, the longest',
        unit: 'ms',
        sides: figures('otherMax'),
        goal: { atMost: 20 },
      },
      { what: 'the same, p50', unit: 'ms', sides: figures('otherP50') },
    ];
  },
};

export const replay: Scenario = {
  name: 'replay',
  async run(setting): Promise<Measure[]> {
    const history = setting.isQuick ? 2_000 : 20_000;
    const { measureMs } = setting;
    const figures = await readAll(setting, async ({ url, pid }) => ({
      ...(await runLoad({ kind: 'replay', url, pid, readers: 4, history, measureMs })),
    }));
    return [
      {
        what: 'messages replayed, pages of 100, 4 readers, WebSocket',
        unit: '/s',
        sides: figures('messagesPerSecond'),
      },
      ...costs('a message replayed', figures),
    ];
  },
};
