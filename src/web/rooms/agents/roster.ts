/** Agents as a person looks for them: who waits for somebody first, then who works, who is here, who is gone. Pure. */
import type { CallOutput } from '../../../client/index.ts';

export type Agent = CallOutput<'presence.list'>['agents'][number];
export type Managed = CallOutput<'agents.managed'>['agents'][number];

export interface Row {
  readonly id: string;
  readonly agent: Agent | null;
  readonly managed: Managed | null;
}

export interface Group {
  readonly title: string;
  readonly rows: readonly Row[];
}

const GROUPS: readonly { readonly title: string; readonly states: readonly string[] }[] = [
  { title: 'Wait for a person', states: ['blocked', 'parked', 'failed'] },
  { title: 'Working', states: ['busy', 'waking'] },
  { title: 'Here', states: ['idle', 'connected'] },
  { title: 'Managed, asleep', states: ['asleep', 'paused'] },
  { title: 'Quiet', states: ['stale'] },
  { title: 'Gone', states: ['gone'] },
];

/** What a row stands at: a turn that runs or is stuck says more than a socket does. */
export function stateOf({ agent, managed }: Row): string {
  const seen = agent?.state ?? 'gone';
  if (managed === null) return seen;
  if (managed.state !== 'asleep' && managed.state !== 'paused') return managed.state;
  return seen === 'gone' || seen === 'stale' ? managed.state : seen;
}

export function rosterOf(agents: readonly Agent[], managed: readonly Managed[]): Group[] {
  const rows = new Map<string, Row>();
  for (const agent of agents)
    rows.set(agent.agent_id, { id: agent.agent_id, agent, managed: null });
  for (const one of managed) {
    const id = one.agent_id;
    rows.set(id, { id, agent: rows.get(id)?.agent ?? null, managed: one });
  }
  const sorted = [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return GROUPS.map(({ title, states }) => ({
    title,
    rows: sorted.filter((row) => states.includes(stateOf(row))),
  })).filter((group) => group.rows.length > 0);
}

/** The last sign of life, whichever it was. */
export function lastSignOf({ evidence }: Agent): number | null {
  const { last_heartbeat, last_call, last_hook } = evidence;
  const signs = [last_heartbeat, last_call, last_hook].filter((one) => one !== null);
  return signs.length === 0 ? null : Math.max(...signs);
}

export interface Budget {
  readonly name: string;
  readonly spent: number;
  readonly limit: number;
  readonly unit: 'usd' | 'tokens' | 'turns' | 'ms';
}

const BUDGETS = [
  ['day_usd', 'usd', 'usd', 'money today'],
  ['day_tokens', 'tokens', 'tokens', 'tokens today'],
  ['turns_per_day', 'turns', 'turns', 'turns today'],
  ['day_wall_ms', 'wall_ms', 'ms', 'running today'],
] as const;

/** What the last day used up of each limit that there is. */
export function budgetsOf({ limits, day }: Managed): Budget[] {
  return BUDGETS.flatMap(([limit, spent, unit, name]) => {
    const most = limits[limit] ?? null;
    return most === null ? [] : [{ name, spent: day[spent], limit: most, unit }];
  });
}

export function amountText(amount: number, unit: Budget['unit']): string {
  switch (unit) {
    case 'usd':
      return `$${amount.toFixed(2)}`;
    case 'ms':
      return amount < 3_600_000
        ? `${Math.round(amount / 60_000)} min`
        : `${Math.round(amount / 360_000) / 10} h`;
    case 'tokens':
      return amount >= 10_000 ? `${Math.round(amount / 1_000)} k` : String(amount);
    case 'turns':
      return String(amount);
  }
}
