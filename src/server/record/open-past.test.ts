import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { isRefusal, refuse } from '../../core/law/decider.ts';
import { openHub } from '../../hub/hub.ts';
import { openMemoryLog } from '../../log/memory.ts';
import { realClock } from '../run/clock.ts';
import { type OpenPast, openPast } from './open-past.ts';

const HILDA = {
  principal: { id: 'hilda', kind: 'human', tier: 'trusted' },
  space: 'default',
  isOwner: false,
} as const;
const ASKED = { operation: 'plan.board', input: {} };
const NOW = { position: null, time: null };

/** A thread that answers as the code says: in the place of the real one, which cannot be made to hang. */
async function scene(
  code: string,
  times: { deadlineMs?: number; graceMs?: number; idleMs?: number } = {},
): Promise<{ past: OpenPast; started: Worker[]; close(): Promise<void> }> {
  const hub = await openHub({ space: 'default', log: openMemoryLog(), clock: realClock });
  const started: Worker[] = [];
  const past = openPast({
    start() {
      const text = `const { parentPort } = require('node:worker_threads'); ${code}`;
      const worker = new Worker(text, { eval: true });
      started.push(worker);
      return worker;
    },
    hubOf: () => hub,
    urlOf: () => null,
    report: () => refuse('internal', 'reported'),
    now: Date.now,
    ...times,
  });
  const close = async (): Promise<void> => {
    await past.close();
    await hub.close();
  };
  return { past, started, close };
}

const ANSWERS = `parentPort.on('message', ({ ask }) => {
  if (ask) parentPort.postMessage({ said: { position: 0, at: 0, text: '{}' } });
});`;

test('[PA5] a thread that hangs is ended at the deadline, and the next question has a new one', async () => {
  const code = `parentPort.on('message', () => { for (;;) {} });`;
  const { past, started, close } = await scene(code, { deadlineMs: 20, graceMs: 20 });
  const said = await past.at(HILDA, NOW, ASKED, null);
  expect(isRefusal(said) && said.refused).toBe('record.busy');
  const again = await past.at(HILDA, NOW, ASKED, null);
  expect(isRefusal(again) && again.refused).toBe('record.busy');
  expect(started).toHaveLength(2);
  await close();
});

test('[PA5] a thread that dies is started anew for the next question', async () => {
  const { past, started, close } = await scene(ANSWERS);
  const first = await past.at(HILDA, NOW, ASKED, null);
  expect(first).toMatchObject({ position: 0 });
  const dead = new Promise((resolve) => started[0]?.once('exit', resolve));
  await started[0]?.terminate();
  await dead;
  expect(await past.at(HILDA, NOW, ASKED, null)).toMatchObject({ position: 0 });
  expect(started).toHaveLength(2);
  await close();
});

test('[PA5] the thread ends when nobody has looked back for a while', async () => {
  const { past, started, close } = await scene(ANSWERS, { idleMs: 10 });
  await past.at(HILDA, NOW, ASKED, null);
  await new Promise((resolve) => started[0]?.once('exit', resolve));
  expect(await past.at(HILDA, NOW, ASKED, null)).toMatchObject({ position: 0 });
  expect(started).toHaveLength(2);
  await close();
});

test('[PA5] one caller has eight questions waiting and is refused more; others have room', async () => {
  const { past, close } = await scene(ANSWERS);
  const mine = Array.from({ length: 20 }, () => past.at(HILDA, NOW, ASKED, null));
  const other = { ...HILDA, principal: { ...HILDA.principal, id: 'otto' } };
  const theirs = past.at(other, NOW, ASKED, null);
  const said = await Promise.all(mine);
  expect(said.filter((one) => isRefusal(one) && one.refused === 'record.busy')).toHaveLength(12);
  expect(await theirs).toMatchObject({ position: 0 });
  await close();
});

test('[PA5] who asks much is answered after who asks little', async () => {
  const { past, close } = await scene(ANSWERS);
  const order: string[] = [];
  const ask = (id: string): Promise<unknown> => {
    const caller = { ...HILDA, principal: { ...HILDA.principal, id } };
    return past.at(caller, NOW, ASKED, null).then(() => order.push(id));
  };
  const greedy = ['anna', 'arno'].flatMap((id) => Array.from({ length: 8 }, () => ask(id)));
  await Promise.all([...greedy, ask('otto')]);
  expect(order.indexOf('otto')).toBe(2);
  await close();
});

test('[PA5] who has gone is not looked up for, and closing answers all who wait', async () => {
  const { past, started, close } = await scene(`parentPort.on('message', () => {});`);
  const gone = { aborted: true, addEventListener() {}, removeEventListener() {} };
  expect(isRefusal(await past.at(HILDA, NOW, ASKED, gone))).toBe(true);
  expect(started).toHaveLength(0);
  const waiting = [
    past.at(HILDA, NOW, ASKED, null),
    past.span(HILDA, { buckets: 1, from: null, to: null }, null),
  ];
  await close();
  for (const said of await Promise.all(waiting)) expect(isRefusal(said)).toBe(true);
});

test('[PA5] a space that is removed is let go of, and who looks into another is not disturbed', async () => {
  const { past, started, close } = await scene(ANSWERS);
  const asked = past.at(HILDA, NOW, ASKED, null);
  past.forget('elsewhere');
  expect(await asked).toMatchObject({ position: 0 });
  const cut = past.at(HILDA, NOW, ASKED, null);
  past.forget('default');
  expect(isRefusal(await cut)).toBe(true);
  expect(await past.at(HILDA, NOW, ASKED, null)).toMatchObject({ position: 0 });
  expect(started).toHaveLength(2);
  await close();
});
