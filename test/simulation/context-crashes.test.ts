/**
 * Goal: whatever crashes, fails, hangs or writes to the same log, a value that was acknowledged is where its
 * version says, one that was refused is nowhere, and of two writes from one version at most one is stored.
 * Method: two hubs over one faulty disk and a clock that jumps; the chain of versions is told a second time,
 * from the entries alone. The mutant shows that it would be noticed.
 */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isRefusal } from '../../src/core/law/decider.ts';
import type { Hub } from '../../src/hub/hub.ts';
import { portray } from '../../src/testing/compare.ts';
import { NO_FAULTS, storedEntries } from '../../src/testing/faulty-log.ts';
import { createStage, type Stage } from '../../src/testing/stage.ts';
import { createPrincipal } from '../../src/testing/story.ts';

const SEEDS = 25;
const STEPS = 500;
const REST_TRIES_MAX = 400;
const CAST = ['ada', 'bob', 'cat'].map((name) => createPrincipal(name));
const NAMESPACES = ['plan', 'by/ada', 'private/bob'];
const KEYS = ['a', 'b', '__proto__'];
/** Whether it was stored is not known. */
const UNCERTAIN = new Set(['store.unknown', 'store.unavailable']);

interface Wish {
  readonly id: number;
  readonly ifVersion: number | null;
  outcome: 'open' | 'unknown' | 'refused' | number;
}

interface Told {
  readonly version: number;
  readonly id: number;
  readonly was: number;
}

async function simulate(seed: number, mutate?: (hub: Hub) => Hub): Promise<number> {
  const stage = createStage({
    seed,
    steps: STEPS,
    flush: () => setImmediate(),
    writers: 2,
    ...(mutate && { mutate }),
  });
  const wishes: Wish[] = [];
  const seen = new Map<string, number>();
  for (let step = 0; step < STEPS; step++) {
    await takeStep(stage, wishes, seen);
    if (stage.failure !== undefined) throw stage.failure;
  }
  await rest(stage);
  const told = tell(storedEntries(stage.disk));
  for (const { hub } of stage.processes) {
    const text = await ask(stage, hub as Hub);
    expect(text === stage.portrayStored()).toBe(true);
  }
  for (const { id, ifVersion, outcome } of wishes) {
    const stored = told.filter((one) => one.id === id);
    if (typeof outcome === 'number')
      expect(stored.map(({ version }) => version)).toEqual([outcome]);
    if (outcome === 'refused') expect(stored).toEqual([]);
    expect(stored.length).toBeLessThanOrEqual(1);
    if (ifVersion !== null) for (const { was } of stored) expect(was).toBe(ifVersion);
  }
  return wishes.filter(({ outcome }) => typeof outcome === 'number').length;
}

async function takeStep(stage: Stage, wishes: Wish[], seen: Map<string, number>): Promise<void> {
  const { chance, clock, faults } = stage;
  const dice = chance.int(1, 100);
  if (dice <= 3) chance.pick(stage.processes).crash();
  else if (dice <= 4) chance.pick(stage.processes).close();
  else if (dice <= 7) {
    faults.appendFails = chance.pick([0, 0.1, 0.5]);
    faults.appendDoubts = chance.pick([0, 0.1, 0.5]);
    faults.slowMs = chance.pick([1, 5, 100]);
  } else if (dice <= 10) Object.assign(faults, { ...NO_FAULTS, slowMs: 5 });
  else if (dice <= 12) clock.jump(chance.int(-60_000, 60_000));
  else if (dice <= 60) write(stage, wishes, seen);
  else if (dice <= 70) await clock.pass(chance.int(1, 1_000));
  else await clock.step();
  for (const process of stage.processes) {
    if (process.hub === null && chance.isLikely(0.5)) process.open();
  }
  stage.learn();
}

