/** Findings and recalls, and reading them back from the log by cursor. */
import { isRefusal } from '../../../core/law/decider.ts';
import type { DurableEvent } from '../../../core/law/world.ts';
import { MEMORY_KINDS } from '../../../wire/operations/findings.ts';
import type { Handlers } from '../room.ts';
import { toMs } from './claims.ts';

type MemoryKind = (typeof MEMORY_KINDS)[number];

const KIND_OF: Readonly<Record<string, MemoryKind>> = {
  'finding.recorded': 'finding',
  'recall.logged': 'recall',
  'claim.checkpointed': 'checkpoint',
  'claim.handed-off': 'handoff',
};

/** Entries looked at in one call; a page may come back short, and `next` goes on. */
const SCANNED_MAX = 20_000;

export const findingHandlers: Handlers<'findings.record' | 'findings.recall' | 'findings.list'> = {
  async 'findings.record'({ hub, by }, input) {
    const { provenance, validity, verified_at_source: verified } = input;
    const answer = await hub.submit({
      type: 'finding.record',
      by,
      at: hub.stamp(),
      finding: {
        statement: input.statement,
        subkind: input.subkind,
        evidenceKind: input.evidence_kind ?? null,
        claimStatus: input.claim_status ?? null,
        freshness: input.freshness ?? null,
        evidenceRef: input.evidence_ref ?? null,
        provenance:
          provenance == null
            ? null
            : {
                project: provenance.project ?? null,
                session: provenance.session ?? null,
                sourceEventSeq: provenance.source_event_seq ?? null,
                ts: toMs(provenance.ts),
                actor: null,
              },
        validity:
          validity == null
            ? null
            : { validFrom: toMs(validity.valid_from), validTo: toMs(validity.valid_to) },
        lifecycle: input.lifecycle ?? null,
        supersedes: input.supersedes ?? null,
        verifiedAtSource:
          verified == null
            ? null
            : {
                checkedThisSession: verified.checked_this_session,
                sourceRef: verified.source_ref ?? null,
              },
        producerConfidence: input.producer_confidence ?? null,
        executionSubstrate: input.execution_substrate ?? null,
        entities: input.entities,
        tags: input.tags,
      },
    });
    if (isRefusal(answer)) return answer;
    return {
      verdict: answer?.verdict ?? 'accept',
      reasons: [...(answer?.reasons ?? [])],
      claim_status: answer?.finding.claimStatus ?? null,
      freshness: answer?.finding.freshness ?? null,
    };
  },

  async 'findings.recall'({ hub, by }, input) {
    const answer = await hub.submit({
      type: 'recall.log',
      by,
      at: hub.stamp(),
      queryText: input.query_text,
      returnedIds: input.returned_claim_ids,
      wasUsed: input.was_used ?? null,
      hasAbstained: input.abstained ?? null,
    });
    return isRefusal(answer) ? answer : { logged: true };
  },

  async 'findings.list'({ hub }, { since, kinds = MEMORY_KINDS, limit }) {
    const wanted = new Set<MemoryKind>(kinds);
    const keptMs = await hub.ask(({ settings }) => settings.memoryRetentionMs ?? Infinity);
    if (isRefusal(keptMs)) return keptMs;
    const before = hub.stamp() - keptMs;
    const isWanted = (event: DurableEvent): boolean => {
      const kind = KIND_OF[event.type];
      if (kind === undefined || !wanted.has(kind)) return false;
      return event.at >= before && !('dropped' in event);
    };
    const page = await hub.scan(since, isWanted, limit, SCANNED_MAX);
    return {
      events: page.events.map(({ position, event }) => {
        const { type, at, ...payload } = event;
        const kind = KIND_OF[type] as MemoryKind;
        return { position, at: at / 1000, kind, payload: wireFields(payload) };
      }),
      next: page.next,
      has_more: page.next < hub.stats.entries,
    };
  },
};

/** Times of the law are milliseconds; on the wire they are seconds. */
const TIMES: ReadonlySet<string> = new Set(['ts', 'validFrom', 'validTo', 'lapsesAt']);

/** As the operations that record them call them. */
const RENAMED: Readonly<Record<string, string>> = {
  id: 'task_id',
  returnedIds: 'returned_claim_ids',
  hasAbstained: 'abstained',
};

/** An event's own fields in the words of the wire: `evidence_kind`, seconds, and `task_id` for a claim. */
function wireFields(fields: object): Record<string, unknown> {
  const told = Object.entries(fields).map(([name, value]) => {
    if (name === 'ttlMs') return ['ttl_seconds', (value as number) / 1000];
    if (TIMES.has(name) && typeof value === 'number') return [snakeCase(name), value / 1000];
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [RENAMED[name] ?? snakeCase(name), isObject ? wireFields(value) : value];
  });
  return Object.fromEntries(told);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
