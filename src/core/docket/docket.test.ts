/** The docket's own law: what is one item, what is counted, what ends it, and what it costs to look. */
import { expect, test } from 'vitest';
import { createPrincipal, createStory, type Story } from '../../testing/story.ts';
import {
  DOCKET_CLOSED_KEPT_MAX,
  DOCKET_ITEMS_MAX,
  DOCKET_ITEMS_PER_AGENT_MAX,
  SUBJECTS_PER_ITEM_MAX,
} from '../law/limits.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
import { createWorld, type World } from '../law/state.ts';
import { type Raised, raiseItem, settleItem } from './docket.ts';
import { findItem, itemsFor, kindsOf } from './docket-page.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const hana = createPrincipal('hana', { kind: 'human' });
const mal = createPrincipal('mal', { tier: 'untrusted' });
const MINUTE = 60_000;

function gate(subject: string, more: Partial<Raised> = {}): Raised {
  return {
    ...{ kind: 'gate', agent: 'ada', reason: 'asks for approval', thread: null },
    ...{ text: `run ${subject}`, subject, ...more },
  };
}

function waiting(world: World): [string, number, string[]][] {
  return [...itemsFor(world.docket, hana, {})].map(({ id, count, subjects }) => [
    `d${id}`,
    count,
    [...subjects.values()].map(({ subject }) => subject),
  ]);
}

/** The way through a snapshot must lead to the same docket, whatever happened. */
function portrayed(world: World): unknown {
  const { docket } = thawWorld(freezeWorld(world)) ?? createWorld();
  expect(docket).toEqual(world.docket);
  return docket;
}

test('[DK1] the same agent, kind, reason and thread are one item with a count', () => {
  const world = createWorld();
  raiseItem(world, 0, gate('g1'));
  raiseItem(world, 5 * MINUTE, gate('g2'));
  raiseItem(world, 5 * MINUTE, gate('g2'));
  expect(waiting(world)).toEqual([['d1', 3, ['g1', 'g2']]]);
  raiseItem(world, 6 * MINUTE, gate('g3', { thread: 'm7' }));
  raiseItem(world, 6 * MINUTE, gate('g4', { agent: 'bob' }));
  expect(waiting(world).map(([id]) => id)).toEqual(['d1', 'd2', 'd3']);
  portrayed(world);
});

test('[DK2] an agent makes one new item a minute, and what it raises meanwhile is listed there', () => {
  const world = createWorld();
  raiseItem(world, 0, gate('t1', { kind: 'parked', reason: 'livelock' }));
  raiseItem(world, MINUTE - 1, gate('g1'));
  expect(waiting(world)).toEqual([['d1', 2, ['t1', 'g1']]]);
  // A gate is found under whatever item it is counted on.
  expect([...itemsFor(world.docket, hana, { kind: 'gate' })].map(kindsOf)).toEqual([
    ['gate', 'parked'],
  ]);
  raiseItem(world, MINUTE, gate('g2'));
  expect(waiting(world).map(([id, , subjects]) => [id, subjects])).toEqual([
    ['d1', ['t1', 'g1']],
    ['d2', ['g2']],
  ]);
  portrayed(world);
});

test('[DK2] an item that was settled within its minute waits again, and none is made', () => {
  const world = createWorld();
  for (let i = 0; i < 50; i++) {
    raiseItem(world, i * 1_000, gate(`g${i}`));
    settleItem(world, i * 1_000, 'gate', `g${i}`, 'withdrawn');
  }
  expect([...itemsFor(world.docket, hana, { state: 'closed' })].map(({ count }) => count)).toEqual([
    50,
  ]);
  raiseItem(world, 59_000, gate('last'));
  expect(waiting(world)).toEqual([['d1', 51, ['last']]]);
  portrayed(world);
});

test('[DK6] an item ends with the last thing it is about, and says how', () => {
  const world = createWorld();
  raiseItem(world, 0, gate('g1'));
  raiseItem(world, 0, gate('g2'));
  settleItem(world, 1, 'gate', 'g1', 'approved', 'hana');
  expect(waiting(world)).toEqual([['d1', 2, ['g2']]]);
  settleItem(world, 2, 'gate', 'g2', 'denied', 'hana');
  settleItem(world, 3, 'gate', 'g2', 'approved', 'carl');
  expect(waiting(world)).toEqual([]);
  const closed = { by: 'hana', at: 2, outcome: 'denied', note: null };
  expect(findItem(world.docket, hana, 1)).toMatchObject({ closed });
});

test('[DK6] held messages are raised as they come and settled as they are decided', () => {
  const story: Story = createStory();
  const sent = ['one', 'two', 'three', 'four'].map((channel) => story.send(mal, channel));
  expect(waiting(story.world)).toEqual([['d1', 4, sent.map(({ position }) => `m${position}`)]]);
  story.review(hana, sent[0] as never, true);
  story.review(hana, sent[1] as never, false);
  const admin = createPrincipal('root', { kind: 'admin' });
  story.do(admin, { type: 'channel.retire', channel: 'three', isForced: true });
  expect(waiting(story.world)).toEqual([['d1', 4, [`m${sent[3]?.position}`]]]);
  story.pass(15 * 86_400_000);
  expect(waiting(story.world)).toEqual([]);
  expect(findItem(story.world.docket, hana, 1)?.closed).toMatchObject({ outcome: 'expired' });
});

