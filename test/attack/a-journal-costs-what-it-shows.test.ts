/**
 * One token that records as much as it may in as few calls: 256 results in one entry of 4 MB, runs that wait for
 * large signals, items of a session that lie far apart. Whoever reads is shown a page, and pays for a page; who asks
 * meanwhile is answered between two looks at the log.
 */
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isRefusal, type Refusal } from '../../src/core/law/decider.ts';
import { type Hub, openHub } from '../../src/hub/hub.ts';
import { openMemoryLog } from '../../src/log/memory.ts';
import { sessionHandlers } from '../../src/server/desk/handlers/sessions.ts';
import { workflowHandlers } from '../../src/server/desk/handlers/workflows.ts';
import { outputText } from '../../src/server/desk/output-text.ts';
import type { Room } from '../../src/server/desk/room.ts';
import { realClock } from '../../src/server/run/clock.ts';
import { createPrincipal } from '../../src/testing/story.ts';

const LARGE = 'x'.repeat(15_500);
/** A page, and what is around it. */
const BYTES_MAX = 300 * 1024;
const mal = createPrincipal('mal');

let hub: Hub;
let reads: number[] = [];
beforeAll(async () => {
  const log = await openMemoryLog();
  const at = log.at.bind(log);
  log.at = (positions) => {
    reads.push(...positions);
    return at(positions);
  };
  hub = await openHub({ space: 'test', log, clock: realClock, cacheBytesMax: 0 });
});
afterAll(() => hub.close());
beforeEach(() => {
  reads = [];
});

const platform = {
  elapsedMs: () => performance.now(),
  digest: (text: string) => `${text.length}`.padEnd(24, '0'),
};
const room = (): Room =>
  ({
    hub,
    by: mal,
    platform,
    caller: { principal: mal, tokenId: null },
    signal: null,
    trace: null,
  }) as unknown as Room;

async function done<T>(asked: Promise<T | Refusal>): Promise<T> {
  const answer = await asked;
  if (isRefusal(answer)) throw new Error(answer.message);
  return answer;
}

/** A run that mal holds. */
async function hold(id: string): Promise<void> {
  const none = { priority: 0, delay_ms: 0, steps: [] };
  await done(workflowHandlers['workflows.start'](room(), { name: id, id, ...none }));
  await takeIt(id);
}

const takeIt = (
  id: string,
  holding: { id: string; epoch: number; news: number; after?: string }[] = [],
) =>
  done(
    workflowHandlers['workflows.take'](room(), {
      ...{ workflows: [{ name: id }], executor: 'x', wait_ms: 0, holding },
      limit: holding.length === 0 ? 1 : 0,
    }),
  );

type Entries = Parameters<(typeof workflowHandlers)['workflows.record']>[1]['entries'];
const record = (id: string, entries: Entries, epoch = 1) =>
  done(workflowHandlers['workflows.record'](room(), { id, epoch, entries }));

const results = (from: number, count: number): Entries =>
  Array.from({ length: count }, (_, i) => ({
    ...{ kind: 'completed', step: `s${from + i}`, result: LARGE },
  }));

const stepsOf = (id: string, after?: string) =>
  done(workflowHandlers['workflows.steps'](room(), { id, limit: 500, ...(after && { after }) }));

test('[WF22] 512 results in two entries are shown by the page, and each page reads an entry once', async () => {
  await hold('wide');
  await record('wide', results(0, 256));
  await record('wide', results(256, 256));
  const names: string[] = [];
  for (let after: string | undefined; ; ) {
    reads = [];
    const page = await stepsOf('wide', after);
    expect(new Set(reads).size).toBe(reads.length);
    expect(reads.length).toBeLessThanOrEqual(2);
    expect(Buffer.byteLength(outputText(page))).toBeLessThan(BYTES_MAX);
    for (const { step, result } of page.steps) {
      expect(result === LARGE).toBe(true);
      names.push(step);
    }
    if (page.next === null) break;
    after = page.next;
  }
  expect(names).toEqual(Array.from({ length: 512 }, (_, i) => `s${i}`));
});

test('[WF22] a page that would read a great deal to show a little ends early, and the next goes on', async () => {
  await hold('far');
  const count = 24;
  const begun = (_: unknown, i: number) => ({ kind: 'started', step: `s${i}` }) as const;
  await record('far', Array.from({ length: count }, begun));
  // A small result each, in an entry that is large.
  for (let i = 0; i < count; i++) {
    const ballast = { kind: 'completed', step: `b${i}`, result: 'x'.repeat(1_000_000) } as const;
    await record('far', [{ kind: 'completed', step: `s${i}`, result: i }, ballast]);
  }
  const shown: unknown[] = [];
  for (let after: string | undefined; shown.length < count; ) {
    reads = [];
    const { steps, next } = await stepsOf('far', after);
    expect(reads.length).toBeLessThan(20);
    shown.push(...steps.map(({ result }) => result));
    after = next ?? 'none';
  }
  expect(shown.slice(0, count)).toEqual(Array.from({ length: count }, (_, i) => i));
});

