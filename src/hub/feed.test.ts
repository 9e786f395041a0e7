import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { storedEntries } from '../testing/faulty-log.ts';
import { openRig, type Rig } from '../testing/rig.ts';
import { codeOf, createPrincipal } from '../testing/story.ts';
import type { Bundle } from './feed.ts';
import {
  FEED_GLOB_CHARS_PER_AGENT_MAX,
  FEED_PATTERNS_MAX,
  FEEDS_MAX,
  FEEDS_PER_AGENT_MAX,
} from './feed-index.ts';
import { PAGE_MESSAGES_FIRST } from './feed-page.ts';
import type { HubOptions } from './hub.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const eve = createPrincipal('eve', { tier: 'untrusted' });
const mia = createPrincipal('mia', { kind: 'human' });
const spy = createPrincipal('spy', { kind: 'observer' });
const open = (options?: Partial<HubOptions>): Promise<Rig> =>
  openRig(() => setImmediate(), options);
const mine = { by: bob, channels: null } as const;

async function sendMany(rig: Rig, count: number, channel = 'a'): Promise<void> {
  for (let i = 0; i < count; i++) await rig.send(ada, channel);
}

function review(rig: Rig, position: number, seq: number, isReleased = true): Promise<unknown> {
  const target = { position, seq, channel: 'a', sender: 'eve' };
  const at = rig.hub.stamp();
  return rig.until(
    rig.hub.submit({ type: 'message.review', by: mia, at, target, isReleased, reason: null }),
  );
}

describe('live', () => {
  test('[F1] a message is pushed after it is stored, to those subscribed', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    const stored: number[] = [];
    const listener = rig.listen(
      { ...mine, from: 'now' },
      {
        deliver(bundle) {
          stored.push(storedEntries(rig.disk).length - (bundle.messages.at(-1)?.position ?? 0));
          return true;
        },
      },
    );
    rig.faults.slowMs = 100;
    await sendMany(rig, 3);
    await rig.send(ada, 'other');
    expect(stored).toEqual([1, 1, 1]);
    listener.close();
    await rig.send(ada, 'a');
    expect(stored).toHaveLength(3);
  });

  test('[F1] nothing of a batch that failed is pushed', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    const listener = rig.listen({ ...mine, from: 'now' });
    rig.faults.appendFails = 1;
    await rig.send(ada, 'a');
    rig.faults.appendFails = 0;
    await rig.clock.pass(1000);
    await rig.send(ada, 'a');
    expect(listener.positions).toEqual([1]);
  });

  test('[F7] who listens to the same channel gets the same bundle, so that it is encoded once', async () => {
    const rig = await open();
    await rig.subscribe(ada, 'a');
    await rig.subscribe(bob, 'a');
    const bundles: Bundle[] = [];
    const sink = { deliver: (bundle: Bundle) => bundles.push(bundle) > 0 };
    rig.listen({ by: ada, from: 'now', channels: null }, sink);
    rig.listen({ ...mine, from: 'now' }, sink);
    rig.listen({ by: spy, from: 'now', channels: ['a'] }, sink);
    await rig.send(ada, 'a');
    expect(bundles).toHaveLength(3);
    expect(new Set(bundles).size).toBe(1);
  });

  test('[F3] a listener that cannot keep up is cut off with a reason, and the others go on', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    const slow = rig.listen({ ...mine, from: 'now' }, { deliver: () => false });
    const broken = rig.listen(
      { ...mine, from: 'now' },
      {
        deliver: () => {
          throw new Error('a bug of a door');
        },
      },
    );
    const fast = rig.listen({ ...mine, from: 'now' });
    await sendMany(rig, 3);
    expect([slow.end, broken.end, fast.end]).toEqual(['slow_reader', 'slow_reader', null]);
    expect(fast.positions).toEqual([1, 2, 3]);
    expect(rig.hub.stats.feeds).toBe(1);
  });

  test('[C5] a feed of named channels shows what its reader may read, and no glob sees more', async () => {
    const rig = await open();
    const refusal = (channels: string[]) =>
      rig.listen({ by: spy, from: 'now', channels }).refusal?.refused;
    expect(refusal(['dm/ada~bob'])).toBe('dm.not-party');
    expect(refusal(['group/g'])).toBe('group.not-member');
    expect(refusal(['dm/*'])).toBe('pattern.reserved');
    expect(refusal(['sox/secret'])).toBe('channel.reserved');
    const all = rig.listen({ by: spy, from: 'now', channels: ['*'] });
    await rig.send(ada, 'dm/ada~bob');
    await rig.send(ada, 'a');
    expect(all.positions).toEqual([1]);
  });

  test('[F6] feeds and their patterns are bounded', async () => {
    const rig = await open();
    const many = Array.from({ length: FEED_PATTERNS_MAX + 1 }, (_, i) => `c${i}`);
    expect(rig.listen({ by: bob, from: 'now', channels: many }).refusal?.refused).toBe(
      'limit.reached',
    );
    for (let i = 0; i < FEEDS_MAX; i++) {
      rig.listen({ by: createPrincipal(`a${i}`), from: 'now', channels: null });
    }
    expect(rig.listen({ ...mine, from: 'now' }).refusal?.refused).toBe('limit.reached');
    await rig.until(rig.hub.close());
    expect(rig.hub.stats.feeds).toBe(0);
  });

  test('[F6] one agent has its share of feeds and of globs, and has it back when a feed ends', async () => {
    const rig = await open();
    const limitOf = (channels: string[] | null) =>
      rig.listen({ by: bob, from: 'now', channels }).refusal?.detail?.limit;
    const long = rig.listen({
      by: bob,
      from: 'now',
      channels: Array.from({ length: FEED_GLOB_CHARS_PER_AGENT_MAX / 64 }, (_, i) =>
        `${i}*`.padEnd(64, 'a'),
      ),
    });
    expect(limitOf(['b*'])).toBe('FEED_GLOB_CHARS_PER_AGENT_MAX');
    expect(rig.listen({ by: spy, from: 'now', channels: ['b*'] }).refusal).toBeNull();
    long.close();
    for (let i = 0; i < FEEDS_PER_AGENT_MAX; i++) expect(limitOf(['b*'])).toBeUndefined();
    expect(limitOf(null)).toBe('FEEDS_PER_AGENT_MAX');
    expect(rig.listen({ by: ada, from: 'now', channels: null }).refusal).toBeNull();
  });

  test('[F6] a position beyond the log is refused', async () => {
    const rig = await open();
    expect(rig.listen({ ...mine, from: 5 }).refusal?.refused).toBe('input.invalid');
  });
});

