/** Why a call of an integration did not give its outcome; the code says whether it can have happened. */

/**
 * Why an integration could not be invoked, in a word.
 *
 * @example
 * ```ts
 * const mayHaveRun = (code: IntegrationCode): boolean =>
 *   code === 'integration.timeout' || code === 'integration.output';
 * ```
 */
export type IntegrationCode =
  | 'integration.unknown'
  /** Nobody said for whom it is. */
  | 'integration.no-identity'
  /** Whom it is for has no guard here, or a guard that does not allow it. */
  | 'integration.refused'
  | 'integration.input'
  /** It ran, and what it gave is not what it promised. */
  | 'integration.output'
  /** Too many calls at once, or in too short a time. It did not run. */
  | 'integration.busy'
  | 'integration.rate'
  /** It failed so often that it is left alone for a while. It did not run. */
  | 'integration.open'
  /** It may have happened. */
  | 'integration.timeout'
  | 'integration.cancelled'
  | 'integration.failed'
  /** What was registered cannot be meant, or the name is taken. */
  | 'integration.definition';

/**
 * @example
 * ```ts
 * try {
 *   await integrations.invoke('weather', { city: 'Oslo' }, { as: 'ada' });
 * } catch (error) {
 *   if (error instanceof IntegrationError && error.retryAfterMs !== null) later(error.retryAfterMs);
 * }
 * ```
 */
export class IntegrationError extends Error {
  override readonly name = 'IntegrationError';
  readonly code: IntegrationCode;
  /** When it may be asked again; null when nothing is known of that. */
  readonly retryAfterMs: number | null;
  /** Trying again will not mend it. */
  readonly isTerminal: boolean;

  constructor(
    message: string,
    options: {
      readonly code: IntegrationCode;
      readonly cause?: unknown;
      readonly retryAfterMs?: number;
      readonly isTerminal?: boolean;
    },
  ) {
    super(message, { cause: options.cause });
    this.code = options.code;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.isTerminal = options.isTerminal ?? false;
  }
}
