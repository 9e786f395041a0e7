/**
 * Agents that talk, claim and exchange values, each act at a server by chance. Some repeat what was not answered under the
 * same idempotency key; some say it once, so that an answer must be true the first time.
 */
import type { Chance } from '../../src/testing/chance.ts';
import type { Json } from '../e2e/running-hub.ts';
import type { Ask, Reply } from './ask.ts';
import type { Act, Outcome } from './history.ts';
import type { Recorder } from './recorder.ts';
import type { ChaosServer } from './servers.ts';

export interface Stage {
  readonly ask: Ask;
  readonly servers: readonly ChaosServer[];
  readonly recorder: Recorder;
  readonly things: Things;
  /** Between two acts of one agent. */
  pause(ms: number): Promise<void>;
  readonly isOver: boolean;
}

/** What a run acts on: its own, so that several can use the same servers. */
export interface Things {
  readonly channels: readonly [string, string];
  readonly locks: readonly string[];
  readonly values: readonly string[];
}

export function thingsOf(run: string): Things {
  return {
    channels: [`talk-0${run}`, `talk-1${run}`],
    locks: [`lock-0${run}`, `lock-1${run}`],
    values: [`value-0${run}`, `value-1${run}`, `value-2${run}`],
  };
}

export const NAMESPACE = 'chaos';
const ONCE_MS = 15_000;
const TRY_MS = 6_000;
const TRIES_MAX = 5;
/** Longer than any clock is off. */
const TTL_SECONDS = 86_400;

interface Asked {
  readonly operation: string;
  readonly input: object;
  /** Repeated until it is known, under a key of its own. */
  readonly isRepeated: boolean;
}

interface Known {
  readonly outcome: Outcome;
  /** Refused, and nothing was said of what was asked for. */
  readonly isSilent: boolean;
  readonly reply: Reply;
  readonly server: ChaosServer;
}

export async function runActor(name: string, chance: Chance, stage: Stage): Promise<void> {
  const { servers, recorder, things } = stage;
  const values = new Map<string, { readonly value: string | null; readonly version: number }>();
  const held = new Set<string>();
  let count = 0;

  async function perform({ operation, input, isRepeated }: Asked): Promise<Known> {
    const key = `${name}-${count++}`;
    const whole = isRepeated ? { ...input, idempotency_key: key } : input;
    let isLost = false;
    for (let tries = 1; ; tries++) {
      const server = chance.pick(servers);
      const timeoutMs = isRepeated ? TRY_MS : ONCE_MS;
      const reply = await stage.ask(server, name, operation, whole, timeoutMs);
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
    recorder.record(name, server.name, act, known.outcome, from, copy);
    return known;
  }

  async function send(): Promise<void> {
    const channel = chance.pick(things.channels);
    const text = `${name}.${count}`;
    const input = { channel, body: { text } };
    await record({ operation: 'send', input, isRepeated: chance.isLikely(0.5) }, (body) => ({
      op: 'send',
      channel,
      text,
      ...(body && { seq: body.seq }),
    }));
  }

  async function hold(): Promise<void> {
    const key = chance.pick(things.locks);
    if (held.has(key)) {
      const input = { task_id: key };
      const { isSilent } = await record(
        { operation: 'claims.release', input, isRepeated: true },
        () => ({ op: 'release', key }),
      );
      if (!isSilent) held.delete(key);
      return;
    }
    const input = { task_id: key, ttl_seconds: TTL_SECONDS };
    const { outcome } = await record(
      { operation: 'claims.take', input, isRepeated: true },
      (body) => ({ op: 'take', key, ...(body && { epoch: body.claim.epoch }) }),
    );
    // Whoever does not know gives it back all the same.
    if (outcome !== 'fail') held.add(key);
  }

  async function look(key: string): Promise<void> {
    const input = { ns: NAMESPACE, key };
    const { reply } = await record(
      { operation: 'context.get', input, isRepeated: false },
      (body) => ({ op: 'get', key, value: body?.value ?? null, version: body?.version }),
      true,
    );
    if (reply.kind === 'done') values.set(key, reply.body);
  }

  async function exchange(): Promise<void> {
    const key = chance.pick(things.values);
    const known = values.get(key);
    if (known === undefined) return look(key);
    const to = `${name}.${count}`;
    const input = { ns: NAMESPACE, key, value: to, if_version: known.version };
    const { outcome, reply } = await record(
      { operation: 'context.set', input, isRepeated: chance.isLikely(0.7) },
      (body) => ({ op: 'set', key, from: known.value, to, ...(body && { version: body.version }) }),
    );
    if (outcome === 'ok' && reply.kind === 'done')
      values.set(key, { value: to, version: reply.body.version });
    else values.delete(key);
  }

  while (!stage.isOver) {
    const draw = chance.next();
    if (draw < 0.5) await send();
    else if (draw < 0.72) await hold();
    else if (draw < 0.94) await exchange();
    else await look(chance.pick(things.values));
    await stage.pause(chance.int(5, 120));
  }
}

/** Nothing was changed, and it says nothing of what was asked for. */
const TRY_AGAIN: ReadonlySet<string> = new Set([
  ...['not.sent', 'store.unavailable', 'hub.busy', 'rate.limited', 'limit.reached'],
]);
