/**
 * Leases under a clock that tests turn: words are late, lost or unanswered for, servers are paused and die, and
 * still no two of them have a space at one time.
 */
import { expect, test } from 'vitest';
import { type Lease, openLeases } from './lease.ts';
import { LOST_MS, type SaidWord, serverKey } from './lease-words.ts';
import { createWorld, type Server, start, until, type World } from './lease-world.ts';
import { takeSoleLease } from './sole-lease.ts';

const holdersOf = (servers: readonly Server[]): string[] =>
  servers
    .filter(({ machine, lease }) => !machine.isDead && lease.isMine)
    .map(({ lease }) => lease.id);

test('[SQ2] one has it; when it dies another has it within three seconds, and when it leaves at once', async () => {
  const world = createWorld();
  const servers = [await start(world, 'a'), await start(world, 'b'), await start(world, 'c')];
  await world.pass(1_000);
  expect(holdersOf(servers)).toEqual(['a']);
  expect(servers.map(({ lease }) => lease.holder?.name)).toEqual(['a', 'a', 'a']);
  (servers[0] as Server).machine.isDead = true;
  await world.pass(LOST_MS + 600);
  const [next] = holdersOf(servers) as [string];
  expect(next).toMatch(/^[bc]$/);
  const [holder, other] = servers.slice(1).sort((one) => (one.lease.id === next ? -1 : 1)) as [
    Server,
    Server,
  ];
  expect([holder.leases.failovers, other.leases.failovers]).toEqual([1, 0]);
  await until(world, holder.lease.close());
  await world.pass(250);
  expect(holdersOf(servers)).toEqual([other.lease.id]);
  expect(other.leases.failovers).toBe(0);
});

test('[SQ2] how long one that died is waited for does not depend on when the others look', async () => {
  const waited: number[] = [];
  for (let offset = 0; offset < 500; offset += 50) {
    const world = createWorld(() => 0.1, 20);
    const dying = await start(world, 'a');
    await world.pass(offset);
    const next = await start(world, 'b');
    await world.pass(3_000);
    // It dies with a word that it has just said.
    const { seq } = world.words.get('server a') as SaidWord;
    while (world.words.get('server a')?.seq === seq) await world.pass(1);
    dying.machine.isDead = true;
    const from = world.now;
    while (!next.lease.isMine) await world.pass(10);
    waited.push(world.now - from);
  }
  expect(Math.max(...waited)).toBeLessThan(LOST_MS + 250);
});

const SILENT_MS = 4 * LOST_MS;

/** When each of them says that the opening is lost, for how long it did so by then; null when it never does. */
async function lostAfter(
  world: World,
  { leases }: Server,
  opening: string,
  forMs: number,
): Promise<number | null> {
  for (let waited = 0; waited < forMs; waited += 100) {
    if (
      await until(
        world,
        leases.isLost(opening, SILENT_MS).catch(() => false),
      )
    )
      return waited;
    await world.pass(100);
  }
  return null;
}

test('[RU26] an opening that is not heard of is lost after that time, and one that is heard of never', async () => {
  const world = createWorld();
  const [a, b] = [await start(world, 'a', 'a1'), await start(world, 'b')];
  expect(await lostAfter(world, b, 'a1', 20_000)).toBeNull();
  expect(await lostAfter(world, a, 'a1', 20_000)).toBeNull();
  a.machine.isPaused = true;
  await world.pass(SILENT_MS - 1_000);
  a.machine.isPaused = false;
  expect(await lostAfter(world, b, 'a1', 20_000)).toBeNull();
  a.machine.isDead = true;
  const waited = (await lostAfter(world, b, 'a1', 20_000)) ?? 0;
  expect(waited).toBeGreaterThan(SILENT_MS - 1_000);
  expect(waited).toBeLessThan(SILENT_MS + 1_000);
  // One that comes later and never heard of it waits as long.
  const c = await start(world, 'c');
  expect(await lostAfter(world, c, 'a1', 20_000)).toBeGreaterThan(SILENT_MS - 1_000);
});

test('[RU26] whoever was away itself begins anew, and takes nobody for lost whom it could not hear', async () => {
  const world = createWorld();
  const [a, b] = [await start(world, 'a', 'a1'), await start(world, 'b')];
  await world.pass(SILENT_MS);
  b.machine.isCut = true;
  expect(await lostAfter(world, b, 'a1', 3 * SILENT_MS)).toBeNull();
  b.machine.isCut = false;
  expect(await lostAfter(world, b, 'a1', 3 * SILENT_MS)).toBeNull();
  b.machine.isPaused = true;
  a.machine.isDead = true;
  await world.pass(3 * SILENT_MS);
  b.machine.isPaused = false;
  expect(await lostAfter(world, b, 'a1', 20_000)).toBeGreaterThan(SILENT_MS - 1_000);
});