describe('catching up', () => {
  test('[F2] a feed from a position shows everything after it and goes on live, once each', async () => {
    const rig = await open({ cacheBytesMax: 0 });
    await rig.subscribe(bob, 'a', 'b');
    await sendMany(rig, 5);
    const listener = rig.listen({ ...mine, from: 3 });
    const sent = Promise.all([sendMany(rig, 5), sendMany(rig, 5, 'b')]);
    await rig.until(sent);
    await rig.clock.settle();
    const expected = Array.from({ length: storedEntries(rig.disk).length - 4 }, (_, i) => i + 4);
    expect(listener.positions).toEqual(expected);
  });

  test('[F2] the seam between history and live is tight while messages keep coming', async () => {
    const rig = await open({ cacheBytesMax: 0 });
    await rig.subscribe(bob, 'a');
    await sendMany(rig, 1200);
    let isReady: () => void = () => {};
    const listener = rig.listen(
      { ...mine, from: 0 },
      {
        ready: () =>
          new Promise((resolve) => {
            isReady = resolve;
          }),
      },
    );
    for (let i = 0; i < 30; i++) {
      await rig.send(ada, 'a');
      isReady();
    }
    for (let pages = 0; pages < 30; pages++) {
      await rig.clock.settle();
      isReady();
    }
    expect(listener.positions).toEqual(Array.from({ length: 1230 }, (_, i) => i + 1));
  });

  test('[F2] a feed from the inbox begins with everything owed, what came back included', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a', 'b');
    await sendMany(rig, 2);
    await rig.take(bob, 1000);
    await rig.clock.pass(1000);
    await rig.clock.settle();
    await rig.send(ada, 'b');
    const listener = rig.listen({ ...mine, from: 'inbox' });
    await rig.clock.settle();
    expect(listener.positions).toEqual([2, 3, 6]);
  });

  test('[F2] what another connection drains while a feed catches up is shown all the same', async () => {
    const rig = await open({ cacheBytesMax: 0 });
    await rig.subscribe(bob, 'a', 'b');
    await sendMany(rig, 1);
    let isReady: () => void = () => {};
    const ready = () =>
      new Promise<void>((resolve) => {
        isReady = resolve;
      });
    const listener = rig.listen({ ...mine, from: 'inbox' }, { ready });
    await rig.clock.settle();
    await sendMany(rig, 2, 'b');
    await rig.take(bob);
    isReady();
    await rig.clock.settle();
    expect(listener.positions).toEqual([2, 3, 4]);
  });

  test('[F2] a feed ends with a reason when its history cannot be read', async () => {
    const rig = await open({ cacheBytesMax: 0 });
    await rig.subscribe(bob, 'a');
    await sendMany(rig, 2);
    rig.faults.readFails = 1;
    const listener = rig.listen({ ...mine, from: 0 });
    await rig.clock.settle();
    expect(listener.end).toBe('store_unavailable');
  });

  test('[F2] closing the hub ends every feed with a reason', async () => {
    const rig = await open();
    const listener = rig.listen({ ...mine, from: 'now' });
    await rig.until(rig.hub.close());
    expect(listener.end).toBe('shutting_down');
  });
});