test('[WF22] sixteen readers of it at once leave room for everybody else between their looks', async () => {
  await hold('busy');
  await record('busy', results(0, 256));
  let answered = 0;
  const pages = Array.from({ length: 16 }, () => stepsOf('busy').then(() => answered++));
  await setImmediate();
  await setImmediate();
  // Who asks now is answered now.
  expect(await hub.ask((world) => world.workflows.live.has('busy'))).toBe(true);
  expect(answered).toBeLessThan(8);
  await Promise.all(pages);
});

test('[WF22] a run is handed out with the first of its journal and of what its waits ended with, and the rest is told on', async () => {
  await hold('deep');
  await record('deep', results(0, 256));
  const count = 40;
  const wait = (_: unknown, i: number) =>
    ({ kind: 'waiting', step: `w${i}`, on: { signal: `go${i}` } }) as const;
  await record('deep', [...Array.from({ length: count }, wait), { kind: 'released' }]);
  for (let i = 0; i < count; i++) {
    const value = `${i} ${'y'.repeat(50_000)}`;
    await done(workflowHandlers['workflows.signal'](room(), { id: 'deep', name: `go${i}`, value }));
  }
  const { runs } = await takeIt('deep');
  const [taken] = runs;
  if (taken === undefined) throw new Error('nothing was taken');
  expect(Buffer.byteLength(outputText({ runs }))).toBeLessThan(1024 * 1024 + BYTES_MAX);
  expect((await stepsOf('deep', taken.journal_next ?? 'none')).steps[0]?.step).toBe(
    `s${taken.journal.length}`,
  );
  const told = [...taken.resolved];
  for (let after = taken.resolved_next; after !== null; ) {
    reads = [];
    const { news } = await takeIt('deep', [{ id: 'deep', epoch: 2, news: taken.news, after }]);
    expect(Buffer.byteLength(outputText({ news }))).toBeLessThan(BYTES_MAX);
    expect(reads.length).toBeLessThanOrEqual(16);
    told.push(...(news[0]?.resolved ?? []));
    after = news[0]?.resolved_next ?? null;
  }
  const values = told.map(({ step, signal }) => [step, Number.parseInt(`${signal?.value}`, 10)]);
  values.sort(([, a], [, b]) => Number(a) - Number(b));
  expect(values).toEqual(Array.from({ length: count }, (_, i) => [`w${i}`, i]));
  // Who has heard all of it waits for news as before.
  const heard = [{ id: 'deep', epoch: 2, news: taken.news }];
  expect(await takeIt('deep', heard)).toEqual({ runs: [], news: [] });
});

test('[WF22] many runs in one answer share what it may show of their journals', async () => {
  for (let i = 0; i < 8; i++) {
    const id = `many${i}`;
    const none = { priority: 0, delay_ms: 0, steps: [] };
    await done(workflowHandlers['workflows.start'](room(), { name: 'many', id, ...none }));
  }
  const take = (limit: number) =>
    done(
      workflowHandlers['workflows.take'](room(), {
        ...{ workflows: [{ name: 'many' }], executor: 'x', wait_ms: 0, holding: [], limit },
      }),
    );
  for (const { run } of (await take(8)).runs) {
    await record(run.id, [...results(0, 64), { kind: 'waiting', step: 'w', on: { timer_ms: 0 } }]);
    await record(run.id, [{ kind: 'released' }]);
  }
  const { runs } = await take(8);
  expect(runs).toHaveLength(8);
  expect(Buffer.byteLength(outputText({ runs }))).toBeLessThan(1024 * 1024 + BYTES_MAX);
  const last = runs.at(-1);
  expect(last).toMatchObject({ journal: [], journal_next: '0' });
  expect((await stepsOf(last?.run.id ?? '', '0')).steps[0]).toMatchObject({ step: 's0' });
});

test('[SN9] a session of a few large entries is read by the page as well', async () => {
  const seed = Array.from({ length: 60 }, (_, i) => ({
    ...{ kind: 'user', content: `${i} ${LARGE}` },
  })) as Parameters<(typeof sessionHandlers)['sessions.create']>[1]['seed'];
  const made = await done(sessionHandlers['sessions.create'](room(), { seed }));
  const ask = { session_id: made.session_id, from: 0, limit: 500 };
  const page = await done(sessionHandlers['sessions.get'](room(), ask));
  expect(page.items.length).toBeLessThan(20);
  expect(page.next).toBe(page.items.length);
  expect(new Set(reads).size).toBe(reads.length);
});
