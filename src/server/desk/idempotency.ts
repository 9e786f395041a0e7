/**
 * The key of a call, as the law wants it: what was asked under it is done once, and whoever asks again
 * after a break gets the first answer [CM12]. The same key with another content is somebody's mistake;
 * the digest tells.
 */
import type { Idempotency } from '../../core/law/decider.ts';
import type { Platform } from './platform.ts';

export function idempotencyOf(
  platform: Platform,
  input: { readonly idempotency_key?: string | null | undefined },
): Idempotency | null {
  const { idempotency_key: key, ...content } = input;
  return key == null ? null : { key, digest: platform.digest(JSON.stringify(content)) };
}
