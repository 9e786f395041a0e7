/**
 * A hub that dies at every transition of a turn, one after the other: whatever was stored by then, the next
 * hub ends what ran, tries it again, and comes to rest; every message is read, dead, or with a parked agent,
 * no turn ran twice at once, and who ran it before is fenced. The law of turns is told a second time,
 * from the entries alone (`turn-model.ts`), and watches all of it.
 */
import { expect, test } from 'vitest';
import { decodeEvent } from '../../src/core/law/entry.ts';
import { freezeWorld, thawWorld } from '../../src/core/law/snapshot.ts';
import { createWorld, type World } from '../../src/core/law/state.ts';
import { evolve } from '../../src/core/law/world.ts';
import type { TakenTurn } from '../../src/core/turns/turn-events.ts';
import { createModel } from '../../src/testing/model.ts';
import { codeOf, createPrincipal, createStory, type Story } from '../../src/testing/story.ts';
import { createTurnModel } from '../../src/testing/turn-model.ts';
import * as stage from '../../src/testing/turn-story.ts';

const { ada, kim, root, take, taken, finish } = stage;
const MINUTE_MS = 60_000;

/** Every way a turn goes on, each told of messages of its own. */
const WAYS: Readonly<Record<string, (story: Story) => void>> = {
  'is done'(story) {
    story.send(kim, 'jobs');
    const run = taken(story, { leaseMs: 5_000 });
    const rest = { pid: 7, transcript: null, leaseMs: 6_000, cost: null };
    story.do(root, { type: 'turn.renew', id: run.turn.id, epoch: run.turn.epoch, ...rest });
    const by = { ...createPrincipal('wes'), turn: { id: run.turn.id, epoch: run.turn.epoch } };
    story.send(by, 'talk', { key: 'answer' });
    story.send(kim, 'jobs');
    finish(story, run, 'done', { consumed: 'all' });
    finish(story, taken(story), 'nothing', { consumed: 'all' });
  },
  'posts what waits for a person'(story) {
    story.do(root, { type: 'channel.configure', channel: 'ops', change: { doesGateTier2: true } });
    story.send(kim, 'jobs');
    const run = taken(story);
    const by = { ...createPrincipal('wes'), turn: { id: run.turn.id, epoch: run.turn.epoch } };
    story.send(by, 'ops', { key: 'grave', tier2: { credential: 'turn' } });
    finish(story, run, 'done', { consumed: 'all' });
  },
  'fails, is tried again, and is dead'(story) {
    story.send(kim, 'jobs');
    for (let attempt = 0; attempt < 4; attempt++) {
      finish(story, taken(story), 'failed');
      story.pass(20_000);
    }
    story.do(kim, { type: 'agent.resume', agent: 'wes' });
  },
  'lapses and is begun anew'(story) {
    story.send(kim, 'jobs');
    taken(story, { leaseMs: 1_000 });
    story.pass(MINUTE_MS);
    finish(story, taken(story), 'done', { consumed: 'all' });
  },
  'gives up, and a person revives it'(story) {
    story.send(kim, 'jobs');
    const run = taken(story);
    finish(story, run, 'gave_up', { note: 'how?' });
    story.do(kim, { type: 'turn.retry', id: run.turn.id, reason: null } as never);
    finish(story, taken(story), 'done', { consumed: 'all' });
  },
  'is cancelled'(story) {
    story.send(kim, 'jobs');
    const run = taken(story);
    story.do(kim, { type: 'turn.cancel', id: run.turn.id, reason: null });
  },
  'is paused and resumed'(story) {
    story.send(kim, 'jobs');
    story.pass(100);
    story.do(kim, { type: 'agent.pause', agent: 'wes', reason: null });
    story.do(kim, { type: 'agent.resume', agent: 'wes' });
    finish(story, taken(story), 'done', { consumed: 'all' });
  },
  'waits for its window'(story) {
    for (let i = 0; i < 11; i++) {
      story.send(kim, 'jobs', { body: `{"text":"${i}"}` });
      const run = take2(story);
      if (run !== null) finish(story, run, 'done', { consumed: 'all' });
    }
    story.pass(11 * MINUTE_MS);
  },
  'is not begun by a pair that talks too fast'(story) {
    for (let i = 0; i < 12; i++) {
      const asks = { names: ['wes'], isQuestion: false, wantsReply: true, noReply: false };
      story.send(ada, 'jobs', { body: `{"text":"${i}"}`, asks });
      const run = i % 4 === 0 ? take2(story) : null;
      if (run !== null) finish(story, run, 'done', { consumed: 'all' });
    }
    story.pass(2 * MINUTE_MS);
    story.send(kim, 'jobs');
    finish(story, taken(story), 'done', { consumed: 'all' });
  },
  'is passed, because what it was for is gone'(story) {
    const sent = story.send(kim, 'jobs', { ttlMs: 500 });
    story.pass(100);
    expect(sent.position).toBeGreaterThan(0);
    story.pass(1_000);
    take(story);
  },
  'ends with its agent'(story) {
    story.send(kim, 'jobs');
    taken(story);
    story.do(kim, { type: 'agent.unmanage', agent: 'wes' });
  },
};

const take2 = (story: Story): TakenTurn | null => {
  story.pass(100);
  return take(story);
};

interface Told {
  readonly entries: readonly string[];
  /** How many were stored when something had been decided, and when that was. */
  readonly marks: readonly { readonly length: number; readonly at: number }[];
}

