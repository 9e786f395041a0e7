/** A space in which wes is managed and ada has work for it, for tests of the law of turns. */

import type { Principal } from '../core/law/principal.ts';
import type { TakenTurn } from '../core/turns/turn-events.ts';
import type { Managed, Turn, WakeRule } from '../core/turns/turn-state.ts';
import { WAKE_ALWAYS } from '../core/turns/wake-rule.ts';
import { accepted, createPrincipal, createStory, type Story } from './story.ts';

export const root: Principal = createPrincipal('root', { kind: 'admin', tier: 'owner' });
export const kim: Principal = createPrincipal('kim', { kind: 'human' });
export const ada: Principal = createPrincipal('ada');
export const wes: Principal = createPrincipal('wes');

const TAKE = { agents: null, runnerKinds: null, leaseMs: null, hash: null };
const END = {
  ...{ output: null, note: null, sessionRef: null, cost: null, consumed: null, quota: null },
  isRestart: false,
};

export function manage(
  story: Story,
  agent: string,
  wake: Partial<WakeRule> = {},
  limits = {},
): unknown {
  const runner = { runner: '{"kind":"outside"}', runnerKind: 'outside' };
  const config = {
    ...runner,
    wake: { ...WAKE_ALWAYS, ...wake },
    limits,
    session: 'resume',
  } as const;
  return story.do(kim, { type: 'agent.manage', agent, config });
}

/** A space in which wes follows `jobs` and is managed. */
export function tell(wake: Partial<WakeRule> = {}, limits = {}): Story {
  const story = createStory();
  story.subscribe(wes, 'jobs');
  accepted(manage(story, 'wes', wake, limits));
  return story;
}

export function take(story: Story, wishes: object = {}): TakenTurn | null {
  return accepted(story.do(root, { type: 'turn.take', ...TAKE, ...wishes })) as TakenTurn | null;
}

export function finish(
  story: Story,
  { turn }: TakenTurn,
  outcome: string,
  wishes: object = {},
): unknown {
  const end = { ...END, id: turn.id, epoch: turn.epoch, outcome, ...wishes };
  return story.do(root, { type: 'turn.finish', ...end } as never);
}

export function taken(story: Story, wishes: object = {}): TakenTurn {
  story.pass(100);
  const turn = take(story, wishes);
  if (turn === null) throw new Error('no turn is due');
  return turn;
}

export const managedOf = (story: Story, name = 'wes'): Managed =>
  story.world.turns.agents.get(name) as Managed;
export const turnAt = (story: Story, id: string): Turn => story.world.turns.turns.get(id) as Turn;
export const positionsOf = ({ turn }: TakenTurn): number[] =>
  turn.messages.map(({ position }) => position);
