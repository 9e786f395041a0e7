/**
 * One call of an operation over HTTP, typed by the operation table and without loading it. A refusal
 * is thrown as the hub said it; a hub that is not there says how to start one.
 */
import type { IncomingMessage } from 'node:http';
import { type Fields, waitMsOf } from '../../wire/fields.ts';
import { envelopeError, SynodError } from '../error.ts';
import type { CallId, CallInput, CallOutput } from '../operations.ts';
import { answerIn, ask, askOnce, type Question, readText } from './http.ts';
import type { Told } from './one-go.ts';
import type { Target } from './target.ts';

const ANSWER_TIMEOUT_MS = 30_000;
/** Operations that are nobody's but the owner's and administrators'. */
const ADMINISTRATION =
  /^(tokens|web|spaces|cluster|held|people|turns|audit)[._]|^audit$|^record[._]+(at|span)$|^(hub[._])?vitals$|^gates[._](decide|get)$|^docket[._](list|get|take|close)$|^channels[._]+configure$|^agents[._]+(assign|remove|manage|unmanage|managed|define|undefine|start|stop|take|report|instances)$|^workflows[._](answer|queue)$/;
/** What agents do as well, but not by force. */
const FORCED = /^(channels[._]+)?retire$|^claims[._]+release$/;

/** A word that a person typed is any word: the hub knows which there are, and says so. */
type Spoken<T> = T extends string
  ? string
  : T extends readonly unknown[]
    ? readonly Spoken<T[number]>[]
    : T extends object
      ? { [K in keyof T]: Spoken<T[K]> }
      : T;

export type SpokenInput<Id extends CallId> = Spoken<CallInput<Id>>;

export async function callHub<Id extends CallId>(
  target: Target,
  id: Id,
  input: SpokenInput<Id>,
): Promise<CallOutput<Id>> {
  return (await callByName(target, id, input as Fields)) as CallOutput<Id>;
}

/** An operation that may not be in our table, by its id or its name. */
export async function callByName(target: Target, name: string, input: Fields): Promise<Fields> {
  const asked = askOnce(target, {
    method: 'POST',
    path: `/v1/ops/${encodeURIComponent(name)}`,
    body: JSON.stringify(input),
    // The hub heeds it from the owner alone, who need not be an agent to administer.
    headers: isAdministration(name, input) ? { 'x-synod-owner': '1' } : {},
    timeoutMs: ANSWER_TIMEOUT_MS + waitMsOf(input),
  });
  return answerOf(target, await orInWords(target, asked));
}

/** An agent reports as well, but no roles. */
function isAdministration(name: string, input: Fields): boolean {
  return (
    ADMINISTRATION.test(name) ||
    (FORCED.test(name) && input.force === true) ||
    (/^gates[._]list$/.test(name) && input.mine !== true) ||
    (/^presence[._]+report$/.test(name) && input.roles != null)
  );
}

/** Asks, and says in words when no hub is there. */
export function reach(target: Target, question: Question): Promise<IncomingMessage> {
  return orInWords(target, ask(target, question));
}

/** The answer of an operation to a question whose answer would have been read as it comes. */
export async function answerOfAll(target: Target, response: IncomingMessage): Promise<Fields> {
  const { statusCode = 0 } = response;
  return answerOf(target, { statusCode, text: await orInWords(target, readText(response)) });
}

async function orInWords<T>(target: Target, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (cause) {
    throw cause instanceof SynodError ? cause : unreachable(target, cause);
  }
}

/** The answer of an operation, or its refusal thrown. */
function answerOf(target: Target, told: Told): Fields {
  const answer = answerIn(told);
  if (answer === null) {
    throw new SynodError(
      'hub.foreign',
      `what answers at ${target.url.origin} (status ${told.statusCode}) is not a Synod hub`,
      { detail: { hint: 'check --url and SYNOD_URL' } },
    );
  }
  if ('ok' in answer) return answer.ok;
  throw envelopeError(answer.error, null, 'the hub gave no reason');
}

function unreachable(target: Target, cause: unknown): SynodError {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new SynodError('hub.unreachable', `no hub at ${target.url.origin} (${code ?? message})`, {
    detail: { hint: 'start one with "synod up"' },
    cause,
  });
}
