/** The law of turns: when one is due, who runs it, how it ends. */
import { expect, test } from 'vitest';
import { accepted, codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import {
  ada,
  finish,
  kim,
  manage,
  managedOf,
  positionsOf,
  root,
  take,
  taken,
  tell,
  turnAt,
  wes,
} from '../../testing/turn-story.ts';
import type { TakenTurn } from './turn-events.ts';
import { PENDING_PER_AGENT_MAX, TURNS_KEPT_MAX } from './turn-limits.ts';
import type { WakeRule } from './turn-state.ts';

test('[TN1] a message to a managed agent makes a turn due, once', () => {
  const story = tell();
  const sent = story.send(ada, 'jobs');
  const turn = taken(story);
  expect(positionsOf(turn)).toEqual([sent.position]);
  accepted(finish(story, turn, 'done'));
  story.pass(3_600_000);
  // It was not read and is still owed; it has had its turn.
  expect(take(story)).toBeNull();
  expect(managedOf(story).state).toBe('asleep');
});

test.each<[string, Partial<WakeRule>, boolean]>([
  ['a channel', { channels: ['jobs'] }, true],
  ['another channel', { channels: ['talk*'] }, false],
  ['a sender by glob', { from: ['a*'] }, true],
  ['another sender', { from: ['bob'] }, false],
  ['a kind', { kinds: ['agent'] }, true],
  ['another kind', { kinds: ['human'] }, false],
  ['less trust', { minTier: 'untrusted' }, true],
  ['more trust', { minTier: 'trusted' }, false],
])('[TN1] a wake rule that asks for %s selects by it', (_, wake, isSelected) => {
  const story = tell(wake);
  story.send(ada, 'jobs');
  story.pass(1_000);
  expect(take(story) !== null).toBe(isSelected);
});

test('[TN1] nobody wakes itself, by its own words or by what the hub tells of its acts', () => {
  const story = tell();
  story.subscribe(wes, 'sox/presence');
  story.send(wes, 'jobs');
  story.do(wes, { type: 'presence.beat', status: 'online', ttlMs: null });
  story.pass(20);
  story.do(wes, { type: 'presence.beat', status: 'offline', ttlMs: null });
  story.pass(1_000);
  expect(take(story)).toBeNull();
  story.do(ada, { type: 'presence.beat', status: 'online', ttlMs: null });
  expect(taken(story).turn.messages).toHaveLength(1);
});

test('[TN1] what a person has not released wakes nobody, and what is released does', () => {
  const story = tell();
  const eve = createPrincipal('eve', { tier: 'untrusted' });
  const sent = story.send(eve, 'jobs');
  const refused = story.send(eve, 'jobs');
  story.pass(60_000);
  expect(take(story)).toBeNull();
  accepted(story.review(kim, refused, false));
  accepted(story.review(kim, sent, true));
  expect(positionsOf(taken(story))).toEqual([sent.position]);
});

test('[TN15] thanks that want no answer wake nobody, and an order that wants none wakes whom it names', () => {
  const story = tell();
  const asks = { names: [] as string[], isQuestion: false, wantsReply: false, noReply: true };
  story.send(ada, 'jobs', { asks });
  story.pass(1_000);
  expect(take(story)).toBeNull();
  story.send(ada, 'jobs', { asks: { ...asks, names: ['wes'] } });
  expect(taken(story).turn.messages).toHaveLength(1);
});

test('[TN2] what arrives while an agent is busy begins its next turn when this one ends', () => {
  const story = tell();
  story.send(ada, 'jobs');
  const first = taken(story);
  const next = story.send(ada, 'jobs');
  story.pass(5_000);
  expect(take(story)).toBeNull();
  accepted(finish(story, first, 'done', { consumed: 'all' }));
  story.pass(0);
  const second = take(story) as TakenTurn;
  expect(positionsOf(second)).toEqual([next.position]);
  expect(second.turn.id).not.toBe(first.turn.id);
});

test('[TN3] an agent has one turn at a time, the longest due is taken first, and so many run at once', () => {
  const story = createStory();
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) {
    story.subscribe(createPrincipal(name), name);
    manage(story, name);
  }
  for (const name of [...names].reverse()) {
    story.send(ada, name);
    story.pass(30);
  }
  const order = [take(story), take(story), take(story), take(story)];
  expect(order.map((one) => one?.turn.agent)).toEqual(['f', 'e', 'd', 'c']);
  // Four run at once by default.
  expect(take(story)).toBeNull();
  accepted(finish(story, order[0] as TakenTurn, 'done'));
  expect(take(story)?.turn.agent).toBe('b');
  story.do(root, { type: 'space.configure', change: { turnsParallelMax: 5 } });
  story.send(ada, 'e');
  story.pass(1_000);
  expect(take(story)?.turn.agent).toBe('a');
  expect(story.world.turns.busyCount).toBe(5);
});