describe('released messages', () => {
  test('[F4] a held message is pushed when it is released, to whoever listens then, once', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    const live = rig.listen({ ...mine, from: 'now' });
    await rig.send(eve, 'a');
    await rig.send(ada, 'a');
    expect(live.positions).toEqual([2]);
    expect(codeOf(await review(rig, 1, 1))).toBeNull();
    await rig.clock.settle();
    expect(live.positions).toEqual([2, 1]);
  });

  test('[F4] a feed that is still catching up gets it in its place, not before its time and not twice', async () => {
    const rig = await open({ cacheBytesMax: 0 });
    await rig.subscribe(bob, 'a');
    await rig.send(eve, 'a');
    await sendMany(rig, 600);
    let isReady: () => void = () => {};
    const ready = () =>
      new Promise<void>((resolve) => {
        isReady = resolve;
      });
    const listener = rig.listen({ ...mine, from: 0 }, { ready });
    await rig.clock.settle();
    expect(listener.positions).toHaveLength(PAGE_MESSAGES_FIRST);
    await review(rig, 1, 1);
    for (let pages = 0; pages < 16; pages++) {
      isReady();
      await rig.clock.settle();
    }
    expect(listener.positions.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 601 }, (_, i) => i + 1),
    );
  });

  test('[F4] who saw it at one hub and goes on at another that has not read of the release is not shown it again', async () => {
    const one = await open();
    const other = await one.beside();
    await one.subscribe(bob, 'a');
    const live = one.listen({ ...mine, from: 'now' });
    await one.send(eve, 'a');
    await one.send(ada, 'a');
    await one.clock.pass(1000);
    await review(one, 1, 1);
    await one.until(Promise.resolve());
    expect([live.positions, other.hub.stats.entries]).toEqual([[2, 1], 3]);
    live.close();
    const moved = other.listen({ ...mine, from: 2 });
    await one.clock.pass(1000);
    await one.send(ada, 'a');
    await one.clock.pass(1000);
    expect(moved.positions).toEqual([4]);
    // What is released while it listens there is shown, wherever it was released.
    await one.send(eve, 'a');
    await one.clock.pass(1000);
    await review(one, 5, 4);
    await one.clock.pass(1000);
    expect(moved.positions).toEqual([4, 5]);
  });

  test('[F4] a refused message is pushed to nobody', async () => {
    const rig = await open();
    await rig.subscribe(bob, 'a');
    const live = rig.listen({ ...mine, from: 'now' });
    await rig.send(eve, 'a');
    await review(rig, 1, 1, false);
    await rig.clock.settle();
    expect(live.positions).toEqual([]);
  });
});
