import { expect, test } from 'vitest';
import { FifoMap } from '../../law/fifo-map.ts';
import { TRIGGERS_KEPT } from './bounds.ts';
import {
  beginReasons,
  checkTriggers,
  clearTriggers,
  endReasons,
  isSpent,
  type Reason,
  SAME_REASON_MS,
  type TriggerBook,
  triggerOf,
} from './triggers.ts';

const LIMITS = {};

function createBook(): TriggerBook {
  return { overMessage: new FifoMap(), overThread: new FifoMap(), fruitless: new FifoMap() };
}

function reason(position: number, root = position, sender = 'bob'): Reason {
  return { position, root, trigger: triggerOf('room', sender) };
}

function turn(book: TriggerBook, one: Reason, at: number, isFruitful: boolean): void {
  beginReasons(book, [one], at);
  endReasons(book, [one], { at, isFruitful, consumed: new Set(isFruitful ? [one.position] : []) });
}

test('[RA5] a fourth turn over one message is not begun', () => {
  const book = createBook();
  for (let i = 0; i < 3; i++) {
    expect(checkTriggers(book, [reason(7)], LIMITS, i)).toBeNull();
    beginReasons(book, [reason(7)], i);
  }
  expect(checkTriggers(book, [reason(7)], LIMITS, 3)).toMatchObject({
    kind: 'park',
    limit: 'turns_per_message',
  });
  expect(checkTriggers(book, [reason(8)], LIMITS, 3)).toBeNull();
});

test('[RA9] a fifth turn for one thread within half an hour is not begun; later it is', () => {
  const book = createBook();
  for (let i = 0; i < 4; i++) turn(book, reason(100 + i, 100), i * 60_000, true);
  expect(checkTriggers(book, [reason(110, 100)], LIMITS, 5 * 60_000)).toMatchObject({
    kind: 'park',
    limit: 'repeats_per_30_min',
  });
  expect(checkTriggers(book, [reason(110, 100)], LIMITS, SAME_REASON_MS)).toBeNull();
  clearTriggers(book, 100);
  expect(checkTriggers(book, [reason(110, 100)], LIMITS, 5 * 60_000)).toBeNull();
});

test('[RA13] a trigger whose turns do nothing waits longer, then for a person; one that did something is as new', () => {
  const book = createBook();
  const at = 1_000_000;
  turn(book, reason(1), at, false);
  expect(checkTriggers(book, [reason(2)], LIMITS, at)).toBeNull();
  turn(book, reason(2), at, false);
  expect(checkTriggers(book, [reason(3)], LIMITS, at)).toEqual({
    kind: 'wait',
    limit: 'fruitless',
    until: at + 60_000,
  });
  turn(book, reason(3), at, false);
  expect(checkTriggers(book, [reason(4)], LIMITS, at)).toMatchObject({
    kind: 'wait',
    until: at + 300_000,
  });
  turn(book, reason(4), at, false);
  expect(isSpent(book, triggerOf('room', 'bob'))).toBe(true);
  expect(isSpent(book, triggerOf('room', 'ann'))).toBe(false);
  expect(checkTriggers(book, [reason(5, 5, 'ann')], LIMITS, at)).toBeNull();
  turn(book, reason(6), at, true);
  expect(checkTriggers(book, [reason(7)], LIMITS, at)).toBeNull();
});

test('[RA13] what is remembered of triggers is bounded', () => {
  const book = createBook();
  for (let i = 0; i < 1_000; i++) turn(book, reason(i, i, `agent${i}`), i, false);
  expect([book.overMessage.size, book.overThread.size, book.fruitless.size]).toEqual([
    TRIGGERS_KEPT,
    TRIGGERS_KEPT,
    TRIGGERS_KEPT,
  ]);
});
