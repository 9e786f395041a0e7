/** Claims, tasks, notes, offers, cards and findings in the fields of the Synapse wire. */

import { readJson } from '../../../core/law/json.ts';
import type { WorldView } from '../../../core/law/state.ts';
import type { Card } from '../../../core/work/card.ts';
import { type ClaimView, viewClaim } from '../../../core/work/claim/claim-state.ts';
import type { Finding } from '../../../core/work/finding-gate.ts';
import type { Offer } from '../../../core/work/offer.ts';
import type { Note, Task } from '../../../core/work/plan/plan.ts';
import { claimOutput } from '../../desk/handlers/claims.ts';
import type { Fields } from './speech.ts';

/** As the operations answer it. */
export type ClaimAnswer = ReturnType<typeof claimOutput>;

/** The whole claim object of a state snapshot; `covers_files` tells pure work from a whole worktree. */
export function claimObject(claim: ClaimAnswer, coversFiles = true): Fields {
  const { branch, git, offered_to: _offered, ...rest } = claim;
  return {
    ...rest,
    checkpoint: claim.checkpoint ?? '',
    git: gitOf(branch, git),
    ...(!coversFiles && { covers_files: false }),
  };
}

/** `claim_granted`. */
export function grantFields(claim: ClaimAnswer, coversFiles = true): Fields {
  const {
    data_ref: _data,
    claimed_at: _at,
    ...fields
  } = claimObject(claim, coversFiles) as Record<string, unknown>;
  return fields;
}

/** `handoff_granted`: no git, as the wire has it. */
export function handoffFields(claim: ClaimAnswer, previousOwner: string): Fields {
  const { git: _git, ...fields } = grantFields(claim) as Record<string, unknown>;
  return { ...fields, previous_owner: previousOwner };
}

export function updateFields(claim: ClaimAnswer): Fields {
  const { task_id, owner, status, data_ref, version, epoch } = claim;
  return { task_id, owner, status, data_ref, version, epoch };
}

/** A live claim as it is now, if that tenure still is. */
export function liveClaim(
  world: WorldView,
  id: string,
): { claim: ClaimAnswer; hasScope: boolean } | null {
  const claim = world.claims.claims.get(id);
  if (claim === undefined) return null;
  const view: ClaimView = viewClaim(claim);
  return { claim: claimOutput(view), hasScope: view.scope !== null };
}

function gitOf(branch: string | null, git: ClaimAnswer['git']): Fields | null {
  if (git === null && branch === null) return null;
  return { branch: branch ?? '', ...(git ?? { base: '', auto_release_on: 'manual' }) };
}

export function taskObject(task: Task): Fields {
  return {
    task_id: task.id,
    title: task.title,
    description: task.description,
    depends_on: task.dependsOn,
    status: task.status,
    suggested_owner: task.suggestedOwner ?? '',
    created_by: task.createdBy,
    created_at: task.createdAt / 1000,
    updated_at: task.updatedAt / 1000,
    project: task.project,
    version: task.version,
  };
}

export function noteObject(note: Pick<Note, 'taskId' | 'author' | 'kind' | 'text' | 'at'>): Fields {
  const { taskId, author, kind, text, at } = note;
  return { task_id: taskId ?? '', author, kind, text, posted_at: at / 1000 };
}

export function offerObject({ agent, kind, name, capacity, meta }: Offer): Fields {
  return { agent, kind, name, capacity, meta: meta === null ? {} : (readJson(meta) as unknown) };
}

export function cardObject(
  agent: string,
  card: Omit<Card, 'agent' | 'advertisedAt'>,
  at: number,
): Fields {
  return {
    agent,
    description: card.description,
    skills: card.skills.map(({ id }) => id),
    task_classes: card.taskClasses,
    model: card.model ?? '',
    meta: card.meta === null ? {} : (readJson(card.meta) as unknown),
    advertised_at: at / 1000,
  };
}

export function findingObject(finding: Finding, by: string, at: number): Fields {
  const { provenance, validity, verifiedAtSource } = finding;
  const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
  return {
    statement: finding.statement,
    subkind: finding.subkind,
    evidence_kind: finding.evidenceKind,
    claim_status: finding.claimStatus,
    freshness: finding.freshness,
    evidence_ref: finding.evidenceRef,
    provenance: provenance && {
      project: provenance.project,
      session: provenance.session,
      source_event_seq: provenance.sourceEventSeq,
      ts: seconds(provenance.ts),
      actor: provenance.actor,
    },
    validity: validity && {
      valid_from: seconds(validity.validFrom),
      valid_to: seconds(validity.validTo),
    },
    lifecycle: finding.lifecycle,
    supersedes: finding.supersedes,
    verified_at_source: verifiedAtSource && {
      checked_this_session: verifiedAtSource.checkedThisSession,
      source_ref: verifiedAtSource.sourceRef,
    },
    producer_confidence: finding.producerConfidence,
    execution_substrate: finding.executionSubstrate,
    entities: finding.entities,
    tags: finding.tags,
    by,
    at: at / 1000,
  };
}
