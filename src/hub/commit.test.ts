import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { SendMessage } from '../core/talk/message.ts';
import { portray } from '../testing/compare.ts';
import { storedEntries } from '../testing/faulty-log.ts';
import { openRig, type Rig } from '../testing/rig.ts';
import { codeOf, createPrincipal, PLAIN_SEND } from '../testing/story.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const open = (): Promise<Rig> => openRig(() => setImmediate());
const toBob = { by: bob, from: 'now', channels: null } as const;

function send(rig: Rig, wishes: Partial<SendMessage> = {}) {
  return rig.hub.submit<SendMessage>({
    ...PLAIN_SEND,
    by: ada,
    at: rig.hub.stamp(),
    channel: 'a',
    body: '{"n":1.50}',
    ...wishes,
  });
}

const worldOf = (rig: Rig) => rig.until(rig.hub.ask((world) => portray(world, 'durable')));

async function openTwo(): Promise<[Rig, Rig]> {
  const one = await open();
  return [one, await one.beside()];
}

describe('two writers', () => {
  test('[H11] a batch that comes second is decided again on what came first', async () => {
    const [one, other] = await openTwo();
    await one.subscribe(bob, 'a');
    await one.clock.pass(1000);
    const heard = [one.listen(toBob), other.listen(toBob)];
    const answers = await one.until(Promise.all([send(one), send(other)]));
    const seqs = answers.map((answer) => ('seq' in answer ? answer.seq : answer.refused));
    expect(seqs.sort()).toEqual([1, 2]);
    await one.clock.pass(1000);
    for (const listener of heard)
      expect([listener.positions, listener.end]).toEqual([[1, 2], null]);
    expect(await worldOf(one)).toBe(await worldOf(other));
    expect([...one.troubles, ...other.troubles]).toEqual([]);
  });

  test('[SQ23] two that write in turn make their world anew once each, not at every conflict', async () => {
    const [one, other] = await openTwo();
    let rebuilt = 0;
    for (const { log } of [one, other]) {
      const { loadSnapshot } = log;
      log.loadSnapshot = (...given) => {
        rebuilt++;
        return loadSnapshot(...given);
      };
    }
    for (let i = 0; i < 20; i++) {
      const rig = i % 2 === 0 ? one : other;
      // Neither has heard of the other's when it is asked.
      expect(await rig.until(send(rig))).toMatchObject({ seq: i + 1 });
    }
    expect(rebuilt).toBeLessThanOrEqual(2);
    await one.clock.pass(1000);
    expect(await worldOf(one)).toBe(await worldOf(other));
  });

  test('[H11] no answer comes from what was decided before the other was known', async () => {
    const [one, other] = await openTwo();
    const answers = await one.until(
      Promise.all([send(one, { key: 'k' }), send(other, { key: 'k' })]),
    );
    for (const answer of answers) expect(answer).toMatchObject({ position: 0, seq: 1 });
    expect(storedEntries(one.disk)).toHaveLength(1);
  });

  test('[H11] an idle hub follows its log: feeds, waits and listeners hear what others stored', async () => {
    const [one, idle] = await openTwo();
    await one.subscribe(bob, 'a');
    await one.clock.pass(1000);
    const bodies: string[] = [];
    idle.hub.openFeed(toBob, {
      deliver: ({ messages }) => messages.every(({ event }) => bodies.push(event.body)),
      ready: () => Promise.resolve(),
      end: () => {},
    });
    const types: string[] = [];
    idle.hub.watch.events((_, first, events) => {
      types.push(...events.map(({ type }, i) => `${first + i} ${type}`));
    });
    const waited = idle.hub.watch.mail('bob', 60_000);
    await one.until(send(one));
    expect(await one.until(waited)).toBe(true);
    expect(bodies).toEqual(['{"n":1.5}']);
    expect(types).toEqual(['1 message.sent']);
    expect(await idle.take(bob)).toEqual([1]);
  });

  test('[H11] others that are first every time end in a refusal that says so, and nothing is changed', async () => {
    const first = await open();
    const { log } = first;
    const crowded = Object.create(log, {
      append: { value: async () => ({ conflict: log.length }) },
    });
    const rig = await first.beside({ log: crowded });
    const answer = await rig.until(send(rig));
    expect(answer).toMatchObject({ refused: 'store.unavailable' });
    expect('message' in answer && answer.message).toMatch(/other writers were first 9 times/);
    expect([rig.hub.isAvailable, storedEntries(rig.disk)]).toEqual([true, []]);
    expect(await rig.until(rig.hub.ask((world) => world.length))).toBe(0);
  });

  test('[H11] what only memory knew outlives a batch that is decided again', async () => {
    const [one, other] = await openTwo();
    await one.subscribe(bob, 'a');
    await one.send(ada, 'a');
    const listener = one.listen({ by: bob, from: 'inbox', channels: null });
    const beat = () =>
      one.until(
        one.hub.submit({
          type: 'presence.beat',
          by: bob,
          at: one.hub.stamp(),
          status: 'online',
          ttlMs: 10_000,
        }),
      );
    await beat();
    await one.clock.pass(5000);
    await beat();
    const before = await one.until(one.hub.ask((world) => ({ ...world.agents.get('bob') })));
    await one.until(Promise.all([send(one), send(other)]));
    const after = await one.until(one.hub.ask((world) => ({ ...world.agents.get('bob') })));
    expect(listener.positions.slice(0, 1)).toEqual([1]);
    expect(after).toMatchObject({ presence: 'presence' in before && before.presence });
    expect('presented' in after && after.presented?.[0]).toBe(1);
  });
});

