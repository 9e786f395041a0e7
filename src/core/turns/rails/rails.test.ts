/** The guard rails in the law: agents that would go on for ever are stopped, and a person frees them. */
import { expect, test } from 'vitest';
import {
  accepted,
  codeOf,
  createPrincipal,
  createStory,
  type Story,
} from '../../../testing/story.ts';
import { freezeWorld, thawWorld } from '../../law/snapshot.ts';
import type { SendMessage } from '../../talk/message.ts';
import type { TakenTurn } from '../turn-events.ts';
import type { Asks, Managed } from '../turn-state.ts';
import { WAKE_ALWAYS } from '../wake-rule.ts';

const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
const kim = createPrincipal('kim', { kind: 'human' });
const ada = createPrincipal('ada');
const AGENTS = { ada, bob: createPrincipal('bob'), cy: createPrincipal('cy') };
type Name = keyof typeof AGENTS;

const ASKS: Asks = { names: [], isQuestion: false, wantsReply: true, noReply: false };
const END = {
  ...{ output: null, note: null, sessionRef: null, cost: null, consumed: 'all', quota: null },
  isRestart: false,
};

function manage(story: Story, agent: Name, limits = {}, runnerKind = 'outside'): void {
  story.subscribe(AGENTS[agent], 'room');
  const runner = JSON.stringify({ kind: runnerKind });
  const config = { runner, runnerKind, wake: WAKE_ALWAYS, limits, session: 'resume' } as const;
  accepted(story.do(kim, { type: 'agent.manage', agent, config }));
}

function take(story: Story): TakenTurn | null {
  story.pass(100);
  const wishes = { agents: null, runnerKinds: null, leaseMs: null, hash: null };
  return accepted(story.do(root, { type: 'turn.take', ...wishes })) as TakenTurn | null;
}

function finish(story: Story, { turn }: TakenTurn, outcome = 'done', wishes: object = {}): unknown {
  const end = { ...END, id: turn.id, epoch: turn.epoch, outcome, ...wishes };
  return story.do(root, { type: 'turn.finish', ...end } as never);
}

/** Lets turns be run, each by `run`, until none is due; how many there were. */
function runAll(story: Story, run: (turn: TakenTurn) => void, most = 1_000): number {
  for (let count = 0; count < most; count++) {
    const turn = take(story);
    if (turn === null) return count;
    run(turn);
  }
  return most;
}

/** Answers what it was given, wants an answer to that, and is done. */
function answer(story: Story, taken: TakenTurn, wishes: Partial<SendMessage> = {}): void {
  const { turn } = taken;
  const replyTo = turn.messages[0]?.position ?? null;
  story.send(AGENTS[turn.agent as Name], 'room', { replyTo, asks: ASKS, ...wishes });
  accepted(finish(story, taken, 'done', { output: 'and what do you say to that?' }));
}

const managedOf = (story: Story, name: Name): Managed =>
  story.world.turns.agents.get(name) as Managed;
const kinds = (story: Story, type: string): unknown[] =>
  story.events.filter((event) => event.type === type);
const items = (story: Story): string[] =>
  [...story.world.docket.items.values()]
    .filter((item) => item.closed === null)
    .map(({ kind, reason }) => `${kind} ${reason}`);

test.each([
  ['with reply_to', {}],
  ['without reply_to', { replyTo: null }],
])(
  '[RA3] two agents that always answer each other %s stop after six hops, with one item',
  (_, wishes) => {
    const story = createStory();
    manage(story, 'ada', { pair_per_min: 100, repeats_per_30_min: 100 });
    manage(story, 'bob', { pair_per_min: 100, repeats_per_30_min: 100 });
    story.send(ada, 'room', { asks: ASKS });
    runAll(story, (turn) => answer(story, turn, wishes), 100);
    const hops = [...story.world.turns.rails.chains.chains.values()].map((chain) => chain.hops);
    expect(Math.max(...hops)).toBe(6);
    expect(kinds(story, 'turn.stilled')).toHaveLength(1);
    expect(items(story)).toEqual(['alert hops']);
    // Delivered all the same.
    expect(story.take(AGENTS.ada).length + story.take(AGENTS.bob).length).toBeGreaterThan(0);
  },
);

