/**
 * The gate of findings: what an agent learned enters the shared record only with its
 * provenance, and never as more certain than its evidence. Rejects [FI1], lowers to what
 * the evidence bears [FI2], or accepts, each with reasons. A word it does not know is
 * carried as it is [FI3].
 */

/** All words are open sets; times are milliseconds since the epoch. */
export interface Finding {
  readonly statement: string;
  readonly subkind: string;
  readonly evidenceKind: string | null;
  readonly claimStatus: string | null;
  readonly freshness: string | null;
  readonly evidenceRef: string | null;
  readonly provenance: Provenance | null;
  readonly validity: Validity | null;
  readonly lifecycle: string | null;
  readonly supersedes: string | null;
  readonly verifiedAtSource: VerifiedAtSource | null;
  readonly producerConfidence: number | null;
  readonly executionSubstrate: string | null;
  readonly entities: readonly string[];
  readonly tags: readonly string[];
}

export interface Provenance {
  readonly project: string | null;
  readonly session: string | null;
  readonly sourceEventSeq: number | null;
  readonly ts: number | null;
  /** Always who authenticated; what the caller says is not heard. */
  readonly actor: string | null;
}

export interface Validity {
  readonly validFrom: number | null;
  readonly validTo: number | null;
}

export interface VerifiedAtSource {
  readonly checkedThisSession: boolean;
  readonly sourceRef: string | null;
}

export type Verdict = 'accept' | 'floor' | 'reject';

export interface Judgement {
  readonly verdict: Verdict;
  readonly reasons: readonly string[];
  /** With freshness derived and certainty lowered; as it came when rejected. */
  readonly finding: Finding;
}

export const FINDING_SUBKINDS: readonly string[] = [
  'codebase-fact',
  'lesson',
  'decision',
  'dead-end',
  'outcome',
];
const EVIDENCE_NEEDED: readonly string[] = ['codebase-fact', 'lesson', 'dead-end'];
/** More certain than `bounded-support`. */
const ABOVE_SUPPORT: readonly string[] = ['reference-validated', 'bounded-model'];

export function judgeFinding(finding: Finding): Judgement {
  const flaws = flawsOf(finding);
  if (flaws.length > 0) return { verdict: 'reject', reasons: flaws, finding };
  const reasons: string[] = [];
  let freshness = isSaid(finding.freshness) ? finding.freshness : freshnessOf(finding);
  let claimStatus = finding.claimStatus;
  const { evidenceKind } = finding;
  if (evidenceKind === 'falsified' && claimStatus !== 'refuted') {
    reasons.push(`falsified evidence refutes: ${claimStatus ?? 'no claim status'} becomes refuted`);
    claimStatus = 'refuted';
  }
  if (evidenceKind === 'producer-asserted' && freshness === 'verified-at-source') {
    reasons.push('what its producer asserts is not verified at source: traceable-unchecked');
    freshness = 'traceable-unchecked';
  }
  if (evidenceKind === 'producer-asserted' && ABOVE_SUPPORT.includes(claimStatus ?? '')) {
    reasons.push(`what its producer asserts is at most bounded-support, not ${claimStatus}`);
    claimStatus = 'bounded-support';
  }
  const isProved = isSaid(finding.evidenceRef) && freshness === 'verified-at-source';
  if (claimStatus === 'reference-validated' && !isProved) {
    reasons.push(
      'reference-validated needs an evidence_ref and verified-at-source: bounded-support',
    );
    claimStatus = 'bounded-support';
  }
  const verdict = reasons.length > 0 ? 'floor' : 'accept';
  return { verdict, reasons, finding: { ...finding, freshness, claimStatus } };
}

function flawsOf(finding: Finding): string[] {
  const { subkind, claimStatus, evidenceKind } = finding;
  const flaws: string[] = [];
  if (!isSaid(finding.statement)) flaws.push('statement is empty');
  if (!isSaid(subkind)) flaws.push('subkind is empty');
  if (finding.provenance === null) flaws.push('provenance is missing');
  if (finding.validity === null) flaws.push('validity is missing');
  if (!isSaid(claimStatus) && subkind !== 'decision' && FINDING_SUBKINDS.includes(subkind)) {
    flaws.push(`claim_status is missing; ${subkind} needs it`);
  }
  if (!isSaid(evidenceKind) && EVIDENCE_NEEDED.includes(subkind)) {
    flaws.push(`evidence_kind is missing; ${subkind} needs it`);
  }
  if (evidenceKind === 'falsified' && claimStatus === 'reference-validated') {
    flaws.push('falsified evidence cannot be reference-validated');
  }
  return flaws;
}

function freshnessOf({ verifiedAtSource, evidenceRef }: Finding): string {
  const hasSource = isSaid(verifiedAtSource?.sourceRef ?? null);
  if (verifiedAtSource?.checkedThisSession === true && hasSource) return 'verified-at-source';
  return hasSource || isSaid(evidenceRef) ? 'traceable-unchecked' : 'untraceable';
}

function isSaid(text: string | null): boolean {
  return text !== null && text.trim() !== '';
}
