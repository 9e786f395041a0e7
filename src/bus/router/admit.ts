/**
 * Whether a client's message is let through, and to which pools: those it means, as far as the
 * policy opens them to this client [BU17]. Nothing is changed here, so a refused message leaves no
 * trace.
 */
import type { Envelope } from '../process/scan-message.ts';
import { strangerTo } from './bus-methods.ts';
import { contradicting, poolsFor } from './choose-worker.ts';
import { type BusProblem, problem } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { denial } from './policy.ts';
import type { BusClient, Pool } from './state.ts';
import { poolOf, stayAmong } from './stays.ts';

/** Of all requests without an answer a client may have one half, unless it is alone. */
const SHARE = 2;

/** The pools it may go to, or why the bus does not even try. */
export function admit(
  exchange: Exchange,
  client: BusClient,
  envelope: Envelope,
): readonly Pool[] | BusProblem {
  if (exchange.isDraining) return problem('bus.draining', 'the bus is stopping');
  const full = fullFor(exchange, client);
  if (full !== null) return full;
  const { pool, agentId, sessionId } = envelope;
  const pools = poolsFor(exchange.pools, envelope);
  if (pools.length === 0) {
    const known = exchange.pools.all.map(({ config }) => config.id).join(', ');
    return problem('bus.pool-unknown', `there is no pool "${pool}"; there are: ${known}`);
  }
  if (pool !== null && agentId !== null) {
    const others = contradicting(exchange.pools, pool, agentId);
    if (others !== null) {
      const message = `"pool" says ${pool}, and agentId "${agentId}" means pool ${others}`;
      return problem('bus.contradiction', message);
    }
  }
  const stranger = sessionId ? strangerTo(exchange, client, sessionId) : null;
  if (stranger) return stranger;
  return exchange.policy.length === 0 ? pools : openTo(exchange, client, envelope, pools);
}

/** One client leaves room for others where there are any [BU28]. */
function fullFor({ pending, limits, clients }: Exchange, client: BusClient): BusProblem | null {
  const { pendingMax } = limits;
  if (pending >= pendingMax) {
    return problem('bus.queue-full', `${pending} requests are without an answer already`);
  }
  if (clients.size === 1 || client.pending < pendingMax / SHARE) return null;
  const message = `${client.pending} requests of yours are without an answer already`;
  return problem('bus.queue-full', `${message}, and the rest is for other clients`);
}

/** Those of the pools the policy opens to it. A session goes on where it lives, or not at all. */
function openTo(
  exchange: Exchange,
  { identity }: BusClient,
  envelope: Envelope,
  pools: readonly Pool[],
): readonly Pool[] | BusProblem {
  const method = envelope.method ?? '';
  const session = envelope.sessionId ? exchange.sessions.find(envelope.sessionId) : undefined;
  const stay = session ? stayAmong(session, pools) : null;
  const home = stay && poolOf(stay, pools);
  let refusal: BusProblem | null = null;
  const open = (home ? [home] : pools).filter(({ config }) => {
    const denied = denial(exchange.policy, { method, pool: config.id, identity });
    refusal ??= denied;
    return denied === null;
  });
  return open.length > 0 || refusal === null ? open : refusal;
}