test('[RA12] a person’s word in the thread begins the hops again and settles the item', () => {
  const story = createStory();
  manage(story, 'ada', { pair_per_min: 100, repeats_per_30_min: 100 });
  manage(story, 'bob', { pair_per_min: 100, repeats_per_30_min: 100 });
  const first = story.send(ada, 'room', { asks: ASKS });
  runAll(story, (turn) => answer(story, turn), 100);
  story.send(kim, 'room', { replyTo: first.position });
  expect(items(story)).toEqual([]);
  expect(runAll(story, (turn) => accepted(finish(story, turn)))).toBe(2);
  // Also what replies to a word from before the person's.
  story.send(ada, 'room', { replyTo: first.position, asks: { ...ASKS, names: ['bob'] } });
  expect(runAll(story, (turn) => answer(story, turn), 100)).toBe(5);
  expect(items(story)).toEqual(['alert hops']);
});

test('[RA4] the eleventh message of a pair within a minute wakes nobody', () => {
  const story = createStory();
  manage(story, 'ada', { turns_per_10_min: 100 });
  let turns = 0;
  for (let i = 0; i < 15; i++) {
    story.send(AGENTS.bob, 'room', { asks: { ...ASKS, names: ['ada'] } });
    turns += runAll(story, (turn) => accepted(finish(story, turn)));
  }
  expect(turns).toBe(10);
  expect(kinds(story, 'turn.stilled').length).toBeGreaterThan(0);
  story.pass(60_000);
  story.send(AGENTS.bob, 'room', { asks: { ...ASKS, names: ['ada'] } });
  expect(runAll(story, (turn) => accepted(finish(story, turn)))).toBe(1);
});

test('[RA11] a reply wakes whom it asks, and thanks wake nobody', () => {
  const story = createStory();
  manage(story, 'ada');
  const said = story.send(ada, 'room', { asks: null });
  const asked = story.send(ada, 'room', { asks: { ...ASKS, isQuestion: true } });
  const wakes = (replyTo: number, asks: Partial<Asks> | null): boolean => {
    const whole = asks && { ...ASKS, wantsReply: false, ...asks };
    story.send(AGENTS.bob, 'room', { replyTo, asks: whole });
    return runAll(story, (turn) => accepted(finish(story, turn))) === 1;
  };
  expect(wakes(said.position, null)).toBe(false);
  expect(wakes(asked.position, null)).toBe(true);
  expect(wakes(said.position, { names: ['ada'] })).toBe(true);
  expect(wakes(said.position, { names: ['cy'] })).toBe(false);
  expect(wakes(said.position, { wantsReply: true })).toBe(true);
  expect(wakes(asked.position, { noReply: true })).toBe(false);
});

test('[RA11] who is named is woken, and nobody else; a name that is nobody’s changes nothing', () => {
  const story = createStory();
  manage(story, 'ada');
  manage(story, 'bob');
  const woken = (names: string[]): string[] => {
    const agents: string[] = [];
    story.send(kim, 'room', { asks: { ...ASKS, wantsReply: false, names } });
    runAll(story, (turn) => {
      agents.push(turn.turn.agent);
      accepted(finish(story, turn));
    });
    return agents.sort();
  };
  expect(woken(['bob'])).toEqual(['bob']);
  expect(woken(['all'])).toEqual(['ada', 'bob']);
  expect(woken(['param'])).toEqual(['ada', 'bob']);
  expect(woken([])).toEqual(['ada', 'bob']);
});

