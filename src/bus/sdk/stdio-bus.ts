/**
 * `StdioBus`: a bus to talk to, wherever it runs. One life: created, started, stopped. Requests and
 * streams run side by side, as many as you like; every one ends, with a result or with an error that
 * says whether it can have run.
 */
import { lineOf } from '../process/byte-line.ts';
import type { Backend, BackendLook, LogLevel } from './backend.ts';
import {
  checkBusOptions,
  checkHello,
  checkNotificationsOptions,
  checkRequestOptions,
} from './check-options.ts';
import { chooseBackend } from './choose-backend.ts';
import { Conversation } from './conversation.ts';
import { camelStats, numberOf } from './embedded.ts';
import { InvalidStateError, type StdioBusError, TransportError } from './errors.ts';
import { type HelloParams, type HelloResult, helloRequest, readHello } from './hello.ts';
import type { RequestHandler } from './incoming.ts';
import { Listeners } from './listeners.ts';
import type { BusNotification, Params } from './message.ts';
import {
  createSubscribers,
  type NotificationSubscription,
  type NotificationsOptions,
} from './notifications.ts';
import type { StdioBusOptions } from './options.ts';
import {
  checkExtensions,
  checkTimeout,
  type NotifyOptions,
  type RequestOptions,
} from './request-options.ts';
import { BusSession } from './session.ts';
import { SessionBook } from './session-book.ts';
import {
  type BackendType,
  BUS_STATE_NAMES,
  BusState,
  type BusStateName,
  type ListenMode,
  type StdioBusCounts,
  type StdioBusStats,
  UNKNOWN_COUNT,
} from './states.ts';
import { type BusStream, ChunkQueue } from './stream.ts';

const TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_SEC = 30;
const STDERR_LINES = 50;
const NEWLINE = /[\r\n]/;

/** The line to the bus: up, or down with the reason, for good or until it returns. */
export type ConnectionEvent =
  | { readonly isUp: true }
  | { readonly isUp: false; readonly willReturn: boolean; readonly problem: StdioBusError };

export class StdioBus implements AsyncDisposable {
  /** The agent's own session; set by `hello`, and by you. */
  agentSessionId: string | null = null;
  private state: BusState = BusState.CREATED;
  private readonly backend: Backend;
  private readonly book: SessionBook;
  private readonly conversation: Conversation;
  private readonly subscribers = createSubscribers();
  private readonly messages: Listeners<string>;
  private readonly pushes: Listeners<BusNotification>;
  private readonly connections: Listeners<ConnectionEvent>;
  private readonly onLog: StdioBusOptions['onLog'];
  private readonly active = new Set<string>();
  private isConnected = false;
  private stopping: Promise<void> | null = null;

  constructor(options: StdioBusOptions) {
    checkBusOptions(options);
    const timeoutMs = checkTimeout('timeoutMs', options.timeoutMs ?? TIMEOUT_MS);
    this.onLog = options.onLog;
    this.backend = chooseBackend(options);
    // A bus with room for 1024 sessions and no way to close one must not be given one a call.
    const session = options.session ?? (this.backend.dialect === 'stdio_bus' ? 'object' : 'auto');
    this.book = new SessionBook(session, (sessionId, reason) =>
      this.conversation.tellLost(sessionId, reason),
    );
    const onFailure = (error: unknown): void => this.report(error);
    this.messages = new Listeners(onFailure);
    this.pushes = new Listeners(onFailure);
    this.connections = new Listeners(onFailure);
    this.conversation = new Conversation(this.backend, this.book, timeoutMs, {
      onMessage: (text) => this.messages.tell(text),
      onNotification: (notification) => {
        this.pushes.tell(notification);
        this.subscribers.tell(notification);
      },
      onLog: (level, text) => this.log(level, text),
    });
  }

  /** `client-<unix ms>-<6 letters or digits>` */
  get clientSessionId(): string {
    return this.book.clientSessionId;
  }

  /** Ends when the bus takes messages. */
  async start(): Promise<void> {
    if (this.state !== BusState.CREATED) {
      throw new InvalidStateError(
        `this bus is ${this.getStateName()}, and a bus starts once: create another`,
      );
    }
    this.state = BusState.STARTING;
    try {
      await this.backend.open({
        onLines: (lines) => this.conversation.receive(lines),
        onDown: (problem, willReturn) => this.lineDown(problem, willReturn),
        onUp: () => this.lineUp(),
        onLog: (level, text) => this.log(level, text),
        onWarning: (text) => this.warn('warn', text),
      });
    } catch (error) {
      this.state = BusState.STOPPED;
      throw error;
    }
    // It may have been stopped meanwhile.
    if (this.state !== BusState.STARTING) return;
    this.state = BusState.RUNNING;
    this.isConnected = true;
  }

