/**
 * The shape of every rule in the hub.
 *
 * A decider never reads the clock, draws a random number, or waits. Whatever it
 * needs to know arrives in the state or in the command, so the same history
 * always tells the same story. A decision is either events with the answer the
 * caller gets once they are durable, or a refusal.
 */
import type { Principal } from './principal.ts';
import { type OwnBound, WAYS_OUT } from './ways-out.ts';

/** What every command carries: who asks, and when (milliseconds since the epoch). */
export interface Asked {
  readonly by: Principal;
  readonly at: number;
  readonly idempotency?: Idempotency | null;
}

/** A key to ask again under. `digest` stands for the content: with another one it is refused [CM12]. */
export interface Idempotency {
  readonly key: string;
  readonly digest: string;
}

export interface Decided<Event, Answer> {
  readonly events: readonly Event[];
  readonly answer: Answer;
}

/** The law says no. `refused` is a code `noun.state`, fixed forever; the message may improve. */
export interface Refusal {
  readonly refused: RefusalCode;
  readonly message: string;
  readonly detail?: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch: when asking again may succeed. */
  readonly retryAt?: number;
}

export type Decision<Event, Answer> = Decided<Event, Answer> | Refusal;

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}

export function refuse(
  refused: RefusalCode,
  message: string,
  detail?: Readonly<Record<string, unknown>>,
  retryAt?: number,
): Refusal {
  return {
    refused,
    message,
    ...(detail !== undefined && { detail }),
    ...(retryAt !== undefined && { retryAt }),
  };
}

/** A named bound was reached; the refusal says what makes room [GA7]. Those that are shared: shares.ts. */
export function refuseFull(limit: OwnBound, max: number): Refusal {
  const message = `${limit} is ${max}, and it is reached: ${WAYS_OUT[limit]}`;
  return refuse('limit.reached', message, { limit, max });
}

/** Every refusal there is. docs/ERRORS.md explains each; wire/errors.ts says how each sounds. */
export type RefusalCode =
  | 'access.denied'
  | 'access.unknown'
  | 'ack.backward'
  | 'ack.forgotten'
  | 'ack.not-recipient'
  | 'agent.in-use'
  | 'agent.name-invalid'
  | 'agent.not-found'
  | 'agent.not-managed'
  | 'agent.singleton'
  | 'agent.undefined'
  | 'backpressure.over'
  | 'body.invalid'
  | 'body.too-deep'
  | 'body.too-large'
  | 'budget.exhausted'
  | 'card.not-found'
  | 'channel.in-use'
  | 'channel.name-invalid'
  | 'channel.not-found'
  | 'channel.reserved'
  | 'channel.retired'
  | 'claim.cycle'
  | 'claim.fenced'
  | 'claim.held'
  | 'claim.id-invalid'
  | 'claim.key-reused'
  | 'claim.not-found'
  | 'claim.not-holder'
  | 'claim.overlap'
  | 'claim.quota'
  | 'claim.recipient-absent'
  | 'claim.recipient-self'
  | 'claim.reserved'
  | 'claim.status'
  | 'claim.text-too-long'
  | 'claim.version'
  | 'cluster.itself'
  | 'cluster.name-taken'
  | 'cluster.last'
  | 'cluster.none'
  | 'cluster.not-found'
  | 'cluster.revoked'
  | 'cluster.scoped'
  | 'context.forgotten'
  | 'context.too-far'
  | 'context.version'
  | 'dm.not-canonical'
  | 'dm.not-party'
  | 'docket.closed'
  | 'docket.not-found'
  | 'docket.taken'
  | 'docket.undecided'
  | 'finding.rejected'
  | 'gate.ended'
  | 'gate.lapsed'
  | 'gate.mismatch'
  | 'gate.not-decider'
  | 'gate.not-found'
  | 'gate.pending'
  | 'gate.reason-needed'
  | 'gate.unproved'
  | 'group.exists'
  | 'group.not-invited'
  | 'group.not-member'
  | 'hub.busy'
  | 'input.invalid'
  | 'input.not-json'
  | 'instance.not-found'
  | 'instance.stale'
  | 'instance.state'
  | 'instance.too-many'
  | 'internal'
  | 'limit.reached'
  | 'link.spent'
  | 'mark.not-author'
  | 'mark.note-needed'
  | 'mark.version'
  | 'message.not-found'
  | 'message.not-held'
  | 'offer.not-found'
  | 'operation.unknown'
  | 'passkey.not-found'
  | 'pattern.reserved'
  | 'person.exists'
  | 'person.not-found'
  | 'plugin.refused'
  | 'post.invalid'
  | 'proof.wrong'
  | 'rate.limited'
  | 'recipient.unknown'
  | 'record.busy'
  | 'record.operation'
  | 'record.position'
  | 'replay.forbidden'
  | 'reply.elsewhere'
  | 'runner.bad-result'
  | 'runner.cwd-outside'
  | 'runner.secret-readable'
  | 'runner.unknown'
  | 'runner.unusable'
  | 'schema.changed'
  | 'schema.slow'
  | 'session.gone'
  | 'session.length'
  | 'session.no-call'
  | 'session.not-found'
  | 'session.open-call'
  | 'session.over'
  | 'session.parked'
  | 'session.split'
  | 'scope.absolute'
  | 'scope.escape'
  | 'scope.invalid'
  | 'scope.too-complex'
  | 'scope.too-long'
  | 'scope.too-many'
  | 'search.busy'
  | 'search.query-invalid'
  | 'search.unavailable'
  | 'space.elsewhere'
  | 'space.name-invalid'
  | 'space.not-found'
  | 'space.removed'
  | 'store.unavailable'
  | 'store.unknown'
  | 'subscription.not-found'
  | 'task.cycle'
  | 'task.needed'
  | 'task.not-found'
  | 'task.version'
  | 'thread.closed'
  | 'token.not-found'
  | 'ttl.invalid'
  | 'ttl.too-long'
  | 'turn.limit-invalid'
  | 'turn.not-found'
  | 'turn.stale'
  | 'turn.state'
  | 'turn.stopped'
  | 'turn.too-many-sends'
  | 'version.mismatch'
  | 'wait.not-found'
  | 'workflow.exists'
  | 'workflow.no-queue'
  | 'workflow.no-step'
  | 'workflow.no-version'
  | 'workflow.not-asked'
  | 'workflow.not-found'
  | 'workflow.queue-in-use'
  | 'workflow.result-too-large'
  | 'workflow.stale'
  | 'workflow.state'
  | 'workflow.step-completed'
  | 'workflow.step-state';