test('[RA1] the eleventh turn in ten minutes waits, and a window filled again parks', () => {
  const story = createStory();
  manage(story, 'ada', { pair_per_min: 1_000 });
  const work = (n: number): number => {
    for (let i = 0; i < n; i++) story.send(AGENTS.bob, 'room', { replyTo: null });
    return 0;
  };
  let turns = 0;
  for (let i = 0; i < 12; i++) {
    work(1);
    turns += runAll(story, (turn) => accepted(finish(story, turn)));
  }
  expect(turns).toBe(10);
  expect(managedOf(story, 'ada')).toMatchObject({ state: 'asleep', why: 'turns_per_10_min' });
  story.pass(10 * 60_000);
  for (let i = 0; i < 12; i++) {
    turns += runAll(story, (turn) => accepted(finish(story, turn)));
    work(1);
  }
  runAll(story, (turn) => accepted(finish(story, turn)));
  expect(managedOf(story, 'ada').state).toBe('parked');
  expect(items(story)).toEqual(['parked turns_per_10_min']);
  accepted(story.do(kim, { type: 'agent.resume', agent: 'ada' }));
  expect(items(story)).toEqual([]);
});

test('[RA7] an agent whose output only counts on is parked as livelock', () => {
  const story = createStory();
  manage(story, 'ada');
  let said = 0;
  const output = () => `run ${said++} at 12:0${said}: the tests fail because the server is down`;
  for (let i = 0; i < 5; i++) {
    story.send(kim, 'room', {});
    runAll(story, (turn) => accepted(finish(story, turn, 'done', { output: output() })));
    if (managedOf(story, 'ada').state === 'parked') break;
  }
  expect(said).toBe(3);
  expect(managedOf(story, 'ada').why).toMatch(/^livelock/);
  expect(items(story)).toEqual(['parked livelock']);
});

test('[RA7] [RA12] a person’s message frees a parked agent, another agent’s does not', () => {
  const story = createStory();
  manage(story, 'ada');
  story.send(AGENTS.bob, 'room');
  accepted(finish(story, take(story) as TakenTurn, 'gave_up', { note: 'which database?' }));
  expect(items(story)).toEqual(['parked gave_up']);
  story.send(AGENTS.bob, 'room', { asks: { ...ASKS, names: ['ada'] } });
  expect(take(story)).toBeNull();
  story.send(kim, 'room');
  expect(take(story)?.turn.messages.length).toBeGreaterThan(0);
  expect(items(story)).toEqual([]);
});

test('[RA8] budgets of a turn, a day, a task and the space', () => {
  const story = createStory();
  manage(story, 'ada', { turn_usd: 1, day_usd: 2 });
  const cost = (usd: number) => ({ usd, tokensIn: 10, tokensOut: 10 });
  story.send(kim, 'room');
  const first = take(story) as TakenTurn;
  const { id, epoch } = first.turn;
  const renew = {
    type: 'turn.renew',
    id,
    epoch,
    leaseMs: null,
    pid: null,
    transcript: null,
  } as const;
  expect(codeOf(story.do(root, { ...renew, cost: cost(1.5) }))).toBe('budget.exhausted');
  accepted(finish(story, first, 'done', { cost: cost(1.5) }));
  expect(managedOf(story, 'ada').why).toContain('budget.exhausted');
  story.send(kim, 'room');
  accepted(finish(story, take(story) as TakenTurn, 'done', { cost: cost(0.9) }));
  story.send(kim, 'room');
  expect(take(story)).toBeNull();
  expect(managedOf(story, 'ada').why).toContain('day_usd');
  story.pass(86_400_000);
  story.send(kim, 'room');
  expect(take(story)).not.toBeNull();
});

test('[RA8] what all agents of a space spend in a day is bounded where the space says so', () => {
  const story = createStory();
  const change = { turnsDayUsd: 1 };
  accepted(story.do(root, { type: 'space.configure', change }));
  manage(story, 'ada');
  manage(story, 'bob');
  story.send(kim, 'room');
  accepted(
    finish(story, take(story) as TakenTurn, 'done', {
      cost: { usd: 1, tokensIn: 0, tokensOut: 0 },
    }),
  );
  story.send(kim, 'room');
  expect(runAll(story, (turn) => accepted(finish(story, turn)))).toBe(1);
  story.send(kim, 'room');
  expect(take(story)).toBeNull();
});

