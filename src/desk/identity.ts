/**
 * Authentication: what a door was shown becomes a principal, or nothing. The
 * refusal is the same sentence whatever was wrong, so that it tells nobody which
 * agents and tokens exist [I3].
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isRefusal, type Refusal, refuse } from '../core/decider.ts';
import { isAgentName, type Principal } from '../core/principal.ts';
import type { World } from '../core/state.ts';
import { principalOf } from '../core/token.ts';
import type { Hub } from '../hub/hub.ts';
import type { Caller, Claim } from './caller.ts';
import { DEFAULT_SPACE, isSpaceName, type Spaces } from './spaces.ts';

export interface IdentityOptions {
  readonly mode: 'local' | 'open';
  /** The owner's secret, from the credential file. */
  readonly ownerCredential: string | null;
  /** Null: any name may come. Else only these, each with its home space. */
  readonly agents: ReadonlyMap<string, string | null> | null;
}

export const OWNER_NAME = 'owner';

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function tokenText(space: string, id: string, secret: string): string {
  return `syn_${space}.${id}.${secret}`;
}

export function createIdentity(
  options: IdentityOptions,
  spaces: Spaces,
): (claim: Claim) => Promise<Caller | Refusal> {
  const owner =
    options.ownerCredential === null ? null : Buffer.from(sha256(options.ownerCredential));

  function isOwner(claim: Claim): boolean {
    if (claim.isOwnerSocket) return true;
    if (owner === null || claim.token === null) return false;
    return timingSafeEqual(owner, Buffer.from(sha256(claim.token)));
  }

  /** Opens the space the claim leads to, so that later calls find it at once. */
  async function seat(
    claim: Claim,
    principal: Principal,
    space: string,
    rest: { isOwner: boolean; tokenId: string | null; startedAt: number; mayCreate: boolean },
  ): Promise<Caller | Refusal> {
    if (!isSpaceName(space)) {
      return refuse('space.name-invalid', 'a space is named with 1 to 64 of a-z, 0-9, _ and -');
    }
    const hub = spaces.find(space) ?? (await spaces.open(space, { mayCreate: rest.mayCreate }));
    if (isRefusal(hub)) return hub;
    return {
      principal,
      space,
      transport: claim.transport,
      connectionId: claim.connectionId,
      clientVersion: claim.clientVersion,
      isOwner: rest.isOwner,
      tokenId: rest.tokenId,
      credential: claim.token,
      authMs: performance.now() - rest.startedAt,
    };
  }

  async function byOwner(claim: Claim, startedAt: number): Promise<Caller | Refusal> {
    const name = claim.agent ?? OWNER_NAME;
    if (!isAgentName(name)) return unknownAgent();
    const isPlain = claim.agent !== null && !claim.wantsOwner;
    const principal: Principal = isPlain
      ? { id: name, kind: 'agent', tier: 'trusted' }
      : { id: name, kind: 'admin', tier: 'owner' };
    const space = claim.space ?? DEFAULT_SPACE;
    return seat(claim, principal, space, {
      isOwner: true,
      tokenId: null,
      startedAt,
      mayCreate: true,
    });
  }

  async function byToken(
    claim: Claim,
    token: string,
    startedAt: number,
  ): Promise<Caller | Refusal> {
    const [, space = '', id = '', secret = ''] =
      /^syn_([a-z0-9_-]{1,64})\.([a-z0-9]+)\.(.+)$/.exec(token) ?? [];
    if (!isSpaceName(space)) return unknownAgent();
    const hub: Hub | Refusal =
      spaces.find(space) ?? (await spaces.open(space, { mayCreate: false }));
    if (isRefusal(hub)) return hub.refused === 'store.unavailable' ? hub : unknownAgent();
    const hash = sha256(secret);
    const looked = await hub.ask((world) => ({
      found: principalOf(world.tokens.get(id), hash, hub.stamp()),
      expiresAt: world.tokens.get(id)?.expiresAt ?? null,
    }));
    if (isRefusal(looked)) return looked;
    const { found, expiresAt } = looked;
    if (found === null) return unknownAgent();
    if (claim.agent !== null && claim.agent !== found.id) return unknownAgent();
    if (claim.space !== null && claim.space !== space) return unknownAgent();
    const seated = await seat(claim, found, space, {
      isOwner: false,
      tokenId: id,
      startedAt,
      mayCreate: false,
    });
    if (isRefusal(seated)) return seated;
    return { ...seated, tokenHash: hash, ...(expiresAt !== null && { tokenExpiresAt: expiresAt }) };
  }

  /** `--auth open`: the name is taken at its word. The server refuses this mode off loopback. */
  async function byWord(claim: Claim, startedAt: number): Promise<Caller | Refusal> {
    const name = claim.agent ?? claim.token;
    if (name === null || !isAgentName(name)) return unknownAgent();
    const home = options.agents?.get(name);
    if (options.agents !== null && home === undefined) return unknownAgent();
    if (home != null && claim.space !== null && claim.space !== home) return unknownAgent();
    const space = home ?? claim.space ?? DEFAULT_SPACE;
    const principal: Principal = { id: name, kind: 'agent', tier: 'standard' };
    return seat(claim, principal, space, {
      isOwner: false,
      tokenId: null,
      startedAt,
      mayCreate: true,
    });
  }

  return async (claim) => {
    const startedAt = performance.now();
    if (isOwner(claim)) return byOwner(claim, startedAt);
    if (claim.token?.startsWith('syn_')) return byToken(claim, claim.token, startedAt);
    if (options.mode === 'open') return byWord(claim, startedAt);
    return unknownAgent();
  };
}

/** A call that waited is held to its token again: one that was revoked meanwhile gets nothing [I5]. */
export function checkStanding(world: World, caller: Caller, at: number): Refusal | null {
  const { tokenId, tokenHash = '' } = caller;
  if (tokenId === null) return null;
  return principalOf(world.tokens.get(tokenId), tokenHash, at) === null ? unknownAgent() : null;
}

function unknownAgent(): Refusal {
  return refuse(
    'access.unknown',
    'the credential opens nothing here; use the hub owner’s credential file or a live token',
  );
}
