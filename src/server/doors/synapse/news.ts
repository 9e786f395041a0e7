/**
 * What happened in the space, at whatever door, as the frames Synapse clients know [SY6].
 * Events for which the wire has no type (an expiry, a task taken off the plan) are told as
 * `system`, which the original declared and never used.
 */

import type { WorldView } from '../../../core/law/state.ts';
import type { DurableEvent } from '../../../core/law/world.ts';
import { offerKey } from '../../../core/work/offer.ts';
import { claimOutput } from '../../desk/handlers/claims.ts';
import type { Fields } from './speech.ts';
import {
  type ClaimAnswer,
  cardObject,
  findingObject,
  grantFields,
  handoffFields,
  liveClaim,
  noteObject,
  taskObject,
  updateFields,
} from './views.ts';

export interface News {
  readonly type: string;
  /** Who did it and to what: by this a requester knows that it has been told. */
  readonly about: string;
  readonly payload: string;
  readonly fields: Fields;
}

export function aboutOf(by: string, id: string): string {
  return `${by}\n${id}`;
}

/** What a socket notes of a broadcast that reached it while its own frame is carried out. */
export function heardAs(type: string, about: string): string {
  return `${type}\n${about}`;
}

export function newsOf(world: WorldView, event: DurableEvent): News[] {
  switch (event.type) {
    case 'claim.taken':
    case 'claim.renewed': {
      const live = liveClaim(world, event.id);
      const claim =
        live?.claim.owner === event.by && live.claim.epoch === event.epoch
          ? live
          : { claim: pastClaim(event), hasScope: event.scope != null };
      const fields = grantFields(claim.claim, claim.hasScope);
      const verb = event.type === 'claim.taken' ? 'claimed' : 'renewed';
      return [news('claim_granted', event.by, event.id, `${event.by} ${verb} ${event.id}`, fields)];
    }
    case 'claim.updated': {
      const live = liveClaim(world, event.id);
      const { id: task_id, by: owner, status, version } = event;
      const fields =
        live?.claim.version === version
          ? updateFields(live.claim)
          : { task_id, owner, status, data_ref: event.dataRef ?? '', version };
      return [news('task_updated', owner, task_id, `${task_id} is ${status}`, fields)];
    }
    case 'claim.handed-off':
      return handedOff(world, event);
    case 'claim.released': {
      const { id: task_id, by, owner } = event;
      const fields = { task_id, owner: by, ...(by !== owner && { was_owner: owner }) };
      return [news('release_granted', by, task_id, `${by} released ${task_id}`, fields)];
    }
    case 'claim.expired': {
      const { id: task_id, owner, epoch } = event;
      const fields = { event: 'claim_expired', task_id, owner, epoch };
      return [
        news('system', owner, task_id, `the lease of ${owner} on ${task_id} ran out`, fields),
      ];
    }
    default:
      return planNews(world, event);
  }
}

function planNews(world: WorldView, event: DurableEvent): News[] {
  switch (event.type) {
    case 'task.declared':
    case 'task.updated': {
      const node = world.plan.nodes.get(event.id);
      if (node === undefined) return [];
      const type = event.type === 'task.declared' ? 'ledger_task_posted' : 'ledger_task_updated';
      const payload = `${event.id} is ${node.task.status}: ${node.task.title}`;
      return [news(type, event.by, event.id, payload, { task: taskObject(node.task) })];
    }
    case 'task.removed':
    case 'task.escalated': {
      const fields = { event: event.type.replace('.', '_'), task_id: event.id };
      return [news('system', event.by, event.id, `${event.id} ${event.type.slice(5)}`, fields)];
    }
    case 'progress.noted': {
      const note = noteObject({ ...event, author: event.by });
      const about = event.taskId ?? '';
      return [news('ledger_progress_posted', event.by, about, event.text.slice(0, 200), { note })];
    }
    case 'offer.made': {
      const { agent, kind, name } = event.offer;
      const key = offerKey(event.offer);
      return [
        news('resource_offered', agent, key, `${agent} offers ${key}`, { agent, kind, name, key }),
      ];
    }
    case 'card.advertised': {
      const { agent, card, at } = event;
      const fields = { agent, card: cardObject(agent, card, at) };
      return [news('capability_advertised', agent, agent, `${agent} says what it can do`, fields)];
    }
    case 'finding.recorded': {
      const { by, at, verdict, reasons, finding } = event;
      const fields = {
        verdict,
        claim_status: finding.claimStatus ?? '',
        finding: findingObject(finding, by, at),
      };
      return [news('finding_recorded', by, '', reasons.join('; '), fields)];
    }
    default:
      return [];
  }
}

function handedOff(
  world: WorldView,
  event: Extract<DurableEvent, { type: 'claim.handed-off' }>,
): News[] {
  const { id, by, to, at, note } = event;
  const live = liveClaim(world, id);
  const text = `handed to ${to}${note === undefined ? '' : `: ${note}`}`;
  const progress = noteObject({ taskId: id, author: by, kind: 'note', text, at });
  const fields =
    live?.claim.epoch === event.epoch
      ? handoffFields(live.claim, by)
      : { task_id: id, owner: to, previous_owner: by, epoch: event.epoch, note: note ?? '' };
  return [
    news('ledger_progress_posted', by, id, text, { note: progress }),
    news('handoff_granted', by, id, `${by} handed ${id} to ${to}`, fields),
  ];
}

/** A claim that was let go in the same moment it was taken. */
function pastClaim(
  event: Extract<DurableEvent, { type: 'claim.taken' | 'claim.renewed' }>,
): ClaimAnswer {
  const { id, by, at, epoch, ttlMs, scope, note, git } = event;
  return claimOutput({
    id,
    owner: by,
    scope: scope ?? null,
    status: 'claimed',
    note: note ?? null,
    dataRef: null,
    git: git ?? null,
    checkpoint: null,
    epoch,
    version: 0,
    claimedAt: at,
    lapsesAt: at + ttlMs,
    ttlMs,
    offer: null,
  });
}

function news(type: string, by: string, id: string, payload: string, fields: Fields): News {
  return { type, about: aboutOf(by, id), payload, fields };
}
