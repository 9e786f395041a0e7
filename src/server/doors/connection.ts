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
import type { Stream, StreamSink } from '../desk/stream.ts';
import { type FanOut, speakersOf } from './fan-out.ts';
import { encodeFrames } from './frames.ts';
import {
  answerText,
  errorText,
  notificationText,
  parseRequest,
  type RpcId,
  type RpcRequest,
} from './json-rpc.ts';
import { createPeer, type Peer } from './peer.ts';

/** Bytes that may wait for a peer that does not read. */
export const OUTPUT_BYTES_MAX: number = 16 * 1024 * 1024;
/** Calls of one connection under way; past it, reading pauses until half are answered. */
export const CALLS_MAX = 4_096;
export const STREAMS_MAX = 16;
export const RPC_BATCH_MAX = 1_000;

export interface ConnectionOptions {
  readonly fanOut: FanOut;
  readonly report: ReportFailure;
  /** Counts a frame; a refusal is what whoever sent it gets. */
  limit(): Refusal | null;
  onSlowReader(bytes: number): void;
  /** Once, when the peer is gone. */
  onGone(): void;
  readonly slowFarewellMs?: number | undefined;
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
  options: ConnectionOptions,
): Peer {
  const streams = new Map<string, Stream>();
  // Whoever waits on this connection is told when it is gone: nothing may be handed out to it then.
  const gone = new AbortController();
  const plain = { signal: gone.signal };
  let streamCount = 0;
  let streamsOpening = 0;

  const { fanOut } = options;
  const peer = createPeer(ws, socket, {
    fanOut,
    outputBytesMax: OUTPUT_BYTES_MAX,
    underWayMax: CALLS_MAX,
    onSlowReader: options.onSlowReader,
    slowFarewellMs: options.slowFarewellMs,
    onText,
    onClose() {
      gone.abort();
      options.onGone();
      for (const stream of [...streams.values()]) stream.close();
      streams.clear();
    },
  });
  const say = (text: string): void => peer.send(text);

  function call(request: RpcRequest, answered: (answer: Answer | string) => void): void {
    const operation = findOperation(request.method);
    if (operation === undefined) {
      const message = `there is no method ${request.method.slice(0, 64)}; see /openapi.json`;
      answered(errorText(request.id ?? null, 'operation.unknown', message));
      return;
    }
    peer.begin();
    const done = (answer: Answer): void => {
      peer.done();
      answered(answer);
    };
    const { params, traceparent } = request;
    if (!operation.isStreaming)
      desk.callThen(
        caller,
        operation,
        params,
        done,
        traceparent === null ? plain : { ...plain, traceparent },
      );
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

  function onText(text: string, isBinary: boolean): void {
    let value: unknown;
    try {
      if (isBinary) throw new TypeError('binary');
      value = readJson(text);
    } catch {
      say(errorText(null, 'input.not-json', 'the frame is not JSON text'));
      return;
    }
    try {
      const limited = options.limit();
      if (limited !== null) turnAway(value, limited);
      else if (Array.isArray(value)) onBatch(value);
      else onRequest(value, say);
    } catch (cause) {
      const id = parseRequest(value)?.id ?? null;
      say(answerText(id, refusalAnswer(options.report('a WebSocket frame failed', cause))));
    }
  }

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
    if (!peer.isOpen) stream.close();
    else if (!progress.isEnded) streams.set(id, stream);
    done({ ok: { stream: id, position: stream.position } });
    // The client learns of the stream first and of its messages after.
    for (const frames of progress.early ?? []) peer.sendFrames(frames);
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
        const frames = bundleFrames(bundle, fanOut, caller.space);
        if (progress.early === null) peer.sendFrames(frames);
        else progress.early.push(frames);
        return peer.isOpen;
      },
      ready: () => peer.drained(),
      tell(kind, news) {
        for (const one of news) say(notificationText(kind, JSON.stringify(one)));
      },
      end(reason: FeedEnd) {
        streams.delete(id);
        progress.isEnded = true;
        if (!peer.isOpen) return;
        if (reason === 'slow_reader') peer.close(4008, 'slow_reader');
        else say(notificationText('stream.end', JSON.stringify({ stream: id, reason })));
      },
    };
  }

  return peer;
}

function isNotification(value: unknown): boolean {
  const request = parseRequest(value);
  return request !== null && request.id === undefined;
}

/** The frames of a bundle, made once for all connections that get it. */
function bundleFrames(bundle: Bundle, fanOut: FanOut, space: string): Buffer {
  const known = bundle.encoded.get('ws') as Buffer | undefined;
  if (known !== undefined) return known;
  const frames = encodeFrames(
    bundle.messages.map((one) => notificationText('message', messageEnvelopeText(one))),
  );
  bundle.encoded.set('ws', frames);
  fanOut.spoken(space, speakersOf(bundle), frames.length);
  return frames;
}
