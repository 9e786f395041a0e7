import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { AttendingServer } from '../../log/attendance.ts';
import { rankServers } from '../../log/choose-holder.ts';
import { createChance } from '../../testing/chance.ts';
import { createVirtualClock } from '../../testing/virtual-clock.ts';
import { createVacancies } from './vacancies.ts';

const NAMES = ['a', 'b', 'c'];
const SPACES = Array.from({ length: 30 }, (_, i) => `space-${i}`);
const firstOf = (space: string, names = NAMES): string => rankServers(space, names)[0] as string;
const there = (name: string, more: Partial<AttendingServer> = {}): AttendingServer => ({
  ...{ name, id: `${name}-1`, isAlone: false, isDraining: false, hereMs: 1e6, ...more },
});

/** The server `a`, which has nothing open. */
function createScene() {
  const clock = createVirtualClock(createChance(1), () => setImmediate());
  const steady = { now: clock.elapsedMs, after: clock.after };
  const scene = {
    opened: [] as string[],
    read: 0,
    servers: NAMES.map((name) => there(name)),
    vacant: new Set<string>(),
    refused: new Set<string>(),
    /** That only `a` may serve. */
    own: new Set<string>(),
    pass: clock.pass,
  };
  const vacancies = createVacancies({
    ...{ name: 'a', steady, servers: () => scene.servers },
    mayHave: (server, space) =>
      scene.own.has(space) ? server === 'a' : space !== 'space-0' || server === 'c',
    async isVacant(space) {
      scene.read++;
      return scene.vacant.has(space);
    },
    closed: () => SPACES.filter((space) => !scene.opened.includes(space)),
    async open(space) {
      if (scene.refused.has(space)) return false;
      scene.vacant.delete(space);
      scene.opened.push(space);
      return true;
    },
  });
  return { scene, vacancies };
}

test('[SQ28] of what nobody has, a server opens at once what it should have, and the rest when no other did', async () => {
  const { scene, vacancies } = createScene();
  scene.vacant = new Set(SPACES);
  // Who starts does not know yet who else is there.
  vacancies.lookAtAll();
  await scene.pass(2_900);
  expect(scene.opened).toEqual([]);
  await scene.pass(200);
  expect(scene.opened.toSorted()).toEqual(SPACES.filter((one) => firstOf(one) === 'a').toSorted());
  // One that it may not serve it never opens.
  await scene.pass(20_000);
  expect(scene.opened.toSorted()).toEqual(SPACES.slice(1).toSorted());
});

test('[SQ28] what another took meanwhile stays closed, and one that drains opens nothing', async () => {
  const { scene, vacancies } = createScene();
  await scene.pass(5_000);
  scene.servers = [there('a', { isDraining: true }), there('b')];
  scene.vacant = new Set(SPACES);
  vacancies.lookAtAll();
  await scene.pass(20_000);
  expect(scene.opened).toEqual([]);
  scene.servers = NAMES.map((name) => there(name));
  vacancies.lookAtAll();
  await scene.pass(100);
  scene.vacant.clear();
  await scene.pass(60_000);
  expect(scene.opened.every((one) => firstOf(one) === 'a')).toBe(true);
});

test('[SQ28] [SQ10] one that drains opens what no other may serve', async () => {
  const { scene } = createScene();
  scene.own.add('space-1');
  scene.servers = [there('a', { isDraining: true }), there('b')];
  scene.vacant = new Set(SPACES);
  await scene.pass(20_000);
  expect(scene.opened).toEqual(['space-1']);
});

test('[SQ28] who let go of it is heard, a word that was missed is read within a minute, and no turn reads more than a few', async () => {
  const { scene, vacancies } = createScene();
  await scene.pass(40_000);
  const own = SPACES.filter((one) => firstOf(one) === 'a');
  const [heard, missed] = own as [string, string];
  scene.vacant.add(heard);
  vacancies.lookAt(heard);
  await scene.pass(0);
  expect(scene.opened).toEqual([heard]);
  scene.vacant.add(missed);
  scene.read = 0;
  await scene.pass(60_000);
  expect(scene.opened).toEqual([heard, missed]);
  expect(scene.read).toBeLessThan(8 * 61);
});

test('[SQ28] what cannot be opened is tried again half a minute later, and nothing once it is closed', async () => {
  const { scene, vacancies } = createScene();
  const [space] = SPACES.filter((one) => firstOf(one) === 'a') as [string];
  scene.vacant.add(space);
  scene.refused.add(space);
  await scene.pass(10_000);
  scene.refused.clear();
  await scene.pass(15_000);
  expect(scene.opened).toEqual([]);
  await scene.pass(15_000);
  expect(scene.opened).toEqual([space]);
  vacancies.close();
  scene.vacant = new Set(SPACES);
  await scene.pass(60_000);
  expect(scene.opened).toEqual([space]);
});
