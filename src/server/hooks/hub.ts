/**
 * A hub as the hooks see it. Everything is asked as the agent itself would ask, by the desk or by looking;
 * nothing is taken from an inbox here [HD4].
 */
import { createHash } from 'node:crypto';
import { isRefusal } from '../../core/law/decider.ts';
import { SERVER } from '../../core/law/principal.ts';
import type { World } from '../../core/law/state.ts';
import { owedTotal, peek } from '../../core/talk/inbox.ts';
import { messageId } from '../../core/talk/message.ts';
import { evolvePresented } from '../../core/talk/presented.ts';
import { viewClaim } from '../../core/work/claim/claim-state.ts';
import { PATHS_PER_SCOPE_MAX } from '../../core/work/claim/scope.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Message } from '../../hub/message-store.ts';
import { heartbeat } from '../../wire/operations/channels.ts';
import { claimTake } from '../../wire/operations/claims.ts';
import type { Caller } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import type { Spaces } from '../desk/spaces.ts';
import type { HarnessHub, OwedMessage } from './harness-hub.ts';

const CALLERS_MAX = 5_000;
/** How many claims of one agent in one worktree may come from touching files. */
const TOUCH_CLAIMS_MAX = 16;
/** More than an agent is ever shown without reading. */
const PRESENTED_LOOK = 2_000;
const TAKEN: ReadonlySet<unknown> = new Set(['claim.held', 'claim.overlap', 'claim.reserved']);

export function createHarnessHub(desk: Desk, spaces: Spaces): HarnessHub {
  const callers = new Map<string, Caller>();

  /** The door was opened with the owner's credential, and the owner may speak for any agent of theirs. */
  async function callerOf(space: string, agent: string): Promise<Caller | null> {
    const key = `${space} ${agent}`;
    const known = callers.get(key);
    if (known !== undefined) return known;
    const caller = await desk.authenticate({
      ...{ token: null, agent, space, clientVersion: null, isOwnerSocket: true },
      ...{ wantsOwner: false, transport: 'http', connectionId: 'hooks' },
    });
    if (isRefusal(caller)) return null;
    const [oldest] = callers.keys();
    if (callers.size >= CALLERS_MAX && oldest !== undefined) callers.delete(oldest);
    callers.set(key, caller);
    return caller;
  }

  return {
    async owed(space, agent, max) {
      const hub = spaces.find(space);
      if (hub === null) return null;
      const seen = await hub.ask((world) => ({
        found: peek(world, agent, null, max),
        total: owedTotal(world.agents.get(agent)),
      }));
      if (isRefusal(seen) || isRefusal(seen.found)) return null;
      const { found, total } = seen;
      if (found.length === 0) return { messages: [], passed: [], hasMore: false };
      const stored = await hub.messages(found.map(({ position }) => position));
      const at = hub.stamp();
      const wanted = stored.filter(
        (one): one is Message =>
          one !== null && one.by !== agent && (one.expiresAt ?? Number.POSITIVE_INFINITY) > at,
      );
      const told = new Set(wanted.map(({ position }) => position));
      const passed = found.flatMap(({ position }) => (told.has(position) ? [] : [position]));
      const hasMore = total > found.length;
      if (wanted.length === 0) return { messages: [], passed, hasMore };
      const senders = await hub.ask((world) => wanted.map(({ by }) => knownOf(world, by)));
      const messages = wanted.map((one, i) => ({
        ...asOwed(one),
        ...(isRefusal(senders) ? { kind: null, tier: null } : (senders[i] as Known)),
      }));
      return { messages, passed, hasMore };
    },

    async seat(space, agent) {
      await callerOf(space, agent);
    },

    async present(space, agent, messages, shown) {
      const hub = spaces.find(space);
      if (hub === null) return;
      const done = await hub.ask((world) => markPresented(world, agent, shown));
      if (!isRefusal(done)) hub.watch.onPresented(agent, messages);
    },

    lastDrainAt: (space, agent) => callers.get(`${space} ${agent}`)?.activity.lastDrainAt ?? 0,
    streams: (space, agent) => callers.get(`${space} ${agent}`)?.activity.connections ?? 0,

    async hasClaimsOfOthers(space, agent) {
      const has = await spaces.find(space)?.ask((world) => {
        for (const { owner, scope } of world.claims.claims.values()) {
          if (owner !== agent && scope !== null) return true;
        }
        return false;
      });
      return has === true;
    },

    async claimsIn(space, worktree) {
      const hub = spaces.find(space);
      if (hub === null) return null;
      const claims = await hub.ask((world) => claimsOf(world, hub, worktree));
      return isRefusal(claims) ? null : claims;
    },

    async claim(space, agent, { worktree, paths }) {
      const hub = spaces.find(space);
      const caller = await callerOf(space, agent);
      if (hub === null || caller === null) return true;
      const chosen = await hub.ask((world) => touchClaim(world, agent, worktree, paths));
      if (isRefusal(chosen) || chosen === null) return true;
      const note = 'claimed on first touch';
      const answer = await desk.call(caller, claimTake, { ...chosen, worktree, note });
      return !('error' in answer) || !TAKEN.has(answer.error.detail?.reason);
    },

    async announce(space, agent, status) {
      const caller = await callerOf(space, agent);
      if (caller === null) return;
      // Its MCP server says goodbye itself; a second one would look like a new sign of life.
      if (status === 'offline' && caller.activity.process !== null) return;
      await desk.call(caller, heartbeat, { status });
    },
  };
}

