/**
 * `_ext`: what a client may ask of the bus beside its request, and what the bus says to the worker
 * about the client. A client cannot speak for the bus: `assertedBy` is set here, always [BU16].
 */

import { type ByteLine, messageOf } from '../process/byte-line.ts';
import { isObject } from '../process/json-object.ts';
import { type BusProblem, isProblem, problem } from './errors.ts';
import type { Identity } from './peer.ts';

const KEY_LENGTH_MAX = 255;
/** As long as a timer can be. */
const TIMEOUT_MS_MAX = 2_147_483_647;

export interface Wishes {
  /** The value of `_ext` as it came. */
  readonly ext: Readonly<Record<string, unknown>>;
  readonly key: string | null;
  /** Whether the key is one for all sessions of a pool; else each session has its own. */
  readonly isKeyOfPool: boolean;
  readonly timeoutMs: number | null;
  readonly subject: string | null;
  readonly parentEventId: string | null;
}

export function readWishes(ext: unknown): Wishes | BusProblem {
  if (!isObject(ext)) return invalid('_ext must be an object');
  const { idempotencyKey: key = null, idempotencyScope: scope = null } = ext;
  const { timeoutMs = null, identity, audit } = ext;
  if (key !== null && (typeof key !== 'string' || key === '' || key.length > KEY_LENGTH_MAX)) {
    return invalid(`_ext.idempotencyKey must be a string of 1 to ${KEY_LENGTH_MAX} characters`);
  }
  if (scope !== null && scope !== 'session' && scope !== 'pool') {
    return invalid('_ext.idempotencyScope must be "session" or "pool"');
  }
  if (timeoutMs !== null && !isTimeout(timeoutMs)) {
    return invalid(`_ext.timeoutMs must be a number of milliseconds from 1 to ${TIMEOUT_MS_MAX}`);
  }
  return {
    ext,
    key,
    isKeyOfPool: scope === 'pool',
    timeoutMs,
    subject:
      isObject(identity) && typeof identity.subjectId === 'string' ? identity.subjectId : null,
    parentEventId: isObject(audit) && typeof audit.eventId === 'string' ? audit.eventId : null,
  };
}

const isTimeout = (value: unknown): value is number =>
  typeof value === 'number' && value >= 1 && value <= TIMEOUT_MS_MAX;

const invalid = (message: string): BusProblem => problem('bus.invalid', message);

/** The `_ext` the worker gets, as JSON, or null to leave what is there. */
export function extForWorker(identity: Identity | null, wishes: Wishes | null): ByteLine | null {
  const ext = wishes?.ext;
  if (identity) return messageOf({ ...ext, identity });
  if (!ext || !Object.hasOwn(ext, 'identity')) return null;
  // Written anew even if it says `self`: it may have been there twice, and who reads which?
  const claimed = ext.identity;
  const identityOfSelf = isObject(claimed) ? { ...claimed, assertedBy: 'self' } : null;
  return messageOf({ ...ext, identity: identityOfSelf });
}

/** The same for an answer, of which nothing is wished: an `_ext` that cannot be read is left out. */
export function extOfAnswer(identity: Identity | null, ext: unknown): ByteLine | null {
  const wishes = readWishes(ext);
  if (!isProblem(wishes)) return extForWorker(identity, wishes);
  return extForWorker(identity, null) ?? ('{}' as ByteLine);
}
