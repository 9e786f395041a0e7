/**
 * Findings: what agents learned, for whoever keeps memory outside. They pass the gate
 * and live in the log alone; memory keeps how many there were and where the newest lie
 * [FI5]. Who found it and when is what the hub knows, not what the caller says [FI4].
 */

import { type Asked, type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { fieldsOf, whole } from '../law/fields.ts';
import { isPrintable, isProse } from '../law/text.ts';
import type { View } from '../law/view.ts';
import { checkWriter, invalid, type WriteContext } from '../law/writer.ts';
import { type Finding, judgeFinding, type Verdict } from './finding-gate.ts';
import {
  FINDING_LIST_MAX,
  FINDING_REF_CHARS_MAX,
  FINDING_WORD_CHARS_MAX,
  QUERY_CHARS_MAX,
  RECALLED_IDS_MAX,
  STATEMENT_CHARS_MAX,
} from './work-limits.ts';

export interface RecordFinding extends Asked {
  readonly type: 'finding.record';
  readonly finding: Finding;
}

/** Telemetry of a look-up in a memory outside: what was asked, what came back, was it of use. */
interface Recall {
  readonly queryText: string;
  readonly returnedIds: readonly string[];
  readonly wasUsed: boolean | null;
  readonly hasAbstained: boolean | null;
}

export interface LogRecall extends Asked, Recall {
  readonly type: 'recall.log';
}

export interface FindingRecorded {
  readonly type: 'finding.recorded';
  readonly at: number;
  readonly by: string;
  readonly verdict: Exclude<Verdict, 'reject'>;
  readonly reasons: readonly string[];
  readonly finding: Finding;
  /** Compaction took its words away. */
  readonly dropped?: true;
}

export interface RecallLogged extends Recall {
  readonly type: 'recall.logged';
  readonly at: number;
  readonly by: string;
  readonly dropped?: true;
}

export type FindingEvent = FindingRecorded | RecallLogged;

/** Null for a recall. */
export type FindingAnswer = Pick<FindingRecorded, 'verdict' | 'reasons' | 'finding'> | null;

export interface FindingBook {
  accepted: number;
  floored: number;
  recalls: number;
}

const BOOK = whole(
  fieldsOf<FindingBook>()({
    accepted: 'stored',
    floored: 'stored',
    recalls: 'stored',
  }),
);

export function createFindings(): FindingBook {
  return { accepted: 0, floored: 0, recalls: 0 };
}

export function decideFinding(
  _book: View<FindingBook>,
  command: RecordFinding | LogRecall,
  context: WriteContext,
): Decision<FindingEvent, FindingAnswer> {
  const forbidden = checkWriter(command.by, context);
  if (forbidden !== null) return forbidden;
  const { at } = command;
  const by = command.by.id;
  if (command.type === 'recall.log') {
    const flaw = checkRecall(command);
    if (flaw !== null) return flaw;
    const { queryText, returnedIds, wasUsed, hasAbstained } = command;
    return {
      events: [{ type: 'recall.logged', at, by, queryText, returnedIds, wasUsed, hasAbstained }],
      answer: null,
    };
  }
  const flaw = checkFinding(command.finding);
  if (flaw !== null) return flaw;
  const { verdict, reasons, finding } = judgeFinding(stamp(command.finding, by, at));
  if (verdict === 'reject') {
    return refuse('finding.rejected', `the finding was not recorded: ${reasons.join('; ')}`, {
      reasons,
    });
  }
  return {
    events: [{ type: 'finding.recorded', at, by, verdict, reasons, finding }],
    answer: { verdict, reasons, finding },
  };
}

export function evolveFinding(book: FindingBook, event: FindingEvent): void {
  if (event.type === 'recall.logged') book.recalls++;
  else if (event.verdict === 'floor') book.floored++;
  else book.accepted++;
}

export function freezeFindings(book: FindingBook): unknown {
  return BOOK.freeze(book);
}

export function thawFindings(frozen: unknown): FindingBook {
  return BOOK.thaw(frozen);
}

/** Blank times and project are filled in; the actor is overwritten. A missing part stays missing: the gate says so. */
function stamp(finding: Finding, by: string, at: number): Finding {
  const { provenance, validity } = finding;
  const project = by.includes('/') ? by.slice(0, by.indexOf('/')) : null;
  return {
    ...finding,
    provenance: provenance && {
      ...provenance,
      actor: by,
      ts: provenance.ts ?? at,
      project: provenance.project?.trim() || project,
    },
    validity: validity && { ...validity, validFrom: validity.validFrom ?? at },
  };
}

function checkFinding(finding: Finding): Refusal | null {
  if (!isProse(finding.statement, STATEMENT_CHARS_MAX)) {
    return invalid(`a statement has at most ${STATEMENT_CHARS_MAX} characters of text`);
  }
  const { provenance, validity } = finding;
  const words = [
    finding.subkind,
    finding.evidenceKind,
    finding.claimStatus,
    finding.freshness,
    finding.lifecycle,
    finding.executionSubstrate,
    ...finding.entities,
    ...finding.tags,
  ];
  if (words.some((word) => isTooMuch(word, FINDING_WORD_CHARS_MAX))) {
    return invalid(
      `a word of a finding has at most ${FINDING_WORD_CHARS_MAX} printable characters`,
    );
  }
  const refs = [
    finding.evidenceRef,
    finding.supersedes,
    finding.verifiedAtSource?.sourceRef ?? null,
    provenance?.project ?? null,
    provenance?.session ?? null,
  ];
  if (refs.some((ref) => isTooMuch(ref, FINDING_REF_CHARS_MAX))) {
    return invalid(`a reference has at most ${FINDING_REF_CHARS_MAX} printable characters`);
  }
  if (Math.max(finding.entities.length, finding.tags.length) > FINDING_LIST_MAX) {
    return refuseFull('FINDING_LIST_MAX', FINDING_LIST_MAX);
  }
  const figures = [
    finding.producerConfidence,
    provenance?.sourceEventSeq ?? null,
    provenance?.ts ?? null,
    validity?.validFrom ?? null,
    validity?.validTo ?? null,
  ];
  if (figures.some((figure) => figure !== null && !Number.isFinite(figure))) {
    return invalid('a number of the finding is not finite');
  }
  return null;
}

function checkRecall({ queryText, returnedIds }: LogRecall): Refusal | null {
  if (!isProse(queryText, QUERY_CHARS_MAX)) {
    return invalid(`a query has at most ${QUERY_CHARS_MAX} characters of text`);
  }
  if (returnedIds.length > RECALLED_IDS_MAX)
    return refuseFull('RECALLED_IDS_MAX', RECALLED_IDS_MAX);
  if (returnedIds.some((id) => isTooMuch(id, FINDING_REF_CHARS_MAX))) {
    return invalid(`an id has at most ${FINDING_REF_CHARS_MAX} printable characters`);
  }
  return null;
}

/** Empty is for the gate to judge. */
function isTooMuch(text: string | null, charsMax: number): boolean {
  return text !== null && text !== '' && !isPrintable(text, charsMax);
}
