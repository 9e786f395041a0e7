/** Presence with its evidence, and speaking to agents by name, project, role or glob. */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { createMatcher, isGlob } from '../../../core/law/glob.ts';
import { readJson } from '../../../core/law/json.ts';
import { dmName } from '../../../core/law/name.ts';
import { takePage } from '../../../core/law/page.ts';
import type { AgentView, WorldView } from '../../../core/law/state.ts';
import { rolesOf } from '../../../core/law/token.ts';
import { checkTrust } from '../../../core/law/writer.ts';
import { owedTotal } from '../../../core/talk/inbox.ts';
import { messageId } from '../../../core/talk/message-id.ts';
import type { Availability } from '../../../core/work/route.ts';
import type { MessageHead } from '../../../hub/message-store.ts';
import { asksOf, isTier2 } from '../../../wire/asks.ts';
import type { OutputOf } from '../../../wire/operation.ts';
import { type presenceList, RECIPIENTS_MAX } from '../../../wire/operations/presence.ts';
import { bodyText } from '../body.ts';
import { idempotencyOf } from '../idempotency.ts';
import { credentialOf } from '../proofs.ts';
import type { Handlers, Room } from '../room.ts';
import type { ActivityView } from '../seen.ts';
import { findMessage } from './message-lookup.ts';

type Row = OutputOf<typeof presenceList>['agents'][number];
type State = Row['state'];

const REPORT_TTL_S = 120;
/** Who waits for a person waits for as long as it takes, within the bound of a day. */
const BLOCKED_TTL_S = 86_400;
/** A call younger than this is evidence that its agent is there. */
const RECENT_MS = 60_000;

export const presenceHandlers: Handlers<
  'presence.list' | 'presence.report' | 'agents.tell' | 'agents.assign' | 'agents.remove'
> = {
  async 'agents.assign'({ hub, by }, { agent_id: agent, roles }) {
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'agent.assign', by, at, agent, roles });
    if (isRefusal(answer)) return answer;
    const given = await hub.ask((world) => ({
      roles: [...(world.agents.get(agent)?.roles ?? [])],
    }));
    return isRefusal(given) ? given : { agent_id: agent, ...given };
  },

  async 'agents.remove'(room, input) {
    const { hub, by, caller, activities, platform } = room;
    const { agent_id: agent, force, with_channels: takesMade } = input;
    const connections = activities.find(caller.space, agent)?.connections ?? 0;
    if (connections > 0 && !force) {
      return refuse('agent.in-use', `${agent} is connected; remove it by force, or wait`, {
        agent,
      });
    }
    const answer = await hub.submit({
      type: 'agent.remove',
      by,
      at: hub.stamp(),
      agent,
      isForced: force,
      takesMade,
      idempotency: idempotencyOf(platform, input),
    });
    if (isRefusal(answer)) return answer;
    const { subscriptions, tokens, channels } = answer;
    const counts = { tokens_revoked: tokens.length, channels_retired: channels };
    return { agent_id: agent, removed: true, subscriptions, ...counts };
  },

  async 'presence.list'(room, { state, project, after, limit }) {
    const { hub, by, caller, activities } = room;
    const at = hub.stamp();
    // What a harness tells of its work is told to nobody who is not trusted with work.
    const hasNotes = by.tier !== 'untrusted';
    return hub.ask((world) => {
      const known = new Set([...world.agents.keys(), ...activities.connected(caller.space)]);
      const names = [...known]
        .filter((name) => after === undefined || name > after)
        .filter((name) => project === undefined || projectOf(name) === project)
        .sort();
      const rolesAt = rolesOf(world, at);
      // A row counts what its agent is owed, so only those of the page are made.
      function* rows(): Iterable<Row> {
        for (const name of names) {
          const more = { hasNotes, roles: rolesAt(name) };
          const row = rowOf(world, name, activities.find(caller.space, name), at, more);
          if (state === undefined || state.includes(row.state)) yield row;
        }
      }
      const page = takePage(rows(), (row) => row.agent_id, { limit });
      return { agents: [...page.rows], next: page.next };
    });
  },

  async 'presence.report'(room, { state, note, roles, process, ttl }) {
    const { hub, by, caller, activities } = room;
    const at = hub.stamp();
    const ttlMs = (ttl ?? (state === 'blocked' ? BLOCKED_TTL_S : REPORT_TTL_S)) * 1000;
    const agent = by.id;
    const status = state === 'busy' ? 'busy' : 'online';
    // What others will read of it is decided before anything is done.
    const refused =
      (note == null ? null : await hub.ask((world) => checkTrust(by, world.settings))) ??
      (roles == null ? null : await hub.submit({ type: 'agent.assign', by, at, agent, roles }));
    if (isRefusal(refused)) return refused;
    const answer = await hub.submit({ type: 'presence.beat', by, at, status, ttlMs });
    if (isRefusal(answer)) return answer;
    const activity = activities.of(caller.space, by.id);
    const before = activities.find(caller.space, by.id)?.reported;
    const isSame = before?.state === state && before.until > at;
    activity.reported = {
      state,
      note: note ?? null,
      at: isSame ? before.at : at,
      saidAt: at,
      until: at + ttlMs,
    };
    if (process != null) activity.process = process;
    return { agent_id: by.id, state, expires_at: answer.expiresAt / 1000 };
  },

  async 'agents.tell'(room, input) {
    const { hub, by, caller, activities } = room;
    const body = bodyText(input.body);
    if (typeof body !== 'string') return body;
    const parent =
      input.reply_to == null ? null : await findMessage(room, input.reply_to, 'reply_to');
    if (isRefusal(parent)) return parent;
    const targets = typeof input.to === 'string' ? [input.to] : input.to;
    // Who is connected can be spoken to, though it has not said anything yet.
    const chosen = await hub.ask((world) => {
      const here = new Set([...world.agents.keys(), ...activities.connected(caller.space)]);
      return chooseRecipients(here, by.id, targets, rolesOf(world, hub.stamp()));
    });
    if (isRefusal(chosen)) return chosen;
    const { names, unmatched } = chosen;
    if (names.length === 0) return nobody(unmatched);
    if (names.length > RECIPIENTS_MAX) {
      return refuse(
        'limit.reached',
        `${names.length} agents match; one call tells ${RECIPIENTS_MAX}: name fewer, or send on a channel`,
        {
          limit: 'RECIPIENTS_MAX',
          max: RECIPIENTS_MAX,
        },
      );
    }
    const sent = await Promise.all(names.map((name) => tell(room, name, body, parent, input)));
    const recipients = sent.flatMap((one) => (isRefusal(one) ? [] : [one]));
    const refused = sent.find(isRefusal);
    // Some may have it already: only when nobody has is the call refused, or a repeat would tell twice.
    if (refused !== undefined && recipients.length === 0) return refused;
    return {
      recipients,
      unmatched: [...unmatched, ...names.filter((_, at) => isRefusal(sent[at]))],
    };
  },
};

