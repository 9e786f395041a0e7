import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openRig, type Rig } from '../testing/rig.ts';
import { createPrincipal } from '../testing/story.ts';
import { type ReceiptChange, WAITS_MAX, WAITS_OF_ONE_MAX } from './watch.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const eve = createPrincipal('eve', { tier: 'untrusted' });
const open = (): Promise<Rig> => openRig(() => setImmediate());

test('[N9] a wait for mail ends when mail comes, or when the time is up', async () => {
  const rig = await open();
  await rig.subscribe(bob, 'a');
  const [soon, never] = [rig.hub.watch.mail('bob', 5000), rig.hub.watch.mail('ada', 5000)];
  const before = rig.clock.now();
  await rig.send(ada, 'a');
  expect(await rig.until(soon)).toBe(true);
  expect(rig.clock.now() - before).toBeLessThan(5000);
  expect(await rig.until(never)).toBe(false);
});

test('[N9] [R6] a held message wakes nobody', async () => {
  const rig = await open();
  await rig.subscribe(bob, 'a');
  const wait = rig.hub.watch.mail('bob', 5000);
  await rig.send(eve, 'a');
  expect(await rig.until(wait)).toBe(false);
});

test('[N9] who is owed something already is woken by mail of its own alone', async () => {
  const rig = await open();
  await rig.subscribe(bob, 'a');
  await rig.send(ada, 'a');
  const wait = rig.hub.watch.mail('bob', 5000);
  await rig.send(ada, 'b');
  expect(await rig.until(wait)).toBe(false);
  const again = rig.hub.watch.mail('bob', 5000);
  await rig.send(ada, 'a');
  expect(await rig.until(again)).toBe(true);
});

test('[N9] [N5] a lease that lapses is mail', async () => {
  const rig = await open();
  await rig.subscribe(bob, 'a');
  await rig.send(ada, 'a');
  await rig.take(bob, 1000);
  expect(await rig.until(rig.hub.watch.mail('bob', 5000))).toBe(true);
});

test('[CO1] a wait for an answer ends with an ack or a reply', async () => {
  const rig = await open();
  await rig.subscribe(bob, 'a');
  await rig.send(ada, 'a');
  const first = rig.hub.watch.answer(1, 'ada', 60_000);
  await rig.send(bob, 'a', { replyTo: 1 });
  expect(await rig.until(first)).toBe(true);
  const second = rig.hub.watch.answer(1, 'ada', 60_000);
  const target = { position: 1, channel: 'a', seq: 1, sender: 'ada' };
  const ack = {
    type: 'ack.record',
    by: bob,
    at: rig.hub.stamp(),
    target,
    status: 'done',
    reason: null,
  } as const;
  await rig.until(rig.hub.submit(ack));
  expect(await rig.until(second)).toBe(true);
});

test('[N9] waits are bounded in number, and all end when the hub closes', async () => {
  const rig = await open();
  const wait = (by: string) => rig.hub.watch.mail(by, 5000);
  const ofOne = Array.from({ length: WAITS_OF_ONE_MAX }, () => wait('bob'));
  expect(await wait('bob')).toBeNull();
  expect(await rig.hub.watch.gate('g1', 'bob', 5000)).toBeNull();
  const others = WAITS_MAX - WAITS_OF_ONE_MAX;
  const waits = [...ofOne, ...Array.from({ length: others }, (_, i) => wait(`a${i % 100}`))];
  expect(await wait('ada')).toBeNull();
  await rig.until(rig.hub.close());
  expect(new Set(await Promise.all(waits))).toEqual(new Set([false]));
});

test('[R1] whoever follows receipts hears of drains, acks, lapses and what a feed showed', async () => {
  const rig = await open();
  await rig.subscribe(bob, 'a');
  const heard: ReceiptChange[] = [];
  const stop = rig.hub.watch.receipts((changes) => void heard.push(...changes));
  rig.listen({ by: bob, from: 'now', channels: null });
  await rig.send(ada, 'a');
  expect(heard.splice(0)).toEqual([{ position: 1, agent: 'bob' }]);
  await rig.take(bob, 1000);
  expect(heard.splice(0)).toEqual([{ position: 1, agent: 'bob' }]);
  await rig.clock.pass(1000);
  await rig.clock.settle();
  expect(heard.splice(0)).toEqual([{ position: 1, agent: 'bob' }]);
  stop();
  await rig.take(bob);
  expect(heard).toEqual([]);
});

test('[H5] a listener that throws is reported once with its cause, and the others are told', async () => {
  const rig = await open();
  await rig.subscribe(bob, 'a');
  const told: string[] = [];
  const broken = new Error('a listener that is a bug');
  const fails = (): never => {
    throw broken;
  };
  rig.hub.watch.events(fails);
  rig.hub.watch.events((_, first) => void told.push(`event ${first}`));
  rig.hub.watch.receipts(fails);
  rig.hub.watch.receipts((changes) => void told.push(`receipt ${changes[0]?.position}`));
  const feed = rig.listen({ by: bob, from: 'now', channels: null });
  await rig.send(ada, 'a');
  await rig.send(ada, 'a');
  expect(told).toEqual(['receipt 1', 'event 1', 'receipt 2', 'event 2']);
  expect([feed.positions, feed.end]).toEqual([[1, 2], null]);
  // The same function listens to both, so it is complained of once.
  expect(rig.causes).toEqual([broken]);
});

test('[H5] who listens for events of some types is told of batches that hold one, and of no other', async () => {
  const rig = await open();
  const told: string[][] = [];
  const stop = rig.hub.watch.events(
    (_world, _first, events) => void told.push(events.map(({ type }) => type)),
    { types: ['subscription.added', 'token.revoked'] },
  );
  await rig.send(ada, 'a');
  expect(told).toEqual([]);
  await rig.subscribe(bob, 'a');
  expect(told.flat()).toContain('subscription.added');
  told.length = 0;
  stop();
  await rig.subscribe(bob, 'b');
  expect(told).toEqual([]);
});
