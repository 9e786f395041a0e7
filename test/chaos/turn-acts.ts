/**
 * Turns under faults: two supervisors outside of the hub take the turns of one managed agent at a server by chance, hold each
 * for a while, now and then for longer than its lease, and end it.
 */
import type { Chance } from '../../src/testing/chance.ts';
import type { Json } from '../e2e/running-hub.ts';
import { OWNER } from './ask.ts';
import type { Told } from './history.ts';
import { createPerformer } from './perform.ts';
import type { Reader } from './readers.ts';
import type { Stage } from './stage.ts';

const GIVEN_MAX = 20;
const FINISH_MS = 30_000;

/** Nothing of this is what stops a turn here. */
export const WORKER_LIMITS = {
  ...{ turns_per_10_min: 10_000, turns_per_day: 100_000, turns_per_message: 100 },
  ...{ pair_per_min: 1_000, repeats_per_30_min: 1_000 },
};

export function startSupervisor(name: string, agent: string, chance: Chance, stage: Stage): Reader {
  const { recorder, things } = stage;
  const channel = things.channels[2];
  const { record } = createPerformer(name, chance, stage);

  /** Whether there was one, or null where nobody knows. */
  async function take(): Promise<boolean | null> {
    const input = { agents: [agent], wait_ms: 200, lease_ms: stage.leaseMs };
    const server = chance.pick(stage.servers);
    const from = recorder.now();
    const reply = await stage.ask(server, OWNER, 'turns.take', input, 15_000);
    const bare = { op: 'begin', agent, channel, max: GIVEN_MAX } as const;
    if (reply.kind === 'lost') recorder.record(name, server.name, bare, 'unknown', from);
    if (reply.kind !== 'done') return null;
    const { turn, messages } = reply.body;
    if (turn === null) return false;
    const { turn_id, epoch } = turn;
    const given = messages.map(({ body }: Json): string => body.text);
    const act = { ...bare, turn: turn_id, epoch, given };
    recorder.record(name, server.name, act, 'ok', from);
    await stage.pause(chance.isLikely(0.1) ? 1.5 * stage.leaseMs : chance.int(5, 150));
    const ending = { turn_id, epoch, outcome: 'done', consumed: 'all' };
    await record(
      { operation: 'turns.finish', input: ending, as: OWNER, isRepeated: chance.isLikely(0.7) },
      () => ({ op: 'finish', agent, turn: turn_id, epoch }),
    );
    return true;
  }

  const running = (async () => {
    while (!stage.isOver) {
      await take();
      await stage.pause(chance.int(20, 200));
    }
  })();
  return {
    async finish(expected) {
      await running;
      const stopAt = performance.now() + FINISH_MS;
      while (performance.now() < stopAt) {
        const isMore = await take();
        if (isMore === false && left(expected.get(channel) ?? []) === 0) return;
      }
    },
  };

  function left(there: readonly Told[]): number {
    const given = new Set<string>();
    for (const { act } of recorder.done)
      if (act.op === 'begin') for (const text of act.given ?? []) given.add(text);
    return there.filter(({ text }) => !given.has(text)).length;
  }
}