  /** Starts; and says hello when there is something to negotiate. */
  async connect(params?: HelloParams): Promise<HelloResult | null> {
    await this.start();
    return params === undefined ? null : this.hello(params);
  }

  async hello(params: HelloParams = {}): Promise<HelloResult> {
    checkHello(params);
    const said = await this.request('stdio_bus/hello', helloRequest(params));
    const result = readHello(said, params);
    if (result.sessionId !== '') this.agentSessionId = result.sessionId;
    this.active.clear();
    for (const [name, one] of Object.entries(result.extensions)) {
      if (one.active) this.active.add(name);
    }
    return result;
  }

  /** Waits for the answers under way, fails the rest with TransportError, and ends everything. */
  stop(timeoutSec: number = STOP_TIMEOUT_SEC): Promise<void> {
    this.stopping ??= this.end(timeoutSec * 1_000);
    return this.stopping;
  }

  /** At once: nothing is waited for, and every handler is forgotten. */
  destroy(): void {
    this.state = BusState.STOPPED;
    this.isConnected = false;
    this.backend.destroy();
    this.conversation.lineDown(new TransportError('this client was destroyed'));
    this.subscribers.closeAll();
    this.messages.clear();
    this.pushes.clear();
    this.connections.clear();
    this.conversation.incoming.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.destroy();
  }

