/** The law of gates: what the traces do not show, its bounds, its turns and its clock. */
import { describe, expect, test } from 'vitest';
import { createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
import { lapseGates, withdrawGatesOf } from './gate-end.ts';
import type { AskGate } from './gate-events.ts';
import { ENDED_GATES_PER_AGENT_MAX, GATES_PER_AGENT_MAX } from './gate-limits.ts';
import { checkOpen } from './gate-view.ts';

const ada = createPrincipal('ada');
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
const WISH = {
  ...{ type: 'gate.ask', action: 'push', subject: 'main', tier: 1, kinds: [], names: [] },
  ...{ count: 1, deadlineMs: null, thread: null, payloadHash: null, policy: null },
  ...{ turn: null, isKept: false, credential: 'token a' },
} as unknown as Omit<AskGate, 'by' | 'at'>;
const MIA = { credential: 'owner', person: 'mia' };

function createPeople(): Story {
  const story = createStory();
  const first = { credential: 'owner', person: null };
  story.do(root, { type: 'person.add', name: 'mia', verifier: 'v', ...first });
  return story;
}

function approve(story: Story, id: string): unknown {
  const verdict = { decision: 'approve', reason: null, payloadHash: null } as const;
  return story.do(root, { type: 'gate.decide', id, ...verdict, ...MIA });
}

describe('a turn', () => {
  test('[GT9] what it waits for is withdrawn with it, unless it was to be kept or is decided', () => {
    const story = createPeople();
    const asks = [
      { subject: 'a', turn: 't1' },
      { subject: 'b', turn: 't1', isKept: true },
      { subject: 'c', turn: 't1' },
      { subject: 'd', turn: 't2' },
    ];
    for (const wish of asks) story.do(ada, { ...WISH, ...wish });
    approve(story, 'g3');
    const events = withdrawGatesOf(story.world, 't1', story.at);
    expect(events.map(({ type }) => type)).toEqual(['gate.ended', 'message.sent']);
    expect(events[0]).toMatchObject({ id: 'g1', state: 'withdrawn' });
  });

  test('[GT9] what an agent asked goes with the agent', () => {
    const story = createPeople();
    story.do(ada, WISH);
    story.do(ada, { ...WISH, subject: 'other' });
    approve(story, 'g2');
    story.do(root, { type: 'agent.remove', agent: 'ada', isForced: true });
    const { open, ended } = story.world.gates;
    expect([open.size, ended.get('g1')?.end.state, ended.get('g2')?.end.state]).toEqual([
      0,
      'withdrawn',
      'lapsed',
    ]);
  });
});

describe('bounds', () => {
  test('[GT10] a thousand are open, one more is refused, and taking one back makes room', () => {
    const story = createPeople();
    for (let i = 0; i < GATES_PER_AGENT_MAX; i++) story.do(ada, { ...WISH, subject: `s${i}` });
    const full = story.do(ada, { ...WISH, subject: 'one more' });
    expect(full).toMatchObject({ refused: 'limit.reached' });
    expect(story.do(createPrincipal('bob'), WISH)).toMatchObject({ id: 'g1001' });
    story.do(ada, { type: 'gate.withdraw', id: 'g1', reason: null });
    expect(story.do(ada, { ...WISH, subject: 'one more' })).toMatchObject({ isNew: true });
    const thawed = thawWorld(freezeWorld(story.world));
    expect(thawed?.gates.open.size).toBe(GATES_PER_AGENT_MAX + 1);
    expect(thawed?.gates.byAsker.get('ada')?.size).toBe(GATES_PER_AGENT_MAX);
  });

  test('[GT6] who waits for the end is sent no message about it, whichever it is', () => {
    const story = createPeople();
    for (const subject of ['a', 'b']) story.do(ada, { ...WISH, subject, isAwaited: true });
    // The same wish to be told of is another gate, which takes its place.
    expect(story.do(ada, { ...WISH, subject: 'b' })).toMatchObject({ id: 'g3', isNew: true });
    const before = story.world.length;
    approve(story, 'g1');
    expect(story.world.length - before).toBe(1);
    approve(story, 'g3');
    expect(story.world.length - before).toBe(3);
    const [lapsed] = lapseGates(story.world, story.at, () => true, 'the rule changed');
    expect(lapsed).toMatchObject({ id: 'g1', state: 'lapsed' });
    expect(lapseGates(story.world, story.at, () => true, '').map(({ type }) => type)).toEqual([
      ...['gate.ended', 'gate.ended', 'message.sent'],
    ]);
  });

  test('[GT6] one who asks without end pushes out none of what others are told', () => {
    const story = createPeople();
    story.do(createPrincipal('bob'), WISH);
    story.do(createPrincipal('bob'), { type: 'gate.withdraw', id: 'g1', reason: null });
    for (let i = 2; i < ENDED_GATES_PER_AGENT_MAX + 4; i++) {
      story.do(ada, WISH);
      story.do(ada, { type: 'gate.withdraw', id: `g${i}`, reason: null });
    }
    const { ended } = story.world.gates;
    expect([ended.size, ended.has('g1'), ended.has('g2')]).toEqual([
      ENDED_GATES_PER_AGENT_MAX + 1,
      true,
      false,
    ]);
  });
});

describe('the clock', () => {
  test('[GT1] a deadline that passed holds also where no clock has told of it', () => {
    const story = createPeople();
    story.do(ada, { ...WISH, deadlineMs: 60_000 });
    const gate = story.world.gates.open.get('g1');
    if (gate === undefined) throw new Error('it is open');
    expect(checkOpen(gate, story.at + 59_999)).toBe(gate);
    expect(checkOpen(gate, story.at + 60_000)).toMatchObject({ refused: 'gate.ended' });
    story.at += 60_000;
    expect(approve(story, 'g1')).toMatchObject({ refused: 'gate.ended' });
  });

  test('[GT7] an approval that was used on time outlives no restart twice', () => {
    const story = createPeople();
    story.do(ada, WISH);
    approve(story, 'g1');
    const world = thawWorld(freezeWorld(story.world));
    if (world === null) throw new Error('it thaws');
    const after = createStory(world, story.at);
    const use = { type: 'gate.consume', id: 'g1', payloadHash: null, policy: null } as const;
    expect(after.do(ada, use)).toMatchObject({ id: 'g1' });
    expect(after.do(ada, use)).toMatchObject({ refused: 'gate.ended' });
  });
});
