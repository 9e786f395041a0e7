/** Sessions told to the law alone: units, cuts, bounds, times, and who gets what. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { portray } from '../../testing/compare.ts';
import { accepted, codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { isRefusal } from '../law/decider.ts';
import { decodeEvent } from '../law/entry.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
import { createWorld, type World } from '../law/state.ts';
import { type DurableEvent, evolve } from '../law/world.ts';
import type { Item } from './session-events.ts';
import { isSessionEvent } from './session-evolve.ts';
import { HANDOFF_RETURNS, ITEMS_PER_SESSION_MAX } from './session-limits.ts';
import { offsetOf, positionOf, type Session } from './session-state.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const cat = createPrincipal('cat');
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });

const note: Item = { kind: 'note', body: { content: 'n' } };
const user: Item = { kind: 'user', body: { content: 'u' } };
const call = (callId: string): Item => ({ kind: 'tool_call', callId, name: 't', body: {} });
const result = (callId: string): Item => ({
  ...{ kind: 'tool_result', callId, outcome: 'ok', body: {} },
});

function create(story: Story, by = ada, items: readonly Item[] = [], ttlMs = 0): string {
  const made = { holder: null, key: null, ttlMs, items };
  return accepted(
    story.do<never>(by, { type: 'session.create', ...made } as never) as never as { id: string },
  ).id;
}

function append(story: Story, by: typeof ada, id: string, items: readonly Item[]) {
  return story.do(by, { type: 'session.append', id, items, expectedLength: null });
}

function handOff(story: Story, by: typeof ada, id: string, to: string, more: object = {}) {
  const item: Item = { kind: 'handoff', body: { to } };
  return story.do(by, {
    ...{ type: 'session.hand-off', id, to, why: 'w', item, keep: null, claims: [] },
    ...{ expectedLength: null, ...more },
  } as never);
}

const sessionOf = (story: Story, id: string): Session =>
  story.world.sessions.live.get(id) as Session;

/** The items as a reader finds them, from the log alone. */
function read(story: Story, id: string): Item[] {
  return sessionOf(story, id).places.map((place) => {
    const event = decodeEvent(story.entries[positionOf(place)] as string);
    if (!isSessionEvent(event) || !('items' in event)) throw new Error(`no items: ${event.type}`);
    return event.items[offsetOf(place)] as Item;
  });
}

type Step =
  | { readonly do: 'append'; readonly items: readonly Item[] }
  | { readonly do: 'rewind'; readonly length: number }
  | { readonly do: 'fork'; readonly length: number }
  | { readonly do: 'compact'; readonly keep: number }
  | { readonly do: 'revive' }
  | { readonly do: 'hand-off'; readonly keep: readonly boolean[] | null };

const someItem = fc.oneof(
  fc.constantFrom(note, user, { kind: 'assistant', body: {} } as Item),
  fc.constantFrom('a', 'b', 'c').map(call),
  fc.constantFrom('a', 'b', 'c').map(result),
);
const someStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(someItem, { minLength: 1, maxLength: 4 })
      .map((items): Step => ({ do: 'append', items })),
  },
  fc.record({ do: fc.constant('rewind' as const), length: fc.nat(20) }),
  fc.record({ do: fc.constant('fork' as const), length: fc.nat(20) }),
  fc.record({ do: fc.constant('compact' as const), keep: fc.nat(6) }),
  fc.constant<Step>({ do: 'revive' }),
  fc.record({
    do: fc.constant('hand-off' as const),
    keep: fc.option(fc.array(fc.boolean(), { minLength: 20, maxLength: 20 })),
  }),
);

function ranges(keep: readonly boolean[], length: number): [number, number][] {
  const kept = keep
    .slice(0, length)
    .flatMap((isKept, i): [number, number][] => (isKept ? [[i, i + 1]] : []));
  return kept;
}