test('[RU26] an opening whose name another has, or that let go of it, is waited for as long', async () => {
  const world = createWorld();
  const [a, b, c] = [
    await start(world, 'a', 'a1'),
    await start(world, 'b', 'b1'),
    await start(world, 'c'),
  ];
  await world.pass(SILENT_MS);
  a.machine.isDead = true;
  await until(world, b.leases.close());
  const again = await start(world, 'a', 'a2');
  await world.pass(100);
  expect(await lostAfter(world, c, 'a1', 20_000)).toBeGreaterThan(SILENT_MS - 1_000);
  expect(await lostAfter(world, c, 'b1', 20_000)).toBeGreaterThan(SILENT_MS - 1_000);
  expect(await lostAfter(world, again, 'a2', 20_000)).toBeNull();
});

test('[RU26] one that was asked for before anybody vouched for it is not lost, also when it is not heard for a moment later', async () => {
  const world = createWorld();
  const a = await start(world, 'a');
  await world.pass(SILENT_MS);
  expect(await until(world, a.leases.isLost('b1', SILENT_MS))).toBe(false);
  await start(world, 'b', 'b1');
  await world.pass(SILENT_MS);
  const said = world.words.get('server b') as SaidWord;
  // A word that cannot be vouched for now is nobody's.
  const nobodys = { by: '', holder: '', isReleased: true };
  world.words.set('server b', { word: nobodys, seq: said.seq });
  expect(await lostAfter(world, a, 'b1', 1_000)).toBeNull();
});

test('[SQ28] a space is vacant when who had it is lost or let go of it, or was handed it and has it not open', async () => {
  const world = createWorld();
  const [a, b] = [await start(world, 'a'), await start(world, 'b')];
  const isVacant = (to: Server, space = 'x') => until(world, to.leases.isVacant(space));
  const heard: string[] = [];
  b.leases.onWord((space) => heard.push(space));
  await world.pass(1_000);
  await until(world, b.lease.close());
  // What nobody ever had is nobody's to miss.
  expect([a.lease.isMine, await isVacant(b), await isVacant(b, 'y')]).toEqual([true, false, false]);
  await until(world, a.lease.hand({ name: 'b', id: 'b' }));
  await world.pass(5_000);
  expect([await isVacant(a), await isVacant(b), heard]).toEqual([false, true, ['x']]);
  const again = await until(world, b.leases.of('x'));
  again.stand();
  await world.pass(1_000);
  expect([again.isMine, await isVacant(b)]).toEqual([true, false]);
  await until(world, a.lease.close());
  await until(world, again.close());
  expect(await isVacant(a)).toBe(true);
  const c = await start(world, 'c');
  await world.pass(5_000);
  expect([c.lease.isMine, await isVacant(a)]).toEqual([true, false]);
  c.machine.isDead = true;
  await world.pass(LOST_MS + 1_000);
  expect(await isVacant(a)).toBe(true);
});

test('[NL9] one server of before, also while it is stopped, keeps all from compressing until it was upgraded', async () => {
  const world = createWorld();
  const says = (name: string, more: object): void => {
    const seq = ++world.said;
    const word = { by: `${name} ${seq}`, holder: name, isReleased: false, ...more };
    world.words.set(serverKey(word), { word, seq });
  };
  says('old', { isReleased: true });
  says('tool', { isAlone: true, isReleased: true });
  const { leases } = await start(world, 'a');
  expect(leases.allCan('readsCompressed')).toBe(false);
  const other = await start(world, 'b');
  await world.pass(10_000);
  expect([leases, other.leases].map((one) => one.allCan('readsCompressed'))).toEqual([
    false,
    false,
  ]);
  says('old', { readsCompressed: true });
  await world.pass(10_000);
  expect([leases, other.leases].map((one) => one.allCan('readsCompressed'))).toEqual([true, true]);
  // Each thing that is new is asked for by itself: who can the one need not know the other.
  expect(leases.allCan('countsMakers')).toBe(false);
  says('old', { readsCompressed: true, countsMakers: true });
  await world.pass(10_000);
  expect(leases.allCan('countsMakers')).toBe(true);
  // One that was taken out says nothing that counts.
  says('gone', {});
  const third = await start(world, 'c');
  expect(third.leases.allCan('readsCompressed')).toBe(false);
  world.words.set('server gone', {
    word: { by: '', holder: '', isReleased: true },
    seq: ++world.said,
  });
  await world.pass(10_000);
  expect(third.leases.allCan('readsCompressed')).toBe(true);
});

