/**
 * What the law of claims says no with. Codes are fixed forever; each message says what
 * happened, to what, and what to do, and `detail` says the same to a program.
 */
export type ClaimRefusalCode =
  | 'access.denied'
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
  | 'limit.reached'
  | 'scope.absolute'
  | 'scope.escape'
  | 'scope.invalid'
  | 'scope.too-complex'
  | 'scope.too-long'
  | 'scope.too-many'
  | 'ttl.invalid'
  | 'ttl.too-long'
  | 'wait.not-found';

export interface ClaimRefusal {
  readonly refused: ClaimRefusalCode;
  readonly message: string;
  readonly detail?: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch: when asking again may succeed. */
  readonly retryAt?: number;
}

export function refuseClaim(
  refused: ClaimRefusalCode,
  message: string,
  detail?: Readonly<Record<string, unknown>>,
  retryAt?: number,
): ClaimRefusal {
  return {
    refused,
    message,
    ...(detail !== undefined && { detail }),
    ...(retryAt !== undefined && { retryAt }),
  };
}

/** A named bound was reached. */
export function refuseFull(limit: string, max: number): ClaimRefusal {
  return refuseClaim('limit.reached', `${limit} is ${max}, and it is reached; try again later`, {
    limit,
    max,
  });
}
