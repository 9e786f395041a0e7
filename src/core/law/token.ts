/**
 * Tokens: an agent's credential. The log keeps only a hash [I4]; a token may
 * expire, be rotated (same id, new secret) and be revoked for good [I5].
 */
import { agentOf, checkAgentName, checkAgentRoom, checkRoles } from '../talk/agent.ts';
import { afterRevocation, type RevocationEvent } from '../turns/revoked.ts';
import { type Asked, type Decision, type Refusal, refuse } from './decider.ts';
import { TOKENS_MAX } from './limits.ts';
import type { Principal, PrincipalKind, TrustTier } from './principal.ts';
import { checkShare, count } from './shares.ts';
import type { Token, World, WorldView } from './state.ts';

export interface CreateToken extends Asked {
  readonly type: 'token.create';
  readonly id: string;
  readonly agent: string;
  readonly kind: PrincipalKind;
  readonly tier: TrustTier;
  readonly hash: string;
  readonly label: string | null;
  readonly roles: readonly string[];
  readonly expiresAt: number | null;
}

export interface RotateToken extends Asked {
  readonly type: 'token.rotate';
  readonly id: string;
  readonly hash: string;
  readonly expiresAt: number | null;
}

export interface RevokeToken extends Asked {
  readonly type: 'token.revoke';
  readonly id: string;
}

export interface TokenCreated {
  readonly type: 'token.created';
  readonly at: number;
  readonly by: string;
  readonly token: Omit<Token, 'createdAt' | 'createdBy' | 'revokedAt'>;
}

export interface TokenRotated {
  readonly type: 'token.rotated';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly hash: string;
  readonly expiresAt: number | null;
}

export interface TokenRevoked {
  readonly type: 'token.revoked';
  readonly at: number;
  readonly by: string;
  readonly id: string;
}

export type TokenEvent = TokenCreated | TokenRotated | TokenRevoked;

export function decideToken(
  world: WorldView,
  command: CreateToken | RotateToken | RevokeToken,
): Decision<TokenEvent | RevocationEvent, null> {
  const { by, at } = command;
  if (by.kind !== 'admin') return refuse('access.denied', 'only an administrator handles tokens');
  if (command.type === 'token.create') {
    const { id, agent, kind, tier, hash, label, roles, expiresAt } = command;
    const unfit =
      checkAgentName(world, agent) ?? checkAgentRoom(world, by, agent) ?? checkRoles(roles);
    if (unfit !== null) return unfit;
    // An id stands for one token forever: a revoked one does not come back under a new secret [I5].
    if (world.tokens.has(id)) return refuse('input.invalid', `token id ${id} is taken`);
    // One that is revoked makes room.
    const total = world.tokens.size - (revokedToken(world) === null ? 0 : 1);
    const full = checkShare('TOKENS_MAX', by, total, world.made.tokens.get(by.id) ?? 0);
    if (full !== null) return full;
    const token = { id, agent, kind, tier, hash, label, roles, expiresAt };
    return { events: [{ type: 'token.created', at, by: by.id, token }], answer: null };
  }
  const token = world.tokens.get(command.id);
  if (token === undefined || token.revokedAt !== null) return unknownToken(command.id);
  if (command.type === 'token.revoke') {
    const revoked = { type: 'token.revoked', at, by: by.id, id: token.id } as const;
    const isLast = liveTokens(world, token.agent, at).every(({ id }) => id === token.id);
    const after = isLast ? afterRevocation(world, token, by.id, at) : [];
    return { events: [revoked, ...after], answer: null };
  }
  const { id, hash, expiresAt } = command;
  return { events: [{ type: 'token.rotated', at, by: by.id, id, hash, expiresAt }], answer: null };
}

export function evolveToken(world: World, event: TokenEvent): void {
  if (event.type === 'token.created') {
    const { token, at, by } = event;
    if (world.tokens.size >= TOKENS_MAX) world.tokens.delete(revokedToken(world) ?? '');
    world.tokens.set(token.id, { ...token, createdAt: at, createdBy: by, revokedAt: null });
    count(world.made.tokens, by, 1);
    agentOf(world, token.agent);
    return;
  }
  const token = world.tokens.get(event.id);
  if (token === undefined) return;
  if (event.type === 'token.revoked' && token.revokedAt === null) {
    count(world.made.tokens, token.createdBy, -1);
  }
  const changed =
    event.type === 'token.revoked'
      ? { ...token, revokedAt: event.at }
      : { ...token, hash: event.hash, expiresAt: event.expiresAt };
  world.tokens.set(event.id, changed);
}

/** Who a presented token stands for at `at`; null when it opens nothing, whatever the reason. */
export function principalOf(token: Token | undefined, hash: string, at: number): Principal | null {
  if (token === undefined || token.hash !== hash || token.revokedAt !== null) return null;
  if (token.expiresAt !== null && token.expiresAt <= at) return null;
  return { id: token.agent, kind: token.kind, tier: token.tier };
}

/** By agent, what it may be spoken to as: from an administrator, and with its live tokens [AD5]. */
export function rolesOf(world: WorldView, at: number): (agent: string) => readonly string[] {
  const byToken = new Map<string, string[]>();
  for (const token of world.tokens.values()) {
    if (token.roles.length === 0 || !isLive(token, at)) continue;
    byToken.set(token.agent, [...(byToken.get(token.agent) ?? []), ...token.roles]);
  }
  return (agent) => {
    const assigned = world.agents.get(agent)?.roles ?? [];
    const held = byToken.get(agent);
    return held === undefined ? assigned : [...new Set([...assigned, ...held])].sort();
  };
}

export function liveTokens(world: WorldView, agent: string, at: number): Token[] {
  return tokensOf(world, agent).filter((token) => isLive(token, at));
}

/** Also those that are over, while they are remembered. */
export function tokensOf(world: WorldView, agent: string): Token[] {
  return [...world.tokens.values()].filter((token) => token.agent === agent);
}

export function isLive({ revokedAt, expiresAt }: Token, at: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > at);
}

/** The oldest revoked token: the first to be forgotten when there is no room. */
function revokedToken(world: WorldView): string | null {
  for (const token of world.tokens.values()) if (token.revokedAt !== null) return token.id;
  return null;
}

function unknownToken(id: string): Refusal {
  return refuse('token.not-found', `there is no live token ${id}; list them with tokens.list`);
}
