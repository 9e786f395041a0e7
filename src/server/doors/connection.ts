/**
 * One WebSocket connection: requests in, answers and pushes out. Everything that
 * waits to be written or answered is bounded [F3].
 */
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import type { Bundle, FeedEnd } from '../../hub/feed.ts';
import type { ParsedInputOf } from '../../wire/operation.ts';
import { streamClose } from '../../wire/operations/inbox.ts';
import { findOperation } from '../../wire/operations/table.ts';
import { type Answer, refusalAnswer } from '../desk/answer.ts';
import type { Caller } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import { messageEnvelopeText } from '../desk/envelope.ts';
import { parseInput } from '../desk/input.ts';
import type { Stream, StreamSink } from '../desk/stream.ts';
import { drained } from './drained.ts';
import { encodeFrames } from './frames.ts';
import {
  answerText,
  errorText,
  notificationText,
  parseRequest,
  type RpcId,
  type RpcRequest,
} from './json-rpc.ts';

/** Bytes that may wait for a peer that does not read. */
export const OUTPUT_BYTES_MAX: number = 16 * 1024 * 1024;
/** Calls of one connection under way; past it, reading pauses until half are answered. */
export const CALLS_MAX = 4_096;
export const STREAMS_MAX = 16;
export const RPC_BATCH_MAX = 1_000;
const FAREWELL_MS = 1_000;

export interface Connection {
  readonly caller: Caller;
  ping(): void;
  close(code: number, reason: string): void;
}

export interface ConnectionHooks {
  /** Counts a frame; a refusal is what whoever sent it gets. */
  limit?(): Refusal | null;
  onSlowReader?(): void;
}

/** A stream on its way from asked to live. */
interface Progress {
  /** What came before the answer was given; null from then on. */
  early: Buffer[] | null;
  isEnded: boolean;
}

