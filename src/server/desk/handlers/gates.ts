/** Gates: asked, waited for, decided, used. The law decides; proofs are looked at here [GT3]. */

import type { AnyGateView } from '../../../core/gates/gate-state.ts';
import { findGate, gatesPage, isOpen, wordOn } from '../../../core/gates/gate-view.ts';
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { parseObjectText } from '../../../core/law/text.ts';
import { messageId } from '../../../core/talk/message-id.ts';
import { canonicalJson } from '../../../wire/canonical.ts';
import type { GateOutput } from '../../../wire/operations/gates.ts';
import { idempotencyOf } from '../idempotency.ts';
import { checkStanding } from '../identity.ts';
import { credentialOf } from '../proofs.ts';
import type { Handlers, Room } from '../room.ts';
import { cameWith } from './people.ts';

/** What is hashed is bounded like a body: its size by the request, its depth here. */
const PAYLOAD_BYTES_MAX = 1024 * 1024;

export const gateHandlers: Handlers<
  'gates.ask' | 'gates.get' | 'gates.consume' | 'gates.withdraw' | 'gates.list' | 'gates.decide'
> = {
  async 'gates.ask'(room, input) {
    const { hub, by, platform } = room;
    const payloadHash = hashOf(room, input);
    if (isRefusal(payloadHash)) return payloadHash;
    const { wait_ms: waitMs = 0, ...wish } = input;
    const answer = await hub.submit({
      type: 'gate.ask',
      by,
      at: hub.stamp(),
      action: input.action,
      subject: input.subject,
      tier: input.tier,
      kinds: input.by?.kinds ?? [],
      names: input.by?.names ?? [],
      count: input.by?.count ?? 1,
      deadlineMs: input.deadline === 'never' ? null : input.deadline * 1_000,
      thread: input.thread ?? null,
      payloadHash,
      policy: input.policy ?? null,
      turn: by.turn?.id ?? null,
      isKept: input.keep,
      ...(!input.tell && { isAwaited: true as const }),
      credential: credentialOf(room.caller),
      idempotency: idempotencyOf(platform, wish),
    });
    return isRefusal(answer) ? answer : waitFor(room, answer.id, waitMs);
  },

  'gates.get': (room, input) => waitFor(room, input.gate_id, input.wait_ms ?? 0),

  async 'gates.consume'(room, input) {
    const { hub, by, platform } = room;
    const payloadHash = hashOf(room, input);
    if (isRefusal(payloadHash)) return payloadHash;
    const before = await waitFor(room, input.gate_id, 0);
    const answer = await hub.submit({
      type: 'gate.consume',
      by,
      at: hub.stamp(),
      id: input.gate_id,
      payloadHash,
      policy: input.policy ?? null,
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : ended(room, before, 'consumed', null);
  },

  async 'gates.withdraw'(room, input) {
    const { hub, by, platform } = room;
    const before = await waitFor(room, input.gate_id, 0);
    const answer = await hub.submit({
      type: 'gate.withdraw',
      by,
      at: hub.stamp(),
      id: input.gate_id,
      reason: input.reason ?? null,
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : ended(room, before, 'withdrawn', input.reason ?? null);
  },

  async 'gates.list'({ hub, by }, { state, mine, after, limit }) {
    return hub.ask((world) => {
      const asker = mine || !(by.kind === 'human' || by.kind === 'admin') ? by.id : null;
      const wanted = state === 'all' ? null : state;
      const page = gatesPage(world.gates, { asker, state: wanted, after, limit });
      return { gates: page.rows.map(gateOutput), next: page.next };
    });
  },

  async 'gates.decide'(room, input) {
    const { hub, by, platform } = room;
    // A proof is made anew for each call, and is no part of what was decided.
    const { proof, ...wish } = input;
    const before = await waitFor(room, input.gate_id, 0);
    const answer = await hub.submit({
      type: 'gate.decide',
      by,
      at: hub.stamp(),
      id: input.gate_id,
      decision: input.decision,
      reason: input.reason ?? null,
      payloadHash: input.payload_hash ?? null,
      ...cameWith(room, proof),
      idempotency: idempotencyOf(platform, wish),
    });
    if (isRefusal(answer)) return answer;
    return ended(
      room,
      before,
      input.decision === 'deny' ? 'denied' : 'consumed',
      input.reason ?? null,
    );
  },
};

/**
 * The gate as it is now. Of those that ended only so many are remembered, and where many end at once this
 * one may be forgotten again: what was done is told all the same [GT10].
 */
async function ended(
  room: Room,
  before: GateOutput | Refusal,
  state: GateOutput['state'],
  reason: string | null,
): Promise<GateOutput | Refusal> {
  if (isRefusal(before)) return before;
  const now = await waitFor(room, before.gate_id, 0);
  if (!isRefusal(now) || now.refused !== 'gate.not-found') return now;
  const decided = { decided_by: room.by.id, decided_at: room.hub.stamp() / 1000, use_until: null };
  return { ...before, state, reason, ...decided };
}

/** The gate as it is, or as soon as it is decided. A caller whose token falls meanwhile hears nothing. */
async function waitFor(room: Room, id: string, waitMs: number): Promise<GateOutput | Refusal> {
  const { hub, by, platform, signal } = room;
  const until = platform.elapsedMs() + waitMs;
  for (;;) {
    const leftMs = Math.ceil(until - platform.elapsedMs());
    // Looked at and listened for in one go: a decision that came between would wake nobody.
    const look = await hub.ask((world) => {
      const fallen = checkStanding(world, room.caller, hub.stamp());
      if (fallen !== null) return fallen;
      const gate = findGate(world.gates, by, id);
      if ('refused' in gate) return gate;
      const mayWait = leftMs > 0 && isOpen(gate) && gate.state === 'pending';
      const isOver = !mayWait || signal?.aborted === true || hub.watch.isEnding;
      return {
        gate: gateOutput(gate),
        come: isOver ? null : hub.watch.gate(id, by.id, leftMs, signal),
      };
    });
    if (isRefusal(look)) return look;
    if (look.come === null) return look.gate;
    if ((await look.come) === null) {
      return refuse('limit.reached', 'too many callers wait already; ask without wait_ms');
    }
  }
}

function hashOf(
  { platform }: Room,
  input: {
    readonly payload?: Record<string, unknown> | undefined;
    readonly payload_hash?: string | null | undefined;
  },
): string | null | Refusal {
  const said = input.payload_hash ?? null;
  if (input.payload === undefined) return said;
  if (parseObjectText(JSON.stringify(input.payload), PAYLOAD_BYTES_MAX) === null) {
    return refuse('input.invalid', 'payload is a JSON object of at most 1 MiB, not too deep', {
      violations: [{ field: 'payload', issue: 'too large or too deep' }],
    });
  }
  const hash = platform.digest(canonicalJson(input.payload));
  if (said === null || said === hash) return hash;
  return refuse('gate.mismatch', 'payload_hash is not the hash of payload; leave one of them out');
}

export function gateOutput(gate: AnyGateView): GateOutput {
  const { state, by, at, reason } = wordOn(gate);
  const isDecided = state !== 'pending';
  const useUntil = isOpen(gate) && gate.state === 'approved' ? gate.dueAt : null;
  const toSeconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
  return {
    gate_id: gate.id,
    state,
    asker: gate.asker,
    action: gate.action,
    subject: gate.subject,
    tier: gate.tier,
    by: { ...gate.deciders, kinds: [...gate.deciders.kinds], names: [...gate.deciders.names] },
    asked_at: gate.askedAt / 1000,
    deadline_at: toSeconds(gate.deadlineAt),
    thread: gate.thread,
    payload_hash: gate.payloadHash,
    policy: gate.policy,
    turn_id: gate.turn,
    keep: gate.isKept,
    message_id: gate.holds === null ? null : messageId(gate.holds),
    approvals: gate.approvals.map(({ by: name, person, proof, at: given, reason: why }) => ({
      by: person ?? name,
      proof: proof === 'none' ? 'owner, not proved' : proof,
      at: given / 1000,
      reason: why,
    })),
    decided_by: isDecided ? by : null,
    decided_at: isDecided ? at / 1000 : null,
    reason: isDecided ? reason : null,
    use_until: toSeconds(useUntil),
  };
}
