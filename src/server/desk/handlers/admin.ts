/** Tokens and spaces. Secrets are made here, shown once, and only their hash goes further. */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import type { SpaceSettings, Token } from '../../../core/law/state.ts';
import type { OutputOf } from '../../../wire/operation.ts';
import type { tokenList } from '../../../wire/operations/admin.ts';
import { idempotencyOf } from '../idempotency.ts';
import { tokenText } from '../identity.ts';
import type { Handlers, Room } from '../room.ts';
import { isSpaceName } from '../spaces.ts';
import { cameWith } from './people.ts';

type TokenView = OutputOf<typeof tokenList>['tokens'][number];

export const adminHandlers: Handlers<
  | 'tokens.create'
  | 'tokens.list'
  | 'tokens.rotate'
  | 'tokens.revoke'
  | 'spaces.list'
  | 'spaces.create'
  | 'spaces.remove'
  | 'spaces.configure'
> = {
  async 'tokens.create'(room, { agent_id, kind, tier, label, roles, ttl }) {
    const { hub, by, platform } = room;
    const at = hub.stamp();
    const id = platform.newId().replaceAll('-', '').slice(0, 12);
    const secret = platform.newSecret();
    const answer = await hub.submit({
      type: 'token.create',
      by,
      at,
      id,
      agent: agent_id,
      kind,
      tier,
      hash: platform.digest(secret),
      label: label ?? null,
      roles: roles ?? [],
      expiresAt: ttl == null ? null : at + ttl * 1000,
    });
    if (isRefusal(answer)) return answer;
    return withSecret(room, id, secret);
  },

  async 'tokens.list'({ hub }) {
    const tokens = await hub.ask((world) => [...world.tokens.values()].map(tokenView));
    return isRefusal(tokens) ? tokens : { tokens };
  },

  async 'tokens.rotate'(room, { token_id, ttl }) {
    const { hub, by, platform } = room;
    const at = hub.stamp();
    const secret = platform.newSecret();
    const answer = await hub.submit({
      type: 'token.rotate',
      by,
      at,
      id: token_id,
      hash: platform.digest(secret),
      expiresAt: ttl == null ? null : at + ttl * 1000,
    });
    if (isRefusal(answer)) return answer;
    return withSecret(room, token_id, secret);
  },

  async 'tokens.revoke'(room, input) {
    const { hub, by, platform } = room;
    const { token_id } = input;
    const idempotency = idempotencyOf(platform, input);
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'token.revoke', by, at, id: token_id, idempotency });
    if (isRefusal(answer)) return answer;
    return { token_id, revoked: true };
  },

  async 'spaces.list'({ spaces }) {
    return { spaces: spaces.list() };
  },

  async 'spaces.create'({ spaces }, { name }) {
    if (!isSpaceName(name)) {
      return refuse('space.name-invalid', 'a space is named with 1 to 64 of a-z, 0-9, _ and -');
    }
    const isNew = !spaces.list().some((space) => space.name === name);
    const hub = await spaces.open(name, { mayCreate: true, isExplicit: true });
    return isRefusal(hub) ? hub : { name, created: isNew };
  },

  async 'spaces.remove'({ spaces }, input) {
    const removed = await spaces.remove(input.name, { isDeleted: input.delete ?? false });
    if (isRefusal(removed)) return removed;
    return { name: input.name, removed_at: removed.at / 1000, kept: removed.kept };
  },

  async 'spaces.configure'(room, input) {
    const { hub, by } = room;
    const change: Partial<SpaceSettings> = {
      ...(input.backpressure_mode !== undefined && { backpressureMode: input.backpressure_mode }),
      ...(input.queue_limit !== undefined && { queueLimit: input.queue_limit }),
      ...(input.idempotency_ttl_ms !== undefined && { idempotencyTtlMs: input.idempotency_ttl_ms }),
      ...(input.typed_only !== undefined && { isTypedOnly: input.typed_only }),
      ...(input.hold_untrusted !== undefined && { doesHoldUntrusted: input.hold_untrusted }),
      ...(input.held_ttl_ms !== undefined && { heldTtlMs: input.held_ttl_ms }),
      ...(input.agent_idle_ms !== undefined && { agentIdleMs: input.agent_idle_ms }),
      ...(input.message_retention_ms !== undefined && {
        messageRetentionMs: input.message_retention_ms,
      }),
      ...(input.memory_retention_ms !== undefined && {
        memoryRetentionMs: input.memory_retention_ms,
      }),
      ...(input.supervise_every_ms !== undefined && { superviseEveryMs: input.supervise_every_ms }),
      ...(input.stalled_after_ms !== undefined && { stalledAfterMs: input.stalled_after_ms }),
      ...(input.gates_proof !== undefined && {
        gateProof: input.gates_proof === 'none' ? 'none' : null,
      }),
      ...(input.gates_proof_ms !== undefined && { gateProofMs: input.gates_proof_ms }),
      ...(input.claims_per_agent !== undefined && { claimsPerAgent: input.claims_per_agent }),
      ...(input.offers_per_agent !== undefined && { offersPerAgent: input.offers_per_agent }),
      ...(input.turns_parallel_max !== undefined && { turnsParallelMax: input.turns_parallel_max }),
      ...(input.turns_day_usd !== undefined && { turnsDayUsd: input.turns_day_usd }),
      ...(input.turns_day_tokens !== undefined && { turnsDayTokens: input.turns_day_tokens }),
    };
    const came = cameWith(room, input.proof);
    const settings = await hub.submit({
      type: 'space.configure',
      by,
      at: hub.stamp(),
      change,
      came,
    });
    if (isRefusal(settings)) return settings;
    return {
      backpressure_mode: settings.backpressureMode,
      queue_limit: settings.queueLimit,
      idempotency_ttl_ms: settings.idempotencyTtlMs,
      typed_only: settings.isTypedOnly,
      hold_untrusted: settings.doesHoldUntrusted,
      held_ttl_ms: settings.heldTtlMs,
      agent_idle_ms: settings.agentIdleMs,
      message_retention_ms: settings.messageRetentionMs,
      memory_retention_ms: settings.memoryRetentionMs,
      supervise_every_ms: settings.superviseEveryMs,
      stalled_after_ms: settings.stalledAfterMs,
      gates_proof: settings.gateProof ?? 'person',
      gates_proof_ms: settings.gateProofMs,
      claims_per_agent: settings.claimsPerAgent,
      offers_per_agent: settings.offersPerAgent,
      turns_parallel_max: settings.turnsParallelMax,
      turns_day_usd: settings.turnsDayUsd,
      turns_day_tokens: settings.turnsDayTokens,
    };
  },
};

async function withSecret(
  { hub, caller }: Room,
  id: string,
  secret: string,
): Promise<(TokenView & { token: string }) | Refusal> {
  const token = await hub.ask(
    (world) => world.tokens.get(id) ?? refuse('token.not-found', `token ${id} is gone`),
  );
  if (isRefusal(token)) return token;
  return { token: tokenText(caller.space, id, secret), ...tokenView(token) };
}

function tokenView(token: Token): TokenView {
  const toSeconds = (at: number | null): number | null => (at === null ? null : at / 1000);
  return {
    token_id: token.id,
    agent_id: token.agent,
    kind: token.kind,
    tier: token.tier,
    label: token.label,
    roles: [...token.roles],
    created_at: token.createdAt / 1000,
    created_by: token.createdBy,
    expires_at: toSeconds(token.expiresAt),
    revoked_at: toSeconds(token.revokedAt),
  };
}
