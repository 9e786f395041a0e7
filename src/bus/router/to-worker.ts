/**
 * The way to a worker: which one gets an item, where it waits if none can take it yet, and what
 * becomes of everything when a worker goes down. Order within a session is kept [BU5]: what comes
 * later queues behind what still waits.
 */
import { type ByteLine, messageOf } from '../process/byte-line.ts';
import type { Down } from '../process/worker.ts';
import { hasHope, hasRoom, isUsable, isWithinShare, leastLoaded } from './choose-worker.ts';
import type { BusProblem } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { tellLost } from './lost-sessions.ts';
import { failed } from './request.ts';
import { isAlone, shareOf } from './shares.ts';
import {
  type BusRequest,
  createItem,
  isAwaited,
  type Link,
  type Pool,
  type SessionRecord,
  type WaitingItem,
} from './state.ts';
import { bind, livesIn, poolOf, stayAmong, stayIn, unbind } from './stays.ts';
import { reconsider } from './to-client.ts';
import { died, noWorker, queueFull } from './worker-problems.ts';

type Waiting = Link['waiting'];

/** A pool may hold a quarter of a million requests: nobody waits while all of them are refused. */
const REFUSED_AT_ONCE = 512;

/** Gives an item to a worker or lets it wait; a problem if neither can be. */
export function place(
  exchange: Exchange,
  item: WaitingItem,
  pools: readonly Pool[],
): BusProblem | undefined {
  const { session } = item;
  if (!session) return placeAnew(exchange, item, pools);
  const stay = stayAmong(session, pools);
  item.stay = stay;
  if (!stay) return placeAnew(exchange, item, pools);
  if (stay.queued > 0) {
    const pool = stay.queuedIn as Pool;
    return wait(exchange, item, pool.waiting, pool);
  }
  const { link } = stay;
  if (link && (isUsable(link) || isHeldBy(session, link))) return give(exchange, item, link);
  const pool = poolOf(stay, pools);
  return placeAnew(exchange, item, pool ? [pool] : pools);
}

/** Gives it to the worker with the least to do; its session stays there from now on. */
function placeAnew(
  exchange: Exchange,
  item: WaitingItem,
  pools: readonly Pool[],
): BusProblem | undefined {
  const { session } = item;
  const link = leastLoaded(pools, item.owner, isAlone(exchange));
  if (link) {
    if (session) {
      item.stay = stayIn(session, link.pool);
      bind(item.stay, link);
    }
    return give(exchange, item, link);
  }
  const pool = pools.find(hasHope);
  if (!pool) return noWorker(exchange, pools);
  if (session) item.stay = stayIn(session, pool);
  return wait(exchange, item, pool.waiting, pool);
}

function give(exchange: Exchange, item: WaitingItem, link: Link): BusProblem | undefined {
  const { worker } = link;
  const isClosed = link.isRetiring || worker.state !== 'ready';
  if (isClosed || (item.request && !hasRoom(link, item.owner, isAlone(exchange)))) {
    return wait(exchange, item, link.waiting, link.pool);
  }
  if (link.waiting.length > 0) {
    const full = wait(exchange, item, link.waiting, link.pool);
    // Others may have had their share, and this one not.
    if (!full) pump(exchange, link);
    return full;
  }
  const { queuedBytes } = worker;
  if (queuedBytes > 0 && queuedBytes + item.line.length > exchange.limits.queueBytesMax) {
    return queueFull(exchange, `worker ${worker.name}`, queuedBytes);
  }
  hand(exchange, item, link);
  return undefined;
}

function hand(exchange: Exchange, { line, request }: WaitingItem, link: Link): void {
  const sequence = link.worker.send(line, request !== null && link.questions.size === 0);
  exchange.stats.messages_in += 1;
  exchange.stats.bytes_in += line.length;
  if (!request) return;
  markTaken(request);
  request.link = link;
  request.share = shareOf(link, request.client);
  request.sequence = sequence;
  link.inFlight.set(request.wireId, request);
  if (link.blockedBy.size > 0) reconsider(link);
}

