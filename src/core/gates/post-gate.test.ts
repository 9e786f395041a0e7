/** Posts of tier 2: held by a gate, and so is the turn that wrote them [GT14]. */
import { describe, expect, test } from 'vitest';
import { createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
import type { SendMessage, SentAnswer } from '../talk/message.ts';
import type { TakenTurn } from '../turns/turn-events.ts';
import { WAKE_ALWAYS } from '../turns/wake-rule.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
const MIA = { credential: 'owner', person: 'mia' };
const POST: Partial<SendMessage> = {
  ...{ body: '{"tier":2,"text":"ship it"}', tier2: { credential: 'token a' } },
};
const HOUR_MS = 3_600_000;

/** bob reads `ops`, where posts of tier 2 wait for a person; mia is one. */
function tell(): Story {
  const story = createStory();
  story.do(root, {
    type: 'person.add',
    name: 'mia',
    verifier: 'v',
    credential: 'owner',
    person: null,
  });
  story.subscribe(bob, 'ops');
  story.do(root, { type: 'channel.configure', channel: 'ops', change: { doesGateTier2: true } });
  return story;
}

function decide(
  story: Story,
  id: string,
  decision: 'approve' | 'deny',
  reason: string | null = null,
) {
  const verdict = { decision, reason, payloadHash: null, ...MIA };
  return story.do(root, { type: 'gate.decide', id, ...verdict });
}

/** ada, in a turn that runs. */
function inTurn(story: Story): { by: typeof ada; turn: TakenTurn['turn'] } {
  story.subscribe(ada, 'jobs');
  const config = {
    ...{ runner: '{"kind":"outside"}', runnerKind: 'outside', wake: WAKE_ALWAYS },
    ...{ limits: { turn_timeout_ms: HOUR_MS, turn_wall_ms: HOUR_MS }, session: 'resume' as const },
  };
  story.do(root, { type: 'agent.manage', agent: 'ada', config });
  story.send(bob, 'jobs');
  story.pass(100);
  const take = { agents: null, runnerKinds: null, leaseMs: HOUR_MS, hash: null };
  const { turn } = story.do(root, { type: 'turn.take', ...take }) as TakenTurn;
  return { by: { ...ada, turn: { id: turn.id, epoch: turn.epoch } }, turn };
}

function finish(story: Story, { id, epoch }: TakenTurn['turn'], outcome: string): unknown {
  const rest = {
    output: null,
    note: null,
    sessionRef: null,
    cost: null,
    consumed: null,
    quota: null,
  };
  const end = { type: 'turn.finish', id, epoch, outcome, isRestart: false, ...rest };
  return story.do(root, end as never);
}

const gateOf = (story: Story, id = 'g1') => story.world.gates.ended.get(id)?.end.state ?? 'open';
const stateOf = (story: Story, sent: SentAnswer) => story.states(sent).bob;

describe('a post of tier 2', () => {
  test('[GT14] is held by a gate and delivered when a person approves', () => {
    const story = tell();
    const sent = story.send(ada, 'ops', POST);
    expect(sent.gate).toBe('g1');
    expect(story.world.gates.open.get('g1')).toMatchObject({
      ...{ asker: 'ada', action: 'post', tier: 2, policy: 'channel:ops', holds: sent.position },
      subject: 'on ops: {"tier":2,"text":"ship it"}',
    });
    expect(story.take(bob)).toEqual([]);
    expect([...story.world.docket.items.values()].map(({ kind }) => kind)).toEqual(['gate']);
    // Who is in no turn goes on.
    story.send(ada, 'ops');
    expect(story.take(bob)).toEqual([2]);
    decide(story, 'g1', 'approve');
    expect(story.take(bob)).toEqual([1]);
    expect(gateOf(story)).toBe('consumed');
    expect([...story.world.docket.items.values()].map(({ closed }) => closed?.outcome)).toEqual([
      'approved',
    ]);
    const told = story.entries.filter((entry) => entry.includes('sox/to/ada'));
    expect(told).toEqual([expect.stringContaining('it is delivered')]);
  });

  test('[GT14] is refused with the reason when it is denied, withdrawn or not decided in time', () => {
    const story = tell();
    const denied = story.send(ada, 'ops', POST);
    const withdrawn = story.send(ada, 'ops', POST);
    const late = story.send(ada, 'ops', POST);
    decide(story, 'g1', 'deny', 'not on a Friday');
    story.do(ada, { type: 'gate.withdraw', id: 'g2', reason: null });
    story.pass(15 * 24 * HOUR_MS);
    expect(story.take(bob)).toEqual([]);
    expect([denied, withdrawn, late].map((one) => stateOf(story, one))).toEqual([
      'refused',
      'refused',
      'expired',
    ]);
    expect(story.receipts(denied)[0]?.reason).toBe('g1 was denied by mia: not on a Friday');
    expect([gateOf(story), gateOf(story, 'g2'), gateOf(story, 'g3')]).toEqual([
      'denied',
      'withdrawn',
      'expired',
    ]);
    expect(story.world.held.size).toBe(0);
  });

  test('[GT14] is released by no review, and by nobody who has not proved to be a person', () => {
    const story = tell();
    const sent = story.send(ada, 'ops', POST);
    expect(story.review(root, sent, true)).toMatchObject({ refused: 'gate.pending' });
    const alone = {
      decision: 'approve',
      reason: null,
      payloadHash: null,
      credential: 'owner',
    } as const;
    const word = story.do(root, { type: 'gate.decide', id: 'g1', ...alone, person: null });
    expect(word).toMatchObject({ refused: 'gate.unproved' });
    // A gate of the same words is another one.
    const { action, subject, thread } = story.world.gates.open.get('g1') ?? {};
    story.do(ada, {
      ...{ type: 'gate.ask', action, subject, thread, tier: 2, kinds: [], names: [], count: 1 },
      ...{ deadlineMs: null, payloadHash: null, policy: 'channel:ops', turn: null, isKept: false },
      credential: 'token a',
    } as never);
    decide(story, 'g2', 'approve');
    expect(story.take(bob)).toEqual([]);
    expect(story.world.held.size).toBe(1);
  });

  test('[GT14] elsewhere, and of another tier, it is a message like any other', () => {
    const story = tell();
    story.subscribe(bob, 'talk');
    story.send(ada, 'talk', POST);
    story.send(ada, 'ops', { body: '{"tier":1}', tier2: null });
    expect(story.take(bob)).toEqual([1, 1]);
  });

  test('[GT14] goes with its channel and with its sender, and outlives a restart', () => {
    const story = tell();
    story.send(ada, 'ops', POST);
    story.do(root, { type: 'channel.retire', channel: 'ops', isForced: true });
    expect([gateOf(story), story.world.held.size]).toEqual(['withdrawn', 0]);
    story.do(root, { type: 'channel.configure', channel: 'ops', change: { doesGateTier2: true } });
    story.subscribe(bob, 'ops');
    story.send(ada, 'ops', POST);
    const world = thawWorld(freezeWorld(story.world));
    if (world === null) throw new Error('it thaws');
    const after = createStory(world, story.at);
    decide(after, 'g2', 'approve');
    expect(after.take(bob)).toEqual([1]);
    story.do(root, { type: 'agent.remove', agent: 'ada', isForced: true });
    expect([gateOf(story, 'g2'), story.take(bob)]).toEqual(['withdrawn', []]);
  });

  test('[GT14] goes with its group, and with the dm that both have left', () => {
    const story = tell();
    const gated = (channel: string) =>
      story.do(root, { type: 'channel.configure', channel, change: { doesGateTier2: true } });
    story.do(ada, {
      type: 'group.create',
      group: 'group/crew',
      displayName: null,
      invite: [],
    } as never);
    gated('group/crew');
    story.send(ada, 'group/crew', POST);
    story.do(ada, { type: 'group.remove', group: 'group/crew' });
    expect([gateOf(story), story.world.held.size]).toEqual(['withdrawn', 0]);
    story.send(ada, 'dm/ada~bob');
    gated('dm/ada~bob');
    story.send(ada, 'dm/ada~bob', POST);
    story.send(bob, 'dm/ada~bob', POST);
    const remove = { type: 'agent.remove', isForced: true } as const;
    story.do(root, { ...remove, agent: 'ada' });
    expect([gateOf(story, 'g2'), gateOf(story, 'g3')]).toEqual(['withdrawn', 'open']);
    story.do(root, { ...remove, agent: 'bob' });
    expect([gateOf(story, 'g3'), story.world.held.size]).toEqual(['withdrawn', 0]);
    expect([...story.world.docket.items.values()].filter(({ closed }) => closed === null)).toEqual(
      [],
    );
  });

  test('[GT14] goes with a group that its maker’s removal takes along, each once', () => {
    const story = tell();
    story.do(ada, {
      type: 'group.create',
      group: 'group/crew',
      displayName: null,
      invite: [],
    } as never);
    story.do(root, {
      ...{ type: 'channel.configure', channel: 'group/crew', change: { doesGateTier2: true } },
    } as const);
    story.send(ada, 'group/crew', POST);
    const remove = { type: 'agent.remove', agent: 'ada', isForced: true, takesMade: true } as const;
    expect(story.do(root, remove)).not.toHaveProperty('refused');
    expect([gateOf(story), story.world.gates.open.size]).toEqual(['withdrawn', 0]);
  });

  test('[GT14] a shorter time to wait ends both together', () => {
    const story = tell();
    const sent = story.send(ada, 'ops', POST);
    story.do(root, { type: 'space.configure', change: { heldTtlMs: HOUR_MS } });
    story.pass(HOUR_MS);
    expect([gateOf(story), stateOf(story, sent)]).toEqual(['expired', 'expired']);
  });
});

describe('the turn that wrote it', () => {
  test('[GT15] stands still until it is decided: it may look, and nothing else', () => {
    const story = tell();
    const { by } = inTurn(story);
    const first = story.send(by, 'ops', { ...POST, key: 'k' });
    const stopped = {
      refused: 'turn.stopped',
      detail: { gate_id: 'g1', message_id: `m${first.position}` },
    };
    expect(story.trySend(by, 'talk')).toMatchObject(stopped);
    expect(story.do(by, { type: 'subscription.add', pattern: 'talk' })).toMatchObject(stopped);
    const withdraw = { type: 'gate.withdraw', id: 'g1', reason: null } as const;
    expect(story.do(by, withdraw)).toMatchObject(stopped);
    expect(story.take(by)).toEqual([1]);
    expect(story.send(by, 'ops', { ...POST, key: 'k' })).toMatchObject({ isRepeat: true });
    decide(story, 'g1', 'approve');
    expect(story.trySend(by, 'talk')).toMatchObject({ seq: 1 });
    story.send(by, 'ops', POST);
    decide(story, 'g2', 'deny', 'no');
    expect(story.trySend(by, 'talk')).toMatchObject({ seq: 2 });
  });

  test('[GT15] may post what waits for a person as well, and goes on when all of it is decided', () => {
    const story = tell();
    const { by } = inTurn(story);
    story.send(by, 'ops', POST);
    story.send(by, 'ops', POST);
    decide(story, 'g1', 'approve');
    expect(story.trySend(by, 'talk')).toMatchObject({ detail: { gate_id: 'g2' } });
    decide(story, 'g2', 'approve');
    expect(story.trySend(by, 'talk')).toMatchObject({ seq: 1 });
    expect(story.take(bob)).toEqual([1, 2]);
  });

  test('[GT16] fails, and the same post of the next attempt waits for a person anew', () => {
    const story = tell();
    const { by, turn } = inTurn(story);
    const first = story.send(by, 'ops', { ...POST, key: 'k' });
    finish(story, turn, 'failed');
    expect(gateOf(story)).toBe('withdrawn');
    const again = story.send(ada, 'ops', { ...POST, key: 'k' });
    expect(again.position).not.toBe(first.position);
    // From here on it is the one message, also after a restart, and whatever becomes of it.
    const world = thawWorld(freezeWorld(story.world));
    if (world === null) throw new Error('it thaws');
    for (const one of [story, createStory(world, story.at)]) {
      const repeat = { isRepeat: true, position: again.position };
      expect(one.send(ada, 'ops', { ...POST, key: 'k' })).toMatchObject(repeat);
      decide(one, 'g2', 'deny', 'no');
      expect(one.send(ada, 'ops', { ...POST, key: 'k' })).toMatchObject(repeat);
      expect(one.world.gates.open.size).toBe(0);
    }
  });

  test.each([
    ['done', 'open'],
    ['nothing', 'open'],
    ['gave_up', 'withdrawn'],
    ['failed', 'withdrawn'],
  ])('[GT15] ends as %s, and the gate is then %s', (outcome, state) => {
    const story = tell();
    const { by, turn } = inTurn(story);
    story.send(by, 'ops', POST);
    finish(story, turn, outcome);
    expect(gateOf(story)).toBe(state);
    if (state === 'open') decide(story, 'g1', 'approve');
    expect(story.take(bob)).toEqual(state === 'open' ? [1] : []);
  });

  test('[GT9] an agent that is removed in its turn ends each of its gates once', () => {
    const story = tell();
    const { by } = inTurn(story);
    story.send(by, 'ops', POST);
    story.do(root, { type: 'agent.remove', agent: 'ada', isForced: true });
    expect([gateOf(story), story.world.gates.open.size]).toEqual(['withdrawn', 0]);
  });
});
