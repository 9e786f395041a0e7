/**
 * Refusals that concern identity and access go on the record: when, who, what and why [L4]. Nobody fills
 * the log by knocking: strangers share one measure, each known caller has its own, so that neither
 * hides what another did; what is left out is counted, and the count goes on the record too.
 */
import type { Refusal, RefusalCode } from '../../core/law/decider.ts';
import type { Principal } from '../../core/law/principal.ts';
import type { Caller } from './caller.ts';
import type { Platform } from './platform.ts';
import { createRateLimit } from './rate-limit.ts';
import { DEFAULT_SPACE, type Spaces } from './spaces.ts';

/** Of all strangers together, or of one caller: twenty at once, then one a second. */
const RECORDED_PER_SECOND = 1;
const RECORDED_AT_ONCE = 20;
/** Of all known callers together. */
const KNOWN_PER_SECOND = 20;
const LEFT_OUT_AFTER_MS = 2_000;
const OPERATION_CHARS_MAX = 256;
const STRANGER: Principal = { id: '__stranger__', kind: 'agent', tier: 'untrusted' };

const RECORDED: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'access.denied',
  'access.unknown',
  'ack.not-recipient',
  'channel.reserved',
  'dm.not-party',
  'gate.not-decider',
  'gate.unproved',
  'group.not-invited',
  'group.not-member',
  'mark.not-author',
  'proof.wrong',
  'replay.forbidden',
  'session.gone',
]);

export type Audit = (caller: Caller | null, operation: string, refusal: Refusal) => void;

export function createAudit(spaces: Spaces, { elapsedMs, after }: Platform): Audit {
  const each = createRateLimit(RECORDED_PER_SECOND, elapsedMs, {
    burstSeconds: RECORDED_AT_ONCE / RECORDED_PER_SECOND,
  });
  const known = createRateLimit(KNOWN_PER_SECOND, elapsedMs);
  /** How many were left out, by whose they were, until the count is written. */
  const leftOut = new Map<string, number>();

  function write(caller: Caller | null, said: string, code: RefusalCode): void {
    const own = caller === null ? null : spaces.find(caller.space);
    const hub = own ?? spaces.find(DEFAULT_SPACE);
    const by = caller?.principal ?? STRANGER;
    // A space that was not made keeps no record of its own.
    const where = caller !== null && own === null ? ` in space ${caller.space}` : '';
    const operation = `${said}${where}`.slice(0, OPERATION_CHARS_MAX);
    const about = caller === null ? operation : null;
    hub?.submitThen(
      { type: 'refusal.record', by, at: hub.stamp(), operation, code, about },
      () => {},
    );
  }

  function leaveOut(whose: string, caller: Caller | null, code: RefusalCode): void {
    const count = leftOut.get(whose) ?? 0;
    leftOut.set(whose, count + 1);
    if (count > 0) return;
    after(LEFT_OUT_AFTER_MS, () => {
      const more = leftOut.get(whose);
      leftOut.delete(whose);
      write(caller, `${more} more refusals, not written down one by one`, code);
    });
  }

  return (caller, operation, { refused: code }) => {
    if (!RECORDED.has(code)) return;
    const whose = caller === null ? '' : `${caller.space}/${caller.principal.id}`;
    const isTooMuch =
      each.check(whose) !== null || (caller !== null && known.check('known') !== null);
    if (isTooMuch) leaveOut(whose, caller, code);
    else write(caller, operation, code);
  };
}
