/**
 * `claim`, `release`, `task_update`, `handoff`, `checkpoint`, `wait_request`: the lenient
 * fields of the wire become the strict input of the operations. Where the original guessed
 * to the caller's harm (a string for a list of paths claims everything), we refuse [SY8].
 */

import { isRefusal } from '../../../core/law/decider.ts';
import { trimmedEnd } from '../../../core/law/trimmed-end.ts';
import { TTL_MS_MAX, TTL_MS_MIN } from '../../../core/work/claim/claim-limits.ts';
import {
  claimCheckpoint,
  claimHandoff,
  claimRelease,
  claimTake,
  claimUpdate,
  claimWait,
} from '../../../wire/operations/claims.ts';
import type { Answer } from '../../desk/answer.ts';
import { type Frame, maybeText, numberOf, objectOf, own, textOf } from './frame.ts';
import { confirm, type Handler, refuseWith, type Turn } from './turn.ts';
import { type ClaimAnswer, grantFields, handoffFields, liveClaim, updateFields } from './views.ts';

const RELEASES: ReadonlySet<string> = new Set(['manual', 'commit', 'merge']);

export const claimFrames: Readonly<Record<string, Handler>> = {
  async claim(turn) {
    const { frame } = turn;
    const task_id = textOf(frame, 'task_id', 'payload');
    const paths = pathsOf(frame);
    if (paths === 'not-a-list') {
      const payload = 'paths must be a list; nothing was claimed, and not the whole worktree';
      turn.reply('claim_denied', payload, { task_id, reason_code: 'scope.invalid' });
      return;
    }
    const answer = await take(turn, task_id, paths);
    if ('error' in answer) return refuseWith(turn, 'claim_denied', answer.error, { task_id });
    confirm(turn, 'claim_granted', task_id, grantFields(answer.ok.claim as ClaimAnswer));
  },

  async release(turn) {
    const { frame } = turn;
    const task_id = textOf(frame, 'task_id', 'payload');
    const answer = await turn.call(claimRelease, { task_id, ...fencing(frame) });
    if ('error' in answer) return refuseWith(turn, 'release_denied', answer.error, { task_id });
    confirm(turn, 'release_granted', task_id, { task_id, owner: turn.name });
  },

  async task_update(turn) {
    const { frame } = turn;
    const task_id = textOf(frame, 'task_id', 'id');
    const answer = await turn.call(claimUpdate, {
      task_id,
      status: textOf(frame, 'status') || null,
      note: maybeText(frame, 'note'),
      data_ref: maybeText(frame, 'data_ref'),
      expected_version: numberOf(frame, 'expected_version'),
      ...fencing(frame),
    });
    if ('error' in answer) return refuseWith(turn, 'error', answer.error, { task_id });
    confirm(turn, 'task_updated', task_id, updateFields(answer.ok.claim as ClaimAnswer));
  },

  async handoff(turn) {
    const { frame } = turn;
    const task_id = textOf(frame, 'task_id');
    const to = textOf(frame, 'to_agent', 'target');
    const note = maybeText(frame, 'note');
    const offered = await turn.call(claimHandoff, { task_id, to, note, ...fencing(frame) });
    if ('error' in offered) return refuseWith(turn, 'handoff_denied', offered.error, { task_id });
    // The wire asks no consent: who is at this door has given it by coming, and nobody else has.
    const live = await turn.hub.ask((world) => liveClaim(world, task_id));
    const now = isRefusal(live) ? undefined : live?.claim;
    // Asked again under its key: it has been taken over, and stands.
    if (now?.owner === to && now.offered_to === null) {
      return confirm(turn, 'handoff_granted', task_id, handoffFields(now, turn.name));
    }
    const taken = await turn.callFor(to, claimTake, { task_id });
    if (taken === null) {
      const payload = `${task_id} is offered to ${to} and stays yours until ${to} takes it`;
      turn.reply('handoff_denied', payload, { task_id, reason_code: 'claim.offered' });
      return;
    }
    if ('error' in taken) {
      await turn.call(claimHandoff, { task_id, to: turn.name });
      return refuseWith(turn, 'handoff_denied', taken.error, { task_id });
    }
    const claim = taken.ok.claim as ClaimAnswer;
    confirm(turn, 'handoff_granted', task_id, handoffFields(claim, turn.name));
  },

  async checkpoint(turn) {
    const { frame } = turn;
    const task_id = textOf(frame, 'task_id');
    const checkpoint = maybeText(frame, 'checkpoint') ?? maybeText(frame, 'payload') ?? '';
    const answer = await turn.call(claimCheckpoint, { task_id, checkpoint, ...fencing(frame) });
    if ('error' in answer) return refuseWith(turn, 'checkpoint_denied', answer.error, { task_id });
    const { version } = answer.ok.claim as ClaimAnswer;
    turn.reply('checkpoint_saved', `the checkpoint of ${task_id} is kept`, { task_id, version });
  },

  async wait_request(turn) {
    const task_id = textOf(turn.frame, 'task_id', 'payload');
    const holder = await turn.hub.ask((world) => world.claims.claims.get(task_id)?.owner ?? '');
    if (holder === '') {
      const payload = `nobody holds ${task_id}; claim it`;
      turn.reply('wait_denied', payload, { task_id, reason_code: 'claim.not-found' });
      return;
    }
    const answer = await turn.call(claimWait, { task_id });
    if ('error' in answer) return refuseWith(turn, 'wait_denied', answer.error, { task_id });
    const { wait, ahead, until } = answer.ok as { wait: number; ahead: number; until: number };
    turn.waits.add(wait);
    const payload = `${holder} holds ${task_id}; you are told when it is free`;
    turn.reply('wait_granted', payload, { task_id, holder, wait, ahead, until, free: false });
  },
};

