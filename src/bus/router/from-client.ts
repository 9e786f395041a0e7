/**
 * What a client says: requests, notifications, batches. A request gets an id of our own [BU2], so that two clients with the same id never see each other's answers. What is wrong
 * with a message is answered under its id, and the next one is read as if nothing had happened.
 */

import { type ByteLine, messageOf } from '../process/byte-line.ts';
import { DEPTH_MAX } from '../process/scan-json.ts';
import {
  BATCH_MAX,
  type Envelope,
  readExt,
  rewrite,
  type ScanProblem,
  scan,
} from '../process/scan-message.ts';
import { admit } from './admit.ts';
import { recordRefusal } from './audit.ts';
import { type Batch, createBatch } from './batch.ts';
import { answerByBus, isForBus } from './bus-methods.ts';
import { cancel, idsNamed, isCancel } from './cancel.ts';
import { type BusProblem, errorLine, invalid, isProblem, problem } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { extForWorker, readWishes, type Wishes } from './extension.ts';
import { printOf } from './idempotency.ts';
import { answerQuestion } from './questions.ts';
import { beginRequest, failed, repeated } from './request.ts';
import {
  type BusClient,
  type BusRequest,
  createItem,
  type Pool,
  type SessionRecord,
} from './state.ts';
import { startDeadline } from './timeouts.ts';
import { deliver, refuse } from './to-client.ts';
import { place } from './to-worker.ts';

/** What it costs is told by what the session said, not by its own length: it counts by itself [BD23]. */
const ATTACH = 'stdio_bus/attach';

const NO_WISHES = { wishes: null, unclear: null };

/** One frame of a client. */
export function receive(exchange: Exchange, client: BusClient, line: ByteLine): void {
  const scanned = scan(line);
  if (scanned.kind === 'problem') {
    refuse(exchange, client, scanned.id ?? 'null', unreadable(scanned));
  } else if (scanned.kind === 'batch') {
    receiveBatch(exchange, client, scanned.batch);
  } else {
    handle(exchange, client, scanned, null);
  }
}

function unreadable({ problem: what, at, member }: ScanProblem): BusProblem {
  switch (what) {
    case 'syntax':
      return problem('bus.parse', `the line is no JSON: see byte ${at}`);
    case 'not-an-object':
      return problem('bus.parse', 'the line is neither an object nor an array');
    case 'too-deep':
      return problem('bus.parse', `objects and arrays are nested more than ${DEPTH_MAX} deep`);
    case 'duplicate':
      return invalid(`"${member}" is there twice: see byte ${at}`, `say "${member}" once`);
    case 'batch-too-long':
      return problem('bus.invalid', `a batch holds at most ${BATCH_MAX} messages`);
  }
}

function receiveBatch(exchange: Exchange, client: BusClient, lines: readonly ByteLine[]): void {
  if (lines.length === 0) {
    refuse(exchange, client, 'null', problem('bus.invalid', 'the batch is empty'));
    return;
  }
  const batch = createBatch((answer) => deliver(exchange, client, answer, null));
  for (const line of lines) {
    // Cut off by an answer: what it did after its end nobody would undo.
    if (client.isGone) break;
    const element = scan(line);
    if (element.kind === 'problem' && element.problem === 'duplicate') {
      refuseIn(batch, exchange, client, element.id ?? 'null', unreadable(element));
    } else if (element.kind === 'problem' || element.kind === 'batch') {
      const message = 'an element of the batch is no message';
      refuseIn(batch, exchange, client, 'null', problem('bus.invalid', message));
    } else {
      handle(exchange, client, element, batch);
    }
  }
  batch.close();
}

function handle(
  exchange: Exchange,
  client: BusClient,
  envelope: Envelope,
  batch: Batch | null,
): void {
  switch (envelope.kind) {
    case 'request':
      takeRequest(exchange, client, envelope, batch);
      return;
    case 'notification':
      takeNotification(exchange, client, envelope);
      return;
    case 'response':
      answerQuestion(exchange, client, envelope);
      return;
    case 'invalid': {
      const message = 'a message has a method, a result or an error, and an id that is no object';
      refuseIn(batch, exchange, client, envelope.id ?? 'null', problem('bus.invalid', message));
      return;
    }
  }
}

const ACP_PROMPT = 'session/prompt';

/** Which session of its agent a prompt of ACP is a turn of: to end the turn, that is what must be said. */
function turnOf({ line, paramsStart, paramsEnd }: Envelope): string | null {
  if (paramsStart < 0) return null;
  const params = scan(line.slice(paramsStart, paramsEnd) as ByteLine);
  return 'sessionId' in params ? params.sessionId : null;
}

function takeRequest(
  exchange: Exchange,
  client: BusClient,
  envelope: Envelope,
  batch: Batch | null,
): void {
  const id = envelope.id as string;
  const method = envelope.method as string;
  if (isForBus(method) && envelope.mistyped === null) {
    if (batch !== null && method === ATTACH) {
      const why = invalid(`${ATTACH} does not stand in a batch`, 'send it as a message of its own');
      return refuseIn(batch, exchange, client, id, why);
    }
    batch?.expect();
    const answer = answerByBus(exchange, client, envelope);
    if (batch) batch.answer(answer);
    else deliver(exchange, client, answer, null);
    return;
  }
  const { wishes, unclear } = wishesOf(envelope);
  const pools = unclear ?? admit(exchange, client, envelope);
  if (!isPools(pools)) {
    refuseIn(batch, exchange, client, id, pools);
    recordRefusal(exchange, client, envelope, wishes, pools.code);
    return;
  }
  batch?.expect();
  const session = sessionOf(exchange, client, envelope);
  const { agentId } = envelope;
  const turn = method === ACP_PROMPT ? turnOf(envelope) : null;
  const asked = { client, id, method, turn, agentId, pools, session, batch, wishes };
  const request = beginRequest(exchange, asked);
  if (wishes?.timeoutMs) startDeadline(exchange, request, wishes.timeoutMs);
  if (wishes?.key && isRepeat(exchange, request, wishes, envelope)) return;
  const sent = rewrite(envelope, request.wireId, extForWorker(client.identity, wishes));
  const trouble = place(exchange, createItem(client, sent, request, session), pools);
  if (trouble) failed(exchange, request, trouble);
}

