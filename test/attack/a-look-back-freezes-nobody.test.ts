/**
 * One key that was set again and again to large values, and a token that asks what it was at first, many
 * times at once: whoever else asks is answered before that is done. What is looked at is the order of
 * answers, not the time they take.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTurns } from '../../src/hub/turns.ts';
import { type Past, versionAt, walkBack } from '../../src/server/desk/context-past.ts';
import type { Reply } from '../e2e/running-hub.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

const CHANGES = 300;
const LOOKS = 16;

let hub: AttackedHub;
let first: number;
let middle: number;
beforeAll(async () => {
  hub = await openAttackedHub();
  const set = async (value: string): Promise<number> =>
    (await hub.agent.ask('context_set', { ns: 'plan', key: 'a', value })).version;
  first = await set('at first');
  const value = 'x'.repeat(255_000);
  for (let i = 0; i < CHANGES; i++) {
    const version = await set(value);
    if (i === CHANGES - 100) middle = version;
  }
});
afterAll(() => hub.close());

async function lookTogether(at: number): Promise<Reply[]> {
  let done = 0;
  const looks = Array.from({ length: LOOKS }, async () => {
    const reply = await hub.untrusted.post('context_get', { ns: 'plan', key: 'a', at });
    done++;
    return reply;
  });
  await hub.other.ask('status');
  expect(done).toBeLessThan(LOOKS);
  return Promise.all(looks);
}

test('[CX11] others are answered while one token walks back, sixteen times at once', async () => {
  for (const { body } of await lookTogether(middle)) expect(body.version).toBe(middle);
});

test('[CX11] what is too far to walk to is looked up beside the hub, so much of it for one token', async () => {
  const replies = await lookTogether(first);
  const told = replies.filter(({ status }) => status === 200);
  expect(told.length).toBeGreaterThanOrEqual(8);
  for (const { body } of told) expect(body).toMatchObject({ version: first, value: 'at first' });
  for (const { status, body } of replies) {
    if (status !== 200) expect(body.detail.reason).toBe('record.busy');
  }
});

test('[CX11] a walk gives way after so many changes or bytes, and ends at its bound of bytes', async () => {
  const given: string[] = [];
  let read = 0;
  const waiting: (() => void)[] = [];
  const turns = createTurns((run) => waiting.push(run));
  const pastOf = (bytes: number): Past => ({
    agent: 'mal',
    hub: {
      turns: {
        ...turns,
        giveWay(agent) {
          const turn = turns.giveWay(agent);
          if (turn !== null) given.push(agent);
          for (const run of waiting.splice(0)) run();
          return turn;
        },
      },
      async eventsAt([position = 0]) {
        read++;
        const [version, was] = [position + 1, position];
        const what = { ns: 'n', key: 'k', version, was, prior: was, by: 'ada', at: 0, bytes };
        return [{ type: 'context.written', ...what, value: '', expiresAt: null }] as never;
      },
    },
  });
  const lookOf = (now: number) => ({
    ...{ ns: 'n', now, from: 1, head: now, forgotten: 0 },
    entries: new Map([['k', { key: 'k', version: now }]]) as never,
  });
  expect(await versionAt(pastOf(0), lookOf(1_000), 'k', 1)).toBe(1);
  expect(given.length).toBeGreaterThanOrEqual(15);
  given.length = read = 0;
  const [past, look] = [pastOf(262_144), lookOf(1_000)];
  const isTooFar = { refused: 'context.too-far' };
  expect(await versionAt(past, look, 'k', 1)).toMatchObject(isTooFar);
  expect(await walkBack(past, look, 1)).toMatchObject(isTooFar);
  expect(read).toBe(2 * 129);
  expect(given.length).toBeGreaterThanOrEqual(2 * 127);
});