/**
 * A new claim without paths is the whole worktree, as the wire says; renewing one without
 * paths keeps what it covers. A key seen before may have come with the other of the two.
 */
async function take(turn: Turn, taskId: string, paths: string[] | null): Promise<Answer> {
  const { frame, name } = turn;
  const rest = {
    task_id: taskId,
    note: maybeText(frame, 'note'),
    ttl_seconds: ttlOf(frame),
    ...keyOf(frame),
  };
  const { branch, git } = gitOf(frame);
  const worktree = textOf(frame, 'worktree');
  const whole = { ...rest, git, branch, worktree, paths: paths ?? [] };
  if (paths !== null) return turn.call(claimTake, whole);
  const kept = { ...rest, git };
  const isThere = await turn.hub.ask((world) => {
    const claim = world.claims.claims.get(taskId);
    return claim?.owner === name || claim?.offer?.to === name;
  });
  const [first, second] = isThere === true ? [kept, whole] : [whole, kept];
  const answer = await turn.call(claimTake, first);
  if ('ok' in answer) {
    // It lapsed between the question and the claim: what was taken covers nothing yet.
    const isBare =
      first === kept && answer.ok.renewed === false && rest.idempotency_key === undefined;
    return isBare ? turn.call(claimTake, whole) : answer;
  }
  const isReused = answer.error.detail?.reason === 'claim.key-reused';
  if (!isReused) return answer;
  const again = await turn.call(claimTake, second);
  return 'ok' in again ? again : answer;
}

/** Null when there are none; the root of the tree, said in any way, is the whole of it. */
function pathsOf(frame: Frame): string[] | null | 'not-a-list' {
  const value = own(frame, 'paths');
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value) || value.some((path) => typeof path !== 'string')) return 'not-a-list';
  const worktree = trimmedEnd(textOf(frame, 'worktree'), '/');
  const paths = (value as string[]).map((path) => relativeTo(worktree, path.trim()));
  return paths.includes('.') ? [] : paths;
}

function relativeTo(worktree: string, path: string): string {
  if (worktree.startsWith('/') && (path === worktree || path.startsWith(`${worktree}/`))) {
    return path.slice(worktree.length + 1) || '.';
  }
  const bare = path.replace(/^\/+/, '');
  return path !== '' && /^(\.?\/)*\.?$/.test(path) ? '.' : bare;
}

function gitOf(frame: Frame): { branch?: string; git?: Record<string, unknown> } {
  const git = objectOf(frame, 'git');
  if (git === undefined) return {};
  const on = textOf(git, 'auto_release_on');
  const branch = textOf(git, 'branch');
  return {
    ...(branch !== '' && { branch }),
    git: {
      base: textOf(git, 'base') || 'main',
      auto_release_on: RELEASES.has(on) ? on : 'manual',
    },
  };
}

/** The floor of the original, and a ceiling it had not; what is no number is the default. */
function ttlOf(frame: Frame): number | undefined {
  const seconds = numberOf(frame, 'ttl_seconds');
  if (seconds === undefined) return undefined;
  return Math.min(Math.max(seconds, TTL_MS_MIN / 1000), TTL_MS_MAX / 1000);
}

function fencing(frame: Frame): { epoch?: number; idempotency_key?: string } {
  const epoch = numberOf(frame, 'epoch');
  return { ...(epoch !== undefined && { epoch }), ...keyOf(frame) };
}

function keyOf(frame: Frame): { idempotency_key?: string } {
  const key = maybeText(frame, 'idem_key');
  return key === undefined || key === '' ? {} : { idempotency_key: key };
}
