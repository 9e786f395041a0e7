/**
 * Start-up: from the start of the process to its first answer, with an empty log and a long one.
 *
 * The long log is written by the hub itself, through its own door, and closed as an operator would
 * close it, so whatever snapshot it has is the one that a user would have.
 */
import { rm } from 'node:fs/promises';
import { runLoad } from '../load.ts';
import { type Measure, type Scenario, type Sides, takeTurns } from '../scenario.ts';
import { createScratch, openServer, type ServerName } from '../server.ts';

async function timeStart(name: ServerName, dir?: string): Promise<{ startMs: number }> {
  const server = await openServer(name, dir === undefined ? {} : { dir });
  await server.close();
  return { startMs: server.startMs };
}

export const startEmpty: Scenario = {
  name: 'start-empty',
  isPeer: true,
  async run(setting): Promise<Measure[]> {
    const sides: Sides = { bare: () => timeStart('bare') };
    if (setting.hasHub) sides.hub = () => timeStart('hub');
    const figures = await takeTurns(setting.rounds, sides);
    return [
      {
        what: 'start to first answer, empty',
        unit: 'ms',
        sides: figures('startMs'),
        goal: { atMost: 150 },
      },
    ];
  },
};

export const startLong: Scenario = {
  name: 'start-long',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const entries = setting.isQuick ? 20_000 : 1_000_000;
    const dir = await createScratch();
    try {
      await writeLongLog(dir, entries);
      const sides: Sides = { bare: () => timeStart('bare'), hub: () => timeStart('hub', dir) };
      const figures = await takeTurns(setting.rounds, sides);
      return [
        {
          what: `start to first answer, ${entries.toLocaleString('en')} entries (bare: empty)`,
          unit: 'ms',
          sides: figures('startMs'),
          goal: { atMost: 1_000 },
        },
      ];
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  },
};

async function writeLongLog(dir: string, entries: number): Promise<void> {
  const server = await openServer('hub', { dir });
  const shape = { senders: 10, listeners: 0, window: 256, warmMs: 0, measureMs: 0 };
  await runLoad({ kind: 'flood', url: server.url, ...shape, sends: entries });
  await server.close();
}
