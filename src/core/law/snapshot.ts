/**
 * A world as plain JSON and back. A snapshot is only a shortcut: it must give the
 * very world that replaying the log gives [L3], and one of another version is
 * ignored, never interpreted.
 */
import { agentOf } from '../talk/agent.ts';
import { enterMember } from '../talk/channel.ts';
import { LowestCursor } from '../talk/lowest-cursor.ts';
import { Positions } from '../talk/positions.ts';
import { armPresence } from '../talk/presence.ts';
import { type FrozenCards, freezeCards, thawCards } from '../work/card.ts';
import { type FrozenClaims, freezeClaims, thawClaims } from '../work/claim/claim-snapshot.ts';
import { type FrozenFindings, freezeFindings, thawFindings } from '../work/finding.ts';
import { type FrozenOffers, freezeOffers, thawOffers } from '../work/offer.ts';
import { type FrozenPlan, freezePlan, thawPlan } from '../work/plan/plan.ts';
import { armClaims, armOffers, armSupervisor } from '../work/work.ts';
import { createMatcher, isGlob } from './glob.ts';
import { channelKind } from './name.ts';
import {
  type Agent,
  type AgentView,
  type Channel,
  type ChannelSettings,
  type ChannelView,
  createWorld,
  type Fate,
  type GroupMember,
  type Held,
  type Member,
  type MemberView,
  type PastMember,
  type Presence,
  type Reply,
  type SentKey,
  type SpaceSettings,
  type Token,
  type World,
  type WorldView,
} from './state.ts';

const VERSION = 3;

interface FrozenChannel {
  readonly name: string;
  readonly deltas: readonly number[];
  readonly lastSentAt: number;
  readonly settings: ChannelSettings | null;
  readonly drained: number;
  readonly held: readonly (readonly [number, Held])[];
  readonly past: readonly (readonly [string, PastMember])[];
  readonly members: readonly FrozenMember[];
}

interface FrozenMember {
  readonly agent: string;
  readonly patterns: number;
  readonly from: number;
  readonly cursor: number;
  readonly again: readonly number[];
  readonly leased: readonly (readonly [number, number])[];
  readonly deliveries: readonly (readonly [number, number])[];
}

interface FrozenAgent {
  readonly name: string;
  readonly patterns: readonly string[];
  readonly roles: readonly string[];
  readonly presented: Agent['presented'];
  readonly presence: Presence;
}

interface FrozenGroup {
  readonly id: string;
  readonly displayName: string | null;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly members: readonly (readonly [string, GroupMember])[];
}

interface FrozenWorld {
  readonly version: number;
  readonly settings: SpaceSettings;
  readonly length: number;
  readonly at: number;
  readonly fatesFrom: number;
  readonly agents: readonly FrozenAgent[];
  readonly channels: readonly FrozenChannel[];
  readonly groups: readonly FrozenGroup[];
  readonly fates: readonly (readonly [number, readonly (readonly [string, Fate])[]])[];
  readonly replies: readonly (readonly [number, readonly Reply[]])[];
  readonly keys: readonly (readonly [string, SentKey])[];
  readonly retries: readonly (readonly [string, SentKey])[];
  readonly tokens: readonly Token[];
  readonly claims: FrozenClaims;
  readonly plan: FrozenPlan;
  readonly offers: FrozenOffers;
  readonly cards: FrozenCards;
  readonly findings: FrozenFindings;
}

export function freezeWorld(world: WorldView): string {
  const frozen: FrozenWorld = {
    version: VERSION,
    settings: world.settings,
    length: world.length,
    at: world.at,
    fatesFrom: world.fatesFrom,
    agents: [...world.agents.values()].map(freezeAgent),
    channels: [...world.channels.values()].map(freezeChannel),
    groups: [...world.groups.values()].map((group) => ({ ...group, members: [...group.members] })),
    fates: [...world.fates].map(([position, fates]) => [position, [...fates]]),
    replies: [...world.replies],
    keys: [...world.keys],
    retries: [...world.retries],
    tokens: [...world.tokens.values()],
    claims: freezeClaims(world.claims),
    plan: freezePlan(world.plan),
    offers: freezeOffers(world.offers),
    cards: freezeCards(world.cards),
    findings: freezeFindings(world.findings),
  };
  return JSON.stringify(frozen);
}

