import { describe, expect, test } from 'vitest';
import { codeOf, createPrincipal } from '../../testing/story.ts';
import { isRefusal } from '../law/decider.ts';
import {
  createFindings,
  decideFinding,
  evolveFinding,
  freezeFindings,
  thawFindings,
} from './finding.ts';
import { type Finding, judgeFinding } from './finding-gate.ts';
import { FINDING_LIST_MAX, STATEMENT_CHARS_MAX } from './work-limits.ts';

const ada = createPrincipal('shop/ada');
const context = { doesHoldUntrusted: true };

const finding = (wishes: Partial<Finding> = {}): Finding => ({
  statement: 'the parser is recursive',
  subkind: 'codebase-fact',
  evidenceKind: 'measured',
  claimStatus: 'bounded-support',
  freshness: null,
  evidenceRef: 'src/parser.ts:10',
  provenance: { project: null, session: 's', sourceEventSeq: 3, ts: null, actor: 'mallory' },
  validity: { validFrom: null, validTo: null },
  lifecycle: null,
  supersedes: null,
  verifiedAtSource: { checkedThisSession: true, sourceRef: 'src/parser.ts' },
  producerConfidence: 0.5,
  executionSubstrate: null,
  entities: [],
  tags: [],
  ...wishes,
});

const record = (wishes: Partial<Finding> = {}, by = ada) =>
  decideFinding(
    createFindings(),
    { type: 'finding.record', by, at: 7000, finding: finding(wishes) },
    context,
  );

/** Verdict, claim status and freshness. */
function judged(wishes: Partial<Finding>) {
  const { verdict, finding: after } = judgeFinding(finding(wishes));
  return [verdict, after.claimStatus, after.freshness];
}

describe('the gate', () => {
  test.each<[string, Partial<Finding>]>([
    ['statement is empty', { statement: ' ' }],
    ['subkind is empty', { subkind: '' }],
    ['provenance is missing', { provenance: null }],
    ['validity is missing', { validity: null }],
    ['claim_status is missing; codebase-fact needs it', { claimStatus: null }],
    ['claim_status is missing; outcome needs it', { subkind: 'outcome', claimStatus: '' }],
    ['evidence_kind is missing; lesson needs it', { subkind: 'lesson', evidenceKind: null }],
    ['evidence_kind is missing; dead-end needs it', { subkind: 'dead-end', evidenceKind: null }],
    [
      'falsified evidence cannot be reference-validated',
      { evidenceKind: 'falsified', claimStatus: 'reference-validated' },
    ],
  ])('[FI1] rejects: %s', (reason, wishes) => {
    expect(record(wishes)).toMatchObject({
      refused: 'finding.rejected',
      detail: { reasons: [reason] },
    });
  });

  test('[FI1] every reason is given at once', () => {
    const refusal = record({ statement: '', subkind: '', provenance: null, validity: null });
    expect(refusal).toMatchObject({ detail: { reasons: { length: 4 } } });
  });

  test('[FI1] a decision needs neither status nor evidence, an outcome no evidence, an unknown subkind nothing', () => {
    expect(judged({ subkind: 'decision', claimStatus: null, evidenceKind: null })[0]).toBe(
      'accept',
    );
    expect(judged({ subkind: 'outcome', evidenceKind: null })[0]).toBe('accept');
    expect(judged({ subkind: 'rumour', claimStatus: null, evidenceKind: null })[0]).toBe('accept');
  });

  test('[FI2] falsified evidence refutes', () => {
    const evidenceKind = 'falsified';
    expect(judged({ evidenceKind })).toEqual(['floor', 'refuted', 'verified-at-source']);
    expect(judged({ evidenceKind, claimStatus: 'refuted' })[0]).toBe('accept');
  });

  test('[FI2] what its producer asserts is neither verified at source nor above bounded-support', () => {
    const evidenceKind = 'producer-asserted';
    const lowered = ['floor', 'bounded-support', 'traceable-unchecked'];
    for (const claimStatus of ['reference-validated', 'bounded-model', 'bounded-support']) {
      expect(judged({ evidenceKind, claimStatus, freshness: 'verified-at-source' })).toEqual(
        lowered,
      );
    }
    const verifiedAtSource = null;
    const status = { evidenceKind, verifiedAtSource };
    expect(judged({ ...status, claimStatus: 'bounded-model' })).toEqual(lowered);
    expect(judged({ ...status, claimStatus: 'roadmap' })).toEqual([
      'accept',
      'roadmap',
      'traceable-unchecked',
    ]);
  });

  test('[FI2] reference-validated needs a reference and a check at the source', () => {
    const claimStatus = 'reference-validated';
    expect(judged({ claimStatus })).toEqual(['accept', claimStatus, 'verified-at-source']);
    expect(judged({ claimStatus, evidenceRef: null })[1]).toBe('bounded-support');
    expect(judged({ claimStatus, verifiedAtSource: null })[1]).toBe('bounded-support');
    expect(judged({ claimStatus, freshness: 'untraceable' })[0]).toBe('floor');
  });

  test('[FI2] freshness is derived when it is absent', () => {
    expect(judged({})[2]).toBe('verified-at-source');
    expect(judged({ verifiedAtSource: { checkedThisSession: false, sourceRef: 'x' } })[2]).toBe(
      'traceable-unchecked',
    );
    expect(judged({ verifiedAtSource: { checkedThisSession: true, sourceRef: ' ' } })[2]).toBe(
      'traceable-unchecked',
    );
    expect(judged({ verifiedAtSource: null, evidenceRef: null })[2]).toBe('untraceable');
  });

  test('[FI3] a word the gate does not know is carried as it is', () => {
    const words = {
      subkind: 'rumour',
      evidenceKind: 'heard',
      claimStatus: 'so-so',
      freshness: 'warm',
    };
    expect(judgeFinding(finding(words))).toMatchObject({ verdict: 'accept', finding: words });
  });
});

