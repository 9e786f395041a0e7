/**
 * The record of requests, for whoever keeps one: each is told once, when it ends or is refused.
 * What the bus knows of a client is told as who it is, what the client says of itself as a claim.
 */
import type { Exchange } from './exchange.ts';
import type { Wishes } from './extension.ts';
import type { Ask, Client } from './state.ts';

/** A request ended. */
export function recordEnd(exchange: Exchange, ask: Ask, outcome: string): void {
  if (!exchange.audit) return;
  exchange.audit({
    eventId: nextEventId(exchange),
    parentEventId: ask.parentEventId,
    action: ask.method,
    actor: actorOf(ask.client, ask.claimedSubject),
    resource: ask.link?.worker.name ?? null,
    outcome,
    timestamp: new Date().toISOString(),
    durationMs: Math.round(exchange.clock.now() - ask.startedAt),
  });
}

/** A request was refused before it went anywhere. */
export function recordRefusal(
  exchange: Exchange,
  client: Client,
  method: string,
  wishes: Wishes | null,
  outcome: string,
): void {
  if (!exchange.audit) return;
  exchange.audit({
    eventId: nextEventId(exchange),
    parentEventId: wishes?.parentEventId ?? null,
    action: method,
    actor: actorOf(client, wishes?.subject ?? null),
    resource: null,
    outcome,
    timestamp: new Date().toISOString(),
    durationMs: 0,
  });
}

function actorOf({ identity, peer }: Client, claims: string | null): Record<string, string> {
  return {
    client: peer.label,
    ...(identity && { subjectId: identity.subjectId, role: identity.role }),
    ...(claims !== null && !identity && { claims }),
  };
}

/** Unique over restarts: the record is longer than any bus lives. */
function nextEventId(exchange: Exchange): string {
  exchange.lastId += 1;
  return `${exchange.busId}-${exchange.lastId.toString(36)}`;
}