/** Told once, with a mark after everything that was stored. */
function tellWay(way: (story: Story) => void): Told {
  const story = stage.tell({}, { turn_timeout_ms: 10_000 });
  const marks: { length: number; at: number }[] = [];
  const mark = (): void => {
    if (marks.at(-1)?.length !== story.entries.length) {
      marks.push({ length: story.entries.length, at: story.at });
    }
  };
  const { do: act, pass } = story;
  story.do = ((by, command) => {
    const answer = act(by, command);
    mark();
    return answer;
  }) as typeof act;
  // A look at a time, so that each of them is a place to die at.
  story.pass = (ms) => {
    for (const until = story.at + ms; story.at < until; mark()) {
      pass(Math.min(until - story.at, Math.max(25, ms / 40)));
    }
  };
  mark();
  way(story);
  return { entries: [...story.entries], marks };
}

function replayed(entries: readonly string[]): World {
  const world = createWorld();
  for (const entry of entries) evolve(world, decodeEvent(entry), world.length);
  return world;
}

/** The next attempt says the same again, as the supervisor has it: under the same key. */
function repeat(story: Story, { turn: { id, epoch } }: TakenTurn): void {
  if (!story.world.channels.has('ops')) return;
  const by = { ...createPrincipal('wes'), turn: { id, epoch } };
  story.send(by, 'ops', { key: 'grave', tier2: { credential: 'turn' } });
}

/** What a hub does when it starts, and then an honest supervisor, until nothing is left to do. */
function recover(story: Story): void {
  for (const { id, epoch, state } of [...story.world.turns.turns.values()]) {
    if (state !== 'busy') continue;
    const old = { turn: { id, epoch } } as TakenTurn;
    finish(story, old, 'failed', { isRestart: true });
    // Whoever ran it is fenced from here on.
    expect(codeOf(finish(story, old, 'done'))).toBe('turn.stale');
  }
  for (let quiet = 0; quiet < 40; ) {
    story.pass(1_000);
    const run = take(story);
    if (run === null) quiet += 1;
    else {
      expect(take(story, { agents: [run.turn.agent] })).toBe(null);
      repeat(story, run);
      finish(story, run, 'done', { consumed: 'all' });
      quiet = 0;
    }
  }
  story.pass(15 * MINUTE_MS);
  for (let run = take(story); run !== null; run = take2(story)) {
    finish(story, run, 'done', { consumed: 'all' });
  }
}

function watch(entries: readonly string[], at: number): ReturnType<typeof createTurnModel> {
  const model = createModel();
  const turns = createTurnModel(model, new Set(['kim', 'root']));
  for (const [position, entry] of entries.entries()) {
    model.add(entry);
    turns.add(JSON.parse(entry), position);
  }
  turns.check(at);
  expect(turns.isIdle(at)).toBe(true);
  return turns;
}

const seen = new Set<string>();

test.each(Object.keys(WAYS))(
  '[TN6] [TN7] [TN8] [TN12] [GT16] a turn that %s: killed at every transition, nothing is lost or doubled',
  (name) => {
    const { entries, marks } = tellWay(WAYS[name] as (story: Story) => void);
    for (const entry of entries) seen.add(JSON.parse(entry).type);
    expect(marks.length).toBeGreaterThan(3);
    for (const { length, at } of marks) {
      const stored = entries.slice(0, length);
      const frozen = thawWorld(freezeWorld(replayed(stored)));
      if (frozen === null) throw new Error('it thaws');
      const ends = [replayed(stored), frozen].map((world) => {
        const story = createStory(world, at);
        recover(story);
        const all = [...stored, ...story.entries];
        watch(all, story.at);
        checkMessages(story, all);
        return all.join('\n');
      });
      // From the snapshot as from the log.
      expect(ends[1]).toBe(ends[0]);
    }
  },
);

/** Each message for wes is read, dead, cancelled by a person, or waits for one with the parked agent. */
function checkMessages({ world, at }: Story, entries: readonly string[]): void {
  const events = entries.map((entry) => JSON.parse(entry));
  const isSettled =
    !world.turns.agents.has('wes') || world.turns.agents.get('wes')?.state === 'parked';
  const wes = world.agents.get('wes');
  const owed = [...(wes?.ready ?? [])].filter(({ channel }) => channel.name === 'jobs');
  const cancelled = events.some(({ type }) => type === 'turn.cancelled' || type === 'agent.paused');
  const expired = events.some(({ expiresAt }) => expiresAt !== undefined && expiresAt < at);
  // Delivered, and waits for a person to speak.
  const isDead = events.some(({ type }) => type === 'turn.dead' || type === 'turn.stilled');
  if (!isSettled && !cancelled && !expired && !isDead) expect(owed).toEqual([]);
  // A post that waits for a person is there once, however often the turn was tried.
  const posts = [...world.gates.open.values()].filter(({ holds }) => holds !== null);
  const isPosted = events.some(({ channel, type }) => type === 'message.sent' && channel === 'ops');
  expect(posts).toHaveLength(isPosted ? 1 : 0);
}

test('these ways go through every transition that the law knows', () => {
  const known = [
    ...['agent.managed', 'agent.unmanaged', 'agent.paused', 'agent.resumed', 'agent.parked'],
    ...[
      'turn.due',
      'turn.waits',
      'turn.stilled',
      'turn.passed',
      'turn.taken',
      'turn.renewed',
      'turn.finished',
    ],
    ...['turn.failed', 'turn.retried', 'turn.dead', 'turn.cancelled', 'turn.revived'],
  ];
  expect(known.filter((type) => !seen.has(type))).toEqual([]);
});
