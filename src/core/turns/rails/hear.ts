/**
 * A message as the guard rails hear it, before it may wake anybody: its place in a reply chain, which
 * pairs it belongs to, and whether a person spoke. Only messages where a managed agent listens are
 * heard: no other can begin a turn.
 */
import { dmParties } from '../../law/name.ts';
import { SERVER } from '../../law/principal.ts';
import type { Channel, World } from '../../law/state.ts';
import { settleStilled } from '../turn-docket.ts';
import type { Waking } from '../turn-state.ts';
import { kindOf } from '../wake-rule.ts';
import { type Chain, enterSaid } from './chains.ts';
import { enterPair, forgetPairsIn } from './pairs.ts';
import { clearTriggers } from './triggers.ts';

/** Of those a message names, so many count as spoken to. */
const COUNTERPARTS_MAX = 20;

export function hear(world: World, channel: Channel, message: Waking): Chain {
  const { rails } = world.turns;
  const { position, by, replyTo, asks, at } = message;
  const chain = enterSaid(rails.chains, {
    position,
    by,
    isPerson: isPerson(message),
    isAsking: asks?.isQuestion === true || asks?.wantsReply === true,
    causes: replyTo === null ? reasonsOf(world, by) : [replyTo],
  });
  if (isPerson(message)) {
    forgetPairsIn(rails.pairs, chain.root);
    settleStilled(world, chain, at, by);
    for (const { agent } of channel.managed) {
      if (agent.managed !== null) clearTriggers(agent.managed.rails.triggers, chain.root);
    }
  } else if (by !== SERVER.id) {
    for (const other of counterparts(world, message)) {
      enterPair(rails.pairs, [by, other], { at, root: chain.root });
    }
  }
  return chain;
}

export function isPerson({ by, as }: Pick<Waking, 'by' | 'as'>): boolean {
  const kind = kindOf(as);
  return by !== SERVER.id && (kind === 'human' || kind === 'admin');
}

/** What a managed agent says while its turn runs follows from what the turn was begun for. */
function reasonsOf(world: World, sender: string): number[] {
  const managed = world.agents.get(sender)?.managed;
  if (managed == null || managed.state !== 'busy') return [];
  const turn = world.turns.turns.get(managed.turn ?? '');
  return turn?.messages.map(({ position }) => position) ?? [];
}

/** To whom it is said: the other party, the one it replies to, those it names. */
function counterparts(world: World, { channel, by, replyTo, asks }: Waking): Set<string> {
  const others = new Set(dmParties(channel) ?? []);
  const parent = replyTo === null ? undefined : world.turns.rails.chains.chains.get(replyTo);
  if (parent !== undefined) others.add(parent.by);
  for (const name of asks?.names.slice(0, COUNTERPARTS_MAX) ?? []) others.add(name);
  others.delete(by);
  return others;
}
