import { expect, test } from 'vitest';
import type { AttendingServer } from '../../log/attendance.ts';
import { rankServers } from '../../log/choose-holder.ts';
import { createSpread } from './spread.ts';

/** `secret` is for a alone. */
const SPACES = ['secret', ...Array.from({ length: 30 }, (_, i) => `space-${i}`)];

interface Scene {
  readonly moved: string[];
  servers: AttendingServer[];
  mineMs: number;
  nearest: string | null;
  isWilling: boolean;
  now: number;
}

const server = (name: string, hereMs: number, more: Partial<AttendingServer> = {}) => ({
  ...{ name, id: `${name}-1`, isAlone: false, isDraining: false, hereMs, ...more },
});

/** All spaces are ours; time passes when the test says so. */
function createScene() {
  const scene: Scene = {
    ...{ moved: [], servers: [server('a', 1e6)], mineMs: 60_000, isWilling: true, now: 0 },
    nearest: null,
  };
  const left = new Set(SPACES);
  const spread = createSpread({
    name: 'a',
    steady: { now: () => scene.now, after: () => () => {} },
    servers: () => scene.servers,
    spaces: () =>
      [...left].map((space) => [
        space,
        {
          ...{ isMine: true, isHeld: true, mineMs: scene.mineMs, nearest: scene.nearest },
          async handOver(to) {
            left.delete(space);
            scene.moved.push(`${space} ${to.name}`);
            return true;
          },
        },
      ]),
    mayHave: (name, space) => space !== 'secret' || name === 'a',
    summon: async () => scene.isWilling,
  });
  return { scene, spread, left };
}

test('[SQ8] what another should have moves to it, a few at once, and nothing else', async () => {
  const { scene, spread, left } = createScene();
  await spread.look();
  expect(scene.moved).toEqual([]);
  scene.servers = [server('a', 1e6), server('b', 1e6)];
  await spread.look();
  expect(scene.moved).toHaveLength(8);
  for (let i = 0; i < 5; i++) await spread.look();
  for (const space of SPACES) {
    const isOurs = space === 'secret' || rankServers(space, ['a', 'b'])[0] === 'a';
    expect(left.has(space)).toBe(isOurs);
  }
});

test('[SQ8] a server that comes and goes, drains or has no name is given nothing, and what has just come stays', async () => {
  const { scene, spread } = createScene();
  scene.servers = [
    ...[server('a', 1e6), server('b', 4_000), server('c', 1e6, { isDraining: true })],
    server('d', 1e6, { isAlone: true }),
  ];
  await spread.look();
  scene.servers = [server('a', 1e6), server('b', 1e6)];
  scene.mineMs = 9_000;
  await spread.look();
  expect(scene.moved).toEqual([]);
});

test('[SQ10] one that drains hands over all, also to a server that has just come; one that refuses is asked again later', async () => {
  const { scene, spread, left } = createScene();
  scene.servers = [server('a', 1e6, { isDraining: true }), server('b', 100)];
  scene.isWilling = false;
  spread.drain(true);
  await spread.look();
  expect(left.size).toBe(SPACES.length);
  scene.isWilling = true;
  await spread.look();
  expect(left.size).toBe(SPACES.length);
  scene.now += 1_000;
  await spread.look();
  expect([...left]).toEqual(['secret']);
});

test('[SQ27] a busy space goes to the server that is nearest, and stays where that is', async () => {
  const { scene, spread, left } = createScene();
  scene.servers = [server('a', 1e6), server('b', 1e6), server('c', 4_000)];
  scene.nearest = 'a';
  await spread.look();
  // One that is too new, or not there, is none to choose; what it would go to then has to wait as ever.
  for (const nearest of ['c', 'gone']) {
    Object.assign(scene, { nearest, mineMs: 9_000 });
    await spread.look();
  }
  expect(scene.moved).toEqual([]);
  Object.assign(scene, { nearest: 'b', mineMs: 3_000 });
  for (let i = 0; i < 5; i++) await spread.look();
  expect([...left]).toEqual(['secret']);
  expect(scene.moved.every((moved) => moved.endsWith(' b'))).toBe(true);
});