test('[NL9] who could not look who is there does not compress until it has', async () => {
  const world = createWorld();
  const machine = world.machine();
  machine.isCut = true;
  const { steady, store } = machine;
  const leases = await until(
    world,
    openLeases({ name: 'a', id: 'a', store, steady, onLost: () => {} }),
  );
  expect(leases.allCan('readsCompressed')).toBe(false);
  machine.isCut = false;
  await world.pass(3_000);
  expect(leases.allCan('readsCompressed')).toBe(true);
});

test('[SQ8] it is handed on, and is not taken back', async () => {
  const world = createWorld();
  const [a, b] = [await start(world, 'a'), await start(world, 'b')];
  await world.pass(1_000);
  expect(a.lease.isMine).toBe(true);
  expect(await until(world, a.lease.hand({ name: 'b', id: 'b' }))).toBe(true);
  await world.pass(100);
  expect([a.lease.isMine, b.lease.isMine]).toEqual([false, true]);
  await world.pass(10_000);
  expect(holdersOf([a, b])).toEqual(['b']);
  expect(await until(world, a.lease.hand({ name: 'a', id: 'a' }))).toBe(false);
});

test('[SQ8] a server that drains takes nothing while another could, and goes on when it is the last', async () => {
  const world = createWorld();
  const [a, b] = [await start(world, 'a'), await start(world, 'b')];
  await until(world, b.leases.drain(true));
  await until(world, a.lease.hand({ name: 'b', id: 'b' }));
  await world.pass(1_000);
  b.machine.isDead = true;
  await world.pass(4_000);
  expect(holdersOf([a])).toEqual(['a']);
  const c = await start(world, 'c');
  await until(world, c.leases.drain(true));
  await until(world, a.lease.close());
  await world.pass(2_000);
  expect(c.lease.isMine).toBe(false);
  await until(world, a.leases.close());
  await world.pass(2_000);
  expect(c.lease.isMine).toBe(true);
});

test('[SQ10] a server that drains goes on with what no other may have, and takes that alone', async () => {
  const world = createWorld();
  const mayHave = (server: string, space: string) => server === 'a' || space === 'blue';
  const [a, b] = [
    await start(world, 'a', 'a', false, { mayHave }),
    await start(world, 'b', 'b', false, { mayHave }),
  ];
  await until(world, b.lease.close());
  await world.pass(1_000);
  await until(world, a.leases.drain(true));
  const own = await until(world, a.leases.of('own'));
  const blue = await until(world, a.leases.of('blue'));
  for (const lease of [own, blue]) lease.stand();
  await world.pass(2_000);
  expect([a.lease.isMine, own.isMine, blue.isMine]).toEqual([true, true, false]);
  // And after a time in which nobody counted on it.
  a.machine.isPaused = true;
  await world.pass(LOST_MS + 1_000);
  a.machine.isPaused = false;
  await world.pass(2_000);
  expect([a.lease.isMine, own.isMine, blue.isMine]).toEqual([true, true, false]);
});

test('[SQ10] whether another could take over is not said by what it said before', async () => {
  const world = createWorld();
  const [a, b] = [await start(world, 'a'), await start(world, 'b')];
  await world.pass(1_000);
  expect(await until(world, a.leases.hasHeir())).toBe(true);
  await until(world, b.leases.drain(true));
  await world.pass(1_000);
  expect(await until(world, a.leases.hasHeir())).toBe(false);
  // Heard of by nobody: only who looks knows it.
  a.machine.isCut = true;
  await until(world, b.leases.drain(false));
  a.machine.isCut = false;
  expect(await until(world, a.leases.hasHeir())).toBe(true);
  await until(world, b.leases.close());
  await world.pass(1_000);
  expect(await until(world, a.leases.hasHeir())).toBe(false);
});

test('[SQ7] a second server of one name is refused, and one that died is followed by its next start', async () => {
  const world = createWorld();
  const first = await start(world, 'a', 'a1');
  await expect(start(world, 'a', 'a2')).rejects.toMatchObject({
    code: 'log.locked',
    message: expect.stringContaining('another name'),
  });
  expect(first.lease.isMine).toBe(true);
  first.machine.isDead = true;
  const second = await start(world, 'a', 'a3');
  await world.pass(1_000);
  expect(second.lease.isMine).toBe(true);
});

