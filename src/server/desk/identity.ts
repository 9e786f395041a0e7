/**
 * Authentication: what a door was shown becomes a principal, or nothing. The
 * refusal is the same sentence whatever was wrong, so that it tells nobody which
 * agents and tokens exist [I3].
 */
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { AGENT_NAME_RULE, isAgentName, type Principal } from '../../core/law/principal.ts';
import type { WorldView } from '../../core/law/state.ts';
import { liveTokens, principalOf } from '../../core/law/token.ts';
import { checkTool, checkTurn, turnPrincipal } from '../../core/turns/turn-token.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Activities } from './activity.ts';
import type { Caller, Introduction } from './caller.ts';
import type { Platform } from './platform.ts';
import { DEFAULT_SPACE, isSpaceName, type Spaces } from './spaces.ts';
import { createTurnFollower } from './turn-end.ts';

export interface IdentityOptions {
  readonly mode: 'local' | 'open';
  /** The owner's secret, from the credential file. */
  readonly ownerCredential: string | null;
  /** Null: any name may come. Else only these, each with its home space. */
  readonly agents: ReadonlyMap<string, string | null> | null;
}

export const OWNER_NAME = 'owner';

/** What a page keeps of its session; it opens nothing without the cookie that was set with it [WD3]. */
export const PAGE_HALF = 'syw_';

export function tokenText(space: string, id: string, secret: string): string {
  return `syn_${space}.${id}.${secret}`;
}

export function createIdentity(
  options: IdentityOptions,
  spaces: Spaces,
  activities: Activities,
  { digest, elapsedMs }: Platform,
  onRevoked: (tokenId: string) => void,
): (introduction: Introduction) => Promise<Caller | Refusal> {
  const owner = options.ownerCredential === null ? null : digest(options.ownerCredential);
  const followTurn = createTurnFollower(onRevoked);

  function isOwner(introduction: Introduction): boolean {
    if (introduction.isOwnerSocket) return true;
    if (owner === null || introduction.token === null) return false;
    return isSameDigest(owner, digest(introduction.token));
  }

  /**
   * Opens the space the introduction leads to, so that later calls find it at once. Coming by makes
   * none: where there is no such space, the first call that writes makes it [SP3].
   */
  async function seat(
    introduction: Introduction,
    principal: Principal,
    space: string,
    rest: { isOwner: boolean; tokenId: string | null; startedAt: number; mayMakeSpace: boolean },
  ): Promise<Caller | Refusal> {
    if (!isSpaceName(space)) {
      return refuse('space.name-invalid', 'a space is named with 1 to 64 of a-z, 0-9, _ and -');
    }
    if (spaces.has(space) || !rest.mayMakeSpace) {
      const hub = spaces.find(space) ?? (await spaces.open(space, { mayCreate: false }));
      if (isRefusal(hub)) return hub;
    }
    const activity = activities.of(space, principal.id);
    activity.home ??= introduction.isVouchedFor ? 'vouched' : 'known';
    return {
      principal,
      space,
      // Plugins are chosen by it, so that it is nobody's to choose: the bridge is the owner's program [P23].
      transport: rest.isOwner ? introduction.transport : 'http',
      connectionId: introduction.connectionId,
      clientVersion: introduction.clientVersion,
      mayMakeSpace: rest.mayMakeSpace,
      isOwner: rest.isOwner,
      tokenId: rest.tokenId,
      credential: introduction.token,
      activity,
      authMs: elapsedMs() - rest.startedAt,
    };
  }

  async function byOwner(introduction: Introduction, startedAt: number): Promise<Caller | Refusal> {
    const name = introduction.agent ?? OWNER_NAME;
    if (!isAgentName(name)) return noName();
    const principal = ownersPrincipal(name, introduction);
    const space = introduction.space ?? DEFAULT_SPACE;
    return seat(introduction, principal, space, {
      isOwner: true,
      tokenId: null,
      startedAt,
      mayMakeSpace: true,
    });
  }

  async function byToken(
    introduction: Introduction,
    token: string,
    startedAt: number,
  ): Promise<Caller | Refusal> {
    const [, space = '', id = '', secret = ''] =
      /^syn_([a-z0-9_-]{1,64})\.([a-z0-9]+)\.(.+)$/.exec(token) ?? [];
    if (!isSpaceName(space)) return unknownAgent();
    const hub: Hub | Refusal =
      spaces.find(space) ?? (await spaces.open(space, { mayCreate: false }));
    if (isRefusal(hub)) return hub.refused === 'store.unavailable' ? hub : unknownAgent();
    const hash = digest(secret);
    const looked = await hub.ask((world) => ({
      found: principalOf(world.tokens.get(id), hash, hub.stamp()),
      expiresAt: world.tokens.get(id)?.expiresAt ?? null,
    }));
    if (isRefusal(looked)) return looked;
    const { found, expiresAt } = looked;
    if (found === null) return unknownAgent();
    if (introduction.agent !== null && introduction.agent !== found.id) return unknownAgent();
    if (introduction.space !== null && introduction.space !== space) return unknownAgent();
    const seated = await seat(introduction, found, space, {
      isOwner: false,
      tokenId: id,
      startedAt,
      mayMakeSpace: false,
    });
    if (isRefusal(seated)) return seated;
    return { ...seated, tokenHash: hash, ...(expiresAt !== null && { tokenExpiresAt: expiresAt }) };
  }

  /** The token of a turn stands for its agent, and dies with that run of it [TN7]. */
  async function byTurn(
    introduction: Introduction,
    token: string,
    startedAt: number,
  ): Promise<Caller | Refusal> {
    const [, space = '', id = '', secret = ''] =
      /^syt_([a-z0-9_-]{1,64})\.(t\d{1,15})\.(.+)$/.exec(token) ?? [];
    if (!isSpaceName(space)) return unknownAgent();
    const hub = spaces.find(space) ?? (await spaces.open(space, { mayCreate: false }));
    if (isRefusal(hub)) return hub.refused === 'store.unavailable' ? hub : unknownAgent();
    const hash = digest(secret);
    const found = await hub.ask((world) => turnPrincipal(world, id, hash, hub.stamp()));
    if (isRefusal(found)) return found;
    if (found === null) return unknownAgent();
    if (introduction.agent !== null && introduction.agent !== found.id) return unknownAgent();
    if (introduction.space !== null && introduction.space !== space) return unknownAgent();
    const tokenId = followTurn(hub, found);
    return seat(introduction, found, space, {
      isOwner: false,
      tokenId,
      startedAt,
      mayMakeSpace: false,
    });
  }

  /**
   * `--auth open`, or a door that vouches for the caller: the name is taken at its word. The
   * server refuses both off loopback, unless the door asks for a secret of its own.
   */
  async function byWord(introduction: Introduction, startedAt: number): Promise<Caller | Refusal> {
    const name = introduction.agent ?? introduction.token;
    if (name === null || !isAgentName(name)) return unknownAgent();
    const home = options.agents?.get(name);
    if (options.agents !== null && home === undefined) return unknownAgent();
    if (home != null && introduction.space !== null && introduction.space !== home)
      return unknownAgent();
    const space = home ?? introduction.space ?? DEFAULT_SPACE;
    if (introduction.isVouchedFor && options.mode !== 'open' && (await isTaken(space, name))) {
      return refuse(
        'access.denied',
        `${name} has a token of its own or came by another door of this hub; choose another name`,
      );
    }
    const principal: Principal = {
      ...{ id: name, kind: 'agent', tier: 'standard' },
      ...(introduction.isVouchedFor && { isVouched: true }),
    };
    return seat(introduction, principal, space, {
      isOwner: false,
      tokenId: null,
      startedAt,
      mayMakeSpace: true,
    });
  }

  /** A door that vouches has one secret for all: it opens its own names and nobody else's [I13]. */
  async function isTaken(space: string, name: string): Promise<boolean> {
    // `ada-rx` is told what `ada` is told.
    for (const one of [name, name.replace(/-rx$/, '')]) {
      if (one === OWNER_NAME) return true;
      const hub = spaces.find(space);
      const isHeld = await hub?.ask((world) => isElsewhere(world, one, hub.stamp()));
      if (isHeld === true || isRefusal(isHeld)) return true;
      // Of one that left nothing on record yet, this run alone knows.
      if (isHeld !== false && activities.find(space, one)?.home === 'known') return true;
    }
    return false;
  }

  return async (introduction) => {
    const startedAt = elapsedMs();
    if (introduction.isVouchedFor === false) return unknownAgent();
    if (introduction.isVouchedFor) return byWord(introduction, startedAt);
    if (isOwner(introduction)) return byOwner(introduction, startedAt);
    if (introduction.token?.startsWith(PAGE_HALF)) return sessionGone();
    if (introduction.token?.startsWith('syn_')) {
      const found = await byToken(introduction, introduction.token, startedAt);
      const isOver = isRefusal(found) && found.refused === 'access.unknown';
      return isOver && introduction.isSession ? sessionGone() : found;
    }
    if (introduction.token?.startsWith('syt_'))
      return byTurn(introduction, introduction.token, startedAt);
    if (options.mode === 'open') return byWord(introduction, startedAt);
    return unknownAgent();
  };
}

