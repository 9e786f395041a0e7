/** `resource`, `ledger_…`, `advertise`, `finding`, `recall_log`: plan, offers, cards and findings. */
import { findingRecall, findingRecord } from '../../../wire/operations/findings.ts';
import { cardAdvertise, offerMake } from '../../../wire/operations/offers.ts';
import { planDeclare, planProgress, planUpdate } from '../../../wire/operations/plan.ts';
import {
  type Frame,
  flagOf,
  maybeText,
  numberOf,
  objectOf,
  own,
  textOf,
  wordsOf,
} from './frame.ts';
import { aboutOf } from './news.ts';
import { confirm, type Handler, refuseWith, type Turn } from './turn.ts';
import { taskObject } from './views.ts';

export const workFrames: Readonly<Record<string, Handler>> = {
  async resource(turn) {
    const { frame, name: agent } = turn;
    const kind = textOf(frame, 'kind', 'resource_kind');
    const name = textOf(frame, 'name', 'resource_name');
    const capacity = Math.max(1, Math.floor(numberOf(frame, 'capacity') ?? 1));
    const meta = own(frame, 'meta') ?? {};
    const answer = await turn.call(offerMake, { kind, name, capacity, meta });
    if ('error' in answer) return refuseWith(turn, 'error', answer.error);
    const key = String(answer.ok.key);
    confirm(turn, 'resource_offered', key, { agent, kind, name, key });
  },

  async ledger_task(turn) {
    const { frame } = turn;
    const task_id = textOf(frame, 'task_id');
    const answer = await turn.call(planDeclare, {
      task_id,
      title: textOf(frame, 'title'),
      description: maybeText(frame, 'description') ?? '',
      depends_on: wordsOf(frame, 'depends_on').filter((id) => id !== task_id),
      // The original lets a dependency be declared after what needs it.
      allow_unknown: true,
      // Declaring again replaces it, as the wire says; empty clears.
      suggested_owner: textOf(frame, 'suggested_owner'),
    });
    if ('error' in answer) return refuseWith(turn, 'error', answer.error, { task_id });
    await confirmTask(turn, 'ledger_task_posted', task_id);
  },

  async ledger_task_update(turn) {
    const { frame } = turn;
    const task_id = textOf(frame, 'task_id');
    const answer = await turn.call(planUpdate, {
      task_id,
      status: textOf(frame, 'status') || null,
      suggested_owner: maybeText(frame, 'suggested_owner')?.trim(),
    });
    if ('error' in answer) return refuseWith(turn, 'error', answer.error, { task_id });
    await confirmTask(turn, 'ledger_task_updated', task_id);
  },

  async ledger_progress(turn) {
    const { frame } = turn;
    const task_id = textOf(frame, 'task_id');
    const answer = await turn.call(planProgress, {
      task_id: task_id === '' ? null : task_id,
      kind: textOf(frame, 'kind') || 'note',
      text: textOf(frame, 'text', 'payload'),
    });
    if ('error' in answer) refuseWith(turn, 'error', answer.error, { task_id });
  },

  async advertise(turn) {
    const { frame, name: agent } = turn;
    const card = {
      description: maybeText(frame, 'description') ?? '',
      skills: wordsOf(frame, 'skills'),
      task_classes: wordsOf(frame, 'task_classes'),
      model: textOf(frame, 'model') || null,
      meta: objectOf(frame, 'meta') ?? null,
    };
    const answer = await turn.call(cardAdvertise, { card });
    if ('error' in answer) return refuseWith(turn, 'error', answer.error);
    const { advertised_at } = answer.ok;
    confirm(turn, 'capability_advertised', agent, {
      agent,
      card: { agent, ...card, model: card.model ?? '', meta: card.meta ?? {}, advertised_at },
    });
  },

  async finding(turn) {
    const answer = await turn.call(findingRecord, findingInput(turn.frame));
    if ('ok' in answer) {
      const { verdict, claim_status, reasons } = answer.ok;
      if (turn.hasHeard('finding_recorded', aboutOf(turn.name, ''))) return;
      const payload = (reasons as string[]).join('; ');
      return turn.reply('finding_recorded', payload, { verdict, claim_status });
    }
    const { reasons = [answer.error.message] } = answer.error.detail ?? {};
    refuseWith(turn, 'finding_rejected', answer.error, { reasons });
  },

  async recall_log(turn) {
    const { frame } = turn;
    const answer = await turn.call(findingRecall, {
      query_text: maybeText(frame, 'query_text') ?? '',
      returned_claim_ids: wordsOf(frame, 'returned_claim_ids'),
      was_used: flagOf(frame, 'was_used'),
      abstained: flagOf(frame, 'abstained'),
    });
    if ('error' in answer) return refuseWith(turn, 'error', answer.error);
    turn.reply('recall_logged', 'noted');
  },
};

async function confirmTask(turn: Turn, type: string, id: string): Promise<void> {
  if (turn.hasHeard(type, aboutOf(turn.name, id))) return;
  const task = await turn.hub.ask((world) => {
    const node = world.plan.nodes.get(id);
    return node === undefined ? null : taskObject(node.task);
  });
  confirm(turn, type, id, { task });
}

const WORDS = [
  'evidence_kind',
  'claim_status',
  'freshness',
  'evidence_ref',
  'lifecycle',
  'supersedes',
  'execution_substrate',
] as const;

/** What the operation knows of a finding; parts of another type count as missing, and the gate says so. */
function findingInput(frame: Frame): Record<string, unknown> {
  const provenance = objectOf(frame, 'provenance');
  const validity = objectOf(frame, 'validity');
  const verified = objectOf(frame, 'verified_at_source');
  return {
    statement: maybeText(frame, 'statement') ?? '',
    subkind: textOf(frame, 'subkind'),
    ...Object.fromEntries(WORDS.map((word) => [word, textOf(frame, word) || null])),
    provenance: provenance && {
      project: maybeText(provenance, 'project'),
      session: maybeText(provenance, 'session'),
      source_event_seq: numberOf(provenance, 'source_event_seq'),
      ts: numberOf(provenance, 'ts'),
    },
    validity: validity && {
      valid_from: numberOf(validity, 'valid_from'),
      valid_to: numberOf(validity, 'valid_to'),
    },
    verified_at_source: verified && {
      checked_this_session: flagOf(verified, 'checked_this_session') ?? false,
      source_ref: maybeText(verified, 'source_ref'),
    },
    producer_confidence: numberOf(frame, 'producer_confidence'),
    entities: wordsOf(frame, 'entities'),
    tags: wordsOf(frame, 'tags'),
  };
}