/** What routing needs to know of an agent. */
export function availabilityOf(
  world: WorldView,
  agent: string,
  activity: ActivityView | undefined,
  at: number,
): Availability {
  const state = stateOf(world, agent, activity, at);
  return state === 'connected' ? 'idle' : state;
}

/** Somebody a claim can be handed to: there by some evidence, and not just silent. */
export function isThere(
  world: WorldView,
  agent: string,
  activity: ActivityView | undefined,
  at: number,
): boolean {
  const state = stateOf(world, agent, activity, at);
  return state !== 'gone' && state !== 'stale';
}

async function tell(
  { hub, by, caller }: Room,
  name: string,
  body: string,
  parent: MessageHead | null,
  input: { correlation_id?: string | null | undefined; ttl_ms?: number | null | undefined },
): Promise<{ agent_id: string; message_id: string } | Refusal> {
  const said: unknown = readJson(body);
  const channel = dmName(by.id, name);
  const answer = await hub.submit({
    type: 'message.send',
    by,
    at: hub.stamp(),
    channel,
    body,
    correlationId: input.correlation_id ?? null,
    replyTo: parent?.position ?? null,
    // Told in private of what was said elsewhere: a link [TM6].
    isQuote: parent !== null && parent.channel !== channel,
    key: null,
    ttlMs: input.ttl_ms ?? null,
    schemaVersion: 0,
    asks: hub.hasManaged ? asksOf(said) : null,
    tier2: isTier2(said) ? { credential: credentialOf(caller) } : null,
  });
  return isRefusal(answer) ? answer : { agent_id: name, message_id: messageId(answer.position) };
}

/** Known agents that a target names; oneself is never meant by a group of others [AD2]. */
function chooseRecipients(
  here: ReadonlySet<string>,
  me: string,
  targets: readonly string[],
  rolesOf: (agent: string) => readonly string[],
): { names: string[]; unmatched: string[] } {
  const names = new Set<string>();
  const unmatched: string[] = [];
  for (const target of targets) {
    // A project may have an agent of its own name: both are meant.
    const named = here.has(target) ? [target] : [];
    const found = [...named, ...groupOf(here, target, rolesOf)];
    const others = found.filter((name) => name !== me);
    if (others.length === 0) unmatched.push(target);
    for (const name of others) names.add(name);
  }
  return { names: [...names].sort(), unmatched };
}