/** Sets, as often as not from the version that was heard of last; or deletes. */
function write({ chance, begin }: Stage, wishes: Wish[], seen: Map<string, number>): void {
  const by = chance.pick(CAST);
  const [ns, key] = [chance.pick(NAMESPACES), chance.pick(KEYS)];
  const place = `${ns} ${key}`;
  if (chance.isLikely(0.15)) {
    begin(`${by.id} deletes ${place}`, async (hub) => {
      const what = { ns, key, prefix: null, ifVersion: null };
      await hub.submit({ type: 'context.delete', by, at: hub.stamp(), ...what });
      seen.delete(place);
    });
    return;
  }
  const ifVersion = chance.isLikely(0.5) ? (seen.get(place) ?? 0) : null;
  const ttlMs = chance.isLikely(0.2) ? chance.int(1_000, 9_000) : null;
  const wish: Wish = { id: wishes.length, ifVersion, outcome: 'open' };
  wishes.push(wish);
  begin(`${by.id} sets ${place} from ${ifVersion}`, async (hub) => {
    const what = { ns, key, value: { id: wish.id }, ifVersion, ttlMs };
    const answer = await hub.submit({ type: 'context.set', by, at: hub.stamp(), ...what });
    if (!isRefusal(answer)) {
      wish.outcome = answer.version;
      seen.set(place, answer.version);
    } else if (answer.refused === 'context.version') {
      wish.outcome = 'refused';
      seen.set(place, (answer.detail as { version: number }).version);
    } else wish.outcome = UNCERTAIN.has(answer.refused) ? 'unknown' : 'refused';
  });
}

/** What was stored, with every chain looked at: each entry names what was there before it. */
function tell(entries: readonly string[]): Told[] {
  const heads = new Map<string, number>();
  const held = new Map<string, number>();
  return entries.flatMap((entry, position) => {
    const event = JSON.parse(entry);
    if (!String(event.type).startsWith('context.')) return [];
    const { ns, key, was, prior } = event;
    expect([was, prior]).toEqual([held.get(`${ns} ${key}`) ?? 0, heads.get(ns) ?? 0]);
    const version = position + 1;
    heads.set(ns, version);
    held.set(`${ns} ${key}`, event.type === 'context.written' ? version : 0);
    return event.type === 'context.written' ? [{ version, id: event.value.id, was }] : [];
  });
}

async function rest(stage: Stage): Promise<void> {
  Object.assign(stage.faults, { ...NO_FAULTS, slowMs: 5 });
  stage.clock.jump(Math.max(0, stage.at - stage.clock.now()));
  for (let tries = 0; tries < REST_TRIES_MAX; tries++) {
    for (const process of stage.processes) process.open();
    await stage.clock.pass(100);
    stage.learn();
    const isQuiet = stage.processes.every(({ hub, pending }) => hub?.isAvailable && pending === 0);
    if (isQuiet && tries > 150) return;
  }
  throw new Error('the hubs do not come to rest');
}

/** The world of a hub when it has heard of everything that is stored. */
async function ask(stage: Stage, hub: Hub): Promise<string> {
  let text: string | null = null;
  for (let tries = 0; text === null && tries < REST_TRIES_MAX; tries++) {
    void hub.ask((world) => {
      stage.learn();
      if (world.length === stage.model.length) text ??= portray(world, 'durable');
    });
    await stage.clock.pass(100);
  }
  return text ?? 'it does not answer';
}

test('[CX1] [CX4] nothing acknowledged is lost or doubled, and one version has one successor', {
  timeout: 600_000,
}, async () => {
  let done = 0;
  for (let seed = 1; seed <= SEEDS; seed++) done += await simulate(seed);
  expect(done).toBeGreaterThan(SEEDS * 50);
});

test('a hub that forgets which version was meant is noticed', { timeout: 600_000 }, async () => {
  const forgetful = (hub: Hub): Hub =>
    Object.create(hub, {
      submit: {
        value: (command: Parameters<Hub['submit']>[0]) =>
          hub.submit(command.type === 'context.set' ? { ...command, ifVersion: null } : command),
      },
    });
  let noticed = 0;
  for (let seed = 1; seed <= 5; seed++) await simulate(seed, forgetful).catch(() => noticed++);
  expect(noticed).toBe(5);
});
