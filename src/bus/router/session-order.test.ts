/**
 * Clients that speak in the same sessions, two workers with little room, answers in any order: whatever waits where
 * meanwhile, workers get what was said in a session in the order in which it was said, and all of it is answered.
 */
import { expect, test } from 'vitest';
import { hear, openSmallBus, say } from '../../../test/simulation/bus/small-bus.ts';
import { createChance } from '../../testing/chance.ts';

const SEEDS = 1_500;
const WORKERS = ['a/0', 'a/1'];

async function tell(seed: number): Promise<string[]> {
  const chance = createChance(seed);
  const inFlightMax = chance.pick([1, 2, 3, 8]);
  const { worker, connect } = await openSmallBus({
    pools: [{ id: 'a', instances: 2, inFlightMax }],
  });
  const clients = Array.from({ length: chance.int(1, 3) }, () => connect());
  const open = new Map<string, string[]>(WORKERS.map((name) => [name, []]));
  const newest = new Map<string, number>();
  const wrong: string[] = [];
  let said = 0;
  let asked = 0;
  let reached = 0;

  function hearAll(): void {
    for (const name of WORKERS) {
      for (const { id, sessionId, params } of hear(worker(name))) {
        reached++;
        if (id !== undefined) open.get(name)?.push(id);
        if (sessionId === undefined) continue;
        const before = newest.get(sessionId) ?? -1;
        if (params.n < before)
          wrong.push(`seed ${seed}: ${sessionId} has ${params.n} after ${before}`);
        newest.set(sessionId, params.n);
      }
    }
  }

  function answerOne(name: string): void {
    const ids = open.get(name) ?? [];
    if (ids.length === 0) return;
    const [id] = ids.splice(chance.int(0, ids.length - 1), 1);
    say(worker(name), { id, result: {} });
    hearAll();
  }

  for (let step = 0; step < 150; step++) {
    if (chance.isLikely(0.4)) {
      answerOne(chance.pick(WORKERS));
      continue;
    }
    const n = said++;
    const place = chance.isLikely(0.7) ? { sessionId: `s${chance.int(0, 3)}` } : {};
    const isRequest = chance.isLikely(0.75);
    if (isRequest) asked++;
    chance.pick(clients).send({
      ...(isRequest && { id: n }),
      ...{ method: 'm', ...place, params: { n } },
    });
    hearAll();
  }
  for (let n = 0; n < 150; n++) for (const name of WORKERS) answerOne(name);
  const answers = clients.flatMap((client) => client.got());
  if (reached !== said || answers.length !== asked) wrong.push(`seed ${seed}: not all is answered`);
  return wrong;
}

test('[BU5] [BU29] what is said in a session keeps its order, whoever says it and has no room for it', async () => {
  const wrong: string[] = [];
  for (let seed = 0; seed < SEEDS; seed++) wrong.push(...(await tell(seed)));
  expect(wrong).toEqual([]);
});
