/** What servers tell each other of what only memory knows: bounded, gathered, and forgotten with the server. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createChance } from '../testing/chance.ts';
import { createVirtualClock, type VirtualClock } from '../testing/virtual-clock.ts';
import type { Sequencing } from './sequencing.ts';
import type { Seen, Whisper } from './whisper.ts';
import { createWhispers, TICK_MS, type Whispers, WORDS_MAX } from './whispers.ts';

interface Server extends Whispers {
  /** Every message that this one sent. */
  readonly sent: (readonly Whisper[])[];
  readonly heard: Whisper[];
  /** What it hears of a message; null when that is lost to it. */
  hears: (words: readonly Whisper[]) => readonly Whisper[] | null;
  /** Its line is there again. */
  returns: () => void;
  /** As if the process died. */
  cut(): void;
}

function openServers(count: number): { clock: VirtualClock; servers: Server[] } {
  const clock = createVirtualClock(createChance(1), () => setImmediate());
  const ears = new Map<string, (words: readonly Whisper[], from: string) => void>();
  const servers: Server[] = Array.from({ length: count }, (_, i) => {
    const name = `s${i}`;
    const sent: (readonly Whisper[])[] = [];
    const heard: Whisper[] = [];
    const returning = new Set<() => void>();
    const { clock: own, kill } = clock.fork();
    const sequencing = {
      standing: { server: name, sequencer: null, changes: 0 },
      whisper(words: readonly Whisper[]) {
        sent.push(words);
        for (const [other, hear] of ears) if (other !== name) hear(structuredClone(words), name);
      },
      onWhisper(listener: (words: readonly Whisper[], from: string) => void) {
        ears.set(name, (words, from) => {
          const heardOf = servers[i]?.hears(words) ?? null;
          if (heardOf !== null) listener(heardOf, from);
        });
        return () => ears.delete(name);
      },
      onReturn(listener: () => void) {
        returning.add(listener);
        return () => returning.delete(listener);
      },
    } as unknown as Sequencing;
    const whispers = createWhispers({
      ...{ sequencing, clock: own },
      presentedTo: (by) => ({ type: 'inbox.presented', at: 1, by, from: 1, to: 2, length: 3 }),
      beats: () => [],
      awakeMs: () => 0,
      onDeaf: () => void heard.push({ type: 'server.awake', forMs: 0 }),
      hear: (words) => void heard.push(...words),
    });
    const cut = (): void => {
      kill();
      ears.delete(name);
    };
    const hears: Server['hears'] = (words) => words;
    const returns = (): void => {
      for (const listener of returning) listener();
    };
    return Object.assign(whispers, { sent, heard, hears, returns, cut });
  });
  return { clock, servers };
}

const NOBODY: Seen = {
  ...{ home: 'known', connections: 0, connectedAt: 0, disconnectedAt: 0, lastCallAt: 0 },
  ...{ lastOperation: null, lastDrainAt: 0, process: null, reported: null, hooked: null },
};
const beat = (agent: string, at: number): Extract<Whisper, { type: 'presence.beaten' }> => ({
  ...{ type: 'presence.beaten', at, agent, beat: { staleMs: 30_000, offlineMs: 90_000 } },
});

test('[SQ15] ten thousand beats in a second are a few messages, and the last one counts', async () => {
  const { clock, servers } = openServers(2);
  const [a, b] = servers as [Server, Server];
  await clock.pass(1_000);
  const before = a.sent.length;
  let lastCallAt = 0;
  for (let i = 0; i < 10_000; i++) {
    a.tell([beat('eve', i)]);
    lastCallAt = i;
    a.stir('eve', () => ({ ...NOBODY, lastCallAt }));
    a.spend('known', 'eve', 1, Number.POSITIVE_INFINITY);
    if (i % 100 === 99) await clock.pass(10);
  }
  await clock.pass(TICK_MS);
  const messages = a.sent.slice(before);
  expect(messages.length).toBeLessThanOrEqual(6);
  expect(Math.max(...messages.map(({ length }) => length))).toBeLessThanOrEqual(3);
  expect(b.heard.filter(({ type }) => type === 'presence.beaten').at(-1)).toEqual(
    beat('eve', 9_999),
  );
  expect(b.others.seen('eve')[0]?.lastCallAt).toBe(9_999);
});

