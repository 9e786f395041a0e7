/** Several hubs of one space: one decides, the others forward and answer from their own copy. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { peek } from '../core/talk/inbox.ts';
import type { SendMessage } from '../core/talk/message.ts';

import { portray } from '../testing/compare.ts';
import { storedEntries } from '../testing/faulty-log.ts';
import { type Concert, createConcert } from '../testing/in-concert.ts';
import { openRig, type Rig } from '../testing/rig.ts';
import { codeOf, createPrincipal, PLAIN_SEND } from '../testing/story.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');

async function openThree(): Promise<{ concert: Concert; a: Rig; b: Rig; c: Rig }> {
  const concert = createConcert();
  concert.conduct('a');
  const parts = { a: concert.part('a'), b: concert.part('b'), c: concert.part('c') };
  const a = await openRig(() => setImmediate(), { sequencing: parts.a });
  const b = await a.beside({ sequencing: parts.b });
  const c = await a.beside({ sequencing: parts.c });
  for (const [name, rig] of Object.entries({ a, b, c })) {
    parts[name as 'a' | 'b' | 'c'].play(rig.hub);
  }
  return { concert, a, b, c };
}

const worldOf = (rig: Rig) => rig.until(rig.hub.ask((world) => portray(world, 'durable')));

test('[SQ1] commands of all are decided by one, and who asked sees at once what it did', async () => {
  const { concert, a, b, c } = await openThree();
  await b.subscribe(bob, 'x');
  const sent = await Promise.all([a, b, c].map((rig) => rig.send(ada, 'x')));
  expect(sent.map((one) => ('seq' in one ? one.seq : 0)).sort()).toEqual([1, 2, 3]);
  expect(concert.forwarded).toBe(3);
  // No batch was decided twice: nobody had to begin again.
  expect(a.disk).toBe(b.disk);
  expect((await c.take(bob)).sort()).toEqual([1, 2, 3]);
  expect(await b.take(bob)).toEqual([]);
  await a.clock.pass(1_000);
  expect(new Set(await Promise.all([worldOf(a), worldOf(b), worldOf(c)])).size).toBe(1);
  expect([...a.troubles, ...b.troubles, ...c.troubles]).toEqual([]);
});

test('[SQ1] what was answered at one is seen by who asks at another next, also at who has just taken over', async () => {
  const { concert, a, b, c } = await openThree();
  await b.subscribe(bob, 'x');
  const lengthAt = (rig: Rig) => rig.until(rig.hub.ask((world) => world.length));
  const owedAt = async (rig: Rig) => {
    const owed = await rig.until(rig.hub.ask((world) => peek(world, 'bob', null, 10)));
    return Array.isArray(owed) ? owed.length : owed;
  };
  for (const [count, reader] of [b, c, b, c].entries()) {
    await a.send(ada, 'x');
    expect(await owedAt(reader)).toBe(count + 1);
  }
  await a.send(ada, 'x');
  concert.conduct('c');
  const [atC, atB] = await Promise.all([lengthAt(c), lengthAt(b)]);
  expect([atC, atB]).toEqual([a.hub.stats.entries, a.hub.stats.entries]);
});

test('[SQ1] a refusal comes back as it was said', async () => {
  const { b } = await openThree();
  const drained = await b.until(
    b.hub.submit<SendMessage>({
      ...{ ...PLAIN_SEND, by: createPrincipal('eve', { kind: 'observer' }), at: b.hub.stamp() },
      ...{ channel: 'x', body: '{}' },
    }),
  );
  expect(codeOf(drained)).toBe('access.denied');
});

test('[SQ3] what was sent and not answered is unknown; what nobody was there for is not done', async () => {
  const { concert, b } = await openThree();
  await b.subscribe(bob, 'x');
  concert.lose('after');
  expect(codeOf(await b.send(ada, 'x'))).toBe('store.unknown');
  concert.lose('before');
  expect(codeOf(await b.send(ada, 'x'))).toBe('store.unknown');
  await b.clock.pass(1_000);
  // The first was decided, the second was not: only looking tells.
  expect(await b.take(bob)).toEqual([1]);
  concert.conduct(null);
  const before = storedEntries(b.disk).length;
  const refused = await b.send(ada, 'x');
  expect([codeOf(refused), storedEntries(b.disk).length]).toEqual(['store.unavailable', before]);
  expect(refused).toMatchObject({ message: expect.stringContaining('no server sequences') });
});

test('[SQ2] another goes on where the last one stopped, also where that one has not noticed', async () => {
  const { concert, a, b, c } = await openThree();
  await b.send(ada, 'x');
  concert.conduct('b');
  expect(await b.send(ada, 'x')).toMatchObject({ seq: 2 });
  expect(await a.send(ada, 'x')).toMatchObject({ seq: 3 });
  // One that takes itself for the sequencer decides on what it knows, and the log lets it win no position.
  const stale = await c.until(
    Promise.all([
      a.hub.submit<SendMessage>({
        ...{ ...PLAIN_SEND, by: ada, at: a.hub.stamp(), channel: 'x', body: '{}' },
      }),
      c.send(ada, 'x'),
    ]),
  );
  expect(stale.map((one) => ('seq' in one ? one.seq : 0)).sort()).toEqual([4, 5]);
});

test('[SQ4] what is due is recorded once, by who sequences', async () => {
  const { a, b, c, concert } = await openThree();
  await b.subscribe(bob, 'x');
  await b.send(ada, 'x');
  await b.take(bob, 1_000);
  const before = storedEntries(a.disk).length;
  await a.clock.pass(5_000);
  const lapsed = storedEntries(a.disk)
    .slice(before)
    .filter((entry) => entry.includes('inbox.lapsed'));
  expect(lapsed).toHaveLength(1);
  // The others saw it, and the message is owed again wherever one asks.
  expect(await c.take(bob, 1_000)).toEqual([1]);
  concert.conduct('c');
  await a.clock.pass(5_000);
  expect(await a.take(bob)).toEqual([1]);
});

test('[SQ5] a beat at one is known at all', async () => {
  const { a, b, c } = await openThree();
  const beat = (rig: Rig) =>
    rig.until(
      rig.hub.submit({
        ...{ type: 'presence.beat', by: ada, at: rig.hub.stamp(), status: 'online', ttlMs: null },
      }),
    );
  await beat(b);
  await a.clock.pass(20_000);
  await beat(b);
  // Who asked sees it at once, the others with the next tick.
  expect(
    await b.until(b.hub.ask((world) => world.agents.get('ada')?.presence.beatAt)),
  ).toBeGreaterThan(10_000);
  await a.clock.pass(300);
  const seen = await Promise.all(
    [a, b, c].map((rig) =>
      rig.until(rig.hub.ask((world) => world.agents.get('ada')?.presence.beatAt)),
    ),
  );
  expect(new Set(seen).size).toBe(1);
  expect(seen[0]).toBeGreaterThan(10_000);
});

test('[SQ5] one that comes later, and sequences, counts silence from the beats that the others heard', async () => {
  const concert = createConcert();
  concert.conduct('a');
  const [first, later] = [concert.part('a'), concert.part('late')];
  const a = await openRig(() => setImmediate(), { sequencing: first });
  first.play(a.hub);
  const beat = async (by: typeof ada) =>
    void (await a.until(
      a.hub.submit({
        ...{ type: 'presence.beat', by, at: a.hub.stamp(), status: 'online', ttlMs: null },
      }),
    ));
  await beat(ada);
  await beat(bob);
  await a.clock.pass(20_000);
  await beat(bob);
  await a.clock.pass(5_000);
  const late = await a.beside({ sequencing: later });
  later.play(late.hub);
  concert.conduct('late');
  const states = () =>
    late.until(
      late.hub.ask(({ agents }) => ['ada', 'bob'].map((name) => agents.get(name)?.presence.state)),
    );
  await a.clock.pass(1_000);
  expect(await states()).toEqual(['online', 'online']);
  // Ada was silent for thirty seconds, bob for eleven, whoever was there to hear it.
  await a.clock.pass(5_000);
  expect(await states()).toEqual(['stale', 'online']);
  await a.clock.pass(20_000);
  expect(await states()).toEqual(['stale', 'stale']);
  expect([...a.troubles, ...late.troubles]).toEqual([]);
});

const setValue = (rig: Rig, value: string, ifVersion: number) =>
  rig.until(
    rig.hub.submit({
      ...{ type: 'context.set', by: ada, at: rig.hub.stamp(), ns: 'n', key: 'k', value, ifVersion },
      ...{ ttlMs: null, idempotency: null },
    }),
  );

test('[SQ2] who begins to sequence knows first what was decided before: it refuses nothing wrongly', async () => {
  const { a, c, concert } = await openThree();
  const first = await setValue(a, 'one', 0);
  concert.conduct('c');
  // A refusal stores nothing, so no conflict would have told that it was behind.
  const second = await setValue(c, 'two', 'version' in first ? first.version : -1);
  expect([codeOf(first), codeOf(second)]).toEqual([null, null]);
});

test('[SQ1] a position that another server told is waited for, not refused', async () => {
  const { a, b } = await openThree();
  for (let i = 0; i < 3; i++) await a.send(ada, 'x');
  const told = a.hub.stats.entries - 1;
  const options = { by: bob, from: told, channels: ['x'] };
  expect(b.listen(options).refusal).toMatchObject({ refused: 'input.invalid' });
  await b.until(b.hub.reach(told));
  expect(b.listen(options).refusal).toBe(null);
  // One that nobody has told yet is refused as before.
  await b.until(b.hub.reach(told + 1));
  expect(b.listen({ ...options, from: told + 1 }).refusal).not.toBe(null);
});

test('[SQ1] what is too large to be forwarded is known to who sequences before it is acknowledged', async () => {
  const { a, b, concert } = await openThree();
  await a.subscribe(bob, 'x');
  concert.enlarge();
  expect(codeOf(await b.send(ada, 'x'))).toBe(null);
  // It asks nobody before it answers.
  expect(await a.take(bob)).toEqual([1]);
});
