/**
 * A world as plain JSON and back. A snapshot is only a shortcut: it must give the
 * very world that replaying the log gives [L3], and one of another version is
 * ignored, never interpreted. Each table below accounts for every field of its
 * state: one that is in no table does not compile [L11].
 */
import { armContext } from '../context/context-evolve.ts';
import { freezeContext, thawContext } from '../context/context-state.ts';
import { armDocket } from '../docket/docket.ts';
import { freezeDocket, thawDocket } from '../docket/docket-state.ts';
import { armGates } from '../gates/gate-hold.ts';
import { freezeGates, thawGates } from '../gates/gate-state.ts';
import { armInstances } from '../processes/process-evolve.ts';
import { freezeProcesses, thawProcesses } from '../processes/process-state.ts';
import { armSession } from '../sessions/session.ts';
import { freezeSessions, thawSessions } from '../sessions/session-state.ts';
import { createAgent } from '../talk/agent.ts';
import { ByMessage } from '../talk/by-message.ts';
import { enterMember } from '../talk/channel.ts';
import { armHeld } from '../talk/held.ts';
import { armLeases } from '../talk/inbox.ts';
import { LowestCursor } from '../talk/lowest-cursor.ts';
import { senderOf } from '../talk/message.ts';
import { Positions } from '../talk/positions.ts';
import { armPresence } from '../talk/presence.ts';
import { countDescribed } from '../threads/describe.ts';
import { ThreadIndex } from '../threads/thread-index.ts';
import { armTurns } from '../turns/turn-evolve.ts';
import { freezeTurns, thawTurns } from '../turns/turn-snapshot.ts';
import { freezeCards, thawCards } from '../work/card.ts';
import { freezeClaims, thawClaims } from '../work/claim/claim-snapshot.ts';
import { freezeFindings, thawFindings } from '../work/finding.ts';
import { freezeOffers, thawOffers } from '../work/offer.ts';
import { freezePlan, thawPlan } from '../work/plan/plan.ts';
import { armClaims, armOffers, armSupervisor } from '../work/work.ts';
import { armRuns } from '../workflows/run-book.ts';
import { freezeWorkflows, thawWorkflows } from '../workflows/run-snapshot.ts';
import { assert } from './assert.ts';
import { Deadlines } from './deadlines.ts';
import { fieldsOf, fifoOf, listOf, mapBy, mapOf, orNull, setOf, whole } from './fields.ts';
import { writeText } from './frozen-text.ts';
import { createMatcher, isGlob } from './glob.ts';
import { readJson } from './json.ts';
import { createMade } from './made.ts';
import { channelKind } from './name.ts';
import { count } from './shares.ts';
import type {
  Agent,
  Channel,
  Fate,
  Group,
  GroupMember,
  Held,
  HeldPlace,
  Leased,
  Member,
  PastMember,
  Presence,
  Reply,
  Retired,
  SentKey,
  Token,
  World,
} from './state.ts';
import { armSweep } from './sweep.ts';

const VERSION = 19;

const GROUP = fieldsOf<Group>()({
  id: 'stored',
  displayName: 'stored',
  createdAt: 'stored',
  createdBy: 'stored',
  members: mapOf<string, GroupMember>(),
});

const WORLD = fieldsOf<World>()({
  settings: 'stored',
  channels: 'linked',
  agents: 'linked',
  globs: 'derived',
  groups: mapBy<Group>(({ id }) => id, whole(GROUP)),
  fates: ByMessage.codec(mapOf<string, Fate>()),
  replies: ByMessage.codec(mapOf<string, Reply>()),
  keys: fifoOf<string, SentKey>(),
  retries: fifoOf<string, SentKey>(),
  tokens: mapBy<Token>(({ id }) => id),
  claims: { freeze: freezeClaims, thaw: thawClaims },
  plan: { freeze: freezePlan, thaw: thawPlan },
  offers: { freeze: freezeOffers, thaw: thawOffers },
  cards: { freeze: freezeCards, thaw: thawCards },
  findings: { freeze: freezeFindings, thaw: thawFindings },
  docket: { freeze: freezeDocket, thaw: thawDocket },
  gates: { freeze: freezeGates, thaw: thawGates },
  turns: { freeze: freezeTurns, thaw: thawTurns },
  processes: { freeze: freezeProcesses, thaw: thawProcesses },
  context: { freeze: freezeContext, thaw: thawContext },
  sessions: { freeze: freezeSessions, thaw: thawSessions },
  workflows: { freeze: freezeWorkflows, thaw: thawWorkflows },
  deadlines: 'derived',
  held: fifoOf<number, HeldPlace>(),
  made: 'derived',
  retired: fifoOf<string, Retired>(),
  recordedAt: 'stored',
  length: 'stored',
  awakeFrom: 'memory',
  at: 'stored',
});

const PRESENCE = fieldsOf<Presence>()({
  state: 'stored',
  beatAt: 'stored',
  changedAt: 'stored',
  staleMs: 'stored',
  offlineMs: 'stored',
});

const AGENT = fieldsOf<Agent>()({
  name: 'stored',
  madeBy: 'stored',
  isVouched: 'stored',
  patterns: setOf<string>(),
  roles: 'stored',
  memberships: 'derived',
  ready: 'derived',
  leasing: 'derived',
  leasedCount: 'derived',
  seenAt: 'stored',
  presented: 'stored',
  fatesFrom: 'stored',
  presence: whole(PRESENCE),
  managed: 'derived',
});