test('[TN4] messages that arrive together are one turn of at most twenty, and the rest make the next', () => {
  const story = tell();
  for (let i = 0; i < 25; i++) {
    story.send(ada, 'jobs');
    story.pass(2);
  }
  const first = taken(story);
  expect(first.turn.dueAt - story.world.recordedAt).toBeLessThanOrEqual(0);
  expect(first.turn.messages).toHaveLength(20);
  accepted(finish(story, first, 'done', { consumed: 'all' }));
  expect(taken(story).turn.messages).toHaveLength(5);
});

test('[TN4] a lone message waits 25 ms for company, and a stream of them no longer than 75', () => {
  const lone = tell();
  const from = lone.at;
  lone.send(ada, 'jobs');
  expect(taken(lone).turn.dueAt).toBe(from + 25);
  const stream = tell();
  for (let i = 0; i < 20; i++) {
    stream.send(ada, 'jobs');
    stream.pass(10);
  }
  expect((take(stream) as TakenTurn).turn.dueAt).toBe(from + 75);
});

test('[TN5] given is presented, read is consumed in whatever order, and the rest stays owed', () => {
  const story = tell();
  const [one, two, three] = [1, 2, 3].map(() => story.send(ada, 'jobs'));
  const turn = taken(story);
  expect(story.states(one as never)).toEqual({ wes: 'presented' });
  const middle = (two as { position: number }).position;
  accepted(finish(story, turn, 'done', { consumed: [middle] }));
  expect(story.states(two as never)).toEqual({ wes: 'consumed' });
  expect(story.states(one as never)).toEqual({ wes: 'presented' });
  expect(turnAt(story, turn.turn.id).isFruitless).toBe(false);
  expect(story.take(wes)).toEqual([1, 3]);
  expect(story.states(three as never)).toEqual({ wes: 'consumed' });
});

test('[TN5] a turn that ends well and read nothing is fruitless; one that drained by itself is not', () => {
  const story = tell();
  story.send(ada, 'jobs');
  const idle = taken(story);
  accepted(finish(story, idle, 'done'));
  expect(turnAt(story, idle.turn.id).isFruitless).toBe(true);
  story.send(ada, 'jobs');
  const reading = taken(story);
  expect(story.take(wes)).toEqual([1, 2]);
  accepted(finish(story, reading, 'done'));
  expect(turnAt(story, reading.turn.id).isFruitless).toBe(false);
});

test('[TN6] a run that is not heard of in time is fenced off, whatever it says later', () => {
  const story = tell();
  story.send(ada, 'jobs');
  const lost = taken(story);
  story.pass(10_000);
  expect(codeOf(finish(story, lost, 'done'))).toBe('turn.stale');
  story.pass(5_000);
  const again = take(story) as TakenTurn;
  expect(again.turn.id).toBe(lost.turn.id);
  expect(again.turn.epoch).toBe(lost.turn.epoch + 1);
  expect(again.turn.attempt).toBe(2);
  const renew = {
    type: 'turn.renew',
    leaseMs: null,
    pid: null,
    transcript: null,
    cost: null,
  } as const;
  const stale = story.do(root, { ...renew, id: lost.turn.id, epoch: lost.turn.epoch });
  expect(codeOf(stale)).toBe('turn.stale');
  accepted(finish(story, again, 'done'));
});

