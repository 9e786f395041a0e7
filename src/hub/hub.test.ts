import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SERVER } from '../core/law/principal.ts';
import { portray } from '../testing/compare.ts';
import { storedEntries } from '../testing/faulty-log.ts';
import { openRig, type Rig } from '../testing/rig.ts';
import { codeOf, createPrincipal, PLAIN_SEND } from '../testing/story.ts';
import type { HubOptions } from './hub.ts';
import { QUEUE_MAX } from './queue.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const open = (options?: Partial<HubOptions>): Promise<Rig> =>
  openRig(() => setImmediate(), options);
const send = (rig: Rig, channel = 'a') => ({
  ...PLAIN_SEND,
  by: ada,
  at: rig.hub.stamp(),
  channel,
});

describe('batches', () => {
  test('[H1] an answer is released only when what it tells is stored', async () => {
    const rig = await open();
    rig.faults.slowMs = 1000;
    let stored = -1;
    const answered = rig.hub.submit(send(rig)).then((answer) => {
      stored = storedEntries(rig.disk).length;
      return answer;
    });
    expect(storedEntries(rig.disk)).toHaveLength(0);
    await rig.until(answered);
    expect(stored).toBe(1);
  });

  test('[H12] commands that arrive together are one append', async () => {
    const rig = await open();
    await rig.until(Promise.all([1, 2, 3, 4].map(() => rig.hub.submit(send(rig)))));
    expect(rig.disk.batches).toHaveLength(1);
    expect(rig.hub.stats).toMatchObject({ entries: 4, batches: 1, queued: 0 });
  });

  test('[H12] what is refused or changes nothing costs no append', async () => {
    const rig = await open();
    expect(codeOf(await rig.send(ada, 'sox/x'))).toBe('channel.reserved');
    expect(rig.disk.batches).toHaveLength(0);
  });

  test('[H3] a question is answered in its turn and sees only what is stored', async () => {
    const rig = await open();
    rig.faults.slowMs = 1000;
    const sent = rig.hub.submit(send(rig));
    let atAnswer = -1;
    const asked = rig.hub
      .ask((world) => world.length)
      .then((length) => {
        atAnswer = storedEntries(rig.disk).length;
        return length;
      });
    await rig.until(Promise.all([sent, asked]));
    expect([await asked, atAnswer]).toEqual([1, 1]);
  });

  test('[H3] a question asked while an append is under way waits for it', async () => {
    const rig = await open();
    rig.faults.slowMs = 1000;
    const sent = rig.hub.submit(send(rig));
    await rig.clock.step();
    const asked = rig.hub.ask((world) => [world.length, storedEntries(rig.disk).length]);
    await rig.until(Promise.all([sent, asked]));
    expect(await asked).toEqual([1, 1]);
  });

  test('[H3] who finds nothing and then waits does not miss what came in the same batch', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    const early = rig.hub.submit(send(rig, 'b'));
    const waited = rig.hub
      .ask((world) => world.agents.get('bob')?.ready.size)
      .then((size) => (size === 0 ? rig.hub.watch.mail('bob', 60_000) : true));
    const late = rig.hub.submit(send(rig));
    const before = rig.clock.now();
    await rig.until(Promise.all([early, waited, late]));
    expect(await waited).toBeTruthy();
    expect(rig.clock.now() - before).toBeLessThan(60_000);
  });

  test('[H4] the queue is bounded: one more is refused as busy, and the others are done', async () => {
    const rig = await open({ queueMax: 3 });
    const answers = [1, 2, 3, 4].map(() => rig.hub.submit(send(rig)));
    const codes = (await rig.until(Promise.all(answers))).map(codeOf);
    expect(codes).toEqual([null, null, null, 'hub.busy']);
    expect(QUEUE_MAX).toBe(100_000);
  });

  test('[H5] one caller that fails to take its answer costs the others nothing', async () => {
    const rig = await open();
    rig.hub.submitThen(send(rig), () => {
      throw new Error('gone');
    });
    expect(codeOf(await rig.send(ada, 'a'))).toBeNull();
    expect(
      codeOf(await rig.until(rig.hub.ask(() => Promise.reject(new Error('x')).catch(() => 1)))),
    ).toBeNull();
    expect(
      codeOf(
        await rig.until(
          rig.hub.ask(() => {
            throw new Error('a question that is a bug');
          }),
        ),
      ),
    ).toBe('internal');
    expect(rig.troubles).toHaveLength(2);
  });

  test('[H5] when the law itself breaks, the batch is refused and memory is made anew', async () => {
    const rig = await open();
    await rig.send(ada, 'a');
    const broken = { ...send(rig), channel: null as never };
    const answers = await rig.until(
      Promise.all([rig.hub.submit(send(rig)), rig.hub.submit(broken)]),
    );
    expect(answers.map(codeOf)).toEqual(['store.unavailable', 'store.unavailable']);
    await rig.clock.settle();
    expect(await rig.send(ada, 'a')).toMatchObject({ seq: 2 });
  });
});