/** Tells the steps; the ids of the sessions there are then. */
function tell(story: Story, steps: readonly Step[]): string[] {
  story.subscribe(bob, 'x');
  story.subscribe(ada, 'x');
  const ids = [create(story)];
  for (const step of steps) {
    const id = ids.at(-1) as string;
    const { holder, places } = sessionOf(story, id);
    const by = holder === 'ada' ? ada : bob;
    const on = { id, expectedLength: null };
    if (step.do === 'append') append(story, by, id, step.items);
    else if (step.do === 'rewind') {
      story.do(by, { type: 'session.rewind', ...on, length: step.length });
    } else if (step.do === 'fork') {
      const fork = { ...on, key: null, ttlMs: null, length: step.length };
      const answer = story.do(by, { type: 'session.fork', ...fork });
      if (!isRefusal(answer)) ids.push((answer as { id: string }).id);
    } else if (step.do === 'revive') {
      // It is over, and one goes on from what it was.
      story.do(by, { type: 'session.close', ...on, reason: null });
      const { cut } = story.events.at(-1) as { readonly cut: readonly number[] };
      const fork = { ...on, key: null, ttlMs: null, length: null, places: cut };
      ids.pop();
      ids.push((accepted(story.do(by, { type: 'session.fork', ...fork })) as { id: string }).id);
    } else if (step.do === 'compact') {
      story.do(by, { type: 'session.compact', ...on, keep: step.keep, summary: note });
    } else {
      const keep = step.keep === null ? null : ranges(step.keep, places.length);
      handOff(story, by, id, holder === 'ada' ? 'bob' : 'ada', { keep });
    }
  }
  return ids;
}

test('[SN4] [HO3] whatever is done, every result follows its call, and only calls that are open have none', () => {
  fc.assert(
    fc.property(fc.array(someStep, { maxLength: 25 }), (steps) => {
      const story = createStory();
      for (const id of tell(story, steps)) {
        const open = new Set<string>();
        for (const { kind, callId = '' } of read(story, id)) {
          if (kind === 'user' || kind === 'handoff') expect(open.size).toBe(0);
          if (kind === 'tool_call') {
            expect(open.has(callId)).toBe(false);
            open.add(callId);
          }
          if (kind === 'tool_result') expect(open.delete(callId)).toBe(true);
        }
        expect([...open].sort()).toEqual([...sessionOf(story, id).open.keys()].sort());
      }
    }),
    { numRuns: 300 },
  );
});

test('[SN9] [SN5] a hub started again, from the log or from a snapshot, has the same histories', () => {
  fc.assert(
    fc.property(fc.array(someStep, { maxLength: 25 }), (steps) => {
      const story = createStory();
      const ids = tell(story, steps);
      const replayed = createWorld();
      story.entries.forEach((entry, i) => {
        evolve(replayed, decodeEvent(entry) as DurableEvent, i);
      });
      const thawed = thawWorld(freezeWorld(story.world));
      for (const world of [replayed, thawed]) {
        for (const id of ids) {
          expect(world?.sessions.live.get(id)?.places).toEqual(sessionOf(story, id).places);
        }
        expect(portray(world as World)).toEqual(portray(story.world));
      }
    }),
    { numRuns: 100 },
  );
});

test('[SN7] a full history names sessions.compact, which makes room and keeps where the originals lie', () => {
  const story = createStory();
  const id = create(story);
  for (let i = 0; i < ITEMS_PER_SESSION_MAX / 100; i++) {
    accepted(
      append(
        story,
        ada,
        id,
        Array.from({ length: 100 }, () => note),
      ) as object,
    );
  }
  const before = read(story, id);
  const full = append(story, ada, id, [user]);
  expect(full).toMatchObject({
    refused: 'limit.reached',
    detail: { limit: 'ITEMS_PER_SESSION_MAX' },
  });
  expect(isRefusal(full) && full.message).toContain('sessions.compact');
  const on = { id, expectedLength: null };
  story.do(ada, { type: 'session.compact', ...on, keep: 10, summary: note });
  expect(codeOf(append(story, ada, id, [user]))).toBeNull();
  const { places, lastCut } = sessionOf(story, id);
  expect(places.length).toBe(12);
  const event = decodeEvent(story.entries[lastCut ?? 0] as string);
  expect(event).toMatchObject({ type: 'session.compacted', count: before.length - 10 });
  expect(story.world.sessions.items.get('ada')).toBe(12);
});

test('[SN7] what others append counts against who created it, and goes with the session', () => {
  const story = createStory();
  const id = create(story);
  story.do(ada, { type: 'session.share', id, with: 'bob', access: 'append', expectedLength: null });
  append(story, bob, id, [note, note]);
  const { items, made, byAgent } = story.world.sessions;
  expect([items.get('ada'), items.get('bob'), made.get('ada')]).toEqual([2, undefined, 1]);
  story.do(ada, { type: 'session.close', id, expectedLength: null, reason: null });
  expect([items.size, made.size, byAgent.size, story.world.sessions.itemsTotal]).toEqual([
    0, 0, 0, 0,
  ]);
});