function groupOf(
  here: ReadonlySet<string>,
  target: string,
  rolesOf: (agent: string) => readonly string[],
): string[] {
  const everybody = [...here];
  if (target === 'all') return everybody;
  if (target.startsWith('role:')) {
    const role = target.slice('role:'.length);
    return everybody.filter((name) => rolesOf(name).includes(role));
  }
  if (isGlob(target)) return everybody.filter(createMatcher(target));
  return everybody.filter((name) => projectOf(name) === target);
}

function nobody(unmatched: readonly string[]): Refusal {
  return refuse(
    'recipient.unknown',
    `nobody answers to ${unmatched.join(', ')}; presence.list shows who is here`,
    {
      unmatched,
    },
  );
}

function projectOf(name: string): string | null {
  const slash = name.indexOf('/');
  return slash < 0 ? null : name.slice(0, slash);
}

function rowOf(
  world: WorldView,
  name: string,
  activity: ActivityView | undefined,
  at: number,
  { hasNotes, roles }: { readonly hasNotes: boolean; readonly roles: readonly string[] },
): Row {
  const agent = world.agents.get(name);
  const told = toldOf(world, name, activity, at);
  const state = told?.state ?? evidentState(world, name, activity, at);
  const seconds = (ms: number | null | undefined): number | null => (ms ? ms / 1000 : null);
  return {
    agent_id: name,
    project: projectOf(name),
    roles: [...roles],
    state,
    since: seconds(told?.since ?? sinceOf(state, agent, activity)),
    note: (hasNotes || told?.isOwnWord ? told?.note : null) ?? null,
    evidence: {
      connections: activity?.connections ?? 0,
      last_heartbeat: seconds(agent?.presence.beatAt),
      last_call: seconds(activity?.lastCallAt),
      last_operation: activity?.lastOperation ?? null,
      last_hook: seconds(activity?.hooked?.at),
      process: activity?.process ?? null,
    },
    claims: world.claims.counts.get(name) ?? 0,
    owed: owedTotal(agent),
  };
}

/** Each state since its own evidence began: the beat, the socket, or the end of both. */
function sinceOf(
  state: State,
  agent: AgentView | undefined,
  activity: ActivityView | undefined,
): number {
  const changedAt = agent?.presence.changedAt ?? 0;
  if (state === 'connected') {
    return Math.max(changedAt, activity?.connectedAt ?? 0) || (activity?.lastCallAt ?? 0);
  }
  if (state === 'gone') return Math.max(changedAt, activity?.disconnectedAt ?? 0);
  return changedAt;
}

function stateOf(
  world: WorldView,
  name: string,
  activity: ActivityView | undefined,
  at: number,
): State {
  const told = toldOf(world, name, activity, at);
  return told?.state ?? evidentState(world, name, activity, at);
}

interface Told {
  readonly state: 'idle' | 'busy' | 'blocked';
  readonly since: number;
  readonly note: string | null;
  /** The agent said so itself, for everybody. */
  readonly isOwnWord: boolean;
}

/**
 * What the agent says of itself and what its hooks tell, while they hold [PE3]. Waiting for a person comes
 * first, in whichever of the two; then what is seen, in the agent's own words where both agree.
 */
function toldOf(
  world: WorldView,
  name: string,
  activity: ActivityView | undefined,
  at: number,
): Told | null {
  const presence = world.agents.get(name)?.presence.state ?? 'offline';
  const { reported = null, hooked = null } = activity ?? {};
  const said = reported !== null && reported.until > at && presence !== 'offline' ? reported : null;
  const seen = hooked?.isLive() ? hooked : null;
  const own = said === null ? null : { ...said, since: said.at, isOwnWord: true };
  const others = seen === null ? null : { ...seen, isOwnWord: false };
  if (own === null || others === null) return own ?? others;
  if (others.state === 'blocked') return others;
  if (own.state === 'blocked') return own;
  if (own.state === others.state)
    return own.note === null ? others : { ...own, since: others.since };
  return others;
}

/** A socket is better evidence than a heartbeat, and a heartbeat than nothing. */
function evidentState(
  world: WorldView,
  name: string,
  activity: ActivityView | undefined,
  at: number,
): State {
  const presence = world.agents.get(name)?.presence.state ?? 'offline';
  const isConnected = (activity?.connections ?? 0) > 0;
  if (presence === 'busy') return 'busy';
  if (presence === 'online') return 'idle';
  // Who has just called is there, whether it beats or not; a call before it fell silent says nothing.
  const calledAt = activity?.lastCallAt ?? 0;
  const silentSince = world.agents.get(name)?.presence.changedAt ?? 0;
  const isRecent = calledAt > silentSince && at - calledAt < RECENT_MS;
  if (isConnected || isRecent) return 'connected';
  return presence === 'stale' ? 'stale' : 'gone';
}
