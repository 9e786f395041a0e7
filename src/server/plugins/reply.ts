/**
 * What a call is answered with, also where a plugin threw its answer instead of returning it.
 *
 * Plugins live in their own packages and cannot import our classes, so what they throw is known by
 * its `name`. An error code outside the published set is folded into it, the finer name kept in
 * `detail.reason`.
 */

import { readJson } from '../../core/law/json.ts';
import { type ErrorEnvelope, REFUSALS } from '../../wire/errors.ts';
import { isFields } from '../../wire/fields.ts';

export type Reply =
  | { readonly ok: Readonly<Record<string, unknown>> }
  | { readonly error: ErrorEnvelope };

const CODES: ReadonlySet<string> = new Set(Object.values(REFUSALS).map(({ sox }) => sox));

/** Names that prose uses for a published code; any other stranger is a refusal of the input. */
const SYNONYMS: Readonly<Record<string, string>> = {
  validation_failed: 'validation_error',
  rate_limit_exceeded: 'rate_limited',
  missing_credential: 'identity_failure',
  invalid_credential: 'identity_failure',
  unknown_agent: 'identity_failure',
};

/**
 * The generic answer to a failure of ours or a plugin's: the log has the detail, the caller does
 * not. It does learn under which id the log has it, and whether the operation had been carried out,
 * because a blind retry would carry it out twice.
 */
export function internalError(wasDispatched: boolean, correlationId: string): Reply {
  return {
    error: {
      error_code: 'internal_error',
      message: wasDispatched
        ? 'internal error after the operation had been carried out'
        : 'internal error',
      detail: {
        ...(wasDispatched && { reason: 'failed_after_dispatch' }),
        correlation_id: correlationId,
      },
    },
  };
}

export function validationReply(thrown: Error): Reply {
  const { violations } = thrown as { violations?: unknown };
  return {
    error: {
      error_code: 'validation_error',
      message: thrown.message || 'the input is not valid',
      ...(Array.isArray(violations) ? { detail: { violations: plain(violations) } } : {}),
    },
  };
}

/**
 * A plugin's own answer as a copy in the published shape, or null when it is no answer at all.
 * `known` is a code that may pass as it is, because the store itself gave it.
 */
export function parseReply(value: unknown, known: string | null): Reply | null {
  if (!isFields(value)) return null;
  if (isFields(value.ok) && value.error === undefined) {
    const ok = plain(value.ok);
    return isFields(ok) ? { ok } : null;
  }
  return value.ok === undefined ? parseEnvelope(value.error, known) : null;
}

export function parseEnvelope(
  value: unknown,
  known: string | null,
): { error: ErrorEnvelope } | null {
  if (!isFields(value)) return null;
  const { error_code: code, message, retry_after: retryAfter } = value;
  if (typeof code !== 'string' || code === '' || typeof message !== 'string' || message === '') {
    return null;
  }
  const detail = isFields(value.detail) ? plain(value.detail) : undefined;
  const isPublished = CODES.has(code) || code === known;
  const reason = isPublished ? {} : { reason: code };
  return {
    error: {
      error_code: isPublished ? code : (SYNONYMS[code] ?? 'validation_error'),
      message,
      ...(isFields(detail) || !isPublished ? { detail: { ...(detail as object), ...reason } } : {}),
      ...(typeof retryAfter === 'number' ? { retry_after: retryAfter } : {}),
    },
  };
}

/** As JSON would carry it: what cannot travel is dropped here and not at the door. Throws on cycles. */
function plain(value: unknown): unknown {
  return readJson(JSON.stringify(value));
}
