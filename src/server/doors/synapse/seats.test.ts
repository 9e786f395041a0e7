/** Sockets of the door, counted at all servers: near the bound one waits to hear of the others first. */
import { expect, test } from 'vitest';
import type { SynapseClient } from './client.ts';
import { createSeats, type Seats, type SeatsOptions } from './seats.ts';

interface Fixture {
  readonly seats: Seats;
  readonly told: Record<string, number>;
  /** What the other servers say they have. */
  readonly elsewhere: Record<string, number>;
  sit(isStranger?: boolean): void;
  /** Lets those who wait go on. */
  pass(): void;
}

function open(clientsMax: number, strangersMax: number | null = null, isAlone = false): Fixture {
  const clients = new Set<SynapseClient>();
  const told: Record<string, number> = {};
  const elsewhere: Record<string, number> = {};
  const waiting: (() => void)[] = [];
  const whispers = {
    hold(_agent: string, what: string, count: number) {
      told[what] = count;
    },
    moment: () => new Promise<void>((resolve) => void waiting.push(resolve)),
    others: { holds: (_agent: string, what: string) => elsewhere[what] ?? 0 },
  } as unknown as SeatsOptions['whispers'];
  const seats = createSeats({
    ...{ whispers: isAlone ? null : whispers, clients, clientsMax, strangersMax },
  });
  return {
    ...{ seats, told, elsewhere },
    sit(isStranger = false) {
      clients.add({ caller: isStranger ? null : {} } as unknown as SynapseClient);
      seats.changed();
    },
    pass: () => {
      for (const go of waiting.splice(0)) go();
    },
  };
}

test('[SQ24] what is at other servers counts, and what is here is told', () => {
  const { seats, told, elsewhere, sit } = open(4, 2);
  sit();
  sit(true);
  expect(told).toEqual({ sockets: 2, strangers: 1 });
  elsewhere.sockets = 1;
  expect([seats.taken, seats.whyNot()]).toEqual([3, null]);
  elsewhere.strangers = 1;
  expect(seats.whyNot()).toEqual([4014, 'too many unauthenticated']);
  elsewhere.sockets = 2;
  expect(seats.whyNot()).toEqual([4013, 'hub at capacity']);
});

test('[SQ24] where few places are left one waits for the others’ word; where many are, nobody does', async () => {
  const { seats, elsewhere, pass } = open(80);
  elsewhere.sockets = 69;
  await seats.looked();
  elsewhere.sockets = 70;
  let isLooked = false;
  const looked = seats.looked().then(() => {
    isLooked = true;
  });
  await Promise.resolve();
  expect(isLooked).toBe(false);
  elsewhere.sockets = 80;
  pass();
  await looked;
  expect(seats.whyNot()?.[0]).toBe(4013);
  // What is full is said at once.
  await seats.looked();
});

test('[SQ24] no more wait than a few, and where a server is alone nobody does', async () => {
  const { seats, elsewhere, pass } = open(80);
  elsewhere.sockets = 79;
  const first = Array.from({ length: 64 }, () => seats.looked());
  await seats.looked();
  pass();
  await Promise.all(first);
  const alone = open(1, 1, true);
  await alone.seats.looked();
  expect(alone.seats.whyNot()).toBeNull();
  alone.sit(true);
  expect(alone.seats.whyNot()?.[0]).toBe(4013);
});