test('[SQ15] more agents than a tick has room for are told with the next ones, nobody twice before everybody once', async () => {
  const { clock, servers } = openServers(2);
  const [a, b] = servers as [Server, Server];
  const count = WORDS_MAX * 2 + 10;
  for (let i = 0; i < count; i++) a.stir(`agent-${i}`, () => ({ ...NOBODY, connections: 1 }));
  // One that never rests takes nobody's turn.
  for (let i = 0; i < 8; i++) {
    a.stir('agent-0', () => ({ ...NOBODY, connections: 1 }));
    await clock.pass(TICK_MS);
  }
  expect(new Set(b.others.names()).size).toBe(count);
  expect(Math.max(...a.sent.map(({ length }) => length))).toBeLessThanOrEqual(WORDS_MAX + 1);
  // Of one agent's offers no more than a few at once, however many it has.
  const refreshed = Array.from({ length: 500 }, (_, i) => ({
    ...{ type: 'offer.refreshed' as const, at: 1, agent: 'eve', kind: 'llm', name: `${i}` },
    expiresAt: 9_999,
  }));
  const before = a.sent.length;
  a.tell(refreshed);
  await clock.pass(TICK_MS);
  const told = a.sent
    .slice(before)
    .flat()
    .filter(({ type }) => type === 'offer.refreshed');
  expect(told.length).toBeLessThanOrEqual(64);
  await clock.pass(TICK_MS * 20);
  expect(b.heard.filter(({ type }) => type === 'offer.refreshed')).toHaveLength(500);
});

test('[SQ13] [SQ14] who is at one is known at all, also at one that came later, and gone with the server', async () => {
  const { clock, servers } = openServers(3);
  const [a, b, c] = servers as [Server, Server, Server];
  a.stir('ada', () => ({ ...NOBODY, connections: 2 }));
  await clock.pass(1_000);
  for (const one of [b, c]) {
    expect(one.others.seen('ada')).toEqual([{ ...NOBODY, connections: 2 }]);
  }
  await clock.pass(60_000);
  expect(b.others.seen('ada')).toHaveLength(1);
  a.cut();
  await clock.pass(6_000);
  for (const one of [b, c]) expect([...one.others.names()]).toEqual([]);
  b.stir('bob', () => ({ ...NOBODY, connections: 1 }));
  await clock.pass(1_000);
  expect(c.others.seen('bob')).toHaveLength(1);
  // One that leaves says so, and nobody waits.
  b.close();
  await clock.pass(1);
  expect(c.others.seen('bob')).toEqual([]);
});

test('[SQ16] what is used and what is open is told, much of it at once', async () => {
  const { clock, servers } = openServers(2);
  const [a, b] = servers as [Server, Server];
  await clock.pass(1_000);
  let owed = 0;
  b.onSpent(({ cost }) => {
    owed += cost;
  });
  for (let i = 0; i < 50; i++) a.spend('known', 'eve', 1, 50);
  await clock.pass(30);
  expect(owed).toBe(50);
  for (let i = 1; i <= 999; i++) a.hold('eve', 'waits', i, 1_000);
  await clock.pass(30);
  expect(b.others.holds('eve', 'waits')).toBe(875);
  a.hold('eve', 'waits', 3, 1_000);
  await clock.pass(30);
  expect(b.others.holds('eve', 'waits')).toBe(0);
});