/** The world again, or null when the text is of another version. */
export function thawWorld(text: string): World | null {
  const frozen = JSON.parse(text) as FrozenWorld;
  if (frozen.version !== VERSION) return null;
  const world: World = {
    ...createWorld(),
    claims: thawClaims(frozen.claims),
    plan: thawPlan(frozen.plan),
    offers: thawOffers(frozen.offers),
    cards: thawCards(frozen.cards),
    findings: thawFindings(frozen.findings),
  };
  world.settings = frozen.settings;
  world.length = frozen.length;
  world.at = frozen.at;
  world.fatesFrom = frozen.fatesFrom;
  for (const agent of frozen.agents) thawAgent(world, agent);
  for (const channel of frozen.channels) thawChannel(world, channel);
  for (const group of frozen.groups) {
    world.groups.set(group.id, { ...group, members: new Map(group.members) });
  }
  for (const [position, fates] of frozen.fates) world.fates.set(position, new Map(fates));
  for (const [parent, replies] of frozen.replies) world.replies.set(parent, [...replies]);
  for (const [key, sent] of frozen.keys) world.keys.set(key, sent);
  for (const [key, sent] of frozen.retries) world.retries.set(key, sent);
  for (const token of frozen.tokens) world.tokens.set(token.id, token);
  for (const agent of frozen.agents) armPresence(world, agent.name);
  for (const agent of world.offers.agents.keys()) armOffers(world, agent);
  armClaims(world);
  armSupervisor(world, world.at);
  return world;
}

function freezeAgent(agent: AgentView): FrozenAgent {
  const { name, presented, presence } = agent;
  return { name, patterns: [...agent.patterns], roles: agent.roles, presented, presence };
}

function freezeChannel(channel: ChannelView): FrozenChannel {
  const { name, lastSentAt, settings, drained } = channel;
  return {
    name,
    deltas: channel.positions.toDeltas(),
    lastSentAt,
    settings,
    drained,
    held: [...(channel.held ?? [])],
    past: [...channel.past],
    members: [...channel.members.values()].map(freezeMember),
  };
}

function freezeMember(member: MemberView): FrozenMember {
  return {
    agent: member.agent.name,
    patterns: member.patterns,
    from: member.from,
    cursor: member.cursor,
    again: member.again,
    leased: [...(member.leased ?? [])].map(([seq, lease]) => [seq, lease.until]),
    deliveries: [...(member.deliveries ?? [])],
  };
}

function thawAgent(world: World, frozen: FrozenAgent): void {
  const agent = agentOf(world, frozen.name);
  agent.roles = frozen.roles;
  agent.presented = frozen.presented;
  Object.assign(agent.presence, frozen.presence);
  for (const pattern of frozen.patterns) {
    agent.patterns.add(pattern);
    if (!isGlob(pattern)) continue;
    const glob = world.globs.get(pattern) ?? { matches: createMatcher(pattern), agents: new Set() };
    world.globs.set(pattern, glob);
    glob.agents.add(agent);
  }
}

function thawChannel(world: World, frozen: FrozenChannel): void {
  const channel: Channel = {
    name: frozen.name,
    kind: channelKind(frozen.name),
    positions: Positions.fromDeltas(frozen.deltas),
    lastSentAt: frozen.lastSentAt,
    members: new Map(),
    past: new Map(frozen.past),
    settings: frozen.settings,
    drained: frozen.drained,
    idleCount: 0,
    lowest: new LowestCursor(),
    held: frozen.held.length > 0 ? new Map(frozen.held) : null,
  };
  world.channels.set(channel.name, channel);
  for (const [, held] of frozen.held) if (!held.isRefused) world.heldCount++;
  for (const one of frozen.members) thawMember(world, channel, one);
}

function thawMember(world: World, channel: Channel, frozen: FrozenMember): void {
  const agent = agentOf(world, frozen.agent);
  const member: Member = {
    agent,
    channel,
    patterns: frozen.patterns,
    from: frozen.from,
    cursor: frozen.cursor,
    again: [...frozen.again],
    leased:
      frozen.leased.length > 0
        ? new Map(frozen.leased.map(([seq, until]) => [seq, { until }]))
        : null,
    deliveries: frozen.deliveries.length > 0 ? new Map(frozen.deliveries) : null,
    isReady: false,
    oldest: 0,
    heapIndex: -1,
  };
  enterMember(member);
  for (const [, until] of frozen.leased) {
    world.deadlines.push({ at: until, kind: 'lease', agent: agent.name });
  }
  agent.leasedCount += frozen.leased.length;
}
