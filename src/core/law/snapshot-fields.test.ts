/**
 * Goal: nothing a snapshot keeps can be forgotten without being noticed.
 * Method: a world in which every field holds something is frozen; then each field of the
 * text in turn is left out, and each list emptied, and thawing must refuse or the
 * comparison, which knows nothing of snapshots, must tell a different world.
 */

import { beforeAll, expect, test } from 'vitest';
import { createChance } from '../../testing/chance.ts';
import { portray } from '../../testing/compare.ts';
import { addStep, CAST } from '../../testing/history.ts';
import { accepted, createStory, type Story } from '../../testing/story.ts';
import type { CardFields } from '../work/card-fields.ts';
import type {
  CancelRun,
  ForkRun,
  RecordRun,
  RunEntry,
  SignalRun,
  StartRun,
  TakeRuns,
  WaitAsked,
} from '../workflows/run-events.ts';
import { type Principal, SERVER } from './principal.ts';
import { freezeWorld, thawWorld } from './snapshot.ts';

const [ada, bob, cat] = CAST as [Principal, Principal, Principal];
const root = CAST.at(-1) as Principal;
const NO_KEY = { idempotency: null, epoch: null };

/** A world with something in every field. */
function tellRich(): Story {
  const story = createStory();
  const chance = createChance(5);
  for (let i = 0; i < 600; i++) addStep(story, chance);
  const asked = { scope: null, ttlMs: null, note: 'n', git: 'g' };
  const scope = { worktree: 'w', branch: 'main', paths: ['src/a.ts'] };
  const idempotency = { key: 'k', digest: 'd' };
  story.do(ada, { type: 'claim.take', id: 'one', epoch: null, idempotency, ...asked, scope });
  story.do(bob, { type: 'claim.wait', id: 'one', scope, ttlMs: null, idempotency: null });
  story.do(cat, { type: 'claim.take', id: 'two', ...NO_KEY, ...asked });
  const checkpoint = { checkpoint: '{"step":1}', expectedVersion: null };
  story.do(cat, { type: 'claim.checkpoint', id: 'two', ...NO_KEY, ...checkpoint });
  const held = { ...NO_KEY, id: 'one', expectedVersion: null };
  story.do(ada, { type: 'claim.checkpoint', ...held, checkpoint: '{"step":2}' });
  const updated = { status: 'working', note: null, dataRef: 'ref' } as const;
  story.do(ada, { type: 'claim.update', ...held, ...updated });
  const gift = { to: 'bob', isRecipientThere: true, ttlMs: 60_000, note: 'yours' };
  story.do(ada, { type: 'claim.hand-off', id: 'one', ...NO_KEY, ...gift });
  story.do(cat, { type: 'claim.release', id: 'two', ...NO_KEY, evidence: null, isForced: false });
  const declared = { description: 'd', project: 'p', suggestedOwner: 'ada', causalParent: 'c' };
  for (const [id, dependsOn] of [
    ['t1', []],
    ['t2', ['t1']],
  ] as [string, string[]][]) {
    const task = { id, title: id, dependsOn, ...declared, expectedVersion: null };
    story.do(ada, { type: 'task.declare', ...task });
  }
  story.do(ada, { type: 'progress.post', taskId: 't1', kind: 'note', text: 'so far' });
  const offer = { kind: 'llm', name: 'm', capacity: 2, meta: '{"a":1}', ttlMs: null };
  story.do(ada, { type: 'offer.make', ...offer });
  story.do(root, { type: 'agent.assign', agent: 'ada', roles: ['reviewer'] });
  story.do(ada, { type: 'card.advertise', card: CARD });
  story.do(ada, {
    type: 'recall.log',
    ...{ queryText: 'q', returnedIds: ['1'], wasUsed: true, hasAbstained: null },
  });
  const messageRetentionMs = 86_400_000;
  const policy = { replayPolicy: 'custom', replayAllow: ['ada'] } as const;
  const change = { ...policy, schema: '{}', messageRetentionMs, doesGateTier2: true as const };
  const supervision = {
    superviseEveryMs: 10_000,
    stalledAfterMs: 60_000,
    claimsPerAgent: 200,
    offersPerAgent: 100,
    turnsParallelMax: 9,
    turnsDayUsd: 500,
    turnsDayTokens: 1e9,
  };
  const gates = { gateProof: 'none', gateProofMs: 60_000 } as const;
  story.do(root, {
    type: 'space.configure',
    change: { messageRetentionMs, memoryRetentionMs: messageRetentionMs, ...supervision },
  });
  const came = { credential: 'owner', person: 'mia' };
  story.do(root, { type: 'person.add', name: 'mia', verifier: 'v', ...came });
  const passkey = { id: 'k', publicKey: 'pk', label: 'laptop', signCount: 3 };
  story.do(root, { type: 'passkey.add', ...passkey, ...came });
  story.do(root, { type: 'space.configure', change: gates, came });
  story.do(root, { type: 'channel.configure', channel: 'a', change });
  story.send(ada, 'a', { key: 'retry:1', schemaVersion: 1 });
  const owed = [...(story.world.agents.get('bob')?.ready ?? [])];
  const shown = new Set(
    owed.flatMap(({ channel }) => channel.positions.at(channel.positions.head)),
  );
  story.do(bob, { type: 'inbox.present', shown });
  story.drain(bob, { leaseMs: 60_000, max: 1 });
  const group = { group: 'group/rich', displayName: 'Rich', replayPolicy: null };
  story.do(ada, { type: 'group.create', ...group });
  story.do({ ...ada, id: 'syl', isVouched: true }, { type: 'subscription.add', pattern: 'news' });
  story.send(ada, 'passing');
  story.send(ada, 'dm/ada~nobody-yet');
  story.do(root, { type: 'channel.retire', channel: 'passing', isForced: true });
  const config = {
    ...{ runner: '{"kind":"outside"}', runnerKind: 'outside', session: 'resume' as const },
    limits: { turns_per_day: 5 },
    wake: {
      channels: ['t*', 'sox/*'],
      from: ['*'],
      kinds: ['agent', 'admin'],
      minTier: 'standard',
    },
  } as const;
  const wes = { id: 'wes', kind: 'agent', tier: 'standard' } as const;
  for (const one of [ada, bob, cat, wes]) {
    story.subscribe(one, 'turns', 'talk');
    story.do(root, { type: 'agent.manage', agent: one.id, config });
  }
  const asks = {
    names: ['ada', 'bob', 'cat', 'wes'],
    isQuestion: true,
    wantsReply: true,
    noReply: false,
  };
  const traits = { asks, ttlMs: 9e8, replyTo: 1, isQuote: true };
  story.send(root, 'turns', traits);
  story.pass(50);
  const take = { agents: null, runnerKinds: null, leaseMs: null, hash: 'h' };
  story.do(root, { type: 'turn.take', ...take, agents: ['ada'] });
  const renewed = { leaseMs: null, pid: 1, transcript: 't' };
  const cost = { usd: 1, tokensIn: 1, tokensOut: 1 };
  story.do(root, { type: 'turn.renew', id: 't1', epoch: 1, ...renewed, cost });
  const ended = { ...{ output: null, note: 'n', sessionRef: 's', consumed: null }, cost };
  const finish = { type: 'turn.finish', ...ended, quota: null, isRestart: false } as const;
  story.do(root, { ...finish, id: 't1', epoch: 1, outcome: 'failed', isRestart: true });
  story.do(root, { type: 'turn.take', ...take, agents: ['cat'] });
  story.do(root, { ...finish, id: 't3', epoch: 1, outcome: 'nothing' });
  story.pass(0);
  const quota = { kind: 'exhausted', until: story.at + 1_000 } as const;
  story.do(root, { type: 'turn.take', ...take, agents: ['wes'] });
  story.do(root, { ...finish, id: 't4', epoch: 1, outcome: 'failed', isRestart: true });
  story.pass(0);
  story.do(root, { type: 'turn.take', ...take, agents: ['wes'] });
  story.do(root, { ...finish, id: 't4', epoch: 2, outcome: 'failed', quota });
  story.do(root, { type: 'turn.take', ...take, agents: ['bob'], incarnation: 'i' });
  story.do(root, { type: 'turn.renew', id: 't2', epoch: 1, ...renewed, cost });
  tellRails(story, finish, take);
  story.subscribe(cat, 'sox/presence');
  story.do(ada, { type: 'presence.beat', status: 'busy', ttlMs: null });
  const eve = { id: 'eve', kind: 'agent', tier: 'untrusted' } as const;
  story.send(eve, 'turns', traits);
  const token = { agent: 'syl', kind: 'agent', tier: 'standard', label: 'l' } as const;
  const rest = { hash: 'h', roles: ['lead'], expiresAt: 9e12 };
  story.do(root, { type: 'token.create', id: 'rich', ...rest, ...token });
  story.do(root, { type: 'token.revoke', id: 'rich' });
  const question = { to: 'root', thread: 'm1', forMs: 86_400_000 };
  for (const asker of [ada, bob]) {
    story.do(asker, { type: 'docket.raise', text: 'Which port?', ...question });
  }
  const ids = [...story.world.docket.open];
  const [first = 0] = story.world.docket.agents.get('ada')?.open ?? [];
  const [second = 0] = story.world.docket.agents.get('bob')?.open ?? [];
  story.do(SERVER, { type: 'docket.notice', ids });
  story.do(root, { type: 'docket.take', id: first, isForced: false });
  const ending = { subject: null, outcome: 'answered', note: '8080' } as const;
  story.do(root, { type: 'docket.close', id: second, ...ending });
  tellGates(story);
  tellThreads(story);
  tellProcesses(story);
  tellContext(story);
  tellSessions(story);
  tellRuns(story);
  return story;
}