describe('a log that fails', () => {
  test('[H2] a failed append refuses its batch and changes nothing', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    await rig.send(ada, 'a');
    const before = await rig.hub.ask((world) => portray(world));
    rig.faults.appendFails = 1;
    const refused = await rig.until(
      Promise.all([rig.hub.submit(send(rig)), rig.hub.submit(send(rig))]),
    );
    expect(refused.map(codeOf)).toEqual(['store.unavailable', 'store.unavailable']);
    rig.faults.appendFails = 0;
    await rig.clock.pass(1000);
    expect(await rig.hub.ask((world) => portray(world))).toBe(before);
    expect(await rig.send(ada, 'a')).toMatchObject({ seq: 2 });
    expect(await rig.take(bob)).toEqual([1, 2]);
  });

  test('[H2] while the log cannot be read either, callers are refused at once and the hub keeps trying, ever slower', async () => {
    const rig = await open();
    Object.assign(rig.faults, { appendFails: 1, readFails: 1 });
    await rig.send(ada, 'a');
    await rig.clock.pass(60_000);
    expect(rig.hub.isAvailable).toBe(false);
    expect(codeOf(await rig.send(ada, 'a'))).toBe('store.unavailable');
    expect(codeOf(await rig.until(rig.hub.ask(() => 1)))).toBe('store.unavailable');
    expect(rig.listen({ by: bob, from: 'now', channels: null }).refusal?.refused).toBe(
      'store.unavailable',
    );
    const tries = rig.troubles.length;
    expect(tries).toBeLessThan(20);
    Object.assign(rig.faults, { appendFails: 0, readFails: 0 });
    await rig.clock.pass(10_000);
    expect(rig.hub.isAvailable).toBe(true);
    expect(await rig.send(ada, 'a')).toMatchObject({ seq: 1 });
  });

  test('[H6] deadlines that pass while the log is down do not make the hub spin', async () => {
    const rig = await open();
    await rig.until(
      rig.hub.submit({
        type: 'presence.beat',
        by: ada,
        at: rig.hub.stamp(),
        status: 'online',
        ttlMs: 1000,
      }),
    );
    Object.assign(rig.faults, { appendFails: 1, readFails: 1 });
    await rig.clock.pass(60_000);
    expect(rig.troubles.length).toBeLessThan(20);
    Object.assign(rig.faults, { appendFails: 0, readFails: 0 });
    await rig.clock.pass(20_000);
    expect(await rig.hub.ask((world) => world.agents.get('ada')?.presence.state)).toBe('offline');
  });

  test('[H7] closing while the log is down ends the hub for good', async () => {
    const rig = await open();
    Object.assign(rig.faults, { appendFails: 1, readFails: 1 });
    await rig.send(ada, 'a');
    await rig.until(rig.hub.close());
    Object.assign(rig.faults, { appendFails: 0, readFails: 0 });
    await rig.clock.pass(60_000);
    expect(rig.hub.isAvailable).toBe(false);
  });
});