  /** One request, one answer. Text that came in chunks stands in `result.text`. */
  request<T = unknown>(method: string, params?: Params, options: RequestOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.checkReady(method, options);
      this.conversation.begin(method, params, options, {
        onChunk() {},
        onResult: (result) => resolve(result as T),
        onError: reject,
      });
    });
  }

  /** The same request with its chunks as they come. Leaving early cancels it. */
  stream<T = unknown>(method: string, params?: Params, options: RequestOptions = {}): BusStream<T> {
    let cancel = (): void => {};
    const stream = new ChunkQueue<T>(() => cancel());
    try {
      this.checkReady(method, options);
      cancel = this.conversation.begin(method, params, options, {
        onChunk: (text) => stream.chunk(text),
        onResult: (result) => stream.result(result as T),
        onError: (error) => stream.end(error),
      });
    } catch (error) {
      stream.end(error);
    }
    return stream;
  }

  /** False when the line is down and it was not sent. Whether it is received is not known. */
  notify(method: string, params?: Params, options: NotifyOptions = {}): boolean {
    this.checkReady(method, options);
    return this.conversation.notify(method, params, options);
  }

  /** A line as it is. False when it was not sent: not running, or more than one line. */
  send(raw: string): boolean {
    const line = raw.replace(/\r?\n$/, '');
    if (this.state !== BusState.RUNNING || line === '' || NEWLINE.test(line)) return false;
    return this.conversation.post(lineOf(line));
  }

  /** Every line from the bus, as it came. Returns how to stop. */
  onMessage(handler: (text: string) => unknown): () => void {
    return this.messages.add(handler);
  }

  onNotification(handler: (notification: BusNotification) => unknown): () => void {
    return this.pushes.add(handler);
  }

  /** Answers workers; without a handler they are refused. Undefined passes on to the next one. */
  onRequest(handler: RequestHandler): () => void {
    return this.conversation.incoming.on(handler);
  }

  onConnection(handler: (event: ConnectionEvent) => unknown): () => void {
    return this.connections.add(handler);
  }

  /** Notifications from now on, in a queue of their own. */
  notifications(options: NotificationsOptions = {}): NotificationSubscription {
    return this.subscribe(options, () => true);
  }

  /** An object that keeps to one session: a new one, or the one named. */
  session(id?: string): BusSession {
    return new BusSession(
      {
        request: (method, params, options) => this.request(method, params, options),
        stream: (method, params, options) => this.stream(method, params, options),
        notify: (method, params, options) => this.notify(method, params, options),
        subscribe: (options, accepts) => this.subscribe(options, accepts),
        keep: (sessionId, isUsed) => this.book.keep(sessionId, isUsed),
        forget: (sessionId) => this.book.forget(sessionId),
      },
      id ?? this.book.fresh(),
    );
  }

  getState(): BusState {
    return this.state;
  }

  getStateName(): BusStateName {
    return BUS_STATE_NAMES[this.state] as BusStateName;
  }

  isRunning(): boolean {
    return this.state === BusState.RUNNING;
  }

  getBackendType(): BackendType {
    return this.backend.type;
  }

  getListenMode(): ListenMode {
    return this.backend.listenMode;
  }

  /** The bus's own counters; -1 stands for what a bus that does not tell cannot be asked. */
  async getStats(): Promise<StdioBusStats> {
    return (await this.look()).stats;
  }

  async getCounts(): Promise<StdioBusCounts> {
    return (await this.look()).counts;
  }

  async getWorkerCount(): Promise<number> {
    return (await this.getCounts()).workers;
  }

  async getClientCount(): Promise<number> {
    return (await this.getCounts()).clients;
  }

  /** The last lines the bus wrote to stderr, where it is a process of ours. */
  stderrTail(count: number = STDERR_LINES): readonly string[] {
    return this.backend.stderrTail(count);
  }

  private async look(): Promise<BackendLook> {
    const known = this.backend.look();
    if (known !== null) return known;
    if (this.backend.dialect === 'synod' && this.state === BusState.RUNNING) {
      const said = await this.request<Record<string, unknown>>('stdio_bus/stats');
      const [workers, clients] = [numberOf(said.workers), numberOf(said.clients)];
      const [sessions, pending] = [numberOf(said.sessions), numberOf(said.pending)];
      return { stats: camelStats(said), counts: { workers, clients, sessions, pending } };
    }
    const { messagesIn, messagesOut, bytesIn, bytesOut } = this.conversation;
    const unknown = camelStats({});
    // A bus of our own has one client: us. Who else is at a socket is not for us to know.
    const clients = this.backend.type === 'socket' ? UNKNOWN_COUNT : Number(this.isConnected);
    return {
      stats: { ...unknown, messagesIn, messagesOut, bytesIn, bytesOut },
      counts: { workers: UNKNOWN_COUNT, clients, sessions: UNKNOWN_COUNT, pending: UNKNOWN_COUNT },
    };
  }

  private async end(timeoutMs: number): Promise<void> {
    const wasUp = this.state === BusState.RUNNING;
    if (this.state !== BusState.STOPPED) this.state = BusState.STOPPING;
    const began = performance.now();
    if (wasUp) await this.conversation.finish(timeoutMs);
    const leftMs = Math.max(0, timeoutMs - (performance.now() - began));
    try {
      await this.backend.stop(leftMs);
    } finally {
      this.state = BusState.STOPPED;
      this.isConnected = false;
      this.conversation.lineDown(new TransportError('this client has stopped'));
      this.subscribers.closeAll();
    }
  }

  private lineDown(problem: StdioBusError, willReturn: boolean): void {
    this.isConnected = false;
    this.conversation.lineDown(problem);
    if (!willReturn && this.state === BusState.RUNNING) {
      this.state = BusState.STOPPED;
      this.subscribers.closeAll();
    }
    this.connections.tell({ isUp: false, willReturn, problem });
  }

  private lineUp(): void {
    this.isConnected = true;
    this.conversation.lineUp();
    this.connections.tell({ isUp: true });
  }

  private subscribe(
    options: NotificationsOptions,
    accepts: (one: BusNotification) => boolean,
  ): NotificationSubscription {
    checkNotificationsOptions(options);
    const subscription = this.subscribers.open(options, accepts);
    if (this.state >= BusState.STOPPING) subscription.close();
    return subscription;
  }

  private checkReady(method: string, options: RequestOptions): void {
    if (this.state !== BusState.RUNNING) {
      const remedy = this.state === BusState.CREATED ? 'start it first' : 'create another';
      throw new InvalidStateError(
        `${method} was not sent: this bus is ${this.getStateName()}; ${remedy}`,
      );
    }
    checkRequestOptions(options);
    checkExtensions(options.requiredExtensions, this.active);
  }

  private report(error: unknown): void {
    const text = `a handler failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
    this.warn('error', text);
  }

  private warn(level: LogLevel, text: string): void {
    if (this.onLog === undefined) process.emitWarning(text, 'StdioBusWarning');
    else this.log(level, text);
  }

  private log(level: LogLevel, text: string): void {
    try {
      this.onLog?.(level, text);
    } catch {
      // There is no other place to tell it.
    }
  }
}