function tellContext(story: Story): void {
  const set = { type: 'context.set', key: 'k', value: { n: 1 }, ifVersion: null } as const;
  const gone = { type: 'context.delete', key: 'k', prefix: null, ifVersion: null } as const;
  story.do(ada, { ...set, ns: 'plan', ttlMs: 86_400_000 });
  story.do(ada, { ...set, ns: 'empty', ttlMs: null });
  story.do(ada, { ...gone, ns: 'empty' });
  const group = 'group/short';
  story.do(ada, {
    ...{ type: 'group.create', group, displayName: null, replayPolicy: null },
  });
  story.do(ada, { ...set, ns: group, ttlMs: null });
  story.do(ada, { type: 'group.remove', group });
}

function tellProcesses(story: Story): void {
  const card = story.world.cards.cards.get('ada') ?? null;
  const limits = { memory_mb: 512, cpu: 60, files: 64, wall: 600 };
  const more = { capabilities: ['build'], maxInstances: 3, isSingleton: false, limits };
  const { agent: _, advertisedAt: __, ...fields } = card ?? { agent: '', advertisedAt: 0 };
  const advertised = card === null ? null : (fields as CardFields);
  story.do(root, { type: 'agent.define', agent: 'ada', ...more, card: advertised });
  const start = { type: 'instance.start', agent: 'ada', isHeld: true, host: 'box' } as const;
  const report = { type: 'instance.report', epoch: 1, reason: 'r', lines: ['l'] } as const;
  const usage = { memoryMb: 1, cpuSeconds: 1, files: 1 };
  for (const [id, states] of [
    ['i1', ['running', 'stopping', 'stopped']],
    ['i2', ['failed', 'starting', 'running']],
  ] as const) {
    story.do(root, { ...start, leaseMs: 86_400_000 });
    for (const state of states) story.do(root, { ...report, id, state, pid: 7, usage });
  }
}

