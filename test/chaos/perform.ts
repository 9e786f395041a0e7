/**
 * One act of an agent, at a server by chance: said once, or repeated under a key until it is known what came of it; and what
 * is known then, on the record.
 */
import type { Chance } from '../../src/testing/chance.ts';
import type { Json } from '../e2e/running-hub.ts';
import type { Reply } from './ask.ts';
import type { Act, Outcome } from './history.ts';
import type { ChaosServer } from './servers.ts';
import type { Stage } from './stage.ts';

const ONCE_MS = 15_000;
const TRY_MS = 6_000;
const TRIES_MAX = 5;

export interface Asked {
  readonly operation: string;
  readonly input: object;
  /** Who asks, where it is not the actor. */
  readonly as?: string;
  /** Repeated until it is known, under a key of its own. */
  readonly isRepeated: boolean;
}

export interface Known {
  readonly outcome: Outcome;
  /** Refused, and nothing was said of what was asked for. */
  readonly isSilent: boolean;
  readonly reply: Reply;
  readonly server: ChaosServer;
}

export interface Performer {
  /** How many acts there were, for names of things. */
  readonly count: number;
  record(asked: Asked, actOf: (body: Json | null) => Act, isRead?: boolean): Promise<Known>;
}

export function createPerformer(name: string, chance: Chance, stage: Stage): Performer {
  const { servers, recorder } = stage;
  let count = 0;

  async function perform({ operation, input, as = name, isRepeated }: Asked): Promise<Known> {
    const key = `${name}-${count++}`;
    const whole = isRepeated ? { ...input, idempotency_key: key } : input;
    let isLost = false;
    for (let tries = 1; ; tries++) {
      const server = chance.pick(servers);
      const timeoutMs = isRepeated ? TRY_MS : ONCE_MS;
      const reply = await stage.ask(server, as, operation, whole, timeoutMs);
      if (reply.kind === 'done') return { outcome: 'ok', isSilent: false, reply, server };
      if (reply.kind === 'lost') isLost = true;
      const isFinal = reply.kind === 'refused' && !TRY_AGAIN.has(reply.reason);
      if (isFinal || !isRepeated || tries >= TRIES_MAX || stage.isOver) {
        // What was lost may still be on its way: a later refusal does not take it back.
        const isSilent = !isLost && !isFinal;
        return { outcome: isLost ? 'unknown' : 'fail', isSilent, reply, server };
      }
      await stage.pause(200);
    }
  }

  async function record(
    asked: Asked,
    actOf: (body: Json | null) => Act,
    isRead = false,
  ): Promise<Known> {
    const from = recorder.now();
    const known = await perform(asked);
    const { reply, server } = known;
    const act = actOf(reply.kind === 'done' ? reply.body : null);
    if (known.isSilent && act.op !== 'send') return known;
    if (isRead && known.outcome !== 'ok') return known;
    const copy = reply.kind === 'done' ? reply.copy : undefined;
    recorder.record(asked.as ?? name, server.name, act, known.outcome, from, copy);
    return known;
  }

  return {
    record,
    get count() {
      return count;
    },
  };
}

/** Nothing was changed, and it says nothing of what was asked for. */
const TRY_AGAIN: ReadonlySet<string> = new Set([
  ...['not.sent', 'store.unavailable', 'hub.busy', 'rate.limited', 'limit.reached'],
]);
