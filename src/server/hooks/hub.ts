/**
 * A hub as the hooks see it. Everything is asked as the agent itself would ask, by the desk or by looking;
 * nothing is taken from an inbox here [HD4].
 */
import { createHash } from 'node:crypto';
import { isRefusal } from '../../core/law/decider.ts';
import type { WorldView } from '../../core/law/state.ts';
import { knownAs } from '../../core/law/token.ts';
import { owedTotal, peek } from '../../core/talk/inbox.ts';
import { messageId } from '../../core/talk/message.ts';
import { isWorthShowing } from '../../core/talk/present.ts';
import { viewClaim } from '../../core/work/claim/claim-state.ts';
import { touchClaim } from '../../core/work/claim/touch-claim.ts';
import type { Message } from '../../hub/message-store.ts';
import { heartbeat } from '../../wire/operations/channels.ts';
import { claimTake } from '../../wire/operations/claims.ts';
import type { Caller } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import type { Spaces } from '../desk/spaces.ts';
import type { HarnessHub, OwedMessage } from './harness-hub.ts';

const CALLERS_MAX = 5_000;
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
        (one): one is Message => one !== null && isWorthShowing(one, agent, at),
      );
      const told = new Set(wanted.map(({ position }) => position));
      const passed = found.flatMap(({ position }) => (told.has(position) ? [] : [position]));
      const hasMore = total > found.length;
      if (wanted.length === 0) return { messages: [], passed, hasMore };
      const senders = await hub.ask((world) => wanted.map(({ by }) => knownAs(world, by)));
      const messages = wanted.map((one, i) => ({
        ...asOwed(one),
        ...((isRefusal(senders) ? null : senders[i]) ?? { kind: null, tier: null }),
      }));
      return { messages, passed, hasMore };
    },

    async seat(space, agent) {
      await callerOf(space, agent);
    },

    async present(space, agent, messages, shown) {
      const hub = spaces.find(space);
      const by = (await callerOf(space, agent))?.principal;
      if (hub === null || by === undefined) return;
      const done = await hub.submit({ type: 'inbox.present', by, at: hub.stamp(), shown });
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
      const claims = await hub.ask((world) => claimsOf(world, worktree));
      return isRefusal(claims) ? null : claims;
    },

    async claim(space, agent, { worktree, paths }) {
      const hub = spaces.find(space);
      const caller = await callerOf(space, agent);
      if (hub === null || caller === null) return true;
      const label = createHash('sha256').update(worktree).digest('hex').slice(0, 8);
      const chosen = await hub.ask((world) => touchClaim(world.claims, agent, label, paths));
      if (isRefusal(chosen) || chosen === null) return true;
      const scope = { task_id: chosen.id, worktree, paths: chosen.paths };
      const note = 'claimed on first touch';
      const answer = await desk.call(caller, claimTake, { ...scope, note });
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

function claimsOf(world: WorldView, worktree: string) {
  return [...world.claims.claims.values()].flatMap((claim) => {
    if (claim.scope?.worktree !== worktree) return [];
    const { id, owner, scope, lapsesAt } = viewClaim(claim);
    return [{ task_id: id, owner, paths: scope?.paths ?? [], lease_expires_at: lapsesAt / 1000 }];
  });
}
