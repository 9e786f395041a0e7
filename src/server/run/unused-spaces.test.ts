import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Hub } from '../../hub/hub.ts';
import { createChance } from '../../testing/chance.ts';
import { createVirtualClock } from '../../testing/virtual-clock.ts';
import { watchUnusedSpaces } from './unused-spaces.ts';

const UNUSED_MS = 60_000;

/** One space, open here, and sequenced at another server. */
function createScene() {
  const clock = createVirtualClock(createChance(1), () => setImmediate());
  const begunAt = clock.now();
  let opened = (_hub: Hub): void => {};
  const scene = {
    ...{ isInUse: false, sequencer: 'b' as string | null, usedAt: 0, looks: 0 },
    /** When it was closed, since the scene began. */
    closedAt: null as number | null,
    ...{ clock, pass: clock.pass },
    sinceMs: () => clock.now() - begunAt,
    open: () => {
      scene.closedAt = null;
      opened(hub);
    },
    close: () => unused.close(),
    note: () => unused.note('x'),
  };
  const hub = {
    space: 'x',
    get isInUse() {
      return scene.isInUse;
    },
    get standing() {
      return { server: 'a', sequencer: scene.sequencer, changes: 0 };
    },
  } as unknown as Hub;
  const unused = watchUnusedSpaces({
    ...{ clock, unusedMs: UNUSED_MS },
    spaces: {
      opened: () => (scene.closedAt === null ? [hub] : []),
      async rest() {
        scene.closedAt = scene.sinceMs();
      },
      onOpened(listener) {
        opened = listener;
        listener(hub);
        return () => {};
      },
    },
    uses() {
      scene.looks++;
      return new Map([['x', scene.usedAt]]);
    },
  });
  return scene;
}

test('[SQ29] what another sequences, and nobody asked for that long, is closed; who opens it has it as long again', async () => {
  const scene = createScene();
  await scene.pass(UNUSED_MS - 1);
  expect(scene.closedAt).toBeNull();
  await scene.pass(UNUSED_MS / 10);
  expect(scene.closedAt).toBeLessThanOrEqual(1.1 * UNUSED_MS);
  // However often it is opened: no oftener than once in that time.
  scene.open();
  const reopenedAt = scene.sinceMs();
  await scene.pass(3 * UNUSED_MS);
  expect((scene.closedAt ?? 0) - reopenedAt).toBeGreaterThanOrEqual(UNUSED_MS);
});

test('[SQ29] what is asked for, listened to or handed over stays open, and what this server may have to sequence', async () => {
  const scene = createScene();
  for (let i = 0; i < 10; i++) {
    scene.usedAt = scene.clock.now();
    await scene.pass(UNUSED_MS / 2);
  }
  scene.usedAt = Number.POSITIVE_INFINITY;
  await scene.pass(2 * UNUSED_MS);
  scene.usedAt = 0;
  scene.isInUse = true;
  await scene.pass(2 * UNUSED_MS);
  const { looks } = scene;
  scene.isInUse = false;
  for (const sequencer of ['a', null]) {
    scene.sequencer = sequencer;
    await scene.pass(2 * UNUSED_MS);
  }
  expect([scene.closedAt, scene.looks]).toEqual([null, looks]);
  scene.sequencer = 'b';
  scene.note();
  await scene.pass(UNUSED_MS - 1);
  expect(scene.closedAt).toBeNull();
  await scene.pass(UNUSED_MS / 5);
  expect(scene.closedAt).not.toBeNull();
});

test('[SQ29] nothing is closed once the server stops', async () => {
  const scene = createScene();
  await scene.pass(UNUSED_MS / 2);
  scene.close();
  await scene.pass(5 * UNUSED_MS);
  expect([scene.closedAt, scene.looks]).toEqual([null, 0]);
});
