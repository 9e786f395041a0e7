/**
 * The way to a worker: which one gets an item, where it waits if none can take it yet, and what
 * becomes of everything when a worker goes down. Order within a session is kept [BU5]: what comes
 * later queues behind what still waits.
 */
import type { Line } from '../process/line.ts';
import type { Down } from '../process/worker.ts';
import { failed } from './answers.ts';
import { hasHope, hasRoom, leastLoaded } from './choose.ts';
import type { BusProblem } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { tellLost } from './lost-sessions.ts';
import type { Ask, Link, Pool, Session } from './state.ts';
import { createItem, type Item, type Waiting } from './waiting.ts';
import { died, noWorker, queueFull } from './worker-problems.ts';

/** Gives an item to a worker or lets it wait; a problem if neither can be. */
export function place(
  exchange: Exchange,
  item: Item,
  pools: readonly Pool[],
): BusProblem | undefined {
  const { session } = item;
  if (session && session.queued > 0) {
    const { waiting } = session.queuedIn as Pool;
    return wait(exchange, item, waiting, session.queuedIn as Pool);
  }
  const bound = session?.link;
  if (session && bound) {
    if (isUsable(bound) || isHeldBy(session, bound)) return give(exchange, item, bound);
  }
  const link = leastLoaded(pools);
  if (link) {
    if (session) exchange.sessions.bind(session, link);
    return give(exchange, item, link);
  }
  const pool = pools.find(hasHope);
  if (!pool) return noWorker(pools);
  return wait(exchange, item, pool.waiting, pool);
}

const isUsable = ({ worker: { state }, isRetiring }: Link): boolean =>
  !isRetiring && (state === 'ready' || state === 'starting' || state === 'waiting');

function give(exchange: Exchange, item: Item, link: Link): BusProblem | undefined {
  const { worker } = link;
  const isBusy = link.isRetiring || worker.state !== 'ready' || link.waiting.length > 0;
  if (isBusy || (item.ask && !hasRoom(link))) {
    return wait(exchange, item, link.waiting, link.pool);
  }
  const { queuedBytes } = worker;
  if (queuedBytes > 0 && queuedBytes + item.line.length > exchange.limits.queueBytesMax) {
    return queueFull(exchange, `worker ${worker.name}`, queuedBytes);
  }
  hand(exchange, item, link);
  return undefined;
}

function hand(exchange: Exchange, { line, ask }: Item, link: Link): void {
  const sequence = link.worker.send(line);
  exchange.stats.messages_in += 1;
  exchange.stats.bytes_in += line.length;
  if (!ask) return;
  markTaken(ask);
  ask.link = link;
  ask.sequence = sequence;
  link.inFlight.set(ask.wireId, ask);
}

function wait(
  exchange: Exchange,
  item: Item,
  waiting: Waiting,
  pool: Pool,
): BusProblem | undefined {
  if (waiting.length > 0 && waiting.bytes + item.line.length > exchange.limits.queueBytesMax) {
    return queueFull(exchange, `pool ${pool.config.id}`, waiting.bytes);
  }
  waiting.push(item);
  markWaiting(item, waiting, pool);
  return undefined;
}

/** Gives a worker what waits for it, as far as it has room. */
export function pump(exchange: Exchange, link: Link): void {
  if (link.isRetiring) {
    takeOver(exchange, link);
    return;
  }
  while (link.waiting.length > 0 && canTake(exchange, link, link.waiting.peek())) {
    hand(exchange, link.waiting.take() as Item, link);
  }
  const { waiting } = link.pool;
  while (waiting.length > 0 && canTake(exchange, link, waiting.peek())) {
    const item = takeFromPool(waiting) as Item;
    const { session } = item;
    const bound = session?.link;
    if (session && bound && bound !== link && (isUsable(bound) || isHeldBy(session, bound))) {
      const problem = give(exchange, item, bound);
      if (problem) refuseItem(exchange, item, problem);
      continue;
    }
    if (session) exchange.sessions.bind(session, link);
    hand(exchange, item, link);
  }
}

function canTake(exchange: Exchange, link: Link, item: Item | undefined): boolean {
  const { worker } = link;
  if (!item || worker.state !== 'ready' || (item.ask && !hasRoom(link))) return false;
  const { queuedBytes } = worker;
  return queuedBytes === 0 || queuedBytes + item.line.length <= exchange.limits.queueBytesMax;
}

/** Sends a worker a message about which nothing is promised: only if it is there. */
export function tell(exchange: Exchange, link: Link, line: Line): void {
  if (link.worker.state !== 'ready') return;
  link.worker.send(line);
  exchange.stats.messages_in += 1;
  exchange.stats.bytes_in += line.length;
}

/**
 * A worker is down. What it may have seen is answered with an error that says so; what it cannot
 * have seen goes to another worker; its sessions are told that their state is gone [BU3].
 */
