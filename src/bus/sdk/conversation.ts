/**
 * The conversation with one bus: requests and their answers, chunks and their requests, worker
 * requests and their handlers. Every request ends once: in a result, or in an error that says
 * whether it can have run. A break of the line fails what was sent; what was not waits for the next.
 */

import { type ByteLine, textOf } from '../process/byte-line.ts';
import { cancelledId, isObject, type JsonObject, parseJson } from '../process/json-object.ts';
import type { Backend, LogLevel } from './backend.ts';
import {
  CancelledError,
  errorOfWire,
  InvalidArgumentError,
  ResourceExhaustedError,
  type StdioBusError,
  TimeoutError,
  TransportError,
} from './errors.ts';
import { IncomingRequests } from './incoming.ts';
import {
  agentSessionOf,
  type BusNotification,
  chunkText,
  notificationLine,
  type Params,
  requestLine,
} from './message.ts';
import { PENDING_MAX, type PendingCall, PendingCalls, TEXT_CHARS_MAX } from './pending.ts';
import { checkMethod, checkTimeout, extOf, type RequestOptions } from './request-options.ts';
import type { SessionBook, SessionChoice } from './session-book.ts';

const SESSION_LOST = 'stdio_bus/session_lost';

/** Bytes on their way to the bus; above it requests are refused. */
export const QUEUED_BYTES_MAX = 268_435_456;

export interface ConversationEvents {
  onMessage(text: string): void;
  onNotification(notification: BusNotification): void;
  onLog(level: LogLevel, text: string): void;
}

export interface CallEvents {
  onChunk(text: string): void;
  onResult(result: unknown): void;
  onError(error: StdioBusError): void;
}

export class Conversation {
  readonly incoming: IncomingRequests;
  /** This client's own traffic: in is toward the bus. */
  messagesIn = 0;
  messagesOut = 0;
  bytesIn = 0;
  bytesOut = 0;
  private readonly backend: Backend;
  private readonly book: SessionBook;
  private readonly timeoutMs: number;
  private readonly events: ConversationEvents;
  private readonly pending = new PendingCalls();
  /** Lines of requests made while the line is down, by request. */
  private readonly held = new Map<PendingCall, ByteLine>();
  private isUp = true;
  private onIdle: () => void = () => {};

  constructor(backend: Backend, book: SessionBook, timeoutMs: number, events: ConversationEvents) {
    this.backend = backend;
    this.book = book;
    this.timeoutMs = timeoutMs;
    this.events = events;
    this.incoming = new IncomingRequests((line) => void this.post(line));
  }