function wait(
  exchange: Exchange,
  item: WaitingItem,
  waiting: Waiting,
  pool: Pool,
): BusProblem | undefined {
  const bytes = item.line.length;
  const own = waiting.bytesOf(item.owner);
  const free = exchange.limits.queueBytesMax - waiting.bytes;
  const isTooMuch = own > 0 && !isAlone(exchange) && !isWithinShare(own + bytes, free - bytes);
  if (isTooMuch || (waiting.length > 0 && bytes > free)) {
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
  const mayTake = (item: WaitingItem): boolean => canTake(exchange, link, item);
  for (;;) {
    const isOwn = isTurnOfOwn(link, mayTake);
    const item = isOwn ? link.waiting.take(mayTake) : takeFromPool(link.pool.waiting, mayTake);
    if (!item) return;
    if (isOwn) hand(exchange, item, link);
    else handFromPool(exchange, item, link);
  }
}

/** Who waits for this worker has turns with who waits for any of its pool [BU29]. */
function isTurnOfOwn({ waiting, pool }: Link, mayTake: (item: WaitingItem) => boolean): boolean {
  if (waiting.length === 0) return false;
  return pool.waiting.length === 0 || waiting.turn(mayTake) <= pool.waiting.turn(mayTake);
}

/** What waited for any worker of the pool: its session may live somewhere by now. */
function handFromPool(exchange: Exchange, item: WaitingItem, link: Link): void {
  const { stay } = item;
  const bound = stay?.link;
  let problem: BusProblem | undefined;
  if (stay && bound && bound !== link && (isUsable(bound) || isHeldBy(stay.session, bound))) {
    problem = give(exchange, item, bound);
  } else if (stay && bound === link && link.waiting.holds(stay.session)) {
    // Something of the session was said before and waits for this worker already [BU5].
    problem = wait(exchange, item, link.waiting, link.pool);
  } else {
    if (stay) bind(stay, link);
    hand(exchange, item, link);
  }
  if (problem) refuseItem(exchange, item, problem);
}

function canTake(exchange: Exchange, link: Link, { line, owner, request }: WaitingItem): boolean {
  const { worker } = link;
  if (worker.state !== 'ready') return false;
  if (request && !hasRoom(link, owner, isAlone(exchange))) return false;
  const { queuedBytes } = worker;
  return queuedBytes === 0 || queuedBytes + line.length <= exchange.limits.queueBytesMax;
}

/** Sends a worker a message about which nothing is promised: only if it is there. */
export function tell(exchange: Exchange, link: Link, line: ByteLine): void {
  if (link.worker.state !== 'ready') return;
  link.worker.send(line, isAwaited(link));
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
  const requests = [...link.inFlight.values()];
  const stays = [...link.stays];
  link.inFlight.clear();
  link.shares.clear();
  freeBlocked(link);
  for (const stay of stays) unbind(stay);
  tellLost(
    exchange,
    stays.map(({ session }) => session),
    `worker ${worker.name} ${down.reason}`,
  );
  const items: WaitingItem[] = [];
  for (const request of requests) {
    // An answer may have cut off its client, and with it the next of them.
    if (request.isDone) continue;
    const line = down.unsent[request.sequence - down.handedOver - 1];
    if (line === undefined) failed(exchange, request, died(exchange, link, down));
    else {
      request.link = null;
      request.share = null;
      items.push(createItem(request.client, line, request, request.session));
    }
  }
  link.abandoned.clear();
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
  const leaving = [...link.stays].filter(({ session }) => !isBusyOn(session, link));
  for (const stay of leaving) unbind(stay);
  tellLost(
    exchange,
    leaving.map(({ session }) => session),
    `worker ${link.worker.name} was taken out of the config`,
  );
  const items = takeAll(link.waiting);
  const isStaying = ({ session }: WaitingItem): boolean =>
    session !== null && isBusyOn(session, link);
  link.waiting.putFirst(items.filter(isStaying));
  replace(
    exchange,
    items.filter((item) => !isStaying(item)),
    link,
  );
}

/** A link that retires has something of the session yet: what comes later must not overtake it. */
function isHeldBy(session: SessionRecord, link: Link): boolean {
  for (const request of session.requests.values()) {
    if (request.link === link || request.queue === link.waiting) return true;
  }
  return false;
}

function isBusyOn(session: SessionRecord, link: Link): boolean {
  for (const request of session.requests.values()) if (request.link === link) return true;
  return false;
}

/**
 * Another place for what a worker never saw: before everything that came later. Where its pool has
 * no other worker to hope for, any pool it may go to, and where its session does not live yet: there
 * it would come after what was sent later.
 */
function replace(exchange: Exchange, items: readonly WaitingItem[], link: Link): void {
  if (items.length === 0) return;
  const { byId } = exchange.pools;
  const pool = byId.get(link.pool.config.id);
  if (pool && hasHope(pool)) {
    for (const item of items) {
      if (item.session) item.stay = stayIn(item.session, pool);
      markWaiting(item, pool.waiting, pool);
    }
    pool.waiting.putFirst(items);
    for (const one of pool.links) pump(exchange, one);
    return;
  }
  const moves = items.map((item) => {
    const pools = (item.request?.pools ?? []).flatMap(({ config }) => byId.get(config.id) ?? []);
    const { session } = item;
    return { item, pools: session ? pools.filter((one) => !livesIn(session, one)) : pools };
  });
  for (const { item, pools } of moves) {
    if (item.request) markTaken(item.request);
    const problem = place(exchange, item, pools);
    if (problem)
      refuseItem(exchange, item, pool && pools.length === 0 ? noWorker(exchange, [pool]) : problem);
  }
}

function markWaiting(item: WaitingItem, waiting: Waiting, pool: Pool): void {
  const { request, stay } = item;
  if (request) {
    request.item = item;
    request.queue = waiting;
  }
  item.isInPool = waiting === pool.waiting;
  if (!stay || !item.isInPool) return;
  stay.queued += 1;
  stay.queuedIn = pool;
}

function markTaken(request: BusRequest): void {
  request.item = null;
  request.queue = null;
}

function takeFromPool(
  waiting: Waiting,
  mayTake?: (item: WaitingItem) => boolean,
): WaitingItem | undefined {
  const item = waiting.take(mayTake);
  if (item?.stay) item.stay.queued -= 1;
  if (item?.request) markTaken(item.request);
  return item;
}

function takeAll(waiting: Waiting): WaitingItem[] {
  const items: WaitingItem[] = [];
  for (let item = waiting.take(); item; item = waiting.take()) items.push(item);
  return items;
}

function refuseItem(exchange: Exchange, { request, line }: WaitingItem, problem: BusProblem): void {
  if (request) failed(exchange, request, problem);
  else {
    exchange.stats.routing_errors += 1;
    exchange.log('warn', `a notification of ${line.length} bytes was dropped: ${problem.message}`);
  }
}

/** No worker will take what waits in this pool: it is refused, with others having their turn in between [BD23]. */
function emptyPool(exchange: Exchange, pool: Pool): void {
  for (let refused = 0; refused < REFUSED_AT_ONCE; refused++) {
    const item = takeFromPool(pool.waiting);
    if (!item) return;
    refuseItem(exchange, item, noWorker(exchange, [pool]));
  }
  exchange.clock.after(0, () => {
    if (!hasHope(pool)) emptyPool(exchange, pool);
  });
}

/** The pool is no longer in the config: what waits for it goes where its successor is. */
export function moveWaiting(exchange: Exchange, pool: Pool): void {
  const successor = exchange.pools.byId.get(pool.config.id);
  const items: WaitingItem[] = [];
  for (let item = takeFromPool(pool.waiting); item; item = takeFromPool(pool.waiting)) {
    items.push(item);
  }
  for (const item of items) {
    const problem = place(exchange, item, successor ? [successor] : []);
    if (problem) refuseItem(exchange, item, problem);
  }
}

/** Its next process is read from; a client that is still full stops it again. */
function freeBlocked(link: Link): void {
  if (link.blockedBy.size === 0) return;
  for (const client of link.blockedBy) client.blocks.delete(link);
  link.blockedBy.clear();
  reconsider(link);
}

/** A request that is no longer wanted; the worker is told, in the words its client used. */
export function tellCancelled(
  exchange: Exchange,
  request: BusRequest,
  link: Link,
  method: string,
): void {
  const member = method === '$/cancelRequest' ? 'id' : 'requestId';
  const params = `{"${member}":${request.wireId}}`;
  tell(exchange, link, `{"jsonrpc":"2.0","method":"${method}","params":${params}}` as ByteLine);
  if (request.turn !== null && !sharesTurn(request, link)) endTurn(exchange, request, link);
}

/** ACP ends a turn by its session and knows no cancel of a request: most agents hear only this. */
function endTurn(exchange: Exchange, { turn, session, agentId }: BusRequest, link: Link): void {
  const line = messageOf({
    ...{ jsonrpc: '2.0', method: 'session/cancel' },
    ...(session !== null && { sessionId: session.id }),
    ...(agentId !== null && { agentId }),
    params: { sessionId: turn },
  });
  tell(exchange, link, line);
}

/** Another request of the same session would be ended with it. */
function sharesTurn(request: BusRequest, link: Link): boolean {
  for (const other of link.inFlight.values()) {
    if (other !== request && other.turn === request.turn) return true;
  }
  return false;
}