function tellSessions(story: Story): void {
  const call = { kind: 'tool_call', callId: 'c', name: 'n', body: {} } as const;
  const note = { kind: 'note', body: {} } as const;
  const made = { holder: null, key: 'k', ttlMs: 86_400_000, items: [note, note] };
  for (const by of [ada, bob, root]) story.do(by, { type: 'session.create', ...made });
  const on = { id: 's1', expectedLength: null };
  story.do(ada, { type: 'session.compact', ...on, keep: 0, summary: note });
  story.do(ada, { type: 'session.share', ...on, with: 'cat', access: 'read' });
  const gift = { why: 'w', item: { kind: 'handoff', body: {} } as const, keep: null };
  const three = { scope: null, ttlMs: null, note: null, git: null };
  story.do(ada, { type: 'claim.take', id: 'three', ...NO_KEY, ...three });
  story.do(ada, { type: 'session.hand-off', ...on, ...gift, to: 'bob', claims: ['three'] });
  story.do(bob, { type: 'session.append', ...on, items: [note, call] });
  story.do(cat, { type: 'session.fork', ...on, key: null, ttlMs: null, length: 1 });
  story.do(bob, { type: 'session.close', ...on, id: 's2', reason: 'r' });
  for (const [from, to] of Array.from({ length: 12 }, (_, i) =>
    i % 2 === 0 ? ([root, 'ada'] as const) : ([ada, root.id] as const),
  )) {
    const hand = { ...gift, id: 's3', expectedLength: null, claims: [], to };
    if (from === ada || story.world.sessions.live.get('s3')?.holder === root.id) {
      story.do(from, { type: 'session.hand-off', ...hand });
    }
  }
}

