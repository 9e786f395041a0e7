/**
 * May this message wake this agent, beyond what its wake rule says? Asked once, when the message is
 * sent or released. A reply wakes only whom it asks [RA11]; a message too many hops from a person,
 * one of a pair that talks too fast, and one of a trigger that leads nowhere are delivered and
 * wake nobody [RA3] [RA4] [RA13]. Pure.
 */
import { addresseeOf, channelKind, dmParties } from '../law/name.ts';
import type { WorldView } from '../law/state.ts';
import { limitOf } from './agent-limits.ts';
import type { Chain } from './rails/chains.ts';
import { isPerson } from './rails/hear.ts';
import { countBetween } from './rails/pairs.ts';
import { isSpent, triggerOf } from './rails/triggers.ts';
import type { ManagedView, Stillness, Waking } from './turn-state.ts';

export function mayWake(
  world: WorldView,
  managed: ManagedView,
  message: Waking,
  chain: Chain,
): boolean | Stillness {
  if (isThanks(message, managed.agent) || isForOthers(world, managed.agent, message)) return false;
  // A person who speaks is never noise.
  if (isPerson(message)) return true;
  if (message.replyTo !== null && !doesAsk(world, managed.agent, message)) return false;
  const { limits } = managed.config;
  const { rails } = world.turns;
  if (chain.hops >= limitOf(limits, 'hops')) return 'hops';
  const pair = [message.by, managed.agent] as const;
  if (countBetween(rails.pairs, pair, message.at) > limitOf(limits, 'pair_per_min')) return 'pair';
  const trigger = triggerOf(message.channel, message.by);
  return isSpent(managed.rails.triggers, trigger) ? 'fruitless' : true;
}

/** "Thanks, no reply needed" is for nobody to act on; an order with these words is for whom it names. */
function isThanks({ asks }: Waking, agent: string): boolean {
  if (asks === null || !asks.noReply) return false;
  return !asks.isQuestion && !asks.wantsReply && !asks.names.includes(agent);
}

/** Whether it names agents of this space, and not this one: then it is theirs to act on [RA11]. */
function isForOthers(world: WorldView, agent: string, { channel, asks }: Waking): boolean {
  if (asks === null || isOwnChannel(channel, agent)) return false;
  const named = asks.names.filter((name) => name === 'all' || world.agents.has(name));
  return named.length > 0 && !named.includes(agent) && !named.includes('all');
}

/** Whether a reply asks this agent: by name, as the answer to its question, or for a reply of its own. */
function doesAsk(world: WorldView, agent: string, { channel, replyTo, asks }: Waking): boolean {
  if (asks?.names.includes(agent) === true || asks?.names.includes('all') === true) return true;
  if (isOwnChannel(channel, agent)) return true;
  const parent = world.turns.rails.chains.chains.get(replyTo ?? -1);
  if (parent?.by === agent && parent.isAsking) return true;
  return asks?.wantsReply === true && (parent === undefined || parent.by === agent);
}

/** Where everything is for the agent. */
function isOwnChannel(channel: string, agent: string): boolean {
  if (channelKind(channel) === 'dm') return dmParties(channel)?.includes(agent) === true;
  return addresseeOf(channel) === agent || channel === `agent/${agent}`;
}