test('[SQ24] what is exact is told at once, again to one that comes, and is over when it is not said again', async () => {
  const { clock, servers } = openServers(3);
  const [a, b, c] = servers as [Server, Server, Server];
  await clock.pass(1_000);
  a.hold('door', 'sockets', 3);
  await clock.pass(10);
  expect(b.others.holds('door', 'sockets')).toBe(3);
  // Nobody is at its doors whom it could name, and it is there all the same.
  await clock.pass(60_000);
  expect(b.others.holds('door', 'sockets')).toBe(3);
  // One that has forgotten, as one that was started again, asks.
  c.cut();
  const before = a.sent.length;
  b.hold('door', 'sockets', 1);
  await clock.pass(1_000);
  expect(a.others.holds('door', 'sockets')).toBe(1);
  await clock.pass(11_000);
  expect(a.sent.slice(before).flat()).toContainEqual({
    ...{ type: 'agent.holds', agent: 'door', what: 'sockets', count: 3 },
  });
  a.cut();
  await clock.pass(6_000);
  expect(b.others.holds('door', 'sockets')).toBe(0);
});

test('[SQ18] what an agent did at another server is waited for, for a tick', async () => {
  const { clock, servers } = openServers(2);
  const [a, b] = servers as [Server, Server];
  await clock.pass(1_000);
  const nothing = b.news('eve');
  a.stir('bob', () => ({ ...NOBODY, connections: 1 }), true);
  await clock.pass(TICK_MS);
  expect(await nothing).toBe(false);
  const something = b.news('eve');
  a.stir('eve', () => ({ ...NOBODY, connections: 1 }), true);
  await clock.pass(10);
  expect(await something).toBe(true);
  const last = b.news('eve');
  b.close();
  expect(await last).toBe(false);
});

test('[SQ19] a name that was taken over is told to the others at once, and once', async () => {
  const { clock, servers } = openServers(3);
  const [a, b, c] = servers as [Server, Server, Server];
  await clock.pass(1_000);
  const heard: string[] = [];
  for (const [at, server] of Object.entries({ a, b, c })) {
    server.onNameTaken((name) => void heard.push(`${at} ${name}`));
  }
  a.takeName('ada');
  await clock.pass(10);
  expect(heard).toEqual(['b ada', 'c ada']);
  await clock.pass(1_000);
  expect(heard).toHaveLength(2);
  // Of two at once one is told to give way, and it alone.
  heard.length = 0;
  b.takeName('bob');
  c.takeName('bob');
  await clock.pass(1_000);
  expect(heard).toContain('c bob');
  expect(heard).not.toContain('b bob');
});

test('[SQ19] who had not met a server when a name was taken over there hears of it when they meet', async () => {
  const { clock, servers } = openServers(2);
  const [a, c] = servers as [Server, Server];
  c.hears = () => null;
  await clock.pass(1_000);
  const heard: string[] = [];
  c.onNameTaken((name) => void heard.push(name));
  a.takeName('ada');
  a.hold('ada', 'name', 1);
  a.takeName('bob');
  // What one says before it is known to be who it says is not looked at; that it is there is told.
  c.hears = () => [{ type: 'server.here' }];
  await clock.pass(10);
  c.hears = (words) => words;
  await clock.pass(1_000);
  expect(heard).toEqual(['ada']);
  await clock.pass(60_000);
  expect(heard).toEqual(['ada']);
});

test('[SQ14] [SQ19] what was taken over while the line of a server was broken is known at both ends when it is back', async () => {
  const { clock, servers } = openServers(2);
  const [a, b] = servers as [Server, Server];
  await clock.pass(1_000);
  const heard: string[] = [];
  for (const [at, server] of Object.entries({ a, b }))
    server.onNameTaken((name) => void heard.push(`${at} ${name}`));
  for (const server of servers) server.hears = () => null;
  a.takeName('ada');
  a.hold('ada', 'name', 1);
  b.takeName('bob');
  b.hold('bob', 'name', 1);
  await clock.pass(2_000);
  for (const server of servers) server.hears = (words) => words;
  await clock.pass(1_000);
  expect(heard).toEqual([]);
  b.returns();
  expect(b.heard).toContainEqual({ type: 'server.awake', forMs: 0 });
  await clock.pass(1_000);
  expect(heard.sort()).toEqual(['a bob', 'b ada']);
  expect([a.others.holds('bob', 'name'), b.others.holds('ada', 'name')]).toEqual([1, 1]);
  // As often as it is asked, nobody is told a second time.
  a.returns();
  await clock.pass(1_000);
  expect(heard).toHaveLength(2);
});
