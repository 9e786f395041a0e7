/**
 * One connection of the WebSocket door: JSON-RPC requests in, answers and pushes out. `peer.ts` bounds
 * what waits to be written or answered [F3]; the number of streams is bounded here [W4].
 */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { readJson } from '../../core/law/json.ts';
import type { Bundle, FeedEnd } from '../../hub/feed.ts';
import type { ParsedInputOf } from '../../wire/operation.ts';
import { streamClose } from '../../wire/operations/inbox.ts';
import { findOperation } from '../../wire/operations/table.ts';
import { type Answer, refusalAnswer } from '../desk/answer.ts';
import type { Caller } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import { messageEnvelopeText } from '../desk/envelope.ts';
import type { ReportFailure } from '../desk/failure.ts';
import { parseInput } from '../desk/input.ts';
import { ANSWER_BYTES_MAX } from '../desk/message-page.ts';
import type { Stream, StreamSink } from '../desk/stream.ts';
import { type FanOut, speakersOf } from './fan-out.ts';
import { encodeFrames } from './frames.ts';
import { Gone } from './gone.ts';
import {
  answerText,
  createNotification,
  errorText,
  notificationText,
  parseRequest,
} from './json-rpc.ts';
import { Peer, type PeerListener, type PeerOptions } from './peer.ts';
import { HELD_BYTES_MIN } from './unread-answers.ts';

/** Bytes that may wait for a peer that does not read: a whole answer, which one that reads has in one piece, and more. */
export const OUTPUT_BYTES_MAX: number = ANSWER_BYTES_MAX + 8 * 1024 * 1024;
/** Calls of one connection under way; past it, reading pauses until half are answered. */
export const CALLS_MAX = 4_096;
export const STREAMS_MAX = 16;
export const RPC_BATCH_MAX = 1_000;
/** The answers to a batch are one array up to this length; one answer may be longer. */
const BATCH_BYTES_MAX: number = 8 * 1024 * 1024;

/** The same for all connections of a door. */
export interface ConnectionOptions {
  readonly desk: Desk;
  readonly fanOut: FanOut;
  readonly report: ReportFailure;
  /** Counts a frame from this address; a refusal is what whoever sent it gets. */
  limit(address: string | undefined): Refusal | null;
  onSlowReader(caller: Caller, bytes: number): void;
  readonly slowFarewellMs?: number | undefined;
}

/** Who is at the other end. */
export interface Connected {
  readonly caller: Caller;
  readonly address: string | undefined;
  /** Once, when the peer is gone. */
  onGone(): void;
}

/** Where an answer goes: to the peer, or to the others of its batch. */
interface Hearer {
  send(text: string): void;
}

/** The connections of a door. */
export function createConnections(
  options: ConnectionOptions,
): (ws: WebSocket, socket: Duplex, connected: Connected) => Peer {
  const { fanOut, slowFarewellMs } = options;
  const bounds = { outputBytesMax: OUTPUT_BYTES_MAX, underWayMax: CALLS_MAX };
  const peerOptions: PeerOptions = { fanOut, ...bounds, slowFarewellMs };
  return (ws, socket, connected) =>
    new Connection(options, connected, (listener) => new Peer(ws, socket, peerOptions, listener))
      .peer;
}

/** A class, because there may be very many, each of them mostly silent: of closures each would have its own. */
class Connection implements PeerListener, Hearer {
  readonly peer: Peer;
  readonly #options: ConnectionOptions;
  readonly #connected: Connected;
  readonly #plain: { readonly signal: Gone } = { signal: new Gone() };
  #streams: readonly ConnectionStream[] = NO_STREAMS;
  #streamCount = 0;
  #streamsOpening = 0;

  constructor(
    options: ConnectionOptions,
    connected: Connected,
    open: (listener: PeerListener) => Peer,
  ) {
    this.#options = options;
    this.#connected = connected;
    this.peer = open(this);
  }