test('[TN6] a sign of life renews, little of it is stored, and the wall time is never passed', () => {
  const story = tell({}, { turn_timeout_ms: 60_000, turn_wall_ms: 300_000 });
  story.send(ada, 'jobs');
  const { turn } = taken(story);
  const renew = {
    type: 'turn.renew',
    leaseMs: null,
    pid: null,
    transcript: null,
    cost: null,
  } as const;
  const before = story.entries.length;
  for (let second = 0; second < 299; second++) {
    accepted(story.do(root, { ...renew, id: turn.id, epoch: turn.epoch }));
    story.pass(1_000);
  }
  expect(managedOf(story).state).toBe('busy');
  expect(story.entries.length - before).toBeLessThan(15);
  story.pass(1_000);
  expect(managedOf(story).state).toBe('failed');
  expect(turnAt(story, turn.id).note).toContain('turn_wall_ms');
});

test('[TN6] an hour that is jumped over makes no second turn', () => {
  const story = tell();
  story.send(ada, 'jobs');
  const lost = taken(story);
  story.at += 3_600_000;
  story.pass(0);
  expect(managedOf(story).state).toBe('failed');
  story.at += 3_600_000;
  story.pass(0);
  const again = take(story) as TakenTurn;
  expect(again.turn.id).toBe(lost.turn.id);
  expect(take(story)).toBeNull();
  expect(codeOf(finish(story, lost, 'done'))).toBe('turn.stale');
});

test('[TN7] whoever acts for a turn is held to it: its sends are counted, and it ends with the turn', () => {
  const story = tell({}, { sends_per_turn: 2 });
  story.send(ada, 'jobs');
  const { turn } = taken(story);
  const acting = { ...wes, turn: { id: turn.id, epoch: turn.epoch } };
  story.send(acting, 'out');
  story.send(acting, 'out');
  expect(codeOf(story.trySend(acting, 'out'))).toBe('turn.too-many-sends');
  expect(turnAt(story, turn.id).sends).toBe(2);
  accepted(story.do(acting, { type: 'subscription.add', pattern: 'more' }));
  // Its own words outside the turn are not counted.
  story.send(wes, 'out');
  story.pass(10_000);
  const claim = {
    id: 'x',
    epoch: null,
    scope: null,
    ttlMs: null,
    note: null,
    git: null,
    idempotency: null,
  };
  expect(codeOf(story.do(acting, { type: 'claim.take', ...claim }))).toBe('turn.stale');
  expect(codeOf(story.trySend(acting, 'out'))).toBe('turn.stale');
});

test('[TN7] a gate that a turn waits for is withdrawn with it', () => {
  const story = tell();
  story.send(ada, 'jobs');
  const held = taken(story);
  const gate = {
    ...{ credential: 'c', action: 'push', subject: 'main', tier: 1, deadlineMs: null },
    ...{ kinds: ['human'], names: [], count: 1, thread: null, payloadHash: null },
    ...{ policy: null, turn: held.turn.id, isKept: false },
  };
  accepted(story.do(wes, { type: 'gate.ask', ...gate } as never));
  accepted(finish(story, held, 'done'));
  const ended = story.events.find(({ type }) => type === 'gate.ended');
  expect(ended).toMatchObject({ state: 'withdrawn' });
});

test('[TN8] [TN11] a parked agent is one item on the docket until a person resumes it', () => {
  const story = tell();
  story.send(ada, 'jobs');
  accepted(finish(story, taken(story), 'gave_up', { note: 'which branch?' }));
  const items = [...story.world.docket.items.values()];
  expect(items).toMatchObject([{ agent: 'wes', reason: 'gave_up' }]);
  accepted(story.do(kim, { type: 'agent.resume', agent: 'wes' }));
  expect([...story.world.docket.items.values()].filter(({ closed }) => closed === null)).toEqual(
    [],
  );
});