test('[SN6] each change puts the end off, and 0 is never', () => {
  const story = createStory();
  const [short, never] = [create(story, ada, [], 10_000), create(story, ada, [], 0)];
  for (let i = 0; i < 5; i++) {
    story.pass(9_000);
    accepted(append(story, ada, short, [note]) as object);
  }
  story.pass(9_999);
  expect(story.world.sessions.live.has(short)).toBe(true);
  story.pass(1);
  expect(codeOf(append(story, ada, short, [note]))).toBe('session.over');
  expect(story.world.sessions.ended.get(short)).toMatchObject({ how: 'lapsed', length: 5 });
  story.pass(10 * 365 * 86_400_000);
  expect(codeOf(append(story, ada, never, [note]))).toBeNull();
});

test('[SN2] [HO2] a session that was handed on is read and closed by who created it, and no more', () => {
  const story = createStory();
  story.subscribe(bob, 'x');
  const id = create(story, ada, [user]);
  expect(codeOf(append(story, cat, id, [note]))).toBe('session.not-found');
  handOff(story, ada, id, 'bob');
  expect(codeOf(append(story, ada, id, [note]))).toBe('access.denied');
  expect(codeOf(handOff(story, ada, id, 'cat'))).toBe('access.denied');
  expect(codeOf(append(story, bob, id, [note]))).toBeNull();
  expect(
    codeOf(story.do(ada, { type: 'session.close', id, reason: null, expectedLength: null })),
  ).toBeNull();
});

test('[HO5] round and round it is parked; a person who closes the item, or hands it on, sets it free', () => {
  const story = createStory();
  story.subscribe(bob, 'x');
  const id = create(story, ada, [user]);
  const goRound = (): number => {
    for (let i = 0; ; i++) {
      const { holder, parkedAt } = sessionOf(story, id);
      if (parkedAt !== null) return i;
      accepted(
        handOff(
          story,
          holder === 'ada' ? ada : bob,
          id,
          holder === 'ada' ? 'bob' : 'ada',
        ) as object,
      );
    }
  };
  expect(goRound()).toBe(2 * (HANDOFF_RETURNS + 1));
  expect(sessionOf(story, id).holder).toBe('bob');
  expect(codeOf(append(story, bob, id, [note]))).toBe('session.parked');
  expect(codeOf(handOff(story, bob, id, 'ada'))).toBe('session.parked');
  const [item = 0] = story.world.docket.open;
  const closing = { id: item, subject: null, outcome: 'done', note: null } as const;
  story.do(root, { type: 'docket.close', ...closing });
  expect(sessionOf(story, id).parkedAt).toBeNull();
  expect(goRound()).toBeGreaterThan(HANDOFF_RETURNS);
  const { holder } = sessionOf(story, id);
  handOff(story, root, id, holder === 'ada' ? 'bob' : 'ada');
  expect(sessionOf(story, id).parkedAt).toBeNull();
  expect(story.world.docket.open).toEqual([]);
});

test('[SN8] another agent of a name that was forgotten is given nothing of its sessions', () => {
  const story = createStory();
  story.subscribe(bob, 'x');
  const own = create(story, ada, [user]);
  const given = create(story, bob, [user]);
  story.subscribe(ada, 'x');
  handOff(story, bob, given, 'ada');
  expect(codeOf(story.do(root, { type: 'agent.remove', agent: 'ada', isForced: false }))).toBe(
    'agent.in-use',
  );
  accepted(story.do(root, { type: 'agent.remove', agent: 'ada', isForced: true }) as object);
  expect(codeOf(append(story, ada, own, [note]))).toBe('session.not-found');
  expect(codeOf(append(story, ada, given, [note]))).toBe('session.not-found');
  expect(codeOf(append(story, bob, given, [note]))).toBeNull();
});

test('[HO5] [SN8] one that is parked with an agent that is forgotten goes back free, and nothing waits for nobody', () => {
  const story = createStory();
  story.subscribe(bob, 'x');
  story.subscribe(ada, 'x');
  const id = create(story, ada, [user]);
  while (sessionOf(story, id).parkedAt === null) {
    const { holder } = sessionOf(story, id);
    handOff(story, holder === 'ada' ? ada : bob, id, holder === 'ada' ? 'bob' : 'ada');
  }
  expect(sessionOf(story, id).holder).toBe('bob');
  expect(story.world.docket.open).toHaveLength(1);
  accepted(story.do(root, { type: 'agent.remove', agent: 'bob', isForced: true }) as object);
  expect(sessionOf(story, id)).toMatchObject({ holder: 'ada', parkedAt: null });
  expect(story.world.docket.open).toEqual([]);
  expect(codeOf(append(story, ada, id, [note]))).toBeNull();
});