export function createConnection(
  desk: Desk,
  ws: WebSocket,
  socket: Duplex,
  caller: Caller,
  hooks: ConnectionHooks = {},
): Connection {
  const streams = new Map<string, Stream>();
  // Whoever waits on this connection is told when it is gone: nothing may be handed out to it then.
  const gone = new AbortController();
  let streamCount = 0;
  let streamsOpening = 0;
  let texts: string[] = [];
  let parts: Buffer[] = [];
  let isFlushScheduled = false;
  let underWay = 0;
  let isPaused = false;
  let silentPings = 0;
  let isClosed = false;

  function scheduleFlush(): void {
    if (isFlushScheduled) return;
    isFlushScheduled = true;
    // All answers and pushes of a batch are released in one turn; the flush follows them.
    queueMicrotask(flush);
  }

  function say(text: string): void {
    texts.push(text);
    scheduleFlush();
  }

  /** Bytes that are frames already, behind whatever was said before. */
  function sayFrames(frames: Buffer): void {
    if (texts.length > 0) {
      parts.push(encodeFrames(texts));
      texts = [];
    }
    parts.push(frames);
    scheduleFlush();
  }

  function flush(): void {
    isFlushScheduled = false;
    if (isClosed) {
      texts = [];
      parts = [];
      return;
    }
    if (texts.length > 0) {
      parts.push(encodeFrames(texts));
      texts = [];
    }
    const [only] = parts;
    if (only === undefined) return;
    // One write may be large by itself; slow is who has not taken the one before it.
    const isBehind = socket.writableNeedDrain;
    socket.write(parts.length === 1 ? only : Buffer.concat(parts));
    parts = [];
    if (isBehind && socket.writableLength > OUTPUT_BYTES_MAX) close(4008, 'slow_reader');
  }

  function close(code: number, reason: string): void {
    if (isClosed) return;
    if (reason === 'slow_reader') hooks.onSlowReader?.();
    flush();
    leave();
    ws.close(code, reason);
    terminateSoon();
  }

  /** Nothing more is said or handed out. */
  function leave(): void {
    isClosed = true;
    gone.abort();
    for (const stream of [...streams.values()]) stream.close();
    streams.clear();
  }

  /** Whoever does not read does not read the farewell either. */
  function terminateSoon(): void {
    setTimeout(() => ws.terminate(), FAREWELL_MS).unref();
  }

  function finished(): void {
    underWay--;
    if (isPaused && underWay <= CALLS_MAX / 2) {
      isPaused = false;
      ws.resume();
    }
  }

  function call(request: RpcRequest, answered: (answer: Answer | string) => void): void {
    const operation = findOperation(request.method);
    if (operation === undefined) {
      const message = `there is no method ${request.method.slice(0, 64)}; see /openapi.json`;
      answered(errorText(request.id ?? null, 'operation.unknown', message));
      return;
    }
    if (++underWay > CALLS_MAX && !isPaused) {
      isPaused = true;
      ws.pause();
    }
    const done = (answer: Answer): void => {
      finished();
      answered(answer);
    };
    if (!operation.isStreaming) desk.callThen(caller, operation, request.params, done, gone.signal);
    else if (operation.id === 'stream.open') void openStream(request.params, done);
    else done(closeStream(request.params));
  }

  function onRequest(value: unknown, say: (text: string) => void): void {
    const request = parseRequest(value);
    if (request === null) {
      say(errorText(null, 'input.invalid', 'not a JSON-RPC 2.0 request', -32_600));
      return;
    }
    const { id } = request;
    call(request, (answer) => {
      if (id === undefined) return;
      say(typeof answer === 'string' ? answer : answerText(id as RpcId, answer));
    });
  }

  function onBatch(values: readonly unknown[]): void {
    if (values.length === 0 || values.length > RPC_BATCH_MAX) {
      say(errorText(null, 'input.invalid', `a batch has 1 to ${RPC_BATCH_MAX} requests`, -32_600));
      return;
    }
    const answers: string[] = [];
    // Some are answered before the next is looked at, so all are counted first.
    let open = 0;
    for (const value of values) if (!isNotification(value)) open++;
    for (const value of values) {
      onRequest(value, (text) => {
        answers.push(text);
        if (--open === 0) say(`[${answers.join(',')}]`);
      });
    }
  }

  ws.on('message', (raw: RawData, isBinary: boolean) => {
    if (isClosed) return;
    let value: unknown;
    try {
      if (isBinary) throw new TypeError('binary');
      value = JSON.parse(raw.toString());
    } catch {
      say(errorText(null, 'input.not-json', 'the frame is not JSON text'));
      return;
    }
    const limited = hooks.limit?.() ?? null;
    if (limited !== null) turnAway(value, limited);
    else if (Array.isArray(value)) onBatch(value);
    else onRequest(value, say);
  });

  /** Nothing of the frame is carried out; whoever asked in it is told. */
  function turnAway(value: unknown, refusal: Refusal): void {
    const isBatch = Array.isArray(value);
    const answers = (isBatch ? value.slice(0, RPC_BATCH_MAX) : [value]).flatMap((one) => {
      const request = parseRequest(one);
      const id = request === null ? null : request.id;
      return id === undefined ? [] : [answerText(id, refusalAnswer(refusal))];
    });
    if (answers.length > 0) say(isBatch ? `[${answers.join(',')}]` : (answers[0] as string));
  }

  async function openStream(params: unknown, done: (answer: Answer) => void): Promise<void> {
    if (streams.size + streamsOpening >= STREAMS_MAX) {
      const message = `a connection has at most ${STREAMS_MAX} streams; close one`;
      done(refusalAnswer(refuse('limit.reached', message, { limit: 'STREAMS_MAX' })));
      return;
    }
    const id = `s${++streamCount}`;
    const progress: Progress = { early: [], isEnded: false };
    streamsOpening++;
    const opened = await desk.openStream(caller, params, sinkOf(id, progress));
    streamsOpening--;
    if ('error' in opened) {
      done(opened.error);
      return;
    }
    const { stream } = opened;
    if (isClosed) stream.close();
    else if (!progress.isEnded) streams.set(id, stream);
    done({ ok: { stream: id, position: stream.position } });
    // The client learns of the stream first and of its messages after.
    for (const frames of progress.early ?? []) sayFrames(frames);
    progress.early = null;
  }

  function closeStream(params: unknown): Answer {
    const parsed = parseInput(streamClose, params);
    if (isRefusal(parsed)) return refusalAnswer(parsed);
    const { stream: id } = parsed.value as ParsedInputOf<typeof streamClose>;
    const stream = streams.get(id);
    stream?.close();
    return { ok: { closed: stream !== undefined } };
  }

  function sinkOf(id: string, progress: Progress): StreamSink {
    return {
      deliver(bundle) {
        const frames = bundleFrames(bundle);
        if (progress.early === null) sayFrames(frames);
        else progress.early.push(frames);
        return !isClosed;
      },
      ready() {
        // What was handed over must be written before the socket can tell whether it was taken.
        flush();
        return drained(socket);
      },
      receipts(notices) {
        for (const notice of notices) say(notificationText('receipt', JSON.stringify(notice)));
      },
      end(reason: FeedEnd) {
        streams.delete(id);
        progress.isEnded = true;
        if (isClosed) return;
        if (reason === 'slow_reader') close(4008, 'slow_reader');
        else say(notificationText('stream.end', JSON.stringify({ stream: id, reason })));
      },
    };
  }

  ws.on('pong', () => {
    silentPings = 0;
  });
  // A frame that breaks the protocol has been answered with its close code; it gets the time to arrive.
  ws.on('error', () => {
    leave();
    terminateSoon();
  });
  ws.on('close', leave);

  return {
    caller,
    close,
    ping() {
      if (silentPings++ >= 2) ws.terminate();
      else ws.ping();
    },
  };
}

function isNotification(value: unknown): boolean {
  const request = parseRequest(value);
  return request !== null && request.id === undefined;
}

/** The frames of a bundle, made once for all connections that get it. */
function bundleFrames(bundle: Bundle): Buffer {
  const known = bundle.encoded.get('ws') as Buffer | undefined;
  if (known !== undefined) return known;
  const frames = encodeFrames(
    bundle.messages.map((one) => notificationText('message', messageEnvelopeText(one))),
  );
  bundle.encoded.set('ws', frames);
  return frames;
}
