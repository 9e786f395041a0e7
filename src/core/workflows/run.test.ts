/** Runs told to the law alone: leases and epochs, waits, queues, cancelling, retrying, forking. */
import { expect, test } from 'vitest';
import { accepted, codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import type { AskGate } from '../gates/gate-events.ts';
import { APPROVAL_MS } from '../gates/gate-limits.ts';
import type { Principal } from '../law/principal.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
import type { RunEntry, StartRun, TakeRuns } from './run-events.ts';
import { runsPage, stepsPage } from './run-pages.ts';
import { findRun, type QueueFields, type RunView } from './run-state.ts';
import {
  ENDED_RUNS_PER_AGENT_MAX,
  LAPSES_IN_A_ROW,
  SIGNALS_PER_SENDER_MAX,
} from './workflow-limits.ts';

const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const HOUR = 3_600_000;
const ERROR = { name: 'Error', message: 'm', terminal: true };

function start(story: Story, id: string, more: Partial<StartRun> = {}, by = ada): string {
  const plain = {
    ...{ version: null, input: undefined, digest: 'd', queue: null, key: null, priority: 0 },
    ...{ delayMs: 0, dedup: null, parent: null, steps: [], traceparent: null },
  };
  const command = { type: 'run.start', name: 'job', id, ...plain, ...more } as const;
  return accepted(story.do<StartRun>(by, command)).id;
}

function take(story: Story, limit = 1, by: Principal = ada, leaseMs = HOUR): string[] {
  const workflows = [{ name: 'job', version: null }];
  const command = { type: 'run.take', workflows, executor: 'box', limit, leaseMs } as const;
  return accepted(story.do<TakeRuns>(by, command)).taken.map(({ id }) => id);
}

function record(story: Story, id: string, ...entries: RunEntry[]) {
  const { epoch } = get(story, id);
  return story.do(ada, { type: 'run.record', id, epoch, entries, leaseMs: null });
}

function get(story: Story, id: string): RunView {
  const run = findRun(story.world.workflows, id);
  if (run === undefined) throw new Error(`there is no ${id}`);
  return run;
}

function queue(story: Story, fields: Partial<QueueFields>): void {
  const none = { concurrency: null, perKey: null, perAgent: null, rate: null, executors: [] };
  story.do(root, { type: 'queue.declare', name: 'q', fields: { ...none, ...fields } });
}

const done = (step: string, result?: unknown): RunEntry => ({ kind: 'completed', step, result });
const ended = (state: 'completed' | 'failed' = 'completed'): RunEntry => ({ kind: 'ended', state });
const wait = (step: string, on: Extract<RunEntry, { kind: 'waiting' }>['on']): RunEntry => ({
  ...{ kind: 'waiting', step, on },
});
const RELEASED: RunEntry = { kind: 'released' };

test('[WF3] whatever an executor says, a run ends by an arrow of the table, or the refusal names both', () => {
  const story = createStory();
  const ends = ['completed', 'failed', 'compensated', 'compensation_failed', 'cancelled'] as const;
  const allowed = { running: ends, compensating: ['compensated', 'compensation_failed'] };
  for (const from of ['running', 'compensating'] as const) {
    for (const state of ends) {
      const id = start(story, `${from}-${state}`);
      take(story);
      if (from === 'compensating') record(story, id, { kind: 'compensate' });
      const answer = record(story, id, { kind: 'ended', state });
      const may = (allowed[from] as readonly string[]).includes(state);
      expect([from, state, codeOf(answer)]).toEqual([from, state, may ? null : 'workflow.state']);
      expect(get(story, id).state).toBe(may ? state : from);
      if (may) expect(codeOf(record(story, id, RELEASED))).toBe('workflow.stale');
    }
  }
});

test('[WF6] [WF7] a lost executor leaves what it began uncertain, and the run to the next epoch', () => {
  const story = createStory();
  start(story, 'a');
  take(story, 1, ada, 1_000);
  record(story, 'a', done('one'), { kind: 'started', step: 'two', policy: 'fail' });
  story.pass(1_000);
  expect(get(story, 'a')).toMatchObject({ leaseUntil: null, heldBy: null, state: 'running' });
  expect(codeOf(record(story, 'a', done('two')))).toBe('workflow.stale');
  expect(take(story)).toEqual(['a']);
  const { rows } = stepsPage(get(story, 'a'), undefined, 10);
  expect(rows.map(({ step, state, epoch, policy }) => [step, state, epoch, policy])).toEqual([
    ['one', 'completed', 0, null],
    ['two', 'running', 1, 'fail'],
  ]);
  expect(get(story, 'a').epoch).toBe(2);
});

test('[WF7] [WF17] executors lost one after the other leave it stuck, on the docket, until it is retried', () => {
  const story = createStory();
  start(story, 'a');
  for (let i = 1; i <= LAPSES_IN_A_ROW; i++) {
    expect(get(story, 'a').state).toBe(i === 1 ? 'queued' : 'running');
    take(story, 1, ada, 1_000);
    story.pass(1_000);
  }
  expect(get(story, 'a').state).toBe('stuck');
  expect(take(story)).toEqual([]);
  const open = () => [...story.world.docket.subjects.keys()];
  expect(open()).toEqual(['alert run a']);
  expect([...story.world.docket.items.values()][0]?.text).toContain('synod workflow cancel a');
  accepted(story.do(ada, { type: 'run.retry', id: 'a', fromStep: null, map: {} }));
  expect(open()).toEqual([]);
  expect(take(story, 1, ada, 1_000)).toEqual(['a']);
  record(story, 'a', done('one'));
  story.pass(60_000);
  expect(get(story, 'a').lapses).toBe(1);
});

test('[WF8] what came before the wait began ends it at once; what comes later wakes it', () => {
  const story = createStory();
  start(story, 'parent');
  start(story, 'child', { parent: { id: 'parent', step: 'c', key: null } });
  take(story, 2);
  story.do(bob, { type: 'run.signal', id: 'parent', name: 'go', value: 1 });
  record(story, 'parent', wait('s', { signal: 'go' }), RELEASED);
  expect(take(story)).toEqual(['parent']);
  record(story, 'parent', done('s'), wait('c', { child: 'child' }), RELEASED);
  expect(take(story)).toEqual([]);
  record(story, 'child', ended());
  expect(take(story)).toEqual(['parent']);
  record(story, 'parent', done('c'), wait('late', { child: 'child' }), RELEASED);
  expect(take(story)).toEqual(['parent']);
  expect(get(story, 'parent').waits[0]?.ended).toMatchObject({ by: 'event', word: 'completed' });
});

test('[WF8] replies are counted from the first, and a time-out ends what did not come', () => {
  const story = createStory();
  start(story, 'a');
  const { position: replyTo } = story.send(ada, 'talk');
  story.send(bob, 'talk', { replyTo });
  take(story);
  record(story, 'a', wait('r', { replies: replyTo, count: 2, as: 'collect' }), RELEASED);
  expect(take(story)).toEqual([]);
  story.send(createPrincipal('cleo'), 'talk', { replyTo });
  expect(take(story)).toEqual(['a']);
  expect(get(story, 'a').waits[0]?.had).toHaveLength(2);
  record(
    story,
    'a',
    done('r'),
    { ...wait('s', { signal: 'x' }), timeoutMs: 500 } as RunEntry,
    RELEASED,
  );
  expect(take(story)).toEqual([]);
  story.pass(500);
  expect(take(story)).toEqual(['a']);
  expect(get(story, 'a').waits[0]?.ended).toMatchObject({ by: 'time' });
});

test('[WF10] signals are kept in order, and one sender fills no run', () => {
  const story = createStory();
  start(story, 'a');
  for (let i = 0; i < SIGNALS_PER_SENDER_MAX; i++) {
    accepted(story.do(bob, { type: 'run.signal', id: 'a', name: 'go', value: i }));
  }
  const more = { type: 'run.signal', id: 'a', name: 'go', value: 99 } as const;
  expect(codeOf(story.do(bob, more))).toBe('limit.reached');
  accepted(story.do(ada, more));
  take(story);
  record(story, 'a', wait('s', { signal: 'go' }), RELEASED);
  accepted(story.do(bob, more));
  const first = get(story, 'a').waits[0]?.ended?.position ?? -1;
  expect(JSON.parse(story.entries[first] ?? '{}')).toMatchObject({ by: 'bob', value: 0 });
});

test('[WF11] a queue bounds runs in all, by key, by starter, and how many begin in a time', () => {
  const story = createStory();
  queue(story, { concurrency: 3, perKey: 1, perAgent: 2 });
  for (const id of ['a1', 'a2', 'a3', 'a4']) start(story, id, { queue: 'q', key: id.slice(1) });
  start(story, 'b1', { queue: 'q', key: '1' }, bob);
  start(story, 'b2', { queue: 'q', key: '9' }, bob);
  expect(take(story, 9, root)).toEqual(['a1', 'a2', 'b2']);
  const end = (id: string) =>
    story.do(root, { type: 'run.record', id, epoch: 1, entries: [ended()], leaseMs: null });
  end('b2');
  expect(take(story, 9, root)).toEqual([]);
  end('a1');
  expect(take(story, 9, root)).toEqual(['a3', 'b1']);
  for (const id of ['a2', 'a3', 'b1']) end(id);
  queue(story, { rate: { limit: 2, perMs: 1_000 } });
  start(story, 'c', { queue: 'q' });
  start(story, 'd', { queue: 'q' });
  expect(take(story, 9)).toEqual(['a4', 'c']);
  story.pass(999);
  expect(take(story, 9)).toEqual([]);
  story.pass(1);
  expect(take(story, 9)).toEqual(['d']);
});

test('[WF11] a run keeps its place while it sleeps, and one that was begun goes on past the bound', () => {
  const story = createStory();
  queue(story, { concurrency: 1 });
  start(story, 'a', { queue: 'q' });
  start(story, 'b', { queue: 'q' });
  take(story, 9);
  record(story, 'a', wait('s', { signal: 'go' }), RELEASED);
  expect(take(story, 9)).toEqual([]);
  story.do(bob, { type: 'run.signal', id: 'a', name: 'go', value: null });
  expect(take(story, 9)).toEqual(['a']);
  record(story, 'a', ended('failed'));
  expect(take(story, 9)).toEqual(['b']);
});

test('[WF11] [WF12] a run that was begun goes on, however many stand before it that may not begin', () => {
  const story = createStory();
  queue(story, { concurrency: 1 });
  for (const id of ['a', 'b', 'c']) start(story, id, { queue: 'q' });
  expect(take(story)).toEqual(['a']);
  record(story, 'a', wait('s', { signal: 'go' }), RELEASED);
  story.pass(1);
  story.do(bob, { type: 'run.signal', id: 'a', name: 'go', value: null });
  expect(take(story)).toEqual(['a']);
  record(story, 'a', ended());
  expect(take(story)).toEqual(['b']);
});

test('[WF12] priority goes first, and who waits long enough goes before it', () => {
  const story = createStory();
  start(story, 'old');
  story.pass(20_000);
  start(story, 'one', { priority: 1 });
  start(story, 'three', { priority: 3 });
  start(story, 'two', { priority: 2 });
  expect([...take(story), ...take(story), ...take(story, 2)]).toEqual([
    'three',
    'old',
    'two',
    'one',
  ]);
});

test('[WF13] a word against doubling gives the run that is not over', () => {
  const story = createStory();
  start(story, 'a', { dedup: 'w' });
  expect(start(story, 'b', { dedup: 'w' })).toBe('a');
  expect(start(story, 'c', { dedup: 'w', name: 'other' })).toBe('c');
  take(story);
  record(story, 'a', ended('failed'));
  expect(start(story, 'b', { dedup: 'w' })).toBe('b');
  const retry = { type: 'run.retry', id: 'a', fromStep: null, map: {} } as const;
  expect(codeOf(story.do(ada, retry))).toBe('workflow.exists');
});

test('[WF14] cancelling reaches children, ends what did nothing, and calls an executor for the rest', () => {
  const story = createStory();
  start(story, 'a');
  take(story);
  start(story, 'b', { parent: { id: 'a', step: 's', key: null } });
  start(story, 'c', { parent: { id: 'b', step: 's', key: null } });
  record(story, 'a', done('one'), wait('s', { signal: 'never' }), RELEASED);
  accepted(story.do(ada, { type: 'run.cancel', id: 'a', reason: 'enough', isForced: false }));
  expect(['a', 'b', 'c'].map((id) => get(story, id).state)).toEqual([
    ...['running', 'cancelled', 'cancelled'],
  ]);
  expect(take(story)).toEqual(['a']);
  expect(get(story, 'a').cancelling).toBe('enough');
  record(story, 'a', { kind: 'ended', state: 'cancelled' });
  expect(
    codeOf(story.do(ada, { type: 'run.cancel', id: 'a', reason: null, isForced: false })),
  ).toBeNull();
});

test('[WF15] a retry keeps what completed before the step, and maps the names of steps', () => {
  const story = createStory();
  start(story, 'a');
  take(story);
  record(story, 'a', done('one', 1), done('two', 2), {
    kind: 'failed',
    step: 'three',
    error: ERROR,
  });
  record(story, 'a', ended('failed'));
  const steps = () => stepsPage(get(story, 'a'), undefined, 10).rows.map(({ step }) => step);
  const retry = { type: 'run.retry', id: 'a', fromStep: null, map: {} } as const;
  accepted(story.do(ada, { ...retry, map: { two: 'zwei' } }));
  expect(steps()).toEqual(['one', 'zwei']);
  expect(take(story)).toEqual(['a']);
  record(story, 'a', ended('failed'));
  accepted(story.do(ada, { ...retry, fromStep: { step: 'zwei', key: null } }));
  expect(steps()).toEqual(['one']);
  take(story);
  expect(codeOf(record(story, 'a', done('one')))).toBe('workflow.step-completed');
  record(story, 'a', ended());
  expect(codeOf(story.do(ada, retry))).toBe('workflow.state');
});

test('[WF16] a fork has what completed before the step, found where the first run put it', () => {
  const story = createStory();
  start(story, 'a', { input: { n: 1 } });
  take(story);
  record(story, 'a', done('one', 1));
  record(story, 'a', done('two', 2));
  const fork = { type: 'run.fork', id: 'a', version: null, input: null } as const;
  accepted(story.do(ada, { ...fork, newId: 'b', atStep: { step: 'two', key: null } }));
  const [first] = stepsPage(get(story, 'a'), undefined, 10).rows;
  const forked = stepsPage(get(story, 'b'), undefined, 10).rows;
  expect(forked.map(({ step, position }) => [step, position])).toEqual([['one', first?.position]]);
  expect(get(story, 'b')).toMatchObject({ inputAt: get(story, 'a').position, state: 'queued' });
  expect(take(story)).toEqual(['b']);
  expect(codeOf(record(story, 'b', done('one')))).toBe('workflow.step-completed');
  expect(codeOf(record(story, 'b', done('two')))).toBeNull();
});

test('[WF18] of runs that are over the newest of a starter are remembered', () => {
  const story = createStory();
  for (let i = 0; i < ENDED_RUNS_PER_AGENT_MAX + 5; i++) {
    start(story, `a${i}`);
    story.do(ada, { type: 'run.cancel', id: `a${i}`, reason: null, isForced: false });
  }
  start(story, 'b', {}, bob);
  story.do(bob, { type: 'run.cancel', id: 'b', reason: null, isForced: false });
  const book = story.world.workflows;
  expect(book.ended.size).toBe(ENDED_RUNS_PER_AGENT_MAX + 1);
  expect([book.ended.has('a4'), book.ended.has('a5')]).toEqual([false, true]);
  const page = runsPage(book, ada, { state: 'all', limit: 2 });
  expect(page.rows.map(({ id }) => id)).toEqual(['a2004', 'a2003']);
  const next = runsPage(book, ada, { state: 'all', limit: 2, after: page.next ?? '' });
  expect(next.rows.map(({ id }) => id)).toEqual(['a2002', 'a2001']);
  expect(runsPage(book, bob, { state: 'cancelled', limit: 9 }).rows).toHaveLength(1);
});

const DAY = 24 * HOUR;

function askGate(story: Story, subject: string, by = ada): string {
  const wish: Omit<AskGate, 'by' | 'at'> = {
    ...{ type: 'gate.ask', action: 'push', subject, tier: 1, kinds: [], names: [], count: 1 },
    ...{ deadlineMs: null, thread: null, payloadHash: null, policy: null, turn: null },
    ...{ isKept: true, isAwaited: true, credential: 'token a' },
  };
  return accepted(story.do<AskGate>(by, wish)).id;
}

function approve(story: Story, id: string): void {
  if (story.world.gates.people.size === 0) {
    const first = { credential: 'owner', person: null };
    story.do(root, { type: 'person.add', name: 'mia', verifier: 'v', ...first });
  }
  const verdict = { decision: 'approve', reason: null, payloadHash: null } as const;
  const came = { credential: 'owner', person: 'mia' };
  accepted(story.do(root, { type: 'gate.decide', id, ...verdict, ...came }));
}

function reopen(story: Story): Story {
  const world = thawWorld(freezeWorld(story.world));
  if (world === null) throw new Error('it thaws');
  return createStory(world, story.at);
}

const USE = { type: 'gate.consume', payloadHash: null, policy: null } as const;

test('[WF20] [GT7] an approval that a run waits for is kept for it, and has its time when it waits no more', () => {
  const first = createStory();
  start(first, 'a');
  start(first, 'b');
  take(first, 2);
  const used = askGate(first, 'one');
  const left = askGate(first, 'two');
  const early = askGate(first, 'three');
  approve(first, early);
  record(first, 'a', wait('g', { gate: used }), RELEASED);
  record(first, 'b', wait('g', { gate: left }), wait('e', { gate: early }), RELEASED);
  approve(first, used);
  approve(first, left);
  first.pass(DAY);
  const story = reopen(first);
  story.pass(DAY);
  expect(take(story, 2)).toEqual(['a', 'b']);
  expect(get(story, 'a').waits[0]?.ended).toMatchObject({ word: 'approved', who: 'mia' });
  accepted(story.do(ada, { ...USE, id: used }));
  record(story, 'b', done('g'));
  expect(story.world.gates.open.get(left)?.dueAt).toBe(story.at + APPROVAL_MS);
  story.pass(APPROVAL_MS);
  expect(codeOf(story.do(ada, { ...USE, id: left }))).toBe('gate.lapsed');
  expect(story.world.gates.open.get(early)?.state).toBe('approved');
  record(story, 'b', ended());
  story.pass(APPROVAL_MS);
  expect(story.world.gates.open.size).toBe(0);
});

test('[WF20] a gate that a run waits for is withdrawn once, with its end or its cancelling, and no other', () => {
  const gates = ['ended', 'went', 'cancelled', 'shared', 'not-mine'] as const;
  const story = createStory();
  for (const id of ['a', 'b', 'c', 'd']) start(story, id);
  take(story, 4);
  const id = Object.fromEntries(
    gates.map((name) => [name, askGate(story, name, name === 'not-mine' ? bob : ada)]),
  ) as Record<(typeof gates)[number], string>;
  // A person may wait for anybody's gate, and takes none of them back.
  start(story, 'r', { name: 'own' }, root);
  const workflows = [{ name: 'own', version: null }];
  const own = { type: 'run.take', workflows, executor: 'x', limit: 1, leaseMs: HOUR } as const;
  accepted(story.do<TakeRuns>(root, own));
  const said = { type: 'run.record', id: 'r', epoch: 1, leaseMs: null } as const;
  accepted(story.do(root, { ...said, entries: [wait('g', { gate: id['not-mine'] })] }));
  accepted(story.do(root, { ...said, entries: [ended()] }));
  record(story, 'a', wait('g', { gate: id.ended }), wait('w', { gate: id.went }));
  record(story, 'b', done('one'), wait('g', { gate: id.cancelled }), RELEASED);
  record(story, 'c', wait('g', { gate: id.shared }), RELEASED);
  record(story, 'd', wait('g', { gate: id.shared }), RELEASED);
  const open = () => [...story.world.docket.subjects.keys()].sort();
  const shown = (...names: (typeof gates)[number][]) =>
    names.map((one) => `gate ${id[one]}`).sort();
  expect(open()).toEqual(shown(...gates));
  record(story, 'a', { kind: 'cancelled', step: 'w' });
  expect(open()).toEqual(shown('ended', 'cancelled', 'shared', 'not-mine'));
  record(story, 'a', ended());
  expect(open()).toEqual(shown('cancelled', 'shared', 'not-mine'));
  const before = story.events.length;
  const cancel = { type: 'run.cancel', reason: null, isForced: false } as const;
  story.do(ada, { ...cancel, id: 'b' });
  story.do(ada, { ...cancel, id: 'b' });
  expect(story.events.slice(before).map(({ type }) => type)).toEqual([
    ...['run.cancelled', 'gate.ended'],
  ]);
  expect(get(story, 'b')).toMatchObject({ state: 'running', cancelling: '' });
  expect(story.world.gates.ended.get(id.cancelled)?.end).toMatchObject({
    ...{ state: 'withdrawn', reason: 'its run was cancelled' },
  });
  story.do(ada, { ...cancel, id: 'c' });
  expect(open()).toEqual(shown('shared', 'not-mine'));
  story.do(root, { ...cancel, id: 'd', isForced: true });
  expect(open()).toEqual(shown('not-mine'));
});

test('[WF20] the gates of a removed agent end once, also where another executed its run', () => {
  const story = createStory();
  queue(story, { executors: ['ada'] });
  start(story, 'a', { queue: 'q' }, bob);
  start(story, 'b', { queue: 'q' }, bob);
  take(story, 1);
  record(story, 'a', wait('g', { gate: askGate(story, 'hers') }), RELEASED);
  take(story, 1, bob);
  const gate = askGate(story, 'his', bob);
  const entries = [wait('g', { gate }), RELEASED];
  accepted(story.do(bob, { type: 'run.record', id: 'b', epoch: 1, entries, leaseMs: null }));
  accepted(story.do(root, { type: 'agent.remove', agent: 'bob', isForced: true }));
  expect(story.world.gates.open.size).toBe(0);
  expect(story.events.filter(({ type }) => type === 'gate.ended')).toHaveLength(2);
});

test('[WF15] what cannot be retried is told the way that leads on, and a misspelt step the nearest', () => {
  const story = createStory();
  for (const id of ['undone', 'good', 'now']) start(story, id);
  take(story, 3);
  record(story, 'undone', done('charge'), { kind: 'compensate' });
  record(story, 'undone', { kind: 'compensated', step: 'charge' });
  record(story, 'undone', { kind: 'ended', state: 'compensated' });
  record(story, 'good', done('build'), ended());
  const retry = { type: 'run.retry', fromStep: null, map: {} } as const;
  const say = (id: string) => (story.do(ada, { ...retry, id }) as { message: string }).message;
  expect(say('undone')).toContain('start it anew with workflows.start');
  expect(say('undone')).not.toContain('fork');
  expect(say('good')).toContain('workflows.fork begins another');
  expect(say('now')).toContain('workflows.cancel');
  const fork = { type: 'run.fork', newId: null, version: null, input: null } as const;
  const at = (id: string, step: string) =>
    story.do(ada, { ...fork, id, atStep: { step, key: null } });
  expect(at('undone', 'charge')).toMatchObject({
    message: expect.stringContaining('start it anew with workflows.start'),
  });
  expect(at('good', 'biuld')).toMatchObject({
    refused: 'workflow.no-step',
    message: expect.stringContaining('perhaps build; synod workflow show good lists them'),
  });
  expect(codeOf(at('good', 'build'))).toBeNull();
});

test('[WF17] what could not be undone is on the docket with its steps and the ways out, until it is retried', () => {
  const story = createStory();
  start(story, 'a');
  take(story);
  record(story, 'a', done('one'), done('two'), { kind: 'compensate' });
  record(story, 'a', { kind: 'compensation_failed', step: 'two', error: ERROR });
  record(story, 'a', { kind: 'compensated', step: 'one' });
  record(story, 'a', { kind: 'ended', state: 'compensation_failed' });
  const { docket } = story.world;
  const items = () => docket.open.map((id) => docket.items.get(id));
  expect(items()).toMatchObject([
    {
      ...{ kind: 'alert', agent: 'ada', reason: 'a run: compensation_failed' },
      text: 'job a: not all of it could be undone (two); "synod workflow retry a" tries the rest again, or undo it by hand and close this item',
    },
  ]);
  accepted(story.do(ada, { type: 'run.retry', id: 'a', fromStep: null, map: {} }));
  expect(items()).toEqual([]);
  expect(get(story, 'a').state).toBe('compensating');
  take(story);
  record(story, 'a', { kind: 'compensated', step: 'two' }, { kind: 'ended', state: 'compensated' });
  expect(items()).toEqual([]);
});