  onClose(): void {
    this.#plain.signal.abort();
    this.#connected.onGone();
    const streams = this.#streams;
    this.#streams = NO_STREAMS;
    for (const stream of streams) stream.close();
  }

  onSlowReader(bytes: number): void {
    this.#options.onSlowReader(this.#connected.caller, bytes);
  }

  onText(text: string, isBinary: boolean): void {
    const { peer } = this;
    let value: unknown;
    try {
      if (isBinary) throw new TypeError('binary');
      value = readJson(text);
    } catch {
      peer.send(errorText(null, 'input.not-json', 'the frame is not JSON text'));
      return;
    }
    try {
      const limited = this.#options.limit(this.#connected.address);
      if (limited !== null) this.#turnAway(value, limited);
      else if (Array.isArray(value)) this.#onBatch(value);
      else this.#onRequest(value, this);
    } catch (cause) {
      const id = parseRequest(value)?.id ?? null;
      const refusal = this.#options.report('a WebSocket frame failed', cause);
      peer.send(answerText(id, refusalAnswer(refusal)));
    }
  }

  #onRequest(value: unknown, hearer: Hearer): void {
    const request = parseRequest(value);
    if (request === null) {
      hearer.send(errorText(null, 'input.invalid', 'not a JSON-RPC 2.0 request', -32_600));
      return;
    }
    const { id, method, params, traceparent } = request;
    const operation = findOperation(method);
    if (operation === undefined) {
      const message = `there is no method ${method.slice(0, 64)}; see /openapi.json`;
      if (id !== undefined) hearer.send(errorText(id, 'operation.unknown', message));
      return;
    }
    const { peer } = this;
    peer.begin();
    const done = (answer: Answer): void => {
      peer.done();
      if (id === undefined) return;
      hearer.send(answerText(id, answer));
    };
    if (!operation.isStreaming) {
      const plain = this.#plain;
      const options = traceparent === null ? plain : { ...plain, traceparent };
      this.#options.desk.callThen(this.#connected.caller, operation, params, done, options);
    } else if (operation.id === 'stream.open') void this.#openStream(params, done);
    else done(this.#closeStream(params));
  }

  /** What is long is taken before more of its kind is read [SV9]. */
  send(text: string): void {
    this.peer.send(text);
    if (text.length <= HELD_BYTES_MIN) return;
    const release = this.#options.desk.holdPages(this.#connected.caller);
    void this.peer.drained().then(release);
  }

