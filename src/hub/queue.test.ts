/** How a batch fills: what came together waits for the rest of it, and nothing waits for long. */
import { describe, expect, test } from 'vitest';
import { createQueue, FAR, type Item, type Queue } from './queue.ts';

const item: Item = { question: () => null, done: () => {} };

function filled(count: number): Queue {
  const queue = createQueue(1_000);
  for (let i = 0; i < count; i++) queue.push(item);
  return queue;
}

describe('a batch', () => {
  test('[H4] of one is taken at once, and so is the one after it', () => {
    const queue = filled(1);
    expect(queue.isFilling()).toBe(false);
    queue.take();
    queue.push(item);
    expect(queue.isFilling()).toBe(false);
  });

  test('[H4] fills while each turn brings more, up to twice the last', () => {
    const queue = filled(4);
    queue.take();
    queue.push(item);
    expect(queue.isFilling()).toBe(true);
    expect(queue.isFilling()).toBe(false);
    for (let i = 0; i < 7; i++) queue.push(item);
    expect(queue.isFilling()).toBe(false);
    expect(queue.take()).toHaveLength(8);
  });

  test('[H4] fills for a few turns and no longer, however much comes', () => {
    const queue = filled(30);
    queue.take();
    let turns = 0;
    do queue.push(item);
    while (queue.isFilling() && ++turns < 100);
    expect(turns).toBe(4);
  });

  test('[H4] fills for longer where an append goes to several machines, and no longer than that', () => {
    const queue = createQueue(10_000, FAR);
    for (let i = 0; i < 500; i++) queue.push(item);
    queue.take();
    for (let i = 0; i < 40; i++) queue.push(item);
    expect(queue.isFilling()).toBe(true);
    expect(queue.isFilling()).toBe(false);
    let turns = 1;
    do queue.push(item);
    while (queue.isFilling() && ++turns < 100);
    expect(turns).toBe(16);
    for (let i = 0; i < 500; i++) queue.push(item);
    expect(queue.isFilling()).toBe(false);
  });

  test('[H4] of many is taken at once', () => {
    const queue = filled(500);
    queue.take();
    for (let i = 0; i < 40; i++) queue.push(item);
    expect(queue.isFilling()).toBe(false);
  });
});
