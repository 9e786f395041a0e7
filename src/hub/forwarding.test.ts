/** Commands on their way to who sequences, where that has changed and the word of it was missed. */
import { expect, test } from 'vitest';
import { createWorld, start, until } from '../log/lease-world.ts';
import { type Courier, createForwarding } from './forwarding.ts';

const SPACES_MANY = 200;

test.each([
  ['answers that it does not', { notMine: true }],
  ['is not there any more', 'nobody'],
] as const)(
  '[SQ30] whoever is asked and %s: who sequences is looked up at once',
  async (_, said) => {
    let isDeaf = false;
    const world = createWorld(() => (isDeaf ? 0.95 : 0.1));
    const a = await start(world, 'a');
    const b = await start(world, 'b');
    const c = await start(world, 'c');
    // Theirs have a holder, and are read again in turn only.
    for (let i = 0; i < SPACES_MANY; i++) (await until(world, c.leases.of(`c${i}`))).stand();
    await world.pass(2_000);
    isDeaf = true;
    expect(await until(world, a.lease.hand({ name: 'b', id: 'b' }))).toBe(true);
    // By its own word it has it for good; that is missed, too.
    while (!b.lease.isMine) await world.pass(10);
    isDeaf = false;
    const asked: string[] = [];
    const courier = {
      async ask(to: string) {
        asked.push(to);
        return to === 'b' ? { outcomes: [], length: 1, passing: [] } : said;
      },
    } as unknown as Courier;
    const { forward } = createForwarding('c', c.lease, courier, c.machine.steady);
    const begun = world.now;
    expect(c.lease.holder?.id).toBe('a');
    expect(await until(world, forward([]))).toMatchObject({ length: 1 });
    expect(world.now - begun).toBeLessThan(200);
    expect(asked.length).toBeLessThan(6);
  },
);
