/**
 * Questions: requests of a worker to a client, such as a permission prompt. They go to the one
 * client that is meant, under an id of our own, and the answer finds its way back by that id. When
 * that client leaves, the next one of the session is asked. If no client is there, or none answers,
 * the worker is told so: the bus never answers for a person [BU14].
 */

import type { ByteLine } from '../process/byte-line.ts';
import { detached } from '../process/frames.ts';
import { type Envelope, readExt, rewrite, withId } from '../process/scan-message.ts';
import { type BusProblem, errorLine } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { extForWorker, extOfAnswer } from './extension.ts';
import type { BusClient, Link, SessionRecord, WorkerQuestion } from './state.ts';
import { deliver } from './to-client.ts';
import { tell } from './to-worker.ts';

const QUESTIONS_MAX = 10_000;

export function putQuestion(
  exchange: Exchange,
  link: Link,
  client: BusClient | null,
  envelope: Envelope,
  session: SessionRecord | null,
): void {
  const id = detached(envelope.id as string);
  if (!client || client.questions.size >= QUESTIONS_MAX) {
    exchange.stats.routing_errors += 1;
    tell(exchange, link, errorLine(id, unanswered(envelope.method, 'no client is attached to it')));
    return;
  }
  exchange.lastId += 1;
  const wireId = `"w${exchange.lastId.toString(36)}"`;
  const { requestMs } = exchange.limits;
  const question: WorkerQuestion = {
    link,
    client,
    session,
    id,
    wireId,
    method: envelope.method,
    line: detached(withId(envelope, wireId)),
    stopDeadline: exchange.clock.after(requestMs, () => {
      refuse(exchange, question, `nobody answered in ${requestMs} ms`);
    }),
  };
  link.questions.set(wireId, question);
  ask(exchange, question, client);
}

function ask(exchange: Exchange, question: WorkerQuestion, client: BusClient): void {
  question.client = client;
  client.questions.set(question.wireId, question);
  deliver(exchange, client, question.line, question.link);
}

/** A client's answer, back to the worker that asked. */
export function answerQuestion(exchange: Exchange, client: BusClient, envelope: Envelope): void {
  const question = client.questions.get(envelope.id ?? '');
  if (!question) {
    exchange.stats.routing_errors += 1;
    exchange.log('debug', `[client=${client.peer.label}] answered a question nobody asked`);
    return;
  }
  close(question);
  const ext =
    envelope.extStart === -1
      ? extForWorker(client.identity, null)
      : extOfAnswer(client.identity, readExt(envelope));
  tell(exchange, question.link, rewrite(envelope, question.id, ext));
}

/** The client is gone: another of the session is asked, and with none the worker is told. */
export function handOnQuestions(exchange: Exchange, gone: BusClient): void {
  for (const question of gone.questions.values()) {
    const next = otherOf(question.session, gone);
    if (next) ask(exchange, question, next);
    else refuse(exchange, question, 'its client left');
  }
  gone.questions.clear();
}

function otherOf(session: SessionRecord | null, gone: BusClient): BusClient | null {
  if (!session) return null;
  for (const client of session.clients) {
    if (client !== gone && client.questions.size < QUESTIONS_MAX) return client;
  }
  return null;
}

/** The worker is gone: its clients need not answer any more. */
export function withdrawQuestions(exchange: Exchange, link: Link): void {
  for (const question of link.questions.values()) {
    close(question);
    const line = `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":${question.wireId}}}`;
    deliver(exchange, question.client, line as ByteLine, null);
  }
}

function refuse(exchange: Exchange, question: WorkerQuestion, why: string): void {
  close(question);
  tell(exchange, question.link, errorLine(question.id, unanswered(question.method, why)));
}

function close(question: WorkerQuestion): void {
  question.stopDeadline();
  question.client.questions.delete(question.wireId);
  question.link.questions.delete(question.wireId);
}

const unanswered = (method: string | null, why: string): BusProblem => ({
  code: 'bus.no-client',
  message: `${method ?? 'the question'} was not answered: ${why}`,
});
