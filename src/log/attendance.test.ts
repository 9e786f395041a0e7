/** More servers, or names of them, than one remembers: who is gone makes room, and nobody seems to be there for ever. */
import { expect, test } from 'vitest';
import type { Lease } from './lease.ts';
import { LOST_MS, RENEW_MS, serverKey } from './lease-words.ts';
import { createWorld, type Server, start, until, type World } from './lease-world.ts';

const NAMES_MANY = 70;

/** Servers of which no more is there than their words, as often as they are said. */
function createNames(world: World, more: object = { readsCompressed: true, countsMakers: true }) {
  const { store } = world.machine();
  const seqs = new Array<number>(NAMES_MANY).fill(0);
  return async (): Promise<void> => {
    const said = seqs.map(async (seq, i) => {
      const word = { by: `id${i}`, holder: `name${i}`, isReleased: false, ...more };
      const written = await store.write(serverKey(word), word, seq).catch(() => 'stale' as const);
      if (written !== 'stale') seqs[i] = written;
    });
    await until(world, Promise.all(said));
  };
}

async function take(world: World, { leases }: Server, space: string): Promise<Lease> {
  const lease = await until(world, leases.of(space));
  lease.stand();
  await world.pass(1_000);
  return lease;
}

test('[SQ2] one that dies is followed also after more names than are remembered came and went', async () => {
  const world = createWorld();
  const a = await start(world, 'a');
  await createNames(world)();
  await world.pass(LOST_MS + 1_000);
  const b = await start(world, 'b');
  expect((await take(world, b, 'y')).isMine).toBe(true);
  const waiting = await take(world, a, 'y');
  expect(waiting.holder?.id).toBe('b');
  b.machine.isDead = true;
  await world.pass(LOST_MS + 1_000);
  expect(waiting.isMine).toBe(true);
});

test('[SQ2] one that dies is followed also while more are there than are remembered', async () => {
  const world = createWorld();
  const a = await start(world, 'a');
  const renew = createNames(world);
  const pass = async (ms: number): Promise<void> => {
    const end = world.now + ms;
    while (world.now < end) {
      await renew();
      await world.pass(RENEW_MS);
    }
  };
  await pass(2_000);
  const b = await start(world, 'b');
  expect((await take(world, b, 'y')).isMine).toBe(true);
  await renew();
  const waiting = await take(world, a, 'y');
  await pass(2_000);
  expect(waiting.holder?.id).toBe('b');
  b.machine.isDead = true;
  await pass(LOST_MS + 20_000);
  expect(waiting.isMine).toBe(true);
});

test('[NL9] however many names there were, none that cannot read what is compressed is forgotten', async () => {
  const world = createWorld();
  const a = await start(world, 'a');
  expect(a.leases.allCan('readsCompressed')).toBe(true);
  await createNames(world, {})();
  await world.pass(20_000);
  expect(a.leases.allCan('readsCompressed')).toBe(false);
  const able = { readsCompressed: true, countsMakers: true };
  for (const [key, { word, seq }] of world.words)
    world.words.set(key, { word: { ...word, ...able }, seq: seq + 1 });
  await world.pass(20_000);
  expect(a.leases.allCan('readsCompressed')).toBe(true);
});

test('[SQ10] that one drains, or no more, is said when it is told so, also in the middle of a renewal', async () => {
  const world = createWorld(() => 0.5);
  const a = await start(world, 'a');
  const b = await start(world, 'b');
  for (let i = 0; i < 50; i++) {
    await until(world, b.leases.drain(i % 2 === 0));
    expect(world.words.get('server b')?.word.isDraining ?? false, `${i}`).toBe(i % 2 === 0);
    if (i % 2 === 1) expect(await until(world, a.leases.hasHeir()), `${i}`).toBe(true);
    await world.pass(1_010);
  }
});
