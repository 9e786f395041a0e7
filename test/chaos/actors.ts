/**
 * Agents that talk, claim, exchange values and ask people, each act at a server by chance. Some repeat what was not answered
 * under the same idempotency key; some say it once, so that an answer must be true the first time.
 */
import type { Chance } from '../../src/testing/chance.ts';
import { createGateActs } from './gate-acts.ts';
import { createPerformer } from './perform.ts';
import { NAMESPACE, type Stage } from './stage.ts';

/** Longer than any clock is off. */
const TTL_SECONDS = 86_400;

export async function runActor(name: string, chance: Chance, stage: Stage): Promise<void> {
  const { things } = stage;
  const performer = createPerformer(name, chance, stage);
  const { record } = performer;
  const gates = createGateActs(name, chance, stage, performer);
  const values = new Map<string, { readonly value: string | null; readonly version: number }>();
  const held = new Set<string>();

  async function send(): Promise<void> {
    const channel = chance.pick(things.channels);
    const text = `${name}.${performer.count}`;
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
    const to = `${name}.${performer.count}`;
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
    if (draw < 0.45) await send();
    else if (draw < 0.62) await hold();
    else if (draw < 0.78) await exchange();
    else if (draw < 0.96) await gates.act();
    else await look(chance.pick(things.values));
    await stage.pause(chance.int(5, 120));
  }
}