describe('closing and opening', () => {
  test('[H7] a recovery that ends after the hub was closed does not open it again', async () => {
    // The disk is slow now and then: in some of these the last read is under way when the hub closes.
    for (let entries = 1; entries <= 8; entries++) {
      const rig = await open();
      for (let i = 0; i < entries; i++) await rig.send(ada, 'a');
      Object.assign(rig.faults, { appendFails: 1, slowMs: 1000 });
      await rig.send(ada, 'a');
      rig.faults.appendFails = 0;
      await rig.until(rig.hub.close());
      await rig.clock.pass(60_000);
      expect(rig.hub.isAvailable).toBe(false);
    }
  });

  test('[H7] what was asked before is done, what comes later is refused, and closing twice is once', async () => {
    const rig = await open();
    const before = rig.hub.submit(send(rig));
    const closed = [rig.hub.close(), rig.hub.close()];
    const after = rig.hub.submit(send(rig));
    await rig.until(Promise.all(closed));
    expect([codeOf(await before), codeOf(await rig.until(after))]).toEqual([
      null,
      'store.unavailable',
    ]);
    await expect(rig.log.append(1, ['x'])).rejects.toThrow('log.closed');
  });

  test('[H8] a snapshot is taken every so many entries and on closing, and opening goes on from it', async () => {
    const rig = await open({ snapshotEvery: 10 });
    for (let i = 0; i < 13; i++) await rig.send(ada, 'a');
    await rig.clock.settle();
    expect(rig.disk.snapshots.map(({ position }) => position)).toEqual([10]);
    await rig.until(rig.hub.close());
    expect(rig.disk.snapshots.map(({ position }) => position)).toEqual([10, 14]);
    const again = await rig.reopen();
    expect(await again.send(ada, 'a')).toMatchObject({ seq: 14, position: 15 });
  });

  test('[H8] a snapshot that cannot be saved or used costs time and nothing else', async () => {
    const rig = await open({ snapshotEvery: 1 });
    await rig.send(ada, 'a');
    await rig.clock.settle();
    rig.disk.snapshots = rig.disk.snapshots.map((one) => ({ ...one, text: 'not JSON' }));
    const again = await rig.reopen();
    expect(again.troubles[0]).toMatch(/snapshot/);
    expect(await again.send(ada, 'a')).toMatchObject({ seq: 2 });
  });

  test('[L1] a hub that dies opens as the world it had stored', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    await rig.send(ada, 'a');
    await rig.take(bob, 5000);
    const before = await rig.hub.ask((world) => portray(world));
    const again = await rig.reopen();
    expect(await again.hub.ask((world) => portray(world))).toBe(before);
  });

  test('[H9] stamps never run backwards, also over a restart', async () => {
    const rig = await open();
    const first = await rig.send(ada, 'a');
    rig.clock.jump(-3_600_000);
    const second = await rig.send(ada, 'a');
    const again = await rig.reopen();
    again.clock.jump(-7_200_000);
    const third = await again.send(ada, 'a');
    const stamps = [first, second, third].map((one) => ('at' in one ? one.at : Number.NaN));
    expect(stamps).toEqual(stamps.toSorted((a, b) => a - b));
  });
});

describe('deadlines', () => {
  test('[H6] a deadline is a command: it is stored like any other', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    await rig.send(ada, 'a');
    expect(await rig.take(bob, 1000)).toEqual([1]);
    await rig.clock.pass(999);
    expect(await rig.take(bob)).toEqual([]);
    await rig.clock.pass(1);
    await rig.clock.settle();
    expect(storedEntries(rig.disk).at(-1)).toContain('inbox.lapsed');
    expect(await rig.take(bob)).toEqual([1]);
  });

  test('[H6] a deadline set before a restart is kept after it, without anyone asking', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    await rig.send(ada, 'a');
    await rig.take(bob, 1000);
    const again = await rig.reopen();
    await again.clock.pass(1500);
    expect(storedEntries(rig.disk).at(-1)).toContain('inbox.lapsed');
  });

  test('[H6] many deadlines at once are told in few appends, and a full queue is tried again', async () => {
    const rig = await open({ queueMax: 20 });
    for (let i = 0; i < 100; i++) {
      const by = createPrincipal(`agent${i}`);
      await rig.until(
        rig.hub.submit({
          type: 'presence.beat',
          by,
          at: rig.hub.stamp(),
          status: 'online',
          ttlMs: 60_000,
        }),
      );
    }
    const before = rig.hub.stats.batches;
    rig.clock.jump(10 * 60_000);
    await rig.clock.pass(70_000);
    const offline = await rig.hub.ask(
      (world) =>
        [...world.agents.values()].filter(({ presence }) => presence.state === 'offline').length,
    );
    expect(offline).toBe(100);
    expect(rig.hub.stats.batches - before).toBeLessThan(100);
  });

  test('[H6] a deadline further away than a timer reaches is waited for in stages', async () => {
    const rig = await open();
    const days = 40 * 86_400_000;
    await rig.until(
      rig.hub.submit({
        type: 'presence.beat',
        by: ada,
        at: rig.hub.stamp(),
        status: 'online',
        ttlMs: days,
      }),
    );
    await rig.clock.pass(days + 1000);
    expect(await rig.hub.ask((world) => world.agents.get('ada')?.presence.state)).toBe('stale');
    expect(SERVER.id).toBe('__server__');
  });
});