test('[DK6] what an agent asked waits for nobody once the agent is gone', () => {
  const story = createStory();
  const question = { to: null, thread: null, forMs: null };
  story.do(ada, { type: 'docket.raise', text: 'which one?', ...question });
  raiseItem(story.world, story.at, gate('g1'));
  const admin = createPrincipal('root', { kind: 'admin' });
  story.do(admin, { type: 'agent.remove', agent: 'ada', isForced: true });
  // Whoever asked for approval is gone; that the gate ends is the gate's own law.
  expect(waiting(story.world)).toEqual([['d1', 2, ['g1']]]);
});

test('[DK3] an agent sees its own items and no others', () => {
  const world = createWorld();
  raiseItem(world, 0, gate('g1'));
  raiseItem(world, 0, gate('g2', { agent: 'bob' }));
  expect([...itemsFor(world.docket, bob, {})].map(({ id }) => id)).toEqual([2]);
  expect(findItem(world.docket, bob, 1)).toBeNull();
  settleItem(world, 1, 'gate', 'g1', 'approved');
  expect([...itemsFor(world.docket, bob, { state: 'closed' })]).toEqual([]);
  expect([...itemsFor(world.docket, ada, { state: 'closed' })].map(({ id }) => id)).toEqual([1]);
});

test('[DK7] without a time a question waits for ever', () => {
  const story = createStory();
  story.do(ada, { type: 'docket.raise', text: 'well?', to: null, thread: null, forMs: null });
  story.pass(400 * 86_400_000);
  expect(waiting(story.world)).toEqual([['d1', 1, ['q1']]]);
});

test('[DK8] one agent has a bounded number of items, and the rest is counted on its newest', () => {
  const world = createWorld();
  for (let i = 0; i < 2 * DOCKET_ITEMS_PER_AGENT_MAX; i++) {
    raiseItem(world, i * MINUTE, gate(`g${i}`, { reason: `reason ${i}` }));
  }
  const items = waiting(world);
  expect(items).toHaveLength(DOCKET_ITEMS_PER_AGENT_MAX);
  expect(items.at(-1)?.[2]).toHaveLength(DOCKET_ITEMS_PER_AGENT_MAX + 1);
  // Every one of them is listed somewhere, and ends by its decision.
  for (let i = 0; i < 2 * DOCKET_ITEMS_PER_AGENT_MAX; i++) {
    settleItem(world, 1e9, 'gate', `g${i}`, 'approved');
  }
  expect(waiting(world)).toEqual([]);
});

test('[DK8] an item lists a bounded number of things, and the next item has the rest', () => {
  const world = createWorld();
  for (let i = 0; i < SUBJECTS_PER_ITEM_MAX + 5; i++) raiseItem(world, 0, gate(`g${i}`));
  expect(waiting(world).map(([, , subjects]) => subjects.length)).toEqual([
    SUBJECTS_PER_ITEM_MAX,
    5,
  ]);
  portrayed(world);
});

test('[DK8] a full docket counts newcomers on an item of the hub itself', () => {
  const world = createWorld();
  for (let i = 0; i < DOCKET_ITEMS_MAX; i++) {
    raiseItem(world, 0, gate(`g${i}`, { agent: `a${i}` }));
  }
  raiseItem(world, 0, gate('one', { agent: 'late' }));
  raiseItem(world, 0, gate('two', { agent: 'later' }));
  raiseItem(world, 0, gate('three', { agent: 'a7' }));
  expect(world.docket.open).toHaveLength(DOCKET_ITEMS_MAX + 1);
  const full = world.docket.items.get(DOCKET_ITEMS_MAX + 1);
  expect(full).toMatchObject({ agent: '__server__', kind: 'alert', count: 2 });
  settleItem(world, 1, 'gate', 'one', 'approved');
  settleItem(world, 1, 'gate', 'two', 'approved');
  expect(world.docket.open).toHaveLength(DOCKET_ITEMS_MAX);
});

test('[DK8] what ended is kept for a while, and its agent is forgotten with it', () => {
  const world = createWorld();
  for (let i = 0; i < DOCKET_CLOSED_KEPT_MAX + 10; i++) {
    raiseItem(world, i, gate(`g${i}`, { agent: `a${i}` }));
    settleItem(world, i, 'gate', `g${i}`, 'approved');
  }
  expect(world.docket.items.size).toBe(DOCKET_CLOSED_KEPT_MAX);
  expect(world.docket.agents.size).toBe(DOCKET_CLOSED_KEPT_MAX);
  expect(findItem(world.docket, hana, 1)).toBeNull();
  portrayed(world);
});

test('[DK8] a page of ten thousand waiting items looks at the items it shows', () => {
  const world = createWorld();
  for (let i = 0; i < 10_000; i++) raiseItem(world, 0, gate(`g${i}`, { agent: `a${i}` }));
  let looked = 0;
  const items = {
    get: (id: number) => {
      looked++;
      return world.docket.items.get(id);
    },
  };
  const book = { ...world.docket, items: items as never };
  const pages = itemsFor(book, hana, { after: 5_000 });
  const page = Array.from({ length: 50 }, () => pages.next().value?.id);
  expect([page[0], page.at(-1)]).toEqual([5_001, 5_050]);
  expect(looked).toBe(50);
});
