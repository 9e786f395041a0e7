/** Gates under faults: agents ask, the owner answers at a server by chance, now and then twice and otherwise, and who asked uses it. */
import type { Chance } from '../../src/testing/chance.ts';
import { OWNER } from './ask.ts';
import type { Performer } from './perform.ts';
import type { KnownGate, Stage } from './stage.ts';

/** Those that are acted on: what ended long ago is forgotten by the law. */
const NEWEST = 6;

export function createGateActs(
  name: string,
  chance: Chance,
  { gates, space }: Stage,
  { record }: Performer,
): { act(): Promise<void> } {
  const keyOf = (id: string): string => `${id}@${space}`;
  let asked = 0;

  async function ask(): Promise<void> {
    const input = { action: 'deploy', subject: `${name} ${asked++}`, deadline: 'never' };
    const operation = {
      operation: 'gates.ask',
      input: { ...input, tell: false },
      isRepeated: true,
    };
    // That it is there is the first thing that is known of it.
    const { reply } = await record(
      operation,
      (body) => ({
        ...{ op: 'gate', key: keyOf(body?.gate_id), state: 'pending' },
      }),
      true,
    );
    if (reply.kind !== 'done') return;
    const { gate_id: id } = reply.body;
    gates.push({ id, key: keyOf(id), asker: name });
  }

  async function decide({ id, key }: KnownGate): Promise<void> {
    const answer = chance.isLikely(0.7) ? 'approve' : 'deny';
    const input = { gate_id: id, decision: answer, reason: 'by chance' };
    const operation = 'gates.decide';
    await record({ operation, input, as: OWNER, isRepeated: chance.isLikely(0.5) }, () => ({
      ...{ op: 'decide', key, answer },
    }));
  }

  async function consume({ id, key }: KnownGate): Promise<void> {
    const asking = { operation: 'gates.consume', input: { gate_id: id } };
    await record({ ...asking, isRepeated: chance.isLikely(0.5) }, () => ({
      ...{ op: 'consume', key },
    }));
  }

  async function look({ id, key }: KnownGate): Promise<void> {
    const asking = { operation: 'gates.get', input: { gate_id: id }, as: OWNER };
    await record(
      { ...asking, isRepeated: false },
      (body) => ({ op: 'gate', key, state: body?.state ?? '' }),
      true,
    );
  }

  return {
    async act() {
      const near = gates.slice(-NEWEST);
      const own = near.filter(({ asker }) => asker === name);
      const draw = chance.next();
      if (near.length === 0 || draw < 0.2) await ask();
      else if (draw < 0.6) await decide(chance.pick(near));
      else if (draw < 0.85 && own.length > 0) await consume(chance.pick(own));
      else await look(chance.pick(near));
    },
  };
}