test('[RA10] a quota that is used up holds back every agent of that vendor until the stated time', () => {
  const story = createStory();
  manage(story, 'ada', {}, 'claude');
  manage(story, 'bob', {}, 'claude');
  manage(story, 'cy', {}, 'codex');
  story.send(kim, 'room');
  const until = story.at + 3_600_000;
  const ran: string[] = [];
  runAll(story, (turn) => {
    ran.push(turn.turn.agent);
    const isFirst = ran.length === 1;
    if (turn.turn.runnerKind !== 'claude') accepted(finish(story, turn));
    else if (isFirst)
      accepted(finish(story, turn, 'failed', { quota: { kind: 'exhausted', until } }));
    else accepted(finish(story, turn));
  });
  story.send(kim, 'room');
  const late = runAll(story, (turn) => {
    ran.push(turn.turn.agent);
    accepted(finish(story, turn));
  });
  expect(late).toBe(1);
  expect(ran.at(-1)).toBe('cy');
  story.pass(3_600_000);
  expect(runAll(story, (turn) => accepted(finish(story, turn)))).toBe(2);
});

test('[RA13] what sets off turns that do nothing waits longer, then wakes nobody until a person looks', () => {
  const story = createStory();
  manage(story, 'ada', { turns_per_10_min: 1_000 });
  const nothing = () => runAll(story, (turn) => accepted(finish(story, turn, 'nothing')));
  const say = () => story.send(AGENTS.bob, 'room', {});
  const counts: number[] = [];
  for (const waitMs of [0, 0, 60_000, 300_000, 0, 3_600_000]) {
    say();
    story.pass(waitMs);
    counts.push(nothing());
  }
  expect(counts).toEqual([1, 1, 1, 1, 0, 0]);
  expect(items(story)).toEqual(['alert fruitless']);
  story.send(kim, 'room');
  expect(nothing()).toBe(1);
  expect(items(story)).toEqual([]);
});

test('[RA9] a fifth turn for one thread within half an hour is parked', () => {
  const story = createStory();
  manage(story, 'ada');
  const first = story.send(AGENTS.bob, 'room');
  const turns = [runAll(story, (turn) => accepted(finish(story, turn)))];
  for (let i = 0; i < 5; i++) {
    story.pass(60_000);
    story.send(AGENTS.cy, 'room', { replyTo: first.position, asks: { ...ASKS, names: ['ada'] } });
    turns.push(runAll(story, (turn) => accepted(finish(story, turn))));
  }
  expect(turns).toEqual([1, 1, 1, 1, 0, 0]);
  expect(items(story)).toEqual(['parked repeats_per_30_min']);
});

test('[RA14] a result that gives up parks; words of giving up alone do not', () => {
  const story = createStory();
  manage(story, 'ada');
  story.send(kim, 'room');
  const output = 'I give up: the crash doesn’t exist any more';
  accepted(finish(story, take(story) as TakenTurn, 'done', { output }));
  expect(managedOf(story, 'ada').state).toBe('asleep');
});

test('[RA1] [RA3] what the rails count survives a snapshot', () => {
  const story = createStory();
  manage(story, 'ada', { repeats_per_30_min: 100 });
  manage(story, 'bob', { repeats_per_30_min: 100 });
  story.send(ada, 'room', { asks: ASKS });
  runAll(story, (turn) => answer(story, turn), 4);
  const thawed = thawWorld(freezeWorld(story.world));
  expect(thawed?.turns.rails).toEqual(story.world.turns.rails);
  expect(thawed?.turns.agents.get('ada')?.rails).toEqual(managedOf(story, 'ada').rails);
});
