/**
 * How a refusal sounds at each door. One row per code; the compiler refuses a
 * missing row, and a test refuses a row that docs/ERRORS.md does not explain.
 * SOX knows nine error codes; the finer one travels in `detail.reason`.
 */
import type { Refusal, RefusalCode } from '../core/law/decider.ts';

export type SoxErrorCode =
  | 'identity_failure'
  | 'channel_not_found'
  | 'subscription_not_found'
  | 'validation_error'
  | 'rate_limited'
  | 'store_unavailable'
  | 'version_mismatch'
  | 'backpressure_over_limit'
  | 'internal_error';

export interface Sound {
  readonly sox: SoxErrorCode;
  readonly http: number;
  /** JSON-RPC error code. */
  readonly rpc: number;
  /** Exit code of the CLI. */
  readonly exit: number;
}

export const REFUSALS: Readonly<Record<RefusalCode, Sound>> = {
  'access.denied': { sox: 'identity_failure', http: 403, rpc: -32_001, exit: 11 },
  'access.unknown': { sox: 'identity_failure', http: 401, rpc: -32_000, exit: 10 },
  'ack.backward': { sox: 'validation_error', http: 400, rpc: -32_010, exit: 20 },
  'ack.forgotten': { sox: 'validation_error', http: 400, rpc: -32_011, exit: 20 },
  'ack.not-recipient': { sox: 'identity_failure', http: 403, rpc: -32_012, exit: 11 },
  'agent.in-use': { sox: 'validation_error', http: 409, rpc: -32_076, exit: 12 },
  'agent.name-invalid': { sox: 'validation_error', http: 400, rpc: -32_013, exit: 20 },
  'agent.not-found': { sox: 'validation_error', http: 404, rpc: -32_077, exit: 21 },
  'agent.not-managed': { sox: 'validation_error', http: 404, rpc: -32_081, exit: 21 },
  'agent.singleton': { sox: 'validation_error', http: 409, rpc: -31_080, exit: 12 },
  'agent.undefined': { sox: 'validation_error', http: 404, rpc: -31_081, exit: 21 },
  'backpressure.over': { sox: 'backpressure_over_limit', http: 429, rpc: -32_014, exit: 30 },
  'body.invalid': { sox: 'validation_error', http: 400, rpc: -32_015, exit: 20 },
  'body.too-deep': { sox: 'validation_error', http: 400, rpc: -32_016, exit: 20 },
  'body.too-large': { sox: 'validation_error', http: 413, rpc: -32_017, exit: 20 },
  'budget.exhausted': { sox: 'rate_limited', http: 429, rpc: -31_013, exit: 30 },
  'card.not-found': { sox: 'validation_error', http: 404, rpc: -32_044, exit: 21 },
  'channel.in-use': { sox: 'validation_error', http: 409, rpc: -32_078, exit: 12 },
  'channel.name-invalid': { sox: 'validation_error', http: 400, rpc: -32_018, exit: 20 },
  'channel.not-found': { sox: 'channel_not_found', http: 404, rpc: -32_019, exit: 21 },
  'channel.reserved': { sox: 'identity_failure', http: 403, rpc: -32_023, exit: 11 },
  'channel.retired': { sox: 'channel_not_found', http: 410, rpc: -32_079, exit: 21 },
  'claim.cycle': { sox: 'validation_error', http: 409, rpc: -32_045, exit: 12 },
  'claim.fenced': { sox: 'validation_error', http: 409, rpc: -32_046, exit: 12 },
  'claim.held': { sox: 'validation_error', http: 409, rpc: -32_047, exit: 12 },
  'claim.id-invalid': { sox: 'validation_error', http: 400, rpc: -32_048, exit: 20 },
  'claim.key-reused': { sox: 'validation_error', http: 409, rpc: -32_049, exit: 12 },
  'claim.not-found': { sox: 'validation_error', http: 404, rpc: -32_050, exit: 21 },
  'claim.not-holder': { sox: 'identity_failure', http: 403, rpc: -32_051, exit: 11 },
  'claim.overlap': { sox: 'validation_error', http: 409, rpc: -32_052, exit: 12 },
  'claim.quota': { sox: 'rate_limited', http: 429, rpc: -32_053, exit: 30 },
  'claim.recipient-absent': { sox: 'validation_error', http: 409, rpc: -32_054, exit: 12 },
  'claim.recipient-self': { sox: 'validation_error', http: 400, rpc: -32_055, exit: 20 },
  'claim.reserved': { sox: 'validation_error', http: 409, rpc: -32_056, exit: 12 },
  'claim.status': { sox: 'validation_error', http: 409, rpc: -32_057, exit: 12 },
  'claim.text-too-long': { sox: 'validation_error', http: 400, rpc: -32_058, exit: 20 },
  'claim.version': { sox: 'validation_error', http: 409, rpc: -32_059, exit: 12 },
  'cluster.itself': { sox: 'validation_error', http: 409, rpc: -31_203, exit: 12 },
  'cluster.name-taken': { sox: 'validation_error', http: 409, rpc: -31_204, exit: 12 },
  'cluster.last': { sox: 'validation_error', http: 409, rpc: -31_201, exit: 12 },
  'cluster.none': { sox: 'validation_error', http: 409, rpc: -31_200, exit: 12 },
  'cluster.not-found': { sox: 'validation_error', http: 404, rpc: -31_205, exit: 21 },
  'cluster.revoked': { sox: 'store_unavailable', http: 503, rpc: -31_206, exit: 69 },
  'cluster.scoped': { sox: 'identity_failure', http: 403, rpc: -31_207, exit: 11 },
  'context.forgotten': { sox: 'validation_error', http: 410, rpc: -31_147, exit: 21 },
  'context.too-far': { sox: 'validation_error', http: 409, rpc: -31_148, exit: 20 },
  'context.version': { sox: 'validation_error', http: 409, rpc: -31_149, exit: 12 },
  'dm.not-canonical': { sox: 'validation_error', http: 400, rpc: -32_024, exit: 20 },
  'dm.not-party': { sox: 'identity_failure', http: 403, rpc: -32_025, exit: 11 },
  'docket.closed': { sox: 'validation_error', http: 409, rpc: -32_096, exit: 12 },
  'docket.not-found': { sox: 'validation_error', http: 404, rpc: -32_097, exit: 21 },
  'docket.taken': { sox: 'validation_error', http: 409, rpc: -32_098, exit: 12 },
  'docket.undecided': { sox: 'validation_error', http: 409, rpc: -32_099, exit: 12 },
  'finding.rejected': { sox: 'validation_error', http: 400, rpc: -32_060, exit: 20 },
  'gate.ended': { sox: 'validation_error', http: 409, rpc: -31_001, exit: 12 },
  'gate.lapsed': { sox: 'validation_error', http: 409, rpc: -31_002, exit: 12 },
  'gate.mismatch': { sox: 'validation_error', http: 409, rpc: -31_003, exit: 12 },
  'gate.not-decider': { sox: 'identity_failure', http: 403, rpc: -31_004, exit: 11 },
  'gate.not-found': { sox: 'validation_error', http: 404, rpc: -31_005, exit: 21 },
  'gate.pending': { sox: 'validation_error', http: 409, rpc: -31_006, exit: 12 },
  'gate.reason-needed': { sox: 'validation_error', http: 400, rpc: -31_007, exit: 20 },
  'gate.unproved': { sox: 'identity_failure', http: 403, rpc: -31_008, exit: 11 },
  'group.exists': { sox: 'validation_error', http: 409, rpc: -32_026, exit: 20 },
  'group.not-invited': { sox: 'identity_failure', http: 403, rpc: -32_027, exit: 11 },
  'group.not-member': { sox: 'identity_failure', http: 403, rpc: -32_028, exit: 11 },
  'hub.busy': { sox: 'rate_limited', http: 429, rpc: -32_029, exit: 30 },
  'input.invalid': { sox: 'validation_error', http: 400, rpc: -32_602, exit: 20 },
  'input.not-json': { sox: 'validation_error', http: 400, rpc: -32_700, exit: 20 },
  'instance.not-found': { sox: 'validation_error', http: 404, rpc: -31_082, exit: 21 },
  'instance.stale': { sox: 'validation_error', http: 409, rpc: -31_083, exit: 12 },
  'instance.state': { sox: 'validation_error', http: 409, rpc: -31_084, exit: 12 },
  'instance.too-many': { sox: 'validation_error', http: 409, rpc: -31_085, exit: 12 },
  internal: { sox: 'internal_error', http: 500, rpc: -32_603, exit: 70 },
  'limit.reached': { sox: 'rate_limited', http: 429, rpc: -32_030, exit: 30 },
  'link.spent': { sox: 'identity_failure', http: 410, rpc: -31_040, exit: 11 },
  'mark.not-author': { sox: 'identity_failure', http: 403, rpc: -31_060, exit: 11 },
  'mark.note-needed': { sox: 'validation_error', http: 400, rpc: -31_061, exit: 20 },
  'mark.version': { sox: 'validation_error', http: 409, rpc: -31_062, exit: 12 },
  'message.not-found': { sox: 'validation_error', http: 404, rpc: -32_031, exit: 21 },
  'message.not-held': { sox: 'validation_error', http: 409, rpc: -32_032, exit: 20 },
  'offer.not-found': { sox: 'validation_error', http: 404, rpc: -32_061, exit: 21 },
  'operation.unknown': { sox: 'validation_error', http: 404, rpc: -32_601, exit: 2 },
  'passkey.not-found': { sox: 'validation_error', http: 404, rpc: -31_042, exit: 21 },
  'pattern.reserved': { sox: 'validation_error', http: 400, rpc: -32_033, exit: 20 },
  'person.exists': { sox: 'validation_error', http: 409, rpc: -31_009, exit: 12 },
  'person.not-found': { sox: 'validation_error', http: 404, rpc: -31_010, exit: 21 },
  'plugin.refused': { sox: 'validation_error', http: 403, rpc: -32_034, exit: 20 },
  'post.invalid': { sox: 'validation_error', http: 400, rpc: -31_063, exit: 20 },
  'proof.wrong': { sox: 'identity_failure', http: 403, rpc: -31_011, exit: 11 },
  'rate.limited': { sox: 'rate_limited', http: 429, rpc: -32_035, exit: 30 },
  'recipient.unknown': { sox: 'validation_error', http: 404, rpc: -32_075, exit: 21 },
  'record.busy': { sox: 'rate_limited', http: 429, rpc: -31_030, exit: 30 },
  'record.operation': { sox: 'validation_error', http: 400, rpc: -31_031, exit: 20 },
  'record.position': { sox: 'validation_error', http: 404, rpc: -31_032, exit: 21 },
  'replay.forbidden': { sox: 'identity_failure', http: 403, rpc: -32_036, exit: 11 },
  'reply.elsewhere': { sox: 'validation_error', http: 400, rpc: -31_064, exit: 20 },
  'runner.bad-result': { sox: 'validation_error', http: 400, rpc: -32_090, exit: 20 },
  'runner.cwd-outside': { sox: 'validation_error', http: 400, rpc: -32_091, exit: 20 },
  'runner.secret-readable': { sox: 'validation_error', http: 400, rpc: -32_092, exit: 20 },
  'runner.unknown': { sox: 'validation_error', http: 404, rpc: -32_093, exit: 21 },
  'runner.unusable': { sox: 'validation_error', http: 409, rpc: -32_094, exit: 12 },
  'schema.changed': { sox: 'rate_limited', http: 409, rpc: -32_037, exit: 30 },
  'schema.slow': { sox: 'validation_error', http: 400, rpc: -31_190, exit: 20 },
  'session.gone': { sox: 'identity_failure', http: 401, rpc: -31_041, exit: 11 },
  'session.length': { sox: 'validation_error', http: 409, rpc: -31_140, exit: 12 },
  'session.no-call': { sox: 'validation_error', http: 409, rpc: -31_141, exit: 12 },
  'session.not-found': { sox: 'validation_error', http: 404, rpc: -31_142, exit: 21 },
  'session.open-call': { sox: 'validation_error', http: 409, rpc: -31_143, exit: 12 },
  'session.over': { sox: 'validation_error', http: 410, rpc: -31_144, exit: 21 },
  'session.parked': { sox: 'validation_error', http: 409, rpc: -31_145, exit: 12 },
  'session.split': { sox: 'validation_error', http: 409, rpc: -31_146, exit: 12 },
  'scope.absolute': { sox: 'validation_error', http: 400, rpc: -32_062, exit: 20 },
  'scope.escape': { sox: 'validation_error', http: 400, rpc: -32_063, exit: 20 },
  'scope.invalid': { sox: 'validation_error', http: 400, rpc: -32_064, exit: 20 },
  'scope.too-complex': { sox: 'validation_error', http: 400, rpc: -32_065, exit: 20 },
  'scope.too-long': { sox: 'validation_error', http: 400, rpc: -32_066, exit: 20 },
  'scope.too-many': { sox: 'validation_error', http: 400, rpc: -32_067, exit: 20 },
  'search.busy': { sox: 'rate_limited', http: 429, rpc: -31_050, exit: 30 },
  'search.query-invalid': { sox: 'validation_error', http: 400, rpc: -31_051, exit: 20 },
  'search.unavailable': { sox: 'store_unavailable', http: 503, rpc: -31_052, exit: 69 },
  'space.elsewhere': { sox: 'identity_failure', http: 404, rpc: -31_208, exit: 21 },
  'space.name-invalid': { sox: 'validation_error', http: 400, rpc: -32_038, exit: 20 },
  'space.not-found': { sox: 'identity_failure', http: 404, rpc: -32_039, exit: 21 },
  'space.removed': { sox: 'identity_failure', http: 410, rpc: -32_080, exit: 21 },
  'store.unavailable': { sox: 'store_unavailable', http: 503, rpc: -32_040, exit: 69 },
  'store.unknown': { sox: 'store_unavailable', http: 503, rpc: -31_014, exit: 69 },
  'subscription.not-found': { sox: 'subscription_not_found', http: 404, rpc: -32_041, exit: 21 },
  'task.cycle': { sox: 'validation_error', http: 409, rpc: -32_068, exit: 12 },
  'task.needed': { sox: 'validation_error', http: 409, rpc: -32_069, exit: 12 },
  'task.not-found': { sox: 'validation_error', http: 404, rpc: -32_070, exit: 21 },
  'task.version': { sox: 'validation_error', http: 409, rpc: -32_071, exit: 12 },
  'thread.closed': { sox: 'validation_error', http: 409, rpc: -31_065, exit: 12 },
  'token.not-found': { sox: 'validation_error', http: 404, rpc: -32_042, exit: 21 },
  'ttl.invalid': { sox: 'validation_error', http: 400, rpc: -32_072, exit: 20 },
  'ttl.too-long': { sox: 'validation_error', http: 400, rpc: -32_073, exit: 20 },
  'turn.limit-invalid': { sox: 'validation_error', http: 400, rpc: -32_082, exit: 20 },
  'turn.not-found': { sox: 'validation_error', http: 404, rpc: -32_083, exit: 21 },
  'turn.stale': { sox: 'validation_error', http: 409, rpc: -32_084, exit: 12 },
  'turn.state': { sox: 'validation_error', http: 409, rpc: -32_085, exit: 12 },
  'turn.stopped': { sox: 'validation_error', http: 409, rpc: -31_012, exit: 12 },
  'turn.too-many-sends': { sox: 'rate_limited', http: 429, rpc: -32_086, exit: 30 },
  'version.mismatch': { sox: 'version_mismatch', http: 400, rpc: -32_043, exit: 22 },
  'wait.not-found': { sox: 'validation_error', http: 404, rpc: -32_074, exit: 21 },
  'workflow.exists': { sox: 'validation_error', http: 409, rpc: -31_090, exit: 12 },
  'workflow.no-queue': { sox: 'validation_error', http: 404, rpc: -31_091, exit: 21 },
  'workflow.no-step': { sox: 'validation_error', http: 404, rpc: -31_092, exit: 21 },
  'workflow.no-version': { sox: 'validation_error', http: 404, rpc: -31_088, exit: 21 },
  'workflow.not-asked': { sox: 'validation_error', http: 409, rpc: -31_093, exit: 12 },
  'workflow.not-found': { sox: 'validation_error', http: 404, rpc: -31_094, exit: 21 },
  'workflow.queue-in-use': { sox: 'validation_error', http: 409, rpc: -31_089, exit: 12 },
  'workflow.result-too-large': { sox: 'validation_error', http: 413, rpc: -31_095, exit: 20 },
  'workflow.stale': { sox: 'validation_error', http: 409, rpc: -31_096, exit: 12 },
  'workflow.state': { sox: 'validation_error', http: 409, rpc: -31_097, exit: 12 },
  'workflow.step-completed': { sox: 'validation_error', http: 409, rpc: -31_098, exit: 12 },
  'workflow.step-state': { sox: 'validation_error', http: 409, rpc: -31_099, exit: 12 },
};

/** The SOX error envelope: what every door answers, whatever it wraps around it. */
export interface ErrorEnvelope {
  readonly error_code: string;
  readonly message: string;
  readonly detail?: Readonly<Record<string, unknown>>;
  /** Unix seconds. */
  readonly retry_after?: number;
}

export function toEnvelope(refusal: Refusal): ErrorEnvelope {
  return {
    error_code: REFUSALS[refusal.refused].sox,
    message: refusal.message,
    detail: { reason: refusal.refused, ...refusal.detail },
    ...(refusal.retryAt !== undefined && { retry_after: refusal.retryAt / 1000 }),
  };
}
