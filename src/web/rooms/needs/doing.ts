/** What everybody is doing, out of presence and claims: who works on what since when, and who is quiet. Pure. */
import type { CallOutput } from '../../../client/index.ts';

type Agent = CallOutput<'presence.list'>['agents'][number];
type Claim = CallOutput<'claims.list'>['claims'][number];

export interface Doing {
  readonly agent: string;
  readonly state: Agent['state'];
  /** What it holds, or says that it does; null when nothing is known. */
  readonly what: string | null;
  readonly since: number | null;
}

export interface Everybody {
  readonly working: readonly Doing[];
  readonly quiet: readonly Doing[];
  /** How many are gone. */
  readonly gone: number;
}

const PATHS_SHOWN = 2;

export function everybody(
  agents: readonly Agent[],
  claims: readonly Claim[],
  me: string | undefined,
): Everybody {
  const held = Map.groupBy(claims, ({ owner }) => owner);
  const working: Doing[] = [];
  const quiet: Doing[] = [];
  let gone = 0;
  for (const { agent_id: agent, state, note, since } of agents) {
    if (agent === me) continue;
    const mine = held.get(agent) ?? [];
    if (state === 'gone' && mine.length === 0) gone++;
    else if (state === 'busy' || state === 'blocked' || mine.length > 0) {
      const first = mine.toSorted((a, b) => b.claimed_at - a.claimed_at)[0];
      const what = note ?? (first === undefined ? null : claimText(first, mine.length - 1));
      working.push({ agent, state, what, since: first?.claimed_at ?? since });
    } else quiet.push({ agent, state, what: note, since });
  }
  return { working: working.sort(longestLast), quiet: quiet.sort(longestLast), gone };
}

function claimText({ task_id: task, paths, note }: Claim, others: number): string {
  const files = paths.slice(0, PATHS_SHOWN).join(', ');
  const more = paths.length > PATHS_SHOWN ? ` and ${paths.length - PATHS_SHOWN} more` : '';
  const what = files === '' ? note || task : `${files}${more}`;
  return others > 0 ? `${what} (+${others})` : what;
}

function longestLast(a: Doing, b: Doing): number {
  return (b.since ?? 0) - (a.since ?? 0);
}