describe('findings', () => {
  test('[FI4] who and when is what the hub knows; blanks are filled, the rest is kept', () => {
    expect(record()).toMatchObject({
      events: [
        {
          type: 'finding.recorded',
          by: 'shop/ada',
          at: 7000,
          verdict: 'accept',
          finding: {
            provenance: {
              project: 'shop',
              session: 's',
              sourceEventSeq: 3,
              ts: 7000,
              actor: 'shop/ada',
            },
            validity: { validFrom: 7000, validTo: null },
          },
        },
      ],
    });
    const provenance = { project: 'p', session: null, sourceEventSeq: null, ts: 5, actor: null };
    expect(record({ provenance, validity: { validFrom: 1, validTo: 2 } })).toMatchObject({
      answer: {
        finding: { provenance: { project: 'p', ts: 5 }, validity: { validFrom: 1, validTo: 2 } },
      },
    });
  });

  test('[FI4] a lowered finding is recorded as lowered, with the reasons', () => {
    expect(record({ evidenceKind: 'falsified' })).toMatchObject({
      events: [
        {
          verdict: 'floor',
          finding: { claimStatus: 'refuted' },
          reasons: ['falsified evidence refutes: bounded-support becomes refuted'],
        },
      ],
    });
  });

  test('[FI6] what is too long, not text or not finite is refused', () => {
    const bad: Partial<Finding>[] = [
      { statement: 'x'.repeat(STATEMENT_CHARS_MAX + 1) },
      { statement: 'x\0' },
      { subkind: 'x'.repeat(129) },
      { tags: ['a\nb'] },
      { evidenceRef: 'x'.repeat(2049) },
      { producerConfidence: Number.NaN },
      { validity: { validFrom: Number.POSITIVE_INFINITY, validTo: null } },
    ];
    for (const wishes of bad) expect(codeOf(record(wishes))).toBe('input.invalid');
    const tags = Array.from({ length: FINDING_LIST_MAX + 1 }, (_, i) => `t${i}`);
    expect(codeOf(record({ tags }))).toBe('limit.reached');
    expect(codeOf(record({}, createPrincipal('eye', { kind: 'observer' })))).toBe('access.denied');
  });

  test('[FI5] memory keeps counts and where the newest lie, not the findings', () => {
    const book = createFindings();
    const recall = decideFinding(
      book,
      {
        type: 'recall.log',
        by: ada,
        at: 1,
        queryText: 'how does the parser work?',
        returnedIds: ['m1'],
        wasUsed: true,
        hasAbstained: null,
      },
      context,
    );
    const decisions = [record(), record({ evidenceKind: 'falsified' }), recall];
    const events = decisions.flatMap((one) => (isRefusal(one) ? [] : one.events));
    expect(events.map((event) => event.type)).toEqual([
      'finding.recorded',
      'finding.recorded',
      'recall.logged',
    ]);
    for (let i = 0; i < 500; i++) {
      for (const event of events) evolveFinding(book, event);
    }
    expect(book).toMatchObject({ accepted: 500, floored: 500, recalls: 500 });
    expect(thawFindings(JSON.parse(JSON.stringify(freezeFindings(book))))).toEqual(book);
  });
});
