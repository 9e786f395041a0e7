/**
 * Reading: recv of fifty at each door, and replay of history.
 *
 * The bare loop's recv moves a durable cursor and reads fifty rows by position, and its replay reads
 * a range of rows: no inbox, no access rule.
 */
import { runLoad } from '../load.ts';
import type { Measure, Scenario, Setting, Sides } from '../scenario.ts';
import { takeTurns } from '../scenario.ts';
import { openServers } from '../server.ts';

async function readAll(
  setting: Setting,
  take: (url: string) => Promise<Record<string, number>>,
): Promise<(figure: string) => Record<string, number[]>> {
  const sides: Sides = {};
  await using servers = await openServers(['bare', 'hub'], setting.hasHub);
  for (const [name, url] of servers.urls) sides[name] = () => take(url);
  return await takeTurns(setting.rounds, sides);
}

export const recv: Scenario = {
  name: 'recv',
  async run(setting): Promise<Measure[]> {
    const measures: Measure[] = [];
    for (const door of ['ws', 'http'] as const) {
      const { measureMs } = setting;
      const figures = await readAll(setting, async (url) => ({
        ...(await runLoad({ kind: 'recv', url, door, agents: 10, measureMs })),
      }));
      measures.push({
        what: `recv of 50, 10 agents, ${door === 'ws' ? 'WebSocket' : 'HTTP'}`,
        unit: '/s',
        sides: figures('recvsPerSecond'),
      });
    }
    return measures;
  },
};

export const replay: Scenario = {
  name: 'replay',
  async run(setting): Promise<Measure[]> {
    const history = setting.isQuick ? 2_000 : 20_000;
    const { measureMs } = setting;
    const figures = await readAll(setting, async (url) => ({
      ...(await runLoad({ kind: 'replay', url, readers: 4, history, measureMs })),
    }));
    return [
      {
        what: 'messages replayed, pages of 100, 4 readers, WebSocket',
        unit: '/s',
        sides: figures('messagesPerSecond'),
      },
    ];
  },
};
