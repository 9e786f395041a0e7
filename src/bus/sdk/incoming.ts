/**
 * Requests of workers to this client: permission prompts, files, terminals. The first handler that
 * does not pass answers; without one the request is refused with -32601, and nothing is ever approved
 * by itself [SD12].
 */

import type { ByteLine } from '../process/byte-line.ts';
import { type JsonObject, objectAt, textAt } from '../process/json-object.ts';
import { wireOfError } from './errors.ts';
import { answerLine } from './message.ts';

/** Questions open at one time; more are refused at once. */
export const QUESTIONS_MAX = 1_024;

const METHOD_NOT_FOUND = -32_601;
const TOO_MANY = 9;

export interface WorkerRequest {
  readonly method: string;
  readonly params: unknown;
  readonly sessionId: string | undefined;
  readonly agentId: string | undefined;
  readonly ext: JsonObject;
  /** Aborted when the answer is not wanted any more. */
  readonly signal: AbortSignal;
}

/** The answer; undefined passes the request on to the next handler. */
export type RequestHandler = (request: WorkerRequest) => unknown;

export class IncomingRequests {
  private readonly handlers = new Set<RequestHandler>();
  private readonly open = new Map<unknown, AbortController>();
  private readonly send: (line: ByteLine) => void;

  constructor(send: (line: ByteLine) => void) {
    this.send = send;
  }

  on(handler: RequestHandler): () => void {
    // Each registration is its own, also of the same function.
    const own: RequestHandler = (request) => handler(request);
    this.handlers.add(own);
    return () => void this.handlers.delete(own);
  }

  take(message: JsonObject): void {
    const { id, method, params } = message;
    const sessionId = textAt(message, 'sessionId');
    if (this.open.size >= QUESTIONS_MAX) {
      const error = { code: TOO_MANY, message: `${QUESTIONS_MAX} requests wait for this client` };
      this.send(answerLine(id, { error }, sessionId));
      return;
    }
    const controller = new AbortController();
    this.open.set(id, controller);
    const request: WorkerRequest = {
      method: String(method),
      params,
      sessionId,
      agentId: textAt(message, 'agentId'),
      ext: objectAt(message, '_ext'),
      signal: controller.signal,
    };
    void this.answer(request).then((outcome) => {
      // Withdrawn, or the line it came by is gone: the answer would reach another bus.
      if (this.open.get(id) !== controller) return;
      this.open.delete(id);
      this.send(sayable(id, outcome, sessionId));
    });
  }

  /** The worker does not want the answer any more. */
  withdraw(id: unknown): void {
    const controller = this.open.get(id);
    this.open.delete(id);
    controller?.abort();
  }

  withdrawAll(): void {
    for (const id of [...this.open.keys()]) this.withdraw(id);
  }

  clear(): void {
    this.handlers.clear();
    this.withdrawAll();
  }

  private async answer(request: WorkerRequest): Promise<{ result: unknown } | { error: unknown }> {
    try {
      for (const handler of this.handlers) {
        const result = await handler(request);
        if (result !== undefined) return { result };
      }
      const message = `this client does not answer ${request.method}: treat it as refused`;
      return { error: { code: METHOD_NOT_FOUND, message } };
    } catch (error) {
      return { error: wireOfError(error) };
    }
  }
}

/** What JSON cannot say must not leave the worker without an answer. */
function sayable(
  id: unknown,
  outcome: Parameters<typeof answerLine>[1],
  sessionId: string | undefined,
): ByteLine {
  try {
    return answerLine(id, outcome, sessionId);
  } catch (error) {
    const { message } = error as Error;
    return answerLine(id, { error: wireOfError(new Error(message)) }, sessionId);
  }
}
