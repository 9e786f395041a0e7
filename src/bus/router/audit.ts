/**
 * The record of requests: each is told once, when it ends or is refused. What the bus knows of a
 * client is recorded as who it is, what the client says of itself as a claim.
 */
import type { Envelope } from '../process/scan-message.ts';
import type { AuditRecord } from './bus.ts';
import type { Exchange } from './exchange.ts';
import type { Wishes } from './extension.ts';
import type { BusClient, BusRequest } from './state.ts';

/** A request ended. */
export function recordEnd(exchange: Exchange, request: BusRequest, outcome: string): void {
  if (!exchange.audit) return;
  const { client, method, parentEventId, claimedSubject, link, startedAt } = request;
  const { agentId, session } = request;
  record(exchange, client, claimedSubject, {
    parentEventId,
    action: method,
    resource: link?.worker.name ?? null,
    ...whereOf(agentId, session?.id ?? null),
    outcome,
    durationMs: Math.round(exchange.clock.now() - startedAt),
  });
}

/** A request was refused before it went anywhere. */
export function recordRefusal(
  exchange: Exchange,
  client: BusClient,
  { method, agentId, sessionId }: Envelope,
  wishes: Wishes | null,
  outcome: string,
): void {
  if (!exchange.audit) return;
  const { parentEventId = null, subject = null } = wishes ?? {};
  const where = whereOf(agentId, sessionId);
  const action = method ?? '';
  const told = { parentEventId, action, resource: null, ...where, outcome, durationMs: 0 };
  record(exchange, client, subject, told);
}

const whereOf = (
  agentId: string | null,
  sessionId: string | null,
): Pick<AuditRecord, 'agentId' | 'sessionId'> => ({
  ...(agentId !== null && { agentId }),
  ...(sessionId !== null && { sessionId }),
});

function record(
  exchange: Exchange,
  { identity, peer }: BusClient,
  claims: string | null,
  told: Omit<AuditRecord, 'eventId' | 'actor' | 'timestamp'>,
): void {
  if (!exchange.audit) return;
  exchange.lastId += 1;
  exchange.audit({
    // Unique over restarts: the record is longer than any bus lives.
    eventId: `${exchange.busId}-${exchange.lastId.toString(36)}`,
    ...told,
    actor: {
      client: peer.label,
      ...(identity && { subjectId: identity.subjectId, role: identity.role }),
      ...(claims !== null && !identity && { claims }),
    },
    timestamp: new Date().toISOString(),
  });
}