/** Whether a name belongs to another door than one that vouches; null while it has left no record. */
function isElsewhere(world: WorldView, name: string, at: number): boolean | null {
  if (liveTokens(world, name, at).length > 0) return true;
  const agent = world.agents.get(name);
  // Others may have written to a name before anybody came by it.
  return agent === undefined || agent.madeBy !== null ? null : !agent.isVouched;
}

/** With the owner's credential one is whom one says: an administrator, a person, or an agent of theirs. */
function ownersPrincipal(id: string, { agent, wantsOwner, isPerson }: Introduction): Principal {
  if (agent === null || wantsOwner) return { id, kind: 'admin', tier: 'owner' };
  return isPerson ? { id, kind: 'human', tier: 'owner' } : { id, kind: 'agent', tier: 'trusted' };
}

/** A call that waited is held to its token again: one that was revoked meanwhile gets nothing [I5]. */
export function checkStanding(world: WorldView, caller: Caller, at: number): Refusal | null {
  const { tokenId, tokenHash = '', principal: by } = caller;
  if (by.turn !== undefined) return checkTurn(world, { by, at, type: 'question' });
  if (tokenId === null) return null;
  return principalOf(world.tokens.get(tokenId), tokenHash, at) === null ? unknownAgent() : null;
}

/** A turn may have ended since its caller was let in, and may not use every operation [TN17]. */
export function askStanding(hub: Hub, caller: Caller, tool: string): Promise<Refusal | null> {
  return hub.ask(
    (world) =>
      checkStanding(world, caller, hub.stamp()) ?? checkTool(world, caller.principal, tool),
  );
}

/** In the same time whatever differs. */
function isSameDigest(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i);
  return difference === 0;
}

function noName(): Refusal {
  return refuse('agent.name-invalid', AGENT_NAME_RULE);
}

function unknownAgent(): Refusal {
  return refuse(
    'access.unknown',
    'the credential opens nothing here; use the hub owner’s credential file or a live token',
  );
}

function sessionGone(): Refusal {
  return refuse(
    'session.gone',
    'this browser is not let in any more; open the page with synod web',
  );
}
