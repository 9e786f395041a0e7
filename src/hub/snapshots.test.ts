import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { decodeEvent } from '../core/law/entry.ts';
import { thawWorld } from '../core/law/snapshot.ts';
import { createWorld, type World } from '../core/law/state.ts';
import { evolve } from '../core/law/world.ts';
import { portray } from '../testing/compare.ts';
import { storedEntries } from '../testing/faulty-log.ts';
import { openRig, type Rig } from '../testing/rig.ts';
import { createPrincipal } from '../testing/story.ts';
import type { HubOptions } from './hub.ts';

const ada = createPrincipal('ada');
const NULLS = { epoch: null, idempotency: null, ttlMs: null, note: null, git: null };
const open = (options?: Partial<HubOptions>): Promise<Rig> =>
  openRig(() => setImmediate(), options);

/** One entry that makes a snapshot longer by a slice. */
async function grow(rig: Rig, id: string): Promise<void> {
  const { hub } = rig;
  const at = hub.stamp();
  const taken = { type: 'claim.take', by: ada, at, id, scope: null, ...NULLS } as const;
  await rig.until(hub.submit(taken));
  await rig.until(
    hub.submit({
      type: 'claim.checkpoint',
      ...{ by: ada, at, id, epoch: null, expectedVersion: null, idempotency: null },
      checkpoint: JSON.stringify('x'.repeat(60_000)),
    }),
  );
}

/** A hub that is in the middle of writing a snapshot of many slices. */
async function openWriting(): Promise<Rig> {
  const rig = await open({ snapshotEvery: 60 });
  for (let i = 0; i < 29; i++) await grow(rig, `c${i}`);
  expect(rig.disk.snapshots).toEqual([]);
  await rig.send(ada, 'a');
  await rig.send(ada, 'a');
  return rig;
}

function replayed(rig: Rig, length: number): World {
  const world = createWorld();
  const entries = storedEntries(rig.disk).slice(0, length);
  for (const [position, entry] of entries.entries()) evolve(world, decodeEvent(entry), position);
  return world;
}

describe('while a snapshot is written', () => {
  test('[H20] commands and questions are served, and what is saved is the world at its position', async () => {
    const rig = await openWriting();
    expect(await rig.send(ada, 'a')).toMatchObject({ seq: 3, position: 60 });
    expect(await rig.until(rig.hub.ask((world) => world.length))).toBe(61);
    expect(rig.disk.snapshots).toEqual([]);
    await grow(rig, 'more');
    await rig.clock.settle();
    const [saved] = rig.disk.snapshots;
    expect(saved?.position).toBe(60);
    const thawed = thawWorld(saved?.text ?? '') as World;
    expect(portray(thawed, 'durable')).toBe(portray(replayed(rig, 60), 'durable'));
    const again = await rig.reopen();
    expect(await again.until(again.hub.ask((world) => portray(world, 'durable')))).toBe(
      portray(replayed(rig, storedEntries(rig.disk).length), 'durable'),
    );
  });

  test('[H20] closing leaves the one that is half written and writes the last one whole', async () => {
    const rig = await openWriting();
    await rig.send(ada, 'a');
    expect(rig.disk.snapshots).toEqual([]);
    await rig.until(rig.hub.close());
    expect(rig.disk.snapshots.map(({ position }) => position)).toEqual([61]);
  });

  test('[H20] closing writes out the one under way when nothing came after it', async () => {
    const rig = await openWriting();
    expect(rig.disk.snapshots).toEqual([]);
    await rig.until(rig.hub.close());
    expect(rig.disk.snapshots.map(({ position }) => position)).toEqual([60]);
  });
});