type Known = Pick<OwedMessage, 'kind' | 'tier'>;

/** What the hub can still vouch for: itself, and whoever holds a token. */
function knownOf(world: World, name: string): Known {
  if (name === SERVER.id) return { kind: SERVER.kind, tier: SERVER.tier };
  const live = [...world.tokens.values()].filter(
    ({ agent, revokedAt, expiresAt }) =>
      agent === name && revokedAt === null && (expiresAt === null || expiresAt > world.at),
  );
  const [first] = live;
  // Of two that differ nobody knows which one spoke.
  const isOne = live.every(({ kind, tier }) => kind === first?.kind && tier === first.tier);
  return first && isOne ? { kind: first.kind, tier: first.tier } : { kind: null, tier: null };
}

function asOwed(message: Message): Omit<OwedMessage, 'kind' | 'tier'> {
  const { position, channel, by, at, body, replyTo } = message;
  return {
    position,
    channel,
    body,
    id: messageId(position),
    sender: by,
    sentAtMs: at,
    replyTo: replyTo === undefined ? null : messageId(replyTo),
  };
}

/** Ranges may be claimed only where all that is owed between was shown, so each run is one [R5]. */
function markPresented(world: World, agent: string, shown: ReadonlySet<number>): null {
  const owed = peek(world, agent, null, PRESENTED_LOOK);
  if (isRefusal(owed)) return null;
  let run: { from: number; to: number } | null = null;
  const runs: { from: number; to: number }[] = [];
  for (const { position } of owed) {
    if (!shown.has(position)) run = null;
    else if (run !== null) run.to = position;
    else {
      run = { from: position, to: position };
      runs.push(run);
    }
  }
  for (const { from, to } of runs) {
    evolvePresented(world, { type: 'inbox.presented', at: world.at, by: agent, from, to });
  }
  return null;
}

function claimsOf(world: World, hub: Hub, worktree: string) {
  const at = hub.stamp();
  return [...world.claims.claims.values()].flatMap((claim) => {
    if (claim.scope?.worktree !== worktree) return [];
    const { id, owner, scope, lapsesAt } = viewClaim(claim);
    if (lapsesAt <= at) return [];
    return [{ task_id: id, owner, paths: scope?.paths ?? [], lease_expires_at: lapsesAt / 1000 }];
  });
}

/** One claim for a worktree, that grows; when it is full, the next. Null when all are. */
function touchClaim(
  world: World,
  agent: string,
  worktree: string,
  paths: readonly string[],
): { task_id: string; paths: string[] } | null {
  const label = createHash('sha256').update(worktree).digest('hex').slice(0, 8);
  for (let number = 1; number <= TOUCH_CLAIMS_MAX; number++) {
    const task_id = `touch:${agent}:${label}:${number}`;
    const known = world.claims.claims.get(task_id);
    if (known !== undefined && known.owner !== agent) continue;
    const all = new Set([...(known?.scope?.paths ?? []), ...paths]);
    if (all.size <= PATHS_PER_SCOPE_MAX) return { task_id, paths: [...all] };
  }
  return null;
}
