/** Managed agents and turns as every door shows them. */

import { readJson } from '../../core/law/json.ts';
import { messageId } from '../../core/talk/message-id.ts';
import { LIMITS, type LimitName } from '../../core/turns/agent-limits.ts';
import { DAY_MS, spentSince } from '../../core/turns/rails/diary.ts';
import type { Cost, ManagedView, Turn } from '../../core/turns/turn-state.ts';
import type { OutputOf } from '../../wire/operation.ts';
import type { agentsManage, turnsCancel } from '../../wire/operations/turns.ts';

export function managedView(managed: ManagedView, at: number): OutputOf<typeof agentsManage> {
  const { config, since, cost } = managed;
  const { ms, usd, tokens } = spentSince(managed.rails.diary, at - DAY_MS);
  const turns = managed.rails.diary.spans.filter((span) => span.at > at - DAY_MS).length;
  const { channels, from, kinds, minTier } = config.wake;
  const names = Object.keys(LIMITS) as LimitName[];
  return {
    agent_id: managed.agent,
    runner: readJson(config.runner) as Record<string, unknown>,
    wake: {
      channels: channels === null ? null : [...channels],
      from: from === null ? null : [...from],
      kinds: kinds === null ? null : [...kinds],
      min_tier: minTier,
    },
    limits: Object.fromEntries(
      names.map((name) => {
        const said = config.limits[name];
        return [name, said === undefined ? LIMITS[name].otherwise : said];
      }),
    ),
    session: config.session,
    tools: config.tools === undefined ? null : [...config.tools],
    state: managed.state,
    since: since / 1000,
    reason: managed.why,
    turn_id: managed.turn,
    next_look_at: secondsOrNull(managed.lookAt),
    pending: managed.pending.length,
    turns: managed.turnCount,
    cost: costView(cost),
    day: { turns, wall_ms: ms, usd, tokens },
    session_ref: managed.sessionRef,
    managed_at: managed.managedAt / 1000,
    managed_by: managed.managedBy,
  };
}

export function turnView(turn: Turn): OutputOf<typeof turnsCancel> {
  const { cost, running } = turn;
  return {
    turn_id: turn.id,
    agent_id: turn.agent,
    state: turn.state,
    reason: {
      rule: 'wake',
      message_ids: turn.messages.map(({ position }) => messageId(position)),
      senders: [...new Set(turn.messages.map(({ by, actor }) => actor ?? by))],
      channels: [...new Set(turn.messages.map(({ channel }) => channel))],
    },
    runner: turn.runnerKind,
    epoch: turn.epoch,
    attempt: turn.attempt,
    failures: turn.failures,
    after_restart: turn.isAfterRestart,
    due_at: turn.dueAt / 1000,
    taken_at: secondsOrNull(turn.takenAt),
    taken_by: turn.takenBy,
    lease_until: secondsOrNull(turn.leaseUntil),
    retry_at: secondsOrNull(turn.retryAt),
    ended_at: secondsOrNull(turn.endedAt),
    sends: turn.sends,
    pid: turn.pid,
    transcript: turn.transcript,
    note: turn.note,
    cost: costView({
      usd: (cost?.usd ?? 0) + (running?.usd ?? 0),
      tokensIn: (cost?.tokensIn ?? 0) + (running?.tokensIn ?? 0),
      tokensOut: (cost?.tokensOut ?? 0) + (running?.tokensOut ?? 0),
    }),
    fruitless: turn.isFruitless,
    traceparent: turn.trace ?? null,
  };
}

export function costView({ usd, tokensIn, tokensOut }: Cost): {
  usd: number;
  tokens_in: number;
  tokens_out: number;
} {
  return { usd, tokens_in: tokensIn, tokens_out: tokensOut };
}

function secondsOrNull(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}