type RunCommand = Without<StartRun | TakeRuns | RecordRun | SignalRun | CancelRun | ForkRun>;
type Without<C> = C extends unknown ? Omit<C, 'by' | 'at'> : never;

/** Runs that are held, that sleep on something each, that are stuck, and that are over. */
function tellRuns(story: Story): void {
  const tell = (command: RunCommand): void => {
    accepted(story.do(ada, command as never));
  };
  const rate = { limit: 5, perMs: 1_000 };
  const fields = { concurrency: 9, perKey: 9, perAgent: 9, rate, executors: ['bob'] };
  story.do(root, { type: 'queue.declare', name: 'q', fields });
  const start: Omit<StartRun, 'by' | 'at' | 'id'> = {
    type: 'run.start',
    ...{ name: 'land', input: 1, digest: 'd', queue: 'q', key: 'k', version: 'v' },
    ...{ priority: 2, delayMs: 0, dedup: null, parent: null, steps: [], traceparent: 't' },
  };
  const ids = ['one', 'two', 'three', 'four'];
  for (const id of ids) tell({ ...start, id, dedup: id });
  const workflows = [{ name: 'land', version: 'v' }];
  const take = { type: 'run.take', workflows, executor: 'box', limit: 9 } as const;
  tell({ ...take, leaseMs: 86_400_000 });
  const parent = { id: 'one', step: 'child', key: 'x' };
  tell({ ...start, id: 'later', parent, delayMs: 9_000_000 });
  const record = (id: string, ...entries: RunEntry[]): void =>
    tell({ type: 'run.record', id, epoch: 1, leaseMs: 80_000_000, entries });
  const error = { name: 'Error', message: 'm', terminal: true };
  record(
    'one',
    { kind: 'completed', step: 'a', key: 'k', as: 'gate', tookMs: 5 },
    { kind: 'failed', step: 'c', error },
    { kind: 'started', step: 'b', policy: 'ask' },
    { kind: 'compensating', step: 'a', key: 'k' },
  );
  const said = story.send(ada, 'asked');
  const bob = { ...ada, id: 'bob' };
  story.subscribe(bob, 'asked');
  story.send(bob, 'asked', { replyTo: said.position });
  const on: WaitAsked[] = [{ timer: 9_000_000 }, { signal: 'go' }, { child: 'later' }];
  on.push({ answer: 'it may' }, { replies: said.position, count: 9, as: 'turn' });
  const waits = on.map(
    (one, i): RunEntry => ({ kind: 'waiting', step: 's', key: `${i}`, on: one }),
  );
  record('two', ...waits, { kind: 'released' });
  for (const name of ['kept', 'go']) tell({ type: 'run.signal', id: 'two', name, value: 1 });
  tell({ type: 'run.cancel', id: 'one', reason: 'r', isForced: false });
  record('three', { kind: 'completed', step: 'a' }, { kind: 'completed', step: 'b' });
  record('three', { kind: 'ended', state: 'failed' });
  record('four', { kind: 'stuck', difference: 'd' });
  const fork = { type: 'run.fork', id: 'three', version: null, input: null } as const;
  tell({ ...fork, atStep: { step: 'b', key: null }, newId: 'five' });
  tell({ ...fork, atStep: { step: 'a', key: null }, newId: 'six' });
  tell({ type: 'run.cancel', id: 'six', reason: null, isForced: false });
  tell({ ...start, id: 'seven', parent });
  tell({ type: 'run.cancel', id: 'seven', reason: 'r', isForced: false });
  tell({ ...start, id: 'eight', parent, delayMs: 9_000_000 });
}