const isPools = (answer: readonly Pool[] | BusProblem): answer is readonly Pool[] =>
  Array.isArray(answer);

/** What `_ext` wishes, or why that, or where the message shall go, cannot be read. */
function wishesOf(envelope: Envelope): {
  readonly wishes: Wishes | null;
  readonly unclear: BusProblem | null;
} {
  const { mistyped } = envelope;
  if (mistyped !== null) {
    const remedy = `give "${mistyped}" as a string, or leave it out`;
    return { wishes: null, unclear: invalid(`"${mistyped}" must be a string`, remedy) };
  }
  if (envelope.extStart === -1) return NO_WISHES;
  const read = readWishes(readExt(envelope));
  return isProblem(read) ? { wishes: null, unclear: read } : { wishes: read, unclear: null };
}

/** Whether the key was used before; then the request waits for that answer, or has it. */
function isRepeat(
  exchange: Exchange,
  request: BusRequest,
  { key, isKeyOfPool }: Wishes,
  envelope: Envelope,
): boolean {
  const now = exchange.clock.now();
  const { line, paramsStart, paramsEnd, pool, agentId, sessionId } = envelope;
  const params = paramsStart === -1 ? '' : line.slice(paramsStart, paramsEnd);
  const print = printOf(request.method, params);
  // A key belongs to its subject, and means what was asked where: another subject is not given the
  // answer, and another pool, agent or session has not done it.
  const subject = request.client.identity?.subjectId ?? null;
  const where = [pool, agentId, isKeyOfPool ? null : sessionId];
  const owned = JSON.stringify([subject, ...where, key]);
  const known = exchange.keys.find(owned, now);
  if (!known) {
    request.kept = exchange.keys.begin(owned, print, now, now + exchange.limits.keyMs);
    return false;
  }
  if (known.print !== print) {
    failed(exchange, request, problem('bus.key-reused', `the key was used for another request`));
    return true;
  }
  request.kept = known;
  if (known.answer) repeated(exchange, request, known.answer);
  else known.waiting.add(request);
  return true;
}

function takeNotification(exchange: Exchange, client: BusClient, envelope: Envelope): void {
  const method = envelope.method as string;
  if (isCancel(method)) {
    cancelOf(exchange, client, idsNamed(envelope), method);
    return;
  }
  const { wishes, unclear } = wishesOf(envelope);
  const pools =
    (isForBus(method) ? problem('bus.method-unknown', `the bus does not take ${method}`) : null) ??
    unclear ??
    admit(exchange, client, envelope);
  const trouble = isPools(pools) ? pass(exchange, client, envelope, pools, wishes) : pools;
  if (!trouble) return;
  // A notification gets no answer, but it is not dropped in silence either [BU11].
  exchange.stats.routing_errors += 1;
  const dropped = { method, code: trouble.code, reason: trouble.message };
  const told = { jsonrpc: '2.0', method: 'stdio_bus/dropped', params: dropped };
  deliver(exchange, client, messageOf(told), null);
}

/** It joins its session only after every objection: a refused message leaves no trace. */
function pass(
  exchange: Exchange,
  client: BusClient,
  envelope: Envelope,
  pools: readonly Pool[],
  wishes: Wishes | null,
): BusProblem | undefined {
  const session = sessionOf(exchange, client, envelope);
  const sent = rewrite(envelope, null, extForWorker(client.identity, wishes));
  return place(exchange, createItem(client, sent, null, session), pools);
}

/** A client takes a request of its own back. */
function cancelOf(
  exchange: Exchange,
  client: BusClient,
  ids: ReadonlySet<string>,
  method: string,
): void {
  for (const id of ids) {
    // An id may be in use more than once; all of them are meant.
    for (let request = client.requests.get(id); request; request = client.requests.get(id)) {
      const why: BusProblem = {
        code: 'bus.cancelled',
        message: `${request.method} was cancelled`,
        mayHaveRun: request.link !== null,
      };
      cancel(exchange, request, why, method);
    }
  }
}

function sessionOf(
  exchange: Exchange,
  client: BusClient,
  envelope: Envelope,
): SessionRecord | null {
  const { sessionId } = envelope;
  if (!sessionId) return null;
  const session = exchange.sessions.use(sessionId, client, exchange.clock.now());
  if (session.heard < session.last) {
    exchange.sessions.said.replay(session, session.heard, (line) =>
      deliver(exchange, client, line, null),
    );
  }
  return session;
}

/** Refused alone, or as one answer of its batch. */
function refuseIn(
  batch: Batch | null,
  exchange: Exchange,
  client: BusClient,
  id: string,
  why: BusProblem,
): void {
  if (!batch) return refuse(exchange, client, id, why);
  exchange.stats.routing_errors += 1;
  client.refused += 1;
  batch.expect();
  batch.answer(errorLine(id, why));
}