test('[TN8] a turn that fails is tried again after 2, 4 and 8 seconds, and then is dead', () => {
  const story = tell();
  const sent = story.send(ada, 'jobs');
  const waits: number[] = [];
  for (let turn = taken(story); ; turn = take(story) as TakenTurn) {
    accepted(finish(story, turn, 'failed', { note: 'no such model' }));
    const { retryAt } = turnAt(story, turn.turn.id);
    if (retryAt === null) break;
    waits.push(retryAt - story.at);
    story.pass(retryAt - story.at);
  }
  expect(waits).toHaveLength(3);
  for (const [i, ms] of [2_000, 4_000, 8_000].entries()) {
    expect(waits[i]).toBeGreaterThanOrEqual(ms * 0.75);
    expect(waits[i]).toBeLessThanOrEqual(ms * 1.25);
  }
  expect(managedOf(story).state).toBe('parked');
  const [receipt] = story.receipts(sent);
  expect(receipt?.state).toBe('dead');
  expect(receipt?.reason).toContain('no such model');
  expect(story.take(wes)).toEqual([]);
  // It begins nothing until a person has looked; then what came meanwhile has its turn.
  story.send(ada, 'jobs');
  story.pass(60_000);
  expect(take(story)).toBeNull();
  accepted(story.do(kim, { type: 'agent.resume', agent: 'wes' }));
  expect(taken(story).turn.messages).toHaveLength(1);
});

test('[TN8] [TN11] a person has a dead turn tried again: its messages are owed once more', () => {
  const story = tell();
  const sent = story.send(ada, 'jobs');
  let turn = taken(story);
  for (let i = 0; i < 4; i++) {
    accepted(finish(story, turn, 'failed'));
    story.pass(11_000);
    turn = take(story) ?? turn;
  }
  expect(turnAt(story, turn.turn.id).state).toBe('dead');
  accepted(story.do(kim, { type: 'turn.retry', id: turn.turn.id }));
  const again = taken(story);
  expect(positionsOf(again)).toEqual([sent.position]);
  accepted(finish(story, again, 'done', { consumed: 'all' }));
  expect(story.states(sent)).toEqual({ wes: 'consumed' });
});

test('[TN9] what a restart cut off is tried again at once and told so, once', () => {
  const story = tell();
  story.send(ada, 'jobs');
  const first = taken(story);
  accepted(finish(story, first, 'failed', { isRestart: true }));
  story.pass(0);
  const second = take(story) as TakenTurn;
  expect(second.turn.isAfterRestart).toBe(true);
  expect(second.turn.failures).toBe(0);
  accepted(finish(story, second, 'failed', { isRestart: true }));
  expect(turnAt(story, first.turn.id).failures).toBe(1);
});

test('[TN18] which incarnation of a server runs a turn is on the record, and is not that of the run before', () => {
  const story = tell();
  story.send(ada, 'jobs');
  const first = taken(story, { incarnation: 'i1' });
  expect([first.turn.incarnation, turnAt(story, first.turn.id).incarnation]).toEqual(['i1', 'i1']);
  accepted(finish(story, first, 'failed', { isRestart: true }));
  expect(turnAt(story, first.turn.id).incarnation).toBe('i1');
  story.pass(0);
  const second = take(story, { incarnation: 'i2' }) as TakenTurn;
  expect(turnAt(story, second.turn.id).incarnation).toBe('i2');
  expect(codeOf(finish(story, first, 'done', { consumed: 'all' }))).toBe('turn.stale');
  accepted(finish(story, second, 'failed'));
  // Somebody outside, or a server that is alone, says none.
  story.pass(60_000);
  const third = taken(story);
  expect(third.turn.id).toBe(first.turn.id);
  expect(turnAt(story, third.turn.id)).not.toHaveProperty('incarnation');
});

