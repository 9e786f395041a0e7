/**
 * Refusals that concern identity and access go on the record: when, who, what and
 * why [L4]. So many a second at most, because a stranger must not be able to fill
 * the log by knocking.
 */
import type { Refusal, RefusalCode } from '../../core/law/decider.ts';
import type { Principal } from '../../core/law/principal.ts';
import type { Caller } from './caller.ts';
import type { Platform } from './platform.ts';
import { DEFAULT_SPACE, type Spaces } from './spaces.ts';

export const REFUSALS_RECORDED_PER_SECOND_MAX = 20;
const STRANGER: Principal = { id: '__stranger__', kind: 'agent', tier: 'untrusted' };

const RECORDED: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'access.denied',
  'access.unknown',
  'ack.not-recipient',
  'channel.reserved',
  'dm.not-party',
  'group.not-invited',
  'group.not-member',
  'replay.forbidden',
]);

export type Audit = (caller: Caller | null, operation: string, refusal: Refusal) => void;

export function createAudit(spaces: Spaces, { elapsedMs }: Platform): Audit {
  let second = 0;
  let count = 0;
  return (caller, operation, refusal) => {
    if (!RECORDED.has(refusal.refused)) return;
    const now = Math.floor(elapsedMs() / 1000);
    if (now !== second) {
      second = now;
      count = 0;
    }
    if (++count > REFUSALS_RECORDED_PER_SECOND_MAX) return;
    const hub = spaces.find(caller?.space ?? DEFAULT_SPACE);
    if (hub === null) return;
    const by = caller?.principal ?? STRANGER;
    const about = caller === null ? operation.slice(0, 256) : null;
    hub.submitThen(
      {
        type: 'refusal.record',
        by,
        at: hub.stamp(),
        operation: operation.slice(0, 256),
        code: refusal.refused,
        about,
      },
      () => {},
    );
  };
}
