/**
 * May this agent begin a turn now? Asked when a turn would be due: yes (null), not before a time, or
 * not until a person has looked. Pure.
 */
import type { WorldView } from '../law/state.ts';
import { limitOf } from './agent-limits.ts';
import { rootOf } from './rails/chains.ts';
import { checkBudget, checkDiary, DAY_MS, type Stop, spentSince } from './rails/diary.ts';
import { isPerson } from './rails/hear.ts';
import { checkTriggers, type Reason, triggerOf } from './rails/triggers.ts';
import type { ManagedView, TurnBookView, Waking } from './turn-state.ts';

export type StartVerdict =
  | null
  | { readonly until: number; readonly cause: string }
  | { readonly park: string; readonly text: string };

export function mayStart(
  world: WorldView,
  managed: ManagedView,
  messages: readonly Waking[],
  at: number,
): StartVerdict {
  const { config, rails } = managed;
  const stop =
    checkQuota(world, config.runnerKind, at) ??
    checkDiary(rails.diary, config.limits, at) ??
    checkTasks(world, managed) ??
    checkSpace(world, at) ??
    checkTriggers(rails.triggers, reasonsOf(world, messages), config.limits, at);
  if (stop === null) return null;
  return stop.kind === 'wait'
    ? { until: stop.until, cause: stop.limit }
    : { park: stop.limit, text: stop.reason };
}

export function reasonsOf(world: WorldView, messages: readonly Waking[]): Reason[] {
  return messages.map((message) => ({
    position: message.position,
    root: rootOf(world.turns.rails.chains, message.position),
    trigger: isPerson(message) ? null : triggerOf(message.channel, message.by),
  }));
}

/** The vendor said when it will serve again [RA10]. */
function checkQuota(world: WorldView, runnerKind: string, at: number): Stop | null {
  const quota = world.turns.rails.quotas.get(runnerKind);
  if (quota === undefined || quota.until <= at) return null;
  return { kind: 'wait', limit: `quota of ${runnerKind} (${quota.kind})`, until: quota.until };
}

function checkTasks(world: WorldView, { agent, config }: ManagedView): Stop | null {
  const usd = limitOf(config.limits, 'task_usd');
  const tokens = limitOf(config.limits, 'task_tokens');
  if (usd === Number.POSITIVE_INFINITY && tokens === Number.POSITIVE_INFINITY) return null;
  for (const id of heldTasks(world, agent)) {
    const spent = world.turns.rails.tasks.get(id);
    if (spent === undefined) continue;
    const stop =
      checkBudget('task_usd', spent.usd, usd) ?? checkBudget('task_tokens', spent.tokens, tokens);
    if (stop !== null) return stop;
  }
  return null;
}

/** What all agents of the space spent within a day; looked at only where there is a budget. */
function checkSpace(world: WorldView, at: number): Stop | null {
  const { turnsDayUsd, turnsDayTokens } = world.settings;
  if (turnsDayUsd === null && turnsDayTokens === null) return null;
  const spent = spentToday(world.turns, at);
  return (
    checkBudget('turns_day_usd', spent.usd, turnsDayUsd ?? Number.POSITIVE_INFINITY) ??
    checkBudget('turns_day_tokens', spent.tokens, turnsDayTokens ?? Number.POSITIVE_INFINITY)
  );
}

interface Spent {
  readonly at: number;
  readonly agents: number;
  readonly busy: number;
  usd: number;
  tokens: number;
}

/** Many agents may be due in one moment: what all of them spent is added up once for it. */
const lastSpent = new WeakMap<TurnBookView, Spent>();

function spentToday(turns: TurnBookView, at: number): Spent {
  const { agents, busyCount: busy } = turns;
  const last = lastSpent.get(turns);
  if (last?.at === at && last.agents === agents.size && last.busy === busy) return last;
  const spent: Spent = { at, agents: agents.size, busy, usd: 0, tokens: 0 };
  for (const { rails } of agents.values()) {
    const today = spentSince(rails.diary, at - DAY_MS);
    spent.usd += today.usd;
    spent.tokens += today.tokens;
  }
  lastSpent.set(turns, spent);
  return spent;
}

/** The tasks that an agent holds a claim on: what it spends is spent on them. */
export function heldTasks(world: WorldView, agent: string): string[] {
  if (!world.claims.counts.has(agent)) return [];
  return [...world.claims.claims.values()]
    .filter((claim) => claim.owner === agent)
    .map(({ id }) => id);
}