/** What the guard rails remember, with something in each of it that is not told of yet. */
function tellRails(story: Story, finish: object, take: object): void {
  const agents = ['pip', 'quo', 'zoe', 'yan'].map((id) => ({ ...ada, id })) as Principal[];
  const [pip = ada, quo = ada, zoe = ada, yan = ada] = agents;
  const runner = { runner: '{"kind":"rule"}', runnerKind: 'rule', session: 'resume' } as const;
  const wake = { channels: null, from: null, kinds: null, minTier: null };
  const config = { ...runner, wake, limits: { turns_per_10_min: 1, hops: 1 } };
  for (const one of [pip, quo]) {
    story.subscribe(one, `rails/${one.id}`);
    story.do(root, { type: 'agent.manage', agent: one.id, config });
  }
  const asks = { names: ['pip'], isQuestion: false, wantsReply: false, noReply: false };
  const claim = { scope: null, status: null, note: null, dataRef: null, git: null, ttlMs: null };
  story.do(pip, { type: 'claim.take', id: 'rails', ...NO_KEY, epoch: null, ...claim } as never);
  const first = story.send(zoe, 'rails/pip', { asks });
  story.send(yan, 'rails/pip', { asks, replyTo: first.position });
  story.send(zoe, 'rails/quo');
  story.pass(50);
  const ends = { pip: ['nothing', 'one two three four'], quo: ['gave_up', null] } as const;
  for (const [agent, [outcome, output]] of Object.entries(ends)) {
    story.do(root, { type: 'turn.take', ...take, agents: [agent] } as never);
    const { turn: id } = story.world.turns.agents.get(agent) ?? { turn: null };
    story.do(root, { ...finish, id, epoch: 1, outcome, output } as never);
  }
  const second = story.send(zoe, 'rails/pip', { asks });
  story.pass(50);
  story.send(yan, 'rails/pip', { asks, replyTo: second.position });
  story.send(root, 'rails/quo');
}

/** A thread with replies, a post, and every mark; a channel that is described. */
function tellThreads(story: Story): void {
  const change = { title: 't', description: 'd', types: ['plan'], postSchema: '{}' };
  story.do(ada, { type: 'channel.describe', channel: 'posts', change });
  const post = story.send(ada, 'posts', { postVersion: 1 });
  story.send(bob, 'posts', { replyTo: post.position });
  const root = { ...post, channel: 'posts', sender: 'ada', owners: [] };
  for (const mark of ['pin', 'resolve', 'close'] as const) {
    story.do(ada, { type: 'thread.mark', root, mark, note: 'n', expectedVersion: null });
  }
}

/** A gate in each of its states, asked for with all that can be asked for. */
function tellGates(story: Story): void {
  const vouched = { credential: 'owner', person: 'mia' };
  story.do(root, { type: 'person.add', name: 'tom', verifier: 'v', ...vouched });
  const whole = {
    type: 'gate.ask',
    action: 'push',
    tier: 1,
    kinds: ['human'],
    names: ['mia', 'tom'],
    ...{ deadlineMs: 9e8, thread: 'm1', payloadHash: '0'.repeat(64), policy: 'p' },
    ...{ turn: 't', isKept: true, credential: 'tok' },
    isAwaited: true,
  } as const;
  const verdict = { type: 'gate.decide', reason: 'r', payloadHash: null, ...vouched } as const;
  for (const [i, count] of [2, 1, 1, 1].entries()) {
    story.do(ada, { ...whole, count, subject: `s${i}` });
  }
  for (const [id, decision] of [
    ['g1', 'approve'],
    ['g2', 'approve'],
    ['g3', 'deny'],
  ] as const) {
    story.do(root, { ...verdict, id, decision });
  }
  story.do(ada, { type: 'gate.withdraw', id: 'g4', reason: 'r' });
  story.do(ada, { type: 'gate.consume', id: 'g2', payloadHash: whole.payloadHash, policy: 'p' });
  const grave = { schemaVersion: 1, tier2: { credential: 'c' } };
  const { gate: post = '' } = story.send(ada, 'a', grave);
  story.send(ada, 'a', grave);
  story.do(ada, { type: 'gate.withdraw', id: post, reason: null });
}

