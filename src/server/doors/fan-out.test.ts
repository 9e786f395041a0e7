import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPace } from '../desk/pace.ts';
import { AT_ONCE, createFanOut, type FanOut, type Recipient } from './fan-out.ts';

const CROWD = AT_ONCE * 4;

interface Rig {
  readonly fanOut: FanOut;
  /** Whom was written to, in order. */
  readonly written: string[];
  recipient(name: string): Recipient;
  readonly crowd: readonly Recipient[];
  say(to: readonly Recipient[], bytes?: number): void;
}

function createRig(pace = createPace()): Rig {
  const fanOut = createFanOut(pace);
  const written: string[] = [];
  const recipient = (name: string): Recipient => ({
    flush: () => void written.push(name),
    isTouched: false,
    isQueued: false,
  });
  const crowd = Array.from({ length: CROWD }, (_, n) => recipient(`ear-${n}`));
  const say: Rig['say'] = (to, bytes = 1) => {
    fanOut.spoken('default', ['loud'], bytes);
    for (const one of to) fanOut.add(one);
  };
  return { fanOut, written, recipient, crowd, say };
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await turn();
}

test('[F9] few are written to at once, many some at a time, each once and in order', async () => {
  const { written, crowd, say } = createRig();
  say(crowd.slice(0, AT_ONCE));
  await Promise.resolve();
  expect(written).toHaveLength(AT_ONCE);
  written.length = 0;
  say(crowd);
  await Promise.resolve();
  expect(written.length).toBeLessThanOrEqual(AT_ONCE);
  await until(() => written.length === CROWD);
  expect(written).toEqual(crowd.map((_, n) => `ear-${n}`));
});

test('[F9] one that stands in the line gathers what else it is owed; one of few does not wait behind it', async () => {
  const { written, recipient, crowd, say } = createRig();
  say(crowd);
  await Promise.resolve();
  say(crowd);
  say([recipient('friend')]);
  await Promise.resolve();
  expect(written).not.toContain('friend');
  say([recipient('another'), crowd.at(-1) as Recipient]);
  await Promise.resolve();
  // Few in this turn: also one that stood in the line has it now.
  expect(written.slice(-2)).toEqual(['another', `ear-${CROWD - 1}`]);
  await until(() => written.includes('friend'));
  const last = `ear-${CROWD - 2}`;
  expect(written.filter((name) => name === last)).toHaveLength(1);
});

test('[F9] who spoke to many is held until the last of them is written to, and nobody else', async () => {
  const held: string[] = [];
  const pace = {
    ...createPace(),
    hold(_: string, agent: string) {
      held.push(agent);
      return () => void held.push(`${agent} goes on`);
    },
  };
  const { written, crowd, say } = createRig(pace);
  say(crowd.slice(0, AT_ONCE));
  await Promise.resolve();
  expect(held).toEqual([]);
  written.length = 0;
  say(crowd);
  await Promise.resolve();
  expect(held).toEqual(['loud']);
  await until(() => held.length === 2);
  expect(written).toHaveLength(CROWD);
});

test('[F9] where more stands in the line than may, all of it is written in one turn', async () => {
  const { written, crowd, say } = createRig();
  say(crowd, 17 * 1024 * 1024);
  await Promise.resolve();
  expect(written.length).toBeLessThanOrEqual(AT_ONCE);
  await turn();
  await turn();
  expect(written).toHaveLength(CROWD);
});

test('[F9] the same parts are joined once for all who get them', () => {
  const { fanOut } = createRig();
  const [one, two, three] = ['one', 'two', 'three'].map((text) => Buffer.from(text)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  const joined = fanOut.join([one, two]);
  expect(joined.toString()).toBe('onetwo');
  expect(fanOut.join([one, two])).toBe(joined);
  expect(fanOut.join([one, three]).toString()).toBe('onethree');
});

test('[F9] what comes after all runs when the last of many is written to, and in the next turn where there are few', async () => {
  const { fanOut, written, crowd, say } = createRig();
  const { promise, resolve } = Promise.withResolvers<number>();
  say(crowd);
  fanOut.afterAll(() => resolve(written.length));
  expect(await promise).toBe(CROWD);
  let isOver = false;
  say(crowd.slice(0, AT_ONCE));
  fanOut.afterAll(() => {
    isOver = true;
  });
  await turn();
  expect([written.length, isOver]).toEqual([CROWD + AT_ONCE, true]);
});