export function lose(exchange: Exchange, link: Link, down: Down): void {
  const { pool, worker } = link;
  pool.lastReason = down.reason;
  pool.lastDown = [down.reason, ...down.stderrTail.slice(-3)].join('; ');
  const asks = [...link.inFlight.values()];
  const sessions = [...link.sessions];
  link.inFlight.clear();
  link.abandoned.clear();
  freeBlocked(link);
  for (const session of sessions) exchange.sessions.unbind(session);
  tellLost(exchange, sessions, `worker ${worker.name} ${down.reason}`);
  const items: Item[] = [];
  for (const ask of asks) {
    const line = down.unsent[ask.sequence - down.handedOver - 1];
    ask.link = null;
    if (line === undefined) failed(exchange, ask, died(exchange, link, down));
    else items.push(createItem(line, ask, ask.session));
  }
  const told = down.unsent.length - items.length;
  if (told > 0) {
    exchange.log(
      'warn',
      `[worker=${worker.name}] ${told} messages without an id were not delivered`,
    );
  }
  items.push(...takeAll(link.waiting));
  replace(exchange, items, link);
  if (!hasHope(pool)) emptyPool(exchange, pool);
}

/**
 * A worker retires: its sessions go to others, with what waited for it. A session with a request in
 * flight on it stays until that is answered, so that nothing it asked later is seen earlier.
 */
export function takeOver(exchange: Exchange, link: Link): void {
  const leaving = [...link.sessions].filter((session) => !isBusyOn(session, link));
  for (const session of leaving) exchange.sessions.unbind(session);
  tellLost(exchange, leaving, `worker ${link.worker.name} was taken out of the config`);
  const items = takeAll(link.waiting);
  const isStaying = ({ session }: Item): boolean => session !== null && isBusyOn(session, link);
  link.waiting.putFirst(items.filter(isStaying));
  replace(
    exchange,
    items.filter((item) => !isStaying(item)),
    link,
  );
}

/** A link that retires has something of the session yet: what comes later must not overtake it. */
function isHeldBy(session: Session, link: Link): boolean {
  for (const ask of session.asks) {
    if (ask.link === link || ask.queue === link.waiting) return true;
  }
  return false;
}

function isBusyOn(session: Session, link: Link): boolean {
  for (const ask of session.asks) if (ask.link === link) return true;
  return false;
}

/**
 * Another place for what a worker never saw: before everything that came later. Where its pool has
 * no other worker to hope for, any pool it may go to.
 */
function replace(exchange: Exchange, items: readonly Item[], link: Link): void {
  if (items.length === 0) return;
  const { byId } = exchange.pools;
  const pool = byId.get(link.pool.config.id);
  if (pool && hasHope(pool)) {
    for (const item of items) markWaiting(item, pool.waiting, pool);
    pool.waiting.putFirst(items);
    for (const one of pool.links) pump(exchange, one);
    return;
  }
  for (const item of items) {
    if (item.ask) markTaken(item.ask);
    const pools = (item.ask?.pools ?? []).flatMap(({ config }) => byId.get(config.id) ?? []);
    const problem = place(exchange, item, pools);
    if (problem) refuseItem(exchange, item, problem);
  }
}

function markWaiting(item: Item, waiting: Waiting, pool: Pool): void {
  const { ask, session } = item;
  if (ask) {
    ask.item = item;
    ask.queue = waiting;
  }
  item.isInPool = waiting === pool.waiting;
  if (!session || !item.isInPool) return;
  session.queued += 1;
  session.queuedIn = pool;
}

function markTaken(ask: Ask): void {
  ask.item = null;
  ask.queue = null;
}

function takeFromPool(waiting: Waiting): Item | undefined {
  const item = waiting.take();
  if (item?.session) item.session.queued -= 1;
  if (item?.ask) markTaken(item.ask);
  return item;
}

function takeAll(waiting: Waiting): Item[] {
  const items: Item[] = [];
  for (let item = waiting.take(); item; item = waiting.take()) items.push(item);
  return items;
}

function refuseItem(exchange: Exchange, { ask, line }: Item, problem: BusProblem): void {
  if (ask) failed(exchange, ask, problem);
  else {
    exchange.stats.routing_errors += 1;
    exchange.log('warn', `a notification of ${line.length} bytes was dropped: ${problem.message}`);
  }
}

/** Nobody will come for what waits in this pool. */
export function emptyPool(exchange: Exchange, pool: Pool): void {
  for (let item = takeFromPool(pool.waiting); item; item = takeFromPool(pool.waiting)) {
    refuseItem(exchange, item, noWorker([pool]));
  }
}

/** The pool is no longer in the config: what waits for it goes where its successor is. */
export function moveWaiting(exchange: Exchange, pool: Pool): void {
  const successor = exchange.pools.byId.get(pool.config.id);
  const items: Item[] = [];
  for (let item = takeFromPool(pool.waiting); item; item = takeFromPool(pool.waiting)) {
    items.push(item);
  }
  for (const item of items) {
    const problem = place(exchange, item, successor ? [successor] : []);
    if (problem) refuseItem(exchange, item, problem);
  }
}

/** Its next life is read from; a client that is still full stops it again. */
function freeBlocked(link: Link): void {
  if (link.blockedBy.size === 0) return;
  for (const client of link.blockedBy) client.blocks.delete(link);
  link.blockedBy.clear();
  link.worker.setReading(true);
}

/** An ask that is no longer wanted; the worker is told, in the words its client used. */
export function tellCancelled(exchange: Exchange, ask: Ask, link: Link, method: string): void {
  const member = method === '$/cancelRequest' ? 'id' : 'requestId';
  const params = `{"${member}":${ask.wireId}}`;
  tell(exchange, link, `{"jsonrpc":"2.0","method":"${method}","params":${params}}` as Line);
}
