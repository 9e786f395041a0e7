/**
 * The token of a turn: it stands for the agent while that run of the turn is the one that holds it,
 * and for nothing afterwards [TN7]. What is asked with it is held to the turn in one place, before
 * anything is decided, and what it sends is counted there.
 */
import { checkStopped } from '../gates/post-gate.ts';
import { type Asked, type Refusal, refuse } from '../law/decider.ts';
import type { Principal } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import { liveTokens, tokensOf } from '../law/token.ts';
import { limitOf } from './agent-limits.ts';
import { staleTurn } from './turn.ts';
import type { Turn } from './turn-state.ts';
import { TIERS } from './wake-rule.ts';

/** Whom the secret of a turn stands for; null when it is no secret of it. */
export function turnPrincipal(
  world: WorldView,
  id: string,
  hash: string,
  at: number,
): Principal | Refusal | null {
  const turn = world.turns.turns.get(id);
  if (turn === undefined) return null;
  if (turn.spent.includes(hash)) return staleTurn(turn);
  if (turn.hash !== hash) return null;
  if (!isHeld(turn, turn.epoch, at)) return staleTurn(turn);
  return { id: turn.agent, ...standing(world, turn.agent, at), turn: { id, epoch: turn.epoch } };
}

/** For decide: is the turn that the caller acts for still the one that runs? */
export function checkTurn(
  world: WorldView,
  { by, at, type }: Asked & { readonly type: string },
): Refusal | null {
  if (by.turn === undefined || type === 'refusal.record') return null;
  const turn = world.turns.turns.get(by.turn.id);
  if (turn === undefined || turn.agent !== by.id) {
    return refuse('turn.stale', `turn ${by.turn.id} is over and forgotten: stop this run of it`);
  }
  if (!isHeld(turn, by.turn.epoch, at)) return staleTurn(turn);
  if (type !== 'message.send') return MAY_WHILE_STOPPED.has(type) ? null : checkStopped(world, by);
  const most = limitOf(world.turns.agents.get(turn.agent)?.config.limits ?? {}, 'sends_per_turn');
  if (turn.sends < most) return null;
  return refuse(
    'turn.too-many-sends',
    `turn ${turn.id} has sent ${turn.sends} messages, its limit sends_per_turn; say the rest in the next one`,
    { turn: turn.id, limit: most },
  );
}

/** So that whoever may do little can still ask a person, and learn who it is. */
const ALWAYS: ReadonlySet<string> = new Set([
  ...['hub.whoami', 'gates.ask', 'gates.get', 'gates.consume', 'gates.withdraw', 'docket.raise'],
]);

/** May a turn of this agent use the operation? Asked with each call, so that a change holds at once [TN17]. */
export function checkTool(world: WorldView, by: Principal, tool: string): Refusal | null {
  const tools = world.turns.agents.get(by.id)?.config.tools;
  if (by.turn === undefined || tools === undefined) return null;
  if (tools.includes(tool) || ALWAYS.has(tool)) return null;
  return refuse(
    'access.denied',
    `a turn of ${by.id} may not use ${tool}; what it may is in agents.managed under tools`,
    { tool },
  );
}

/** What a turn of this agent may use; null: everything that an agent may. */
export function toolsOf(world: WorldView, by: Principal): readonly string[] | null {
  const tools = world.turns.agents.get(by.id)?.config.tools;
  return by.turn === undefined || tools === undefined ? null : [...ALWAYS, ...tools];
}

/** Looking and being there; whether a message was sent already is looked at before it is refused. */
const MAY_WHILE_STOPPED: ReadonlySet<string> = new Set([
  ...['question', 'inbox.drain', 'inbox.present', 'inbox.commit'],
  ...['presence.beat', 'agent.see', 'claim.renew'],
]);

function isHeld(turn: Turn, epoch: number, at: number): boolean {
  return turn.state === 'busy' && turn.epoch === epoch && (turn.leaseUntil ?? 0) > at;
}

/**
 * As far as the least trusted of its own tokens, and reading only where they only read: a turn makes
 * nobody more than it is, nor more than it was when its tokens have expired.
 */
function standing(world: WorldView, agent: string, at: number): Pick<Principal, 'kind' | 'tier'> {
  const live = liveTokens(world, agent, at);
  const tokens = live.length > 0 ? live : tokensOf(world, agent);
  const isObserver = tokens.length > 0 && tokens.every(({ kind }) => kind === 'observer');
  return {
    kind: isObserver ? 'observer' : 'agent',
    tier: TIERS.find((one) => tokens.some(({ tier }) => tier === one)) ?? 'standard',
  };
}