  #onBatch(values: readonly unknown[]): void {
    const { peer } = this;
    if (values.length === 0 || values.length > RPC_BATCH_MAX) {
      const message = `a batch has 1 to ${RPC_BATCH_MAX} requests`;
      peer.send(errorText(null, 'input.invalid', message, -32_600));
      return;
    }
    let answers: string[] = [];
    let bytes = 0;
    // Some are answered before the next is looked at, so all are counted first.
    let open = 0;
    for (const value of values) if (!isNotification(value)) open++;
    const flush = (): void => {
      this.send(`[${answers.join(',')}]`);
      answers = [];
      bytes = 0;
    };
    const hearer: Hearer = {
      send: (text) => {
        const size = Buffer.byteLength(text);
        // What is very long comes in several arrays: nobody keeps all of it, and no string could hold it.
        if (answers.length > 0 && bytes + size > BATCH_BYTES_MAX) flush();
        answers.push(text);
        bytes += size;
        if (--open === 0 || bytes > BATCH_BYTES_MAX) flush();
      },
    };
    for (const value of values) this.#onRequest(value, hearer);
  }

  /** Nothing of the frame is carried out; whoever asked in it is told. */
  #turnAway(value: unknown, refusal: Refusal): void {
    const isBatch = Array.isArray(value);
    const answers = (isBatch ? value.slice(0, RPC_BATCH_MAX) : [value]).flatMap((one) => {
      const request = parseRequest(one);
      const id = request === null ? null : request.id;
      return id === undefined ? [] : [answerText(id, refusalAnswer(refusal))];
    });
    if (answers.length === 0) return;
    this.peer.send(isBatch ? `[${answers.join(',')}]` : (answers[0] as string));
  }

  async #openStream(params: unknown, done: (answer: Answer) => void): Promise<void> {
    if (this.#streams.length + this.#streamsOpening >= STREAMS_MAX) {
      const message = `a connection has at most ${STREAMS_MAX} streams; close one`;
      done(refusalAnswer(refuse('limit.reached', message, { limit: 'STREAMS_MAX' })));
      return;
    }
    const id = `s${++this.#streamCount}`;
    const one = new ConnectionStream(id, this);
    this.#streamsOpening++;
    const { caller } = this.#connected;
    const opened = await this.#options.desk.openStream(caller, params, one);
    this.#streamsOpening--;
    if ('error' in opened) {
      done(opened.error);
      return;
    }
    const { stream } = opened;
    if (!this.peer.isOpen) stream.close();
    else if (!one.isEnded) this.#streams = this.#streams.concat(one);
    one.stream = stream;
    // The client learns of the stream first and of its messages after.
    done({ ok: { stream: id, position: stream.position } });
    one.begin();
  }

  #closeStream(params: unknown): Answer {
    const parsed = parseInput(streamClose, params);
    if (isRefusal(parsed)) return refusalAnswer(parsed);
    const { stream: id } = parsed.value as ParsedInputOf<typeof streamClose>;
    const stream = this.#streams.find((one) => one.id === id);
    stream?.close();
    return { ok: { closed: stream !== undefined } };
  }

  forget(stream: ConnectionStream): void {
    this.#streams = this.#streams.filter((one) => one !== stream);
  }

  framesOf(bundle: Bundle): Buffer {
    return bundleFrames(bundle, this.#options.fanOut, this.#connected.caller.space);
  }
}

/** One stream of a connection, on its way from asked to live and then until its end. */
class ConnectionStream implements StreamSink {
  readonly id: string;
  readonly #connection: Connection;
  /** What came before the answer was given; null from then on. */
  #early: Buffer[] | null = [];
  stream: Stream | null = null;
  isEnded = false;

  constructor(id: string, connection: Connection) {
    this.id = id;
    this.#connection = connection;
  }

  begin(): void {
    for (const frames of this.#early ?? []) this.#connection.peer.sendFrames(frames);
    this.#early = null;
  }

  close(): void {
    this.stream?.close();
  }

  deliver(bundle: Bundle): boolean {
    const { peer } = this.#connection;
    const frames = this.#connection.framesOf(bundle);
    if (this.#early === null) peer.sendFrames(frames);
    else this.#early.push(frames);
    return peer.isOpen;
  }

  ready(): Promise<void> {
    return this.#connection.peer.drained();
  }

  tell(kind: string, news: readonly object[]): void {
    const { peer } = this.#connection;
    for (const one of news) peer.send(notificationText(kind, JSON.stringify(one)));
  }

  end(reason: FeedEnd): void {
    const { peer } = this.#connection;
    this.#connection.forget(this);
    this.isEnded = true;
    if (!peer.isOpen) return;
    if (reason === 'slow_reader') peer.close(4008, 'slow_reader');
    else peer.send(notificationText('stream.end', JSON.stringify({ stream: this.id, reason })));
  }
}

const NO_STREAMS: readonly ConnectionStream[] = [];
function isNotification(value: unknown): boolean {
  const request = parseRequest(value);
  return request !== null && request.id === undefined;
}

const messageText = createNotification('message');

/** The frames of a bundle, made once for all connections that get it. */
function bundleFrames(bundle: Bundle, fanOut: FanOut, space: string): Buffer {
  const known = bundle.encoded.get('ws') as Buffer | undefined;
  if (known !== undefined) return known;
  const frames = encodeFrames(bundle.messages.map((one) => messageText(messageEnvelopeText(one))));
  bundle.encoded.set('ws', frames);
  fanOut.spoken(space, speakersOf(bundle), frames.length);
  return frames;
}