describe('an append that fails', () => {
  test('[H2] stored all the same is answered with what was decided, and published once', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    const listener = rig.listen(toBob);
    rig.faults.appendDoubts = 1;
    expect(await rig.until(send(rig))).toMatchObject({ seq: 1, position: 1 });
    rig.faults.appendDoubts = 0;
    await rig.clock.pass(1000);
    expect(await rig.send(ada, 'a')).toMatchObject({ seq: 2 });
    expect([listener.positions, listener.end]).toEqual([[1, 2], null]);
    expect(rig.troubles).toHaveLength(1);
  });

  test('[H2] not stored is refused as such, and others find nothing changed', async () => {
    const rig = await open();
    rig.faults.appendFails = 1;
    const answer = await rig.until(send(rig));
    expect(answer).toMatchObject({ refused: 'store.unavailable' });
    expect('message' in answer && answer.message).toMatch(/nothing was changed/);
    expect(storedEntries(rig.disk)).toEqual([]);
  });

  test('[H2] not known in time is said to be unknown, and what is stored is published when it is', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    const listener = rig.listen(toBob);
    Object.assign(rig.faults, { appendDoubts: 1, readFails: 1 });
    const before = rig.clock.now();
    const waiting = send(rig, { key: 'k' });
    await rig.clock.pass(5000);
    const answer = await waiting;
    expect(answer).toMatchObject({ refused: 'store.unknown' });
    expect('message' in answer && answer.message).toMatch(/may or may not have happened/);
    expect(rig.clock.now() - before).toBeLessThanOrEqual(5000);
    expect(codeOf(await rig.until(send(rig)))).toBe('store.unavailable');
    expect(listener.positions).toEqual([]);
    Object.assign(rig.faults, { appendDoubts: 0, readFails: 0 });
    await rig.clock.pass(20_000);
    expect([listener.positions, listener.end]).toEqual([[1], null]);
    expect(await rig.until(send(rig, { key: 'k' }))).toMatchObject({ seq: 1, position: 1 });
  });

  test('[H2] that the disk never answers ends in an answer, whether it is stored before, later or never', async () => {
    const codes = new Set<string | null>();
    const rig = await open();
    await rig.subscribe(bob, 'a');
    const listener = rig.listen(toBob);
    for (let round = 0; round < 8; round++) {
      rig.faults.appendHangs = 1;
      let code: string | null | undefined;
      void send(rig).then((answer) => {
        code = codeOf(answer);
      });
      await rig.clock.pass(16_000);
      expect(code).toBeDefined();
      codes.add(code ?? null);
      rig.faults.appendHangs = 0;
      await rig.clock.pass(120_000);
    }
    expect([...codes].sort()).toEqual([null, 'store.unknown'].sort());
    const sent = storedEntries(rig.disk).flatMap((entry, i) =>
      entry.includes('message.sent') ? [i] : [],
    );
    expect([listener.positions, listener.end]).toEqual([sent, null]);
  });

  test('[H2] closing answers those who wait to hear what became of it', async () => {
    const rig = await open();
    Object.assign(rig.faults, { appendDoubts: 1, readFails: 1 });
    const answer = send(rig);
    await rig.clock.pass(100);
    await rig.until(rig.hub.close());
    expect(codeOf(await rig.until(answer))).toBe('store.unknown');
  });
});