  /** Sends a request; answers how to take it back. Throws when it cannot be sent at all. */
  begin(
    method: string,
    params: Params | undefined,
    options: RequestOptions,
    events: CallEvents,
  ): () => void {
    checkMethod(method);
    const timeoutMs = checkTimeout('timeoutMs', options.timeoutMs ?? this.timeoutMs);
    const { signal } = options;
    if (signal?.aborted) throw new CancelledError(`${method} was cancelled before it was sent`);
    this.checkRoom(method);
    const choice = this.choiceOf(method, params, options);
    const { sessionId, pool, agentId } = choice;
    const id = crypto.randomUUID();
    const isOurs = this.backend.dialect === 'synod';
    const isOneCall = sessionId !== undefined && !this.book.isKnown(sessionId);
    const line = requestLine(
      { id, method, params },
      { sessionId, pool, agentId, ext: isOurs ? extOf(options, isOneCall) : bareExtOf(options) },
    );
    this.checkSize(method, line);
    const leave = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
      this.held.delete(call);
      if (this.pending.size === 0) this.onIdle();
    };
    const call: PendingCall = {
      ...{ id, method, sessionId, agentSession: agentSessionOf(params), choice },
      text: '',
      wasSent: false,
      onChunk: events.onChunk,
      onResult: (result) => {
        leave();
        events.onResult(result);
      },
      onError: (error) => {
        leave();
        events.onError(error);
      },
    };
    const aborted = (): void =>
      this.takeBack(
        call,
        new CancelledError(`${method} was cancelled`, { mayHaveRun: call.wasSent }),
      );
    const timer =
      timeoutMs === Number.POSITIVE_INFINITY
        ? undefined
        : setTimeout(() => this.expire(call, timeoutMs), timeoutMs);
    signal?.addEventListener('abort', aborted);
    this.pending.add(call);
    if (this.isUp) this.give(call, line);
    else this.held.set(call, line);
    return aborted;
  }

  notify(method: string, params: Params | undefined, options: RequestOptions): boolean {
    checkMethod(method);
    const { sessionId, pool, agentId } = this.choiceOf(method, params, options);
    const line = notificationLine(method, params, {
      sessionId,
      pool,
      agentId,
      ext: extOf(options, false),
    });
    this.checkSize(method, line);
    return this.isUp && this.post(line);
  }

  /** Any line, as it is. */
  post(line: ByteLine): boolean {
    if (!this.backend.send(line)) return false;
    this.messagesIn++;
    this.bytesIn += line.length + 1;
    return true;
  }

  receive(lines: readonly ByteLine[]): void {
    for (const line of lines) {
      this.messagesOut++;
      this.bytesOut += line.length + 1;
      const text = textOf(line);
      this.events.onMessage(text);
      const message = parseJson(text);
      if (isObject(message)) this.take(message);
      else if (!Array.isArray(message)) {
        this.events.onLog('warn', `the bus wrote a line that is no message (${line.length} bytes)`);
      }
    }
  }

  /** The line broke: what was sent fails and may have run. What is asked from now on waits. */
  lineDown(problem: StdioBusError): void {
    this.isUp = false;
    this.incoming.withdrawAll();
    for (const call of this.pending.takeAll()) call.onError(failed(call, problem));
  }

  /** A new line, to a bus that knows nothing of us: sessions first, then what waited. */
  lineUp(): void {
    this.isUp = true;
    const sessions = this.backend.dialect === 'synod' ? this.book.knownSessions() : [];
    for (const sessionId of sessions) this.attachAgain(sessionId);
    const held = [...this.held];
    this.held.clear();
    for (const [call, line] of held) this.give(call, line);
  }

  /** Waits for the answers under way; what has none by then fails, and its worker is told. */
  async finish(timeoutMs: number): Promise<void> {
    if (this.pending.size > 0 && timeoutMs > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    for (const call of this.pending.all()) {
      const problem = new TransportError('this client is stopping');
      this.takeBack(call, failed(call, problem));
    }
  }

  private attachAgain(sessionId: string): void {
    this.begin(
      'stdio_bus/attach',
      { sessionId, after: this.book.heardOf(sessionId) },
      {},
      {
        onChunk() {},
        onResult() {},
        onError: (error) => {
          // Nobody said that it is gone: the line broke again, and it is asked for again.
          if (error.rpcCode === null) return;
          const isLost = this.book.isUsed(sessionId);
          this.book.forget(sessionId);
          if (isLost) this.tellLost(sessionId, error.message);
        },
      },
    );
  }

  /** A session whose worker knows nothing of it any more, or that is not found again. */
  tellLost(sessionId: string, reason: unknown): void {
    const params = { sessionId, reason };
    this.events.onLog('warn', `session ${sessionId} is lost: ${String(reason)}`);
    this.events.onNotification({ jsonrpc: '2.0', method: SESSION_LOST, sessionId, params });
  }

  private give(call: PendingCall, line: ByteLine): void {
    call.wasSent = this.post(line);
    // With the reason for it the error says more: it comes by `lineDown`.
    if (call.wasSent || this.backend.isEnding || !this.pending.remove(call)) return;
    call.onError(
      new TransportError(`${call.method} could not be sent: the line to the bus is closed`),
    );
  }

  private take(message: JsonObject): void {
    if (typeof message.method === 'string') {
      if (message.id === undefined || message.id === null) {
        this.takeNotification(message as BusNotification);
        // A worker such as `cat` gives our own request back: that is neither question nor answer.
      } else if (this.pending.find(message.id) === undefined) this.incoming.take(message);
      return;
    }
    const call = this.pending.find(message.id);
    if (call === undefined) {
      if (isObject(message.error) && message.id === null) {
        this.events.onLog('warn', `the bus refused a message: ${errorOfWire(message.error)}`);
      }
      return;
    }
    this.pending.remove(call);
    if ('error' in message) {
      call.onError(errorOfWire(message.error));
      return;
    }
    const { result } = message;
    if (call.sessionId !== undefined) {
      this.book.learn(call.method, result, call.sessionId, call.choice);
    }
    if (call.text !== '' && isObject(result)) Object.assign(result, { text: call.text });
    call.onResult(result);
  }

  private takeNotification(notification: BusNotification): void {
    const cancelled = cancelledId(notification);
    if (cancelled !== null) return this.incoming.withdraw(cancelled.id);
    if (notification.method === SESSION_LOST) {
      this.loseSessions(notification);
      this.book.hear(notification);
      return;
    }
    this.book.hear(notification);
    const text = chunkText(notification);
    const owner = text === null ? null : this.pending.ownerOf(notification);
    if (text !== null && owner !== null) this.addText(owner, text);
    this.events.onNotification(notification);
  }

  /** Many at once come as a list; each is told by itself. */
  private loseSessions({ params }: BusNotification): void {
    const { sessionIds, reason } = isObject(params) ? params : {};
    const lost = Array.isArray(sessionIds) ? sessionIds : [agentSessionOf(params) ?? ''];
    for (const sessionId of lost) {
      // A session of one call that ended long ago is not told: there may be thousands.
      const isWanted = this.book.isKnown(sessionId) || this.pending.hasSession(sessionId);
      if (!isWanted) continue;
      this.book.forget(sessionId);
      this.tellLost(sessionId, reason);
    }
  }

  private addText(call: PendingCall, text: string): void {
    if (call.text.length + text.length > TEXT_CHARS_MAX) {
      const message = `the text of ${call.method} is over ${TEXT_CHARS_MAX} characters; it was cancelled`;
      this.takeBack(call, new ResourceExhaustedError(message, { mayHaveRun: true }));
      return;
    }
    call.text += text;
    call.onChunk(text);
  }

  private expire(call: PendingCall, timeoutMs: number): void {
    // What has arrived and was not read yet counts: one turn of the loop reads it first.
    setImmediate(() => {
      const message = `${call.method} had no answer within ${timeoutMs} ms; allow more time, or look at the worker`;
      this.takeBack(call, new TimeoutError(message, { mayHaveRun: call.wasSent }));
    });
  }

  /** Ends a request from this side, and tells the bus, which tells the worker. */
  private takeBack(call: PendingCall, error: StdioBusError): void {
    const isAlone = this.pending.isAlone(call);
    if (!this.pending.remove(call)) return;
    if (call.wasSent) {
      const { id, sessionId, agentSession } = call;
      const routing = { sessionId, pool: call.choice.pool, agentId: call.choice.agentId };
      this.post(notificationLine('$/cancelRequest', { id }, routing));
      // Agents of ACP listen to this word; it means the whole turn, so no other request may be in it.
      if (call.method === 'session/prompt' && agentSession !== null && isAlone) {
        this.post(notificationLine('session/cancel', { sessionId: agentSession }, routing));
      }
    }
    call.onError(error);
  }

  private choiceOf(
    method: string,
    params: Params | undefined,
    options: RequestOptions,
  ): SessionChoice {
    const isForBus = method.startsWith('stdio_bus/') && this.backend.dialect === 'synod';
    return isForBus ? options : this.book.choose(params, options);
  }

  private checkRoom(method: string): void {
    if (this.pending.size >= PENDING_MAX) {
      throw new ResourceExhaustedError(
        `${method} was not sent: ${PENDING_MAX} requests of this client wait for an answer`,
      );
    }
    if (this.backend.queuedBytes > QUEUED_BYTES_MAX) {
      throw new ResourceExhaustedError(
        `${method} was not sent: ${this.backend.queuedBytes} bytes wait for the bus to read them`,
      );
    }
  }

  private checkSize(method: string, line: ByteLine): void {
    const limit = this.backend.messageBytesMax;
    if (limit === null || line.length <= limit) return;
    throw new InvalidArgumentError(
      `${method} has ${line.length} bytes, and limits.max_input_buffer of this bus is ${limit}`,
    );
  }
}

function failed(call: PendingCall, problem: StdioBusError): StdioBusError {
  return new TransportError(`${call.method} has no answer: ${problem.message}`, {
    mayHaveRun: call.wasSent,
    cause: problem,
  });
}

/** For a bus that keeps no deadlines. */
function bareExtOf({ timeoutMs: _, ...rest }: RequestOptions): JsonObject {
  return extOf(rest, false);
}
