/** Who waits for whom, as those who may read the questions are told. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';
import { openHub } from '../../../hub/hub.ts';
import type { Log } from '../../../log/log.ts';
import { openMemoryLog } from '../../../log/memory.ts';
import { createPrincipal, PLAIN_SEND } from '../../../testing/story.ts';
import { realClock } from '../../run/clock.ts';
import type { Room } from '../room.ts';
import { handleWaits } from './waits.ts';

let hub: RunningHub;
beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

const QUESTION = { type: 'clarification_request', question: 'Which one?' };

const dmOf = (a: string, b: string): string => `dm/${[a, b].sort().join('~')}`;

/** `to` is subscribed to a dm with `from`, which then asks there. */
async function askIn(from: string, to: string): Promise<string> {
  await hub.ask(to, 'subscribe', { pattern: dmOf(from, to) });
  const sent = await hub.ask(from, 'send', { channel: dmOf(from, to), body: QUESTION });
  return sent.message_id;
}

const waitsOf = async (agent: string): Promise<Json> => hub.ask(agent, 'receipts_waits');
const lines = ({ waits }: Json): string[] =>
  waits.map((one: Json) => `${one.agent_id}>${one.waits_for} ${one.deadlocked}`);

test('[R14] two who ask each other are deadlocked until one answers', async () => {
  const first = await askIn('ada', 'bob');
  expect(lines(await waitsOf('ada'))).toEqual(['ada>bob false']);
  const second = await askIn('bob', 'ada');
  const seen = await waitsOf('bob');
  expect(lines(seen)).toEqual(['ada>bob true', 'bob>ada true']);
  expect(seen).toMatchObject({ deadlocked: ['ada', 'bob'], has_more: false });
  await hub.ask('bob', 'recv');
  expect((await waitsOf('ada')).waits[0]).toMatchObject({
    message_id: first,
    delivered_to: ['bob'],
  });

  await hub.ask('ada', 'send', { channel: dmOf('ada', 'bob'), body: {}, reply_to: second });
  expect(await waitsOf('bob')).toMatchObject({ waits: [{ agent_id: 'ada' }], deadlocked: [] });
  await hub.ask('bob', 'channels_ack', { message_id: first, status: 'done' });
  expect((await waitsOf('bob')).waits).toEqual([]);
});

test('[R14] who may not read the questions is told of none', async () => {
  await askIn('cid', 'dan');
  await askIn('dan', 'cid');
  expect((await waitsOf('cid')).deadlocked).toEqual(['cid', 'dan']);
  expect(await waitsOf('eve')).toEqual({ waits: [], deadlocked: [], has_more: false });
});

test('[R14] a channel waits until anybody answers, and news is waited for by nobody', async () => {
  for (const name of ['fay', 'gus']) await hub.ask(name, 'subscribe', { pattern: 'room' });
  await hub.ask('hal', 'send', { channel: 'room', body: { text: 'The build is green.' } });
  const { message_id } = await hub.ask('hal', 'send', { channel: 'room', body: { text: 'Who?' } });
  expect(lines(await waitsOf('hal'))).toEqual(['hal>fay,gus false']);
  await hub.ask('fay', 'channels_ack', { message_id, status: 'nack', reason: 'not me' });
  expect(lines(await waitsOf('hal'))).toEqual(['hal>gus false']);
  await hub.ask('gus', 'send', { channel: 'room', body: {}, reply_to: message_id });
  expect((await waitsOf('hal')).waits).toEqual([]);
});

test('[R14] what one call looks at is bounded, and it says so', async () => {
  await hub.ask('ivy', 'subscribe', { pattern: 'long' });
  for (let i = 0; i < 51; i += 1) await hub.ask('jon', 'send', { channel: 'long', body: QUESTION });
  const all = await hub.ask('jon', 'receipts_waits', { limit: 200 });
  expect(all.waits).toHaveLength(50);
  expect(all.has_more).toBe(true);
  expect((await hub.ask('jon', 'receipts_waits', { limit: 1 })).waits).toHaveLength(1);
});

test('[SV9] [R14] large bodies are read some at a time, with others in between', async () => {
  const log = openMemoryLog();
  let turn = 0;
  let isOver = false;
  const reads: { readonly turn: number; readonly count: number }[] = [];
  const at: Log['at'] = (positions) => {
    reads.push({ turn, count: positions.length });
    return log.at(positions);
  };
  const alone = await openHub({
    ...{ space: 's', clock: realClock, cacheBytesMax: 0 },
    log: Object.create(log, { at: { value: at } }),
  });
  const [ada, bob] = [createPrincipal('ada'), createPrincipal('bob')];
  await alone.submit({ type: 'subscription.add', by: bob, at: alone.stamp(), pattern: 'a' });
  const body = JSON.stringify({ ...QUESTION, text: 'x'.repeat(70_000) });
  for (let i = 0; i < 50; i++) {
    const sent = { ...PLAIN_SEND, by: ada, at: alone.stamp(), channel: 'a', body };
    expect(await alone.submit(sent)).toHaveProperty('position');
  }
  const room = { hub: alone, by: bob, caller: { tokenId: null, principal: bob }, signal: null };
  const asked = handleWaits(room as unknown as Room, { limit: 50 }).finally(() => {
    isOver = true;
  });
  for (; !isOver; turn++) await new Promise((done) => setImmediate(done));
  expect(await asked).toMatchObject({ waits: { length: 50 }, has_more: false });
  expect(reads.reduce((sum, { count }) => sum + count, 0)).toBe(50);
  expect(Math.max(...reads.map(({ count }) => count))).toBeLessThan(10);
  expect(new Set(reads.map((one) => one.turn)).size).toBeGreaterThan(4);
  await alone.close();
});
