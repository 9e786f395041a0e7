/**
 * Goal: hubs that crash, two at one log, on a disk that fails, is slow and leaves it open whether it stored:
 * what was answered is in the history, once and in its place, what was refused is not, and what a reader is
 * shown at rest is what the log tells, item by item.
 * Method: seeds; the histories are told a second time from the entries alone (`session-model.ts`).
 */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isRefusal } from '../../src/core/law/decider.ts';
import type { Item } from '../../src/core/sessions/session-events.ts';
import type { Hub } from '../../src/hub/hub.ts';
import { readItems, readSession } from '../../src/server/desk/session-view.ts';
import { NO_FAULTS } from '../../src/testing/faulty-log.ts';
import { createSessionModel } from '../../src/testing/session-model.ts';
import { createStage, type Stage } from '../../src/testing/stage.ts';
import { createPrincipal } from '../../src/testing/story.ts';

const AGENTS = ['ann', 'ben', 'cid'].map((name) => createPrincipal(name));
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
const STEPS = 2_000;

/** Answers that leave open whether it was stored. */
const OPEN: ReadonlySet<string> = new Set(['store.unknown', 'hub.busy', 'store.unavailable']);

interface Told {
  readonly id: string;
  readonly mark: string;
}

function createTalkers(stage: Stage) {
  const { chance } = stage;
  const model = createSessionModel();
  const stored: Told[] = [];
  const refused: Told[] = [];
  let marks = 0;
  let learnt = 0;

  function learn(): void {
    stage.learn();
    for (; learnt < stage.model.length; learnt++) {
      model.add(JSON.parse(stage.disk.entries[learnt] as string), learnt);
    }
  }

  function someItem(open: readonly string[], mark: string): Item {
    const kinds = ['user', 'assistant', 'note', 'tool_call', 'tool_result'] as const;
    const isFitting = open.length > 0 && chance.isLikely(0.6);
    const kind = isFitting ? 'tool_result' : chance.pick(kinds);
    const callId = chance.pick([...open, `c${chance.int(1, 3)}`]);
    if (kind === 'tool_call') return { kind, callId, name: 't', body: { mark } };
    if (kind === 'tool_result') return { kind, callId, outcome: 'ok', body: { mark } };
    return { kind, body: { mark } };
  }

  function act(): void {
    const sessions = [...model.sessions.values()].filter(({ isOver }) => !isOver);
    const by = chance.pick(AGENTS);
    const session =
      sessions.length < 3 || chance.isLikely(0.02) ? null : chance.pick(sessions.slice(-5));
    // The first ones are begun one after the other.
    if (session === null && sessions.length < 3 && chance.isLikely(0.9)) return;
    const on = { id: session?.id ?? 's0', expectedLength: null };
    const mark = `m${++marks}`;
    const holder = AGENTS.find(({ id }) => id === session?.holder) ?? by;
    const who = chance.isLikely(0.9) ? holder : by;
    stage.begin(`${who.id} does something to ${on.id}`, async (hub) => {
      const at = hub.stamp();
      const length = session?.items.length ?? 0;
      const dice = session === null ? 0 : chance.int(1, 100);
      if (dice <= 5) {
        const items = [{ kind: 'user', body: { mark } } as const];
        const made = { holder: null, key: null, ttlMs: 0, items };
        const answer = await hub.submit({ type: 'session.create', by: who, at, ...made });
        learn();
        if (!isRefusal(answer)) stored.push({ id: answer.id, mark });
      } else if (dice <= 75) {
        const open = session === null ? [] : model.openOf(session);
        const expectedLength = chance.isLikely(0.3) ? length : null;
        const items = [someItem(open, mark)];
        const append = { type: 'session.append', by: who, at, ...on, expectedLength } as const;
        const answer = await hub.submit({ ...append, items });
        learn();
        if (!isRefusal(answer)) stored.push({ id: on.id, mark });
        else if (!OPEN.has(answer.refused)) refused.push({ id: on.id, mark });
      } else if (dice <= 82) {
        await hub.submit({
          type: 'session.rewind',
          by: who,
          at,
          ...on,
          length: chance.int(0, length),
        });
      } else if (dice <= 88) {
        const fork = { key: null, ttlMs: null, length: chance.int(0, length) };
        await hub.submit({ type: 'session.fork', by: who, at, ...on, ...fork });
      } else if (dice <= 92) {
        const summary = { kind: 'note', body: { mark } } as const;
        await hub.submit({ type: 'session.compact', by: who, at, ...on, keep: 2, summary });
      } else if (dice <= 96) {
        const item = { kind: 'handoff', body: { mark } } as const;
        const to = chance.pick(AGENTS).id;
        const keep = chance.isLikely(0.5) ? null : [[0, Math.max(1, length)] as const];
        const hand = { to, why: 'w', item, keep, claims: [] };
        await hub.submit({ type: 'session.hand-off', by: who, at, ...on, ...hand });
      } else await hub.submit({ type: 'session.close', by: who, at, ...on, reason: null });
      learn();
    });
  }

  /** Every mark that was answered lies in the log once; none that was refused does. */
  function check(): void {
    learn();
    const times = new Map<string, number>();
    for (const text of stage.disk.entries) {
      const event = JSON.parse(text);
      if (!['session.created', 'session.appended'].includes(event.type)) continue;
      for (const { body } of event.items) times.set(body.mark, (times.get(body.mark) ?? 0) + 1);
    }
    for (const { mark } of stored) expect(times.get(mark), mark).toBe(1);
    for (const { mark } of refused) expect(times.get(mark), mark).toBeUndefined();
  }

  return { act, check, learn, model };
}

