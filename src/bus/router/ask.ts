/** A request of a client: how it begins, with an id of our own and the time it has. */
import { detached } from '../process/frames.ts';
import type { Batch } from './batch.ts';
import type { Exchange } from './exchange.ts';
import type { Wishes } from './extension.ts';
import type { Ask, Client, Pool, Session } from './state.ts';

export type { Ask } from './state.ts';

export interface NewAsk {
  readonly client: Client;
  readonly id: string;
  readonly method: string;
  readonly pools: readonly Pool[];
  readonly session: Session | null;
  readonly batch: Batch | null;
  readonly wishes: Wishes | null;
}

/** `onLate` is called when a request that said how long it may take is not answered by then. */
export function beginAsk(exchange: Exchange, asked: NewAsk, onLate: (ask: Ask) => void): Ask {
  const { client, session, wishes } = asked;
  // What outlives the chunk it came in must not keep the chunk alive.
  const id = detached(asked.id);
  exchange.lastId += 1;
  exchange.pending += 1;
  const ask: Ask = {
    client,
    id,
    method: detached(asked.method),
    pools: asked.pools,
    session,
    batch: asked.batch,
    wireId: `"${exchange.wirePrefix}${exchange.lastId.toString(36)}"`,
    startedAt: exchange.clock.now(),
    item: null,
    queue: null,
    link: null,
    sequence: 0,
    isDone: false,
    stopDeadline: null,
    kept: null,
    parentEventId: wishes?.parentEventId ?? null,
    claimedSubject: wishes?.subject ?? null,
    twin: client.asks.get(id) ?? null,
  };
  client.asks.set(id, ask);
  if (session) {
    session.asks.add(ask);
    exchange.sessions.setBusy(session, true);
  }
  // Most requests live by the bus's own limit, which a sweep looks after without a timer each.
  if (wishes?.timeoutMs) {
    ask.stopDeadline = exchange.clock.after(wishes.timeoutMs, () => onLate(ask));
  }
  return ask;
}