const CHANNEL = fieldsOf<Channel>()({
  name: 'stored',
  madeBy: 'stored',
  kind: 'derived',
  positions: {
    freeze: (positions) => positions.freeze(),
    thaw: (deltas) => Positions.thaw(deltas as number[]),
  },
  lastSentAt: 'stored',
  members: 'linked',
  managed: 'derived',
  past: mapOf<string, PastMember>(),
  settings: 'stored',
  drained: 'stored',
  idleCount: 'derived',
  lowest: 'derived',
  held: orNull(mapOf<number, Held>()),
  described: 'stored',
  threads: orNull<ThreadIndex>({
    freeze: (threads) => threads.freeze(),
    thaw: (frozen) => ThreadIndex.thaw(frozen),
  }),
});

const MEMBER = fieldsOf<Member>()({
  agent: 'linked',
  channel: 'derived',
  patterns: 'stored',
  from: 'stored',
  cursor: 'stored',
  again: listOf<number>(),
  leased: orNull(mapOf<number, Leased>()),
  deliveries: orNull(mapOf<number, number>()),
  isReady: 'derived',
  oldest: 'derived',
  heapIndex: 'derived',
});

interface FrozenWorld {
  readonly version: number;
  readonly agents: readonly FrozenAgent[];
  readonly channels: readonly FrozenChannel[];
}

interface FrozenAgent {
  readonly name: string;
}

interface FrozenChannel {
  readonly name: string;
  readonly members: readonly { readonly agent: string }[];
}

export function freezeWorld(world: World): string {
  const slices = beginFreeze(world);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
  }
}

/**
 * The world as it is at this moment, whatever happens to it later; turning it into text is
 * done in slices, each begun by the caller.
 */
export function beginFreeze(world: World): Generator<void, string> {
  const frozen = WORLD.freeze(world, {
    agents: Array.from(world.agents.values(), (agent) => AGENT.freeze(agent, {})),
    channels: Array.from(world.channels.values(), freezeChannel),
  });
  return writeText({ version: VERSION, ...frozen });
}

/** The world again, or null when the text is of another version. */
export function thawWorld(text: string): World | null {
  const frozen = readJson(text) as FrozenWorld;
  if (frozen.version !== VERSION) return null;
  const world = WORLD.thaw(frozen, {
    agents: new Map(),
    channels: new Map(),
    globs: new Map(),
    made: createMade(),
    deadlines: new Deadlines(),
    awakeFrom: 0,
  });
  for (const agent of frozen.agents) thawAgent(world, agent);
  for (const channel of frozen.channels) thawChannel(world, channel);
  countMade(world);
  for (const agent of world.agents.keys()) {
    armPresence(world, agent);
    armLeases(world, agent);
  }
  for (const agent of world.offers.agents.keys()) armOffers(world, agent);
  armClaims(world);
  armSupervisor(world, world.at);
  armHeld(world);
  for (const agent of world.docket.agents.keys()) armDocket(world, agent);
  armGates(world);
  for (const agent of world.turns.agents.keys()) armTurns(world, agent);
  for (const agent of world.processes.byAgent.keys()) armInstances(world, agent);
  for (const ns of world.context.namespaces.keys()) armContext(world, ns);
  for (const id of world.sessions.live.keys()) armSession(world, id);
  armRuns(world);
  armSweep(world);
  return world;
}

/** What each agent has made is told by the things themselves. */
function countMade(world: World): void {
  const { made } = world;
  for (const { madeBy, described } of world.channels.values()) {
    count(made.channels, madeBy, 1);
    countDescribed(world, described, 1);
  }
  for (const { madeBy } of world.agents.values()) count(made.agents, madeBy, 1);
  for (const { createdBy } of world.groups.values()) count(made.groups, createdBy, 1);
  for (const key of world.keys.keys()) count(made.keys, senderOf(key), 1);
  for (const { by } of world.held.values()) count(made.held, by, 1);
  for (const { createdBy, revokedAt } of world.tokens.values()) {
    if (revokedAt === null) count(made.tokens, createdBy, 1);
  }
}

function freezeChannel(channel: Channel): object {
  const members = Array.from(channel.members.values(), (member) =>
    MEMBER.freeze(member, { agent: member.agent.name }),
  );
  return CHANNEL.freeze(channel, { members });
}

function thawAgent(world: World, frozen: FrozenAgent): void {
  const agent = AGENT.thaw(frozen, createAgent(frozen.name));
  agent.managed = world.turns.agents.get(agent.name) ?? null;
  world.agents.set(agent.name, agent);
  for (const pattern of agent.patterns) {
    if (!isGlob(pattern)) continue;
    const glob = world.globs.get(pattern) ?? { matches: createMatcher(pattern), agents: new Set() };
    world.globs.set(pattern, glob);
    glob.agents.add(agent);
  }
}

function thawChannel(world: World, frozen: FrozenChannel): void {
  const channel = CHANNEL.thaw(frozen, {
    kind: channelKind(frozen.name),
    members: new Map(),
    managed: new Set(),
    idleCount: 0,
    lowest: new LowestCursor(),
  });
  world.channels.set(channel.name, channel);
  for (const one of frozen.members) {
    const agent = world.agents.get(one.agent);
    assert(agent !== undefined, `a member of ${channel.name} is an agent of the space`);
    const rest = { agent, channel, isReady: false, oldest: 0, heapIndex: -1 };
    const member = MEMBER.thaw(one, rest);
    enterMember(member);
    if ((member.leased?.size ?? 0) > 0) agent.leasing.add(member);
    agent.leasedCount += member.leased?.size ?? 0;
  }
}
