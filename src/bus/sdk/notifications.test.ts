import { expect, test } from 'vitest';
import { scripted } from '../../../test/e2e/sdk-scripted.ts';
import { InvalidArgumentError } from './errors.ts';
import type { NotificationSubscription } from './notifications.ts';

async function read(subscription: NotificationSubscription): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const { params } of subscription) all.push(params);
  return all;
}

test('[SD13] drop keeps the oldest and counts; close ends that one only, after what it has', async () => {
  const { bus, backend } = await scripted();
  const dropping = bus.notifications({ maxQueue: 2 });
  const closing = bus.notifications({ maxQueue: 2, overflow: 'close' });
  const roomy = bus.notifications({ maxQueue: 3 });
  for (const n of [1, 2, 3]) backend.say({ method: 'note', params: n });
  expect(dropping.dropped).toBe(1);
  expect(dropping.isClosed).toBe(false);
  expect(closing.isClosed).toBe(true);
  expect(await read(closing)).toEqual([1, 2]);
  expect((await dropping.next()).value?.params).toBe(1);
  backend.say({ method: 'note', params: 4 });
  await bus.stop();
  expect(await read(dropping)).toEqual([2, 4]);
  expect(await read(roomy)).toEqual([1, 2, 3]);
});

test('[SD13] only what comes after subscribing, only notifications, each its own copy', async () => {
  const { bus, backend } = await scripted();
  backend.say({ method: 'before' });
  const [left, right] = [bus.notifications(), bus.notifications()];
  backend.say(
    'no JSON',
    { id: 1, result: 2 },
    { id: 'w1', method: 'question' },
    { method: 'after' },
  );
  const a = (await left.next()).value as { method: string };
  a.method = 'changed';
  expect((await right.next()).value).toEqual({ method: 'after' });
  await bus.stop();
  expect(await read(left)).toEqual([]);
});

test('[SD13] close unblocks who waits, twice is once, and leaving a loop unsubscribes', async () => {
  const { bus, backend } = await scripted();
  const waiting = bus.notifications();
  const next = waiting.next();
  waiting.close();
  waiting.close();
  expect(await next).toEqual({ done: true, value: undefined });
  const looped = bus.notifications();
  backend.say({ method: 'one' }, { method: 'two' });
  for await (const { method } of looped) {
    expect(method).toBe('one');
    break;
  }
  expect(looped.isClosed).toBe(true);
  bus.destroy();
  expect((await bus.notifications().next()).done).toBe(true);
});

test('[SD13] a session hears its own', async () => {
  const { bus, backend } = await scripted();
  const mine = bus.session('mine').notifications();
  backend.say({ method: 'a', sessionId: 'other' }, { method: 'b', sessionId: 'mine' });
  expect((await mine.next()).value?.method).toBe('b');
});

test('[SD13] a bound that is none is refused', async () => {
  const { bus } = await scripted();
  for (const maxQueue of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => bus.notifications({ maxQueue })).toThrow(InvalidArgumentError);
  }
  const overflow = 'wait' as 'drop';
  expect(() => bus.notifications({ overflow })).toThrow(/drop.*close/);
});