test('[SQ7] [NL5] a server without a name shares with nobody: whoever comes second is told what to do', async () => {
  const world = createWorld();
  const alone = await start(world, 'host 1', 'h1', true);
  await world.pass(100);
  expect(alone.lease.isMine).toBe(true);
  await expect(start(world, 'host 2', 'h2', true)).rejects.toMatchObject({
    message: expect.stringContaining('open at host 1: stop that server'),
  });
  await expect(start(world, 'b')).rejects.toMatchObject({
    message: expect.stringContaining('give both a name'),
  });
  await until(world, alone.lease.close());
  await until(world, alone.leases.close());
  expect([...world.words.keys()]).not.toContain('server =h1');
  const named = await start(world, 'b');
  await world.pass(100);
  expect(named.lease.isMine).toBe(true);
  await expect(start(world, 'host 3', 'h3', true)).rejects.toMatchObject({
    message: expect.stringContaining('give both a name'),
  });
  // Also in the moment in which nobody has it, while servers that share it are there.
  await until(world, named.lease.close());
  await expect(start(world, 'host 4', 'h4', true)).rejects.toMatchObject({
    message: expect.stringContaining('give both a name'),
  });
});

test('[NL5] late words of one that died are waited out, and the next start is not refused', async () => {
  const world = createWorld();
  const dead = await start(world, 'host 1', 'h1', true);
  await world.pass(1_000);
  dead.machine.isDead = true;
  const { steady, store } = world.machine();
  const options = { name: 'host 2', id: 'h2', isAlone: true, store, steady, onLost: () => {} };
  const leases = await until(world, openLeases(options));
  let late = 2;
  const of = async (space: string): Promise<Lease> => {
    const lease = await leases.of(space);
    // It was seen to be gone, and then this arrives.
    const last = world.words.get('server =h1');
    if (last !== undefined && late-- > 0)
      world.words.set('server =h1', { ...last, seq: last.seq + 1 });
    return lease;
  };
  const lease = await until(world, takeSoleLease({ of }, 'x', steady));
  expect([lease?.isMine, late]).toEqual([true, -1]);
  // One that lives goes on saying so, and is not waited for.
  const third = world.machine();
  const more = { ...options, name: 'host 3', id: 'h3', store: third.store, steady: third.steady };
  const others = await until(world, openLeases(more));
  await expect(until(world, takeSoleLease(others, 'x', third.steady))).rejects.toMatchObject({
    message: expect.stringContaining('open at host 2'),
  });
});

test('[SQ9] a thousand spaces are held with the words of one', async () => {
  const world = createWorld();
  const { leases } = await start(world, 'a');
  const many = await until(
    world,
    Promise.all(Array.from({ length: 1_000 }, (_, i) => leases.of(`space-${i}`))),
  );
  for (const lease of many) lease.stand();
  await world.pass(1_000);
  expect(many.every((lease) => lease.isMine)).toBe(true);
  const before = world.said;
  await world.pass(10_000);
  expect(world.said - before).toBeLessThan(25);
  expect(many.every((lease) => lease.isMine)).toBe(true);
});

test.each(Array.from({ length: 60 }, (_, i) => i))(
  '[SQ2] no two have it at one time, whatever is late, lost, cut off, paused or dead: seed %i',
  async (seed) => {
    const chance = createChance(seed);
    let isQuiet = false;
    const world = createWorld(() => (isQuiet ? 0.1 : chance()));
    let count = 0;
    const servers: Server[] = [];
    for (const name of ['a', 'b', 'c']) servers.push(await start(world, name, `${name}${count++}`));
    let held = 0;
    let looks = 0;
    const check = (): void => {
      const holders = holdersOf(servers.filter(({ machine }) => !machine.isPaused));
      // Not expect(): it is looked at a hundred thousand times.
      if (holders.length > 1) throw new Error(`${holders.join(' and ')} have it`);
      looks++;
      held += holders.length;
    };
    for (let round = 0; round < 60; round++) {
      const at = Math.floor(chance() * 3);
      const server = servers[at] as Server;
      const what = chance();
      if (what < 0.3) server.machine.isPaused = true;
      else if (what < 0.6) server.machine.isCut = true;
      else if (what < 0.75) server.machine.isDead = true;
      else if (what < 0.85) {
        const next = (at + 1) % 3;
        void server.lease.hand({
          ...{ name: 'abc'[next] as string, id: (servers[next] as Server).lease.id },
        });
      }
      await world.pass(chance() * 5_000, check);
      server.machine.isPaused = false;
      server.machine.isCut = false;
      if (server.machine.isDead) {
        const name = 'abc'[at] as string;
        servers[at] = await start(world, name, `${name}${count++}`);
      }
      await world.pass(chance() * 2_000, check);
    }
    isQuiet = true;
    await world.pass(10_000, check);
    expect(holdersOf(servers)).toHaveLength(1);
    expect(held / looks).toBeGreaterThan(0.4);
  },
  600_000,
);

function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