test('[TN10] what cannot work is refused by field when it is configured, and changes nothing', () => {
  const story = createStory();
  story.subscribe(wes, 'jobs');
  const before = story.entries.length;
  const outcomes = [
    manage(story, 'nobody'),
    manage(story, 'wes', {}, { turn_timeout_ms: 999 }),
    manage(story, 'wes', {}, { turns_per_day: 1.5 }),
    manage(story, 'wes', {}, { naps: 1 }),
    manage(story, 'wes', { from: ['x'.repeat(300)] }),
  ];
  const fields = outcomes.map((one) => {
    const { detail } = one as { detail?: { violations?: { field: string }[] } };
    return [codeOf(one), detail?.violations?.[0]?.field];
  });
  expect(fields).toEqual([
    ['agent.not-found', 'agent_id'],
    ['turn.limit-invalid', 'limits.turn_timeout_ms'],
    ['turn.limit-invalid', 'limits.turns_per_day'],
    ['turn.limit-invalid', 'limits.naps'],
    ['input.invalid', 'wake.from'],
  ]);
  expect(story.entries.length).toBe(before);
});

test('[TN11] pausing ends the turn that runs, and resuming begins it again', () => {
  const story = tell();
  const sent = story.send(ada, 'jobs');
  const cut = taken(story);
  accepted(story.do(kim, { type: 'agent.pause', agent: null, reason: 'stop' }));
  expect(codeOf(finish(story, cut, 'done'))).toBe('turn.stale');
  story.pass(60_000);
  expect(take(story)).toBeNull();
  accepted(story.do(kim, { type: 'agent.resume', agent: null }));
  expect(positionsOf(taken(story))).toEqual([sent.position]);
});

test('[TN11] a cancelled turn is over for its messages, which stay in the inbox', () => {
  const story = tell();
  story.send(ada, 'jobs');
  const { turn } = taken(story);
  accepted(story.do(kim, { type: 'turn.cancel', id: turn.id, reason: null }));
  story.pass(60_000);
  expect(take(story)).toBeNull();
  expect(story.take(wes)).toEqual([1]);
});

test('[TN12] read, acked, expired, left or retired before it is taken: no turn', () => {
  const ways: ((story: Story, sent: never) => void)[] = [
    (story) => story.take(wes),
    (story, sent) => story.ack(wes, sent, 'done'),
    (story) => story.pass(10_000),
    (story) => story.do(wes, { type: 'subscription.remove', patterns: ['jobs'] }),
    (story) => story.do(root, { type: 'channel.retire', channel: 'jobs', isForced: true }),
  ];
  for (const happen of ways) {
    const story = tell();
    const sent = story.send(ada, 'jobs', { ttlMs: 5_000 });
    story.pass(100);
    expect(managedOf(story).state).toBe('waking');
    happen(story, sent as never);
    expect(take(story)).toBeNull();
    expect(managedOf(story).state).toBe('asleep');
  }
});

test('[TN12] a message that is out on lease wakes when it comes back, and not before', () => {
  const story = tell();
  const sent = story.send(ada, 'jobs');
  story.drain(wes, { leaseMs: 5_000 });
  story.pass(1_000);
  expect(take(story)).toBeNull();
  story.pass(5_000);
  expect(positionsOf(take(story) as TakenTurn)).toEqual([sent.position]);
});

test('[TN13] an agent that is flooded is parked when its turns have caught up', () => {
  const story = tell();
  accepted(story.do(kim, { type: 'agent.pause', agent: 'wes', reason: null }));
  for (let i = 0; i < PENDING_PER_AGENT_MAX + 5; i++) story.send(ada, 'jobs');
  expect(managedOf(story).pending).toHaveLength(PENDING_PER_AGENT_MAX);
  expect(managedOf(story).isFlooded).toBe(true);
});

test('[TN13] of turns that have ended the oldest are forgotten, and one that has not is kept', () => {
  const story = tell({}, { turns_per_10_min: 10_000, turns_per_day: 100_000 });
  story.subscribe(ada, 'ada');
  manage(story, 'ada');
  story.send(wes, 'ada');
  story.pass(100);
  const kept = managedOf(story, 'ada').turn as string;
  for (let i = 0; i < TURNS_KEPT_MAX + 10; i++) {
    story.send(ada, 'jobs');
    story.pass(30);
    const turn = take(story, { agents: ['wes'] }) as TakenTurn;
    accepted(finish(story, turn, 'done', { consumed: 'all' }));
  }
  expect(story.world.turns.turns.size).toBe(TURNS_KEPT_MAX);
  expect(turnAt(story, kept).state).toBe('waking');
});
