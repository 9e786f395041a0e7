/**
 * What a turn does at the hub as its agent, through the desk, with the token of the turn: it answers,
 * asks people and puts questions on the docket [RU17]. A turn that lost its lease is refused there like
 * anybody with a stale token.
 */
import { createHash } from 'node:crypto';
import { isRefusal } from '../../core/law/decider.ts';
import type { Signal } from '../../hub/watch.ts';
import { currentTrace } from '../../telemetry/scope.ts';
import { askGate, fitSubject } from '../../wire/ask-gate.ts';
import { isTier2 } from '../../wire/asks.ts';
import type { GateOutcome } from '../../wire/gate-words.ts';
import { OPERATIONS, type OperationId } from '../../wire/operations/table.ts';
import type { Answer } from '../desk/answer.ts';
import type { Desk } from '../desk/desk.ts';
import type { GateAsk, GivenMessage, Transcript, TurnReply, TurnResult } from './runner.ts';

export interface TurnAgent {
  /** Sends the answers of a result, and puts its question; what was refused is told in sentences. */
  conclude(
    result: TurnResult,
    messages: readonly GivenMessage[],
    transcript: Transcript,
  ): Promise<string[]>;
  askGate(ask: GateAsk, signal: AbortSignal): Promise<GateOutcome>;
  raise(question: string): Promise<void>;
}

export function createTurnAgent(desk: Desk, token: string, turnId: string): TurnAgent {
  async function call(id: OperationId, input: object, signal?: Signal): Promise<Answer> {
    const caller = await desk.authenticate({
      ...{ token, agent: null, space: null, clientVersion: null, transport: 'http' },
      ...{ isOwnerSocket: false, wantsOwner: false, connectionId: `turn-${turnId}` },
    });
    if (isRefusal(caller)) throw new Error(caller.message);
    const traceparent = currentTrace();
    return desk.call(caller, OPERATIONS[id], input, { traceparent, ...(signal && { signal }) });
  }

  /** The answer, or a sentence that says why there is none. */
  async function ask(
    id: OperationId,
    input: object,
    signal?: Signal,
  ): Promise<Readonly<Record<string, unknown>> | string> {
    try {
      const answer = await call(id, input, signal);
      return 'ok' in answer ? answer.ok : answer.error.message;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  async function raise(question: string): Promise<string | null> {
    const answer = await ask('docket.raise', { kind: 'question', text: question.slice(0, 2_000) });
    return typeof answer === 'string' ? answer : null;
  }

  return {
    async conclude({ outcome, replies = [], question }, messages, transcript) {
      const notes: string[] = [];
      const said = new Map<string, number>();
      // What may wait for a person is said last: everything behind it would have to wait too [RU23].
      const inOrder = [...replies.entries()].sort(([, a], [, b]) => rankOf(a) - rankOf(b));
      for (const [at, reply] of inOrder) {
        const input = sendInput(reply, messages);
        const digest = digestOf(input);
        const nth = said.get(digest) ?? 0;
        said.set(digest, nth + 1);
        const key = `turn:${turnId}:${digest}:${nth}`;
        const answer = await ask('channels.send', { ...input, idempotency_key: key });
        if (typeof answer === 'string') notes.push(`answer ${at + 1} was not sent: ${answer}`);
      }
      // Who gives up is parked with its question: that is one item, not two.
      const isAsked = question === undefined || outcome === 'gave_up';
      const refused = isAsked ? null : await raise(question);
      if (refused !== null) notes.push(`the question ${JSON.stringify(question)}: ${refused}`);
      for (const note of notes) transcript.append(note, 'note');
      return notes;
    },
    async raise(question) {
      await raise(question);
    },
    askGate: ({ subject, ...wish }, signal) =>
      askGate(ask, { ...wish, subject: fitSubject(subject), tell: false }, signal),
  };
}

function rankOf({ body }: TurnReply): number {
  return isTier2(body) ? 1 : 0;
}

/** To where it says; else where the message that it answers was said; else to the last one given. */
function sendInput(
  { channel, reply_to, body, wants_reply }: TurnReply,
  messages: readonly GivenMessage[],
): Record<string, unknown> {
  const isLoose = channel === undefined && reply_to === undefined;
  const answered = isLoose
    ? messages.at(-1)
    : messages.find(({ message_id }) => message_id === reply_to);
  const to = reply_to ?? (isLoose ? answered?.message_id : undefined);
  return {
    channel: channel ?? answered?.channel ?? '',
    ...(to !== undefined && { reply_to: to }),
    // What is said elsewhere than what it answers is a link to it.
    ...(to !== undefined &&
      channel !== undefined &&
      channel !== answered?.channel && { quote: true }),
    body: wants_reply === undefined ? body : { ...body, wants_reply },
  };
}

/** The same answer of a turn that is tried again is sent once. */
function digestOf(input: object): string {
  return createHash('sha256').update(JSON.stringify(input)).digest('base64url').slice(0, 22);
}