const CARD = {
  name: 'ada',
  description: 'd',
  version: '1',
  supportedInterfaces: [
    { url: 'http://a', protocolBinding: 'b', protocolVersion: '1', tenant: 't' },
  ],
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extendedAgentCard: false,
    extensions: ['u'],
  },
  defaultInputModes: ['text'],
  defaultOutputModes: ['text'],
  skills: [
    {
      ...{ id: 's', name: 's', description: 'd', tags: ['t'], examples: ['e'] },
      ...{ inputModes: ['text'], outputModes: ['text'] },
    },
  ],
  provider: { organization: 'o', url: 'http://o' },
  documentationUrl: 'http://d',
  iconUrl: 'http://i',
  taskClasses: ['code'],
  model: 'm',
  meta: '{"a":1}',
};

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Every field, as `channels[].members[].cursor`, and every list, as `channels[]`. */
function kindsIn(value: Json, kind = '', kinds = new Map<string, boolean>()): Map<string, boolean> {
  if (Array.isArray(value)) {
    kinds.set(`${kind}[]`, (kinds.get(`${kind}[]`) ?? false) || value.length > 0);
    for (const one of value) kindsIn(one, `${kind}[]`, kinds);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      const path = kind === '' ? key : `${kind}.${key}`;
      kinds.set(path, true);
      kindsIn(one, path, kinds);
    }
  }
  return kinds;
}

/** The same without a field, or with a list emptied, everywhere. */
function without(value: Json, forgotten: string, kind = ''): Json {
  if (Array.isArray(value)) {
    if (`${kind}[]` === forgotten) return [];
    return value.map((one) => without(one, forgotten, `${kind}[]`));
  }
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).flatMap(([key, one]) => {
    const path = kind === '' ? key : `${kind}.${key}`;
    return path === forgotten ? [] : [[key, without(one, forgotten, path)]];
  });
  return Object.fromEntries(kept);
}

/** What only a run has that is not over, or only one that is. */
const OVER =
  /^workflows\.(live\[\]\.endedAt|ended\[\]\.(dueAt|executor|heldBy|leaseUntil|notBefore|readyAt|steps))$/;

let frozen: Json;
let expected: string;
beforeAll(() => {
  const { world } = tellRich();
  frozen = JSON.parse(freezeWorld(world));
  expected = portray(world);
});

function told(text: Json): string {
  try {
    const world = thawWorld(JSON.stringify(text));
    return world === null ? 'refused: another version' : portray(world);
  } catch (cause) {
    return `refused: ${cause}`;
  }
}

test('[L3] the world of this test leaves no list of a snapshot empty', () => {
  const empty = [...kindsIn(frozen)].filter(([, isFilled]) => !isFilled).map(([kind]) => kind);
  expect(empty).toEqual([]);
  expect(told(frozen)).toBe(expected);
});

test('[L3] no field of the world of this test is empty', () => {
  const kinds = new Map<string, boolean>();
  for (const line of expected.split('\n')) {
    const [, at = '', value] = /^(\S+?)(?: = | has | is )(.*)$/.exec(line) ?? [];
    const kind = at.replaceAll(/\[[^\]]*\]+/g, '[]');
    if (value === 'null') kinds.set(kind, kinds.get(kind) ?? false);
    // What lies in a field fills it.
    else for (let up = kind; up !== ''; up = up.replace(/(\[\]|\.?\w+)$/, '')) kinds.set(up, true);
  }
  const empty = [...kinds].filter(([, isFilled]) => !isFilled).map(([kind]) => kind);
  // A field is new: have `tellRich` fill it, or this file cannot notice that a snapshot loses it.
  const isKnown = (kind: string) => kind.startsWith('claims.keys[].answer') || OVER.test(kind);
  expect(empty.filter((kind) => !isKnown(kind))).toEqual([]);
});

test('[L3] whichever field of a snapshot is forgotten, it is refused or tells another world', () => {
  const kinds = [...kindsIn(frozen).keys()];
  expect(kinds.length).toBeGreaterThan(150);
  expect(kinds.filter((kind) => told(without(frozen, kind)) === expected)).toEqual([]);
});