function mishap({ chance, faults }: Stage): void {
  faults.appendFails = chance.pick([0, 0, 0.1, 0.5]);
  faults.appendDoubts = chance.pick([0, 0, 0.1, 0.5]);
  faults.readFails = chance.pick([0, 0, 0.1, 0.5]);
  faults.slowMs = chance.pick([1, 5, 100]);
}

function heal({ faults }: Stage): void {
  Object.assign(faults, { ...NO_FAULTS, slowMs: 5, lie: null });
}

async function rest(stage: Stage): Promise<void> {
  heal(stage);
  for (let tries = 0; tries < 400; tries++) {
    for (const process of stage.processes) process.open();
    await stage.clock.pass(100);
    stage.learn();
    const isQuiet = stage.processes.every(({ hub, pending }) => hub?.isAvailable && pending === 0);
    if (isQuiet) return;
  }
  throw new Error('the hubs do not come to rest');
}

/** What the other process stored is heard of by and by. */
async function catchUp(stage: Stage, hub: Hub): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    stage.learn();
    if (
      (await ask(
        stage,
        hub.ask(({ length }) => length),
      )) === stage.model.length
    )
      return;
    await stage.clock.pass(100);
  }
  throw new Error('a hub does not learn what is stored');
}

/** A question at rest, with the clock going on meanwhile. */
async function ask<T>(stage: Stage, question: Promise<T>): Promise<T> {
  let answer: { readonly value: T } | null = null;
  void question.then((value) => {
    answer = { value };
  });
  for (let tries = 0; tries < 400; tries++) {
    if (answer !== null) return (answer as { readonly value: T }).value;
    await stage.clock.pass(20);
  }
  throw new Error('nobody answers');
}

test.each([1, 11, 21, 31])(
  '[SN3] [SN4] [SN9] ten seeds from %i',
  { timeout: 600_000 },
  async (from) => {
    const seen: Record<string, number> = {};
    for (let seed = from; seed < from + 10; seed++) {
      const stage = createStage({ seed, steps: STEPS, flush: () => setImmediate() });
      const talkers = createTalkers(stage);
      const { chance, clock } = stage;
      for (const process of stage.processes) process.open();
      for (let step = 0; step < STEPS; step++) {
        const dice = chance.int(1, 1000);
        if (dice <= 5) chance.pick(stage.processes).crash();
        else if (dice <= 12) mishap(stage);
        else if (dice <= 40) heal(stage);
        else if (dice <= 350) talkers.act();
        else await (chance.isLikely(0.1) ? clock.pass(20) : clock.step());
        for (const process of stage.processes) {
          if (process.hub === null && chance.isLikely(0.5)) process.open();
        }
        if (stage.failure !== undefined) throw stage.failure;
      }
      await rest(stage);
      talkers.check();
      for (const process of stage.processes) {
        const { hub } = process;
        if (hub === null) throw new Error('a hub is gone at rest');
        await catchUp(stage, hub);
        for (const { id, items } of talkers.model.sessions.values()) {
          const read = await ask(stage, readSession(hub, root, id));
          if (isRefusal(read)) throw new Error(`seed ${seed}: ${id}: ${read.message}`);
          const range = { from: 0, until: read.places.length };
          const shown = await ask(
            stage,
            readItems({ hub, by: root, signal: null }, read.places, range),
          );
          const told = items.map(({ item }) => [item.kind, item.callId, item.body.mark]);
          expect(
            shown.map((one) => [
              one.kind,
              'call_id' in one ? one.call_id : undefined,
              (one as { mark?: string }).mark,
            ]),
            `seed ${seed}, ${id} at ${process.name}`,
          ).toEqual(told);
        }
      }
      for (const [kind, count] of Object.entries(talkers.model.counts)) {
        seen[kind] = (seen[kind] ?? 0) + count;
      }
      for (const process of stage.processes) process.crash();
    }
    for (const kind of ['appended', 'rewound', 'forked', 'compacted', 'handed-off', 'ended']) {
      expect(seen[`session.${kind}`], kind).toBeGreaterThan(0);
    }
  },
);

test('the second telling notices a result on its own, a split call, a voice in between and a late word', () => {
  const on = { at: 1, by: 'ann', id: 's1' };
  const call = { kind: 'tool_call', callId: 'c', body: {} };
  const result = { kind: 'tool_result', callId: 'c', body: {} };
  const made = { ...on, type: 'session.created', holder: 'ann', key: null, ttlMs: 0 };
  const told = (...events: readonly object[]) => {
    const model = createSessionModel();
    return () => events.forEach((event, i) => void model.add(event, i));
  };
  const begun = { ...made, items: [call, result] };
  expect(told(begun)).not.toThrow();
  expect(told({ ...made, items: [result] })).toThrow('without its call');
  expect(told({ ...made, items: [call, { kind: 'user', body: {} }] })).toThrow('is open');
  expect(told(begun, { ...on, type: 'session.rewound', length: 1 })).toThrow('splits');
  const fork = { ...on, id: 's2', type: 'session.forked', from: 's1', length: 1 };
  expect(told(begun, fork)).toThrow('a fork between');
  expect(
    told(begun, { ...on, type: 'session.handed-off', to: 'b', kept: [99], items: [] }),
  ).toThrow('kept what is not there');
  const late = { ...on, type: 'session.appended', items: [] };
  expect(told(begun, { ...on, type: 'session.ended' }, late)).toThrow('is over');
});
