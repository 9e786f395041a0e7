/**
 * Server-sent events at `/v1/stream`: every message of the caller's subscriptions,
 * or of the channels it names. The id of an event is its position in the log, so
 * `Last-Event-ID` resumes without a gap or a repeat [F2].
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRefusal } from '../../core/law/decider.ts';
import type { Bundle, Published } from '../../hub/feed.ts';
import { countConnection } from '../desk/activity.ts';
import { type Answer, refusalAnswer } from '../desk/answer.ts';
import type { Desk } from '../desk/desk.ts';
import { messageEnvelopeText } from '../desk/envelope.ts';
import type { ReportFailure } from '../desk/failure.ts';
import type { StreamSink } from '../desk/stream.ts';
import { watchCredential } from './credential-watch.ts';
import type { CutOff } from './cut-off.ts';
import { type FanOut, type Recipient, speakersOf } from './fan-out.ts';
import { introductionOf, type OriginCheck } from './origin-check.ts';
import { Outbox } from './outbox.ts';
import { FAREWELL_MS, SLOW_FAREWELL_MS } from './peer.ts';

const KEEPALIVE_MS = 15_000;
const HERE = Buffer.from(': here\n\n');
/** What may wait for one reader; past it the reader is cut off [F3]. */
export const STREAM_BYTES_MAX: number = 8 * 1024 * 1024;

export interface SseDoor {
  handle(request: IncomingMessage, response: ServerResponse, isOwnerSocket: boolean): void;
  readonly size: number;
  /** How many were cut off because they did not read. */
  readonly slowReaders: number;
  close(): void;
}

export interface SseDoorOptions {
  readonly desk: Desk;
  readonly origins: OriginCheck;
  readonly report: ReportFailure;
  readonly keepaliveMs?: number | undefined;
  readonly slowFarewellMs?: number | undefined;
  readonly onCutOff: CutOff;
  readonly fanOut: FanOut;
}

export function createSseDoor(options: SseDoorOptions): SseDoor {
  const { desk, origins, report, fanOut } = options;
  const keepaliveMs = options.keepaliveMs ?? KEEPALIVE_MS;
  let connections = 0;
  let slowReaders = 0;
  const open = new Set<{ end(reason: string): void }>();

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    isOwnerSocket: boolean,
  ): Promise<void> {
    const turned = origins.check(request.headers, isOwnerSocket);
    if (turned !== null) return reply(response, turned.status, turned.envelope);
    const introduction = introductionOf(request.headers, `sse-${++connections}`, isOwnerSocket);
    const caller = await desk.authenticate(introduction);
    if (isRefusal(caller)) return refused(response, refusalAnswer(caller));
    const input = streamInput(request);
    let stream: { close(): void } | null = null;
    let farewell: string | null = null;
    let keepalive: NodeJS.Timeout | undefined;
    const finish = (reason: string): void => {
      if (!open.has(entry)) return;
      // It may be found slow by that.
      flush();
      if (!open.delete(entry)) return;
      const isSlow = reason === 'slow_reader';
      if (isSlow) {
        slowReaders++;
        options.onCutOff(caller, outbox.waiting, 'SSE');
        // The farewell comes behind what was written, should the reader go on.
        outbox.cut();
      }
      countOut();
      farewell = `event: end\ndata: ${JSON.stringify({ reason })}\n\n`;
      clearInterval(keepalive);
      stopWatching();
      stream?.close();
      const waitMs = isSlow ? (options.slowFarewellMs ?? SLOW_FAREWELL_MS) : FAREWELL_MS;
      if (response.headersSent) sayFarewell(response, outbox, farewell, waitMs);
    };
    const outbox = new Outbox(response, STREAM_BYTES_MAX);
    const entry = { end: finish };
    open.add(entry);
    const countOut = countConnection(caller.activity, Date.now);
    const stopWatching = watchCredential(desk, { introduction, caller, end: finish });
    // What became ready and is not written yet; before the head of the answer, all of it.
    let parts: Buffer[] = [];
    const flush = (): void => {
      if (!response.headersSent || parts.length === 0) return;
      const some = parts;
      parts = [];
      // Left to itself, a response writes when the turn is over: what a slice of many costs would come behind it.
      const { socket } = response;
      socket?.cork();
      const isInTime = outbox.writeAll(some, fanOut.join);
      socket?.uncork();
      if (!isInTime) finish('slow_reader');
    };
    const recipient: Recipient = { flush, isTouched: false, isQueued: false };
    const write = (part: Buffer): void => {
      parts.push(part);
      if (response.headersSent) fanOut.add(recipient);
    };
    const opened = await desk.openStream(caller, input, {
      ...sinkOf(write, (bundle) => bundleBytes(bundle, fanOut, caller.space)),
      ready() {
        flush();
        return response.headersSent ? outbox.drained() : Promise.resolve();
      },
      end: finish,
    });
    if ('error' in opened) {
      open.delete(entry);
      countOut();
      stopWatching();
      return refused(response, opened.error);
    }
    stream = opened.stream;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...corsOf(request),
    });
    parts.unshift(Buffer.from(`: synod, from ${opened.stream.position}\n\n`));
    flush();
    // It may have been ended while it was being opened.
    if (farewell !== null) {
      stream.close();
      return sayFarewell(response, outbox, farewell, FAREWELL_MS);
    }
    keepalive = setInterval(() => write(HERE), keepaliveMs);
    request.on('close', () => finish('closed'));
    response.on('error', () => finish('closed'));
    if (request.destroyed) finish('closed');
  }

  return {
    handle(request, response, isOwnerSocket) {
      handle(request, response, isOwnerSocket).catch((cause) => {
        const refusal = report('a stream failed', cause);
        if (response.headersSent) response.destroy();
        else refused(response, refusalAnswer(refusal));
      });
    },
    get size() {
      return open.size;
    },
    get slowReaders() {
      return slowReaders;
    },
    close() {
      for (const one of [...open]) one.end('shutting_down');
    },
  };
}

function sayFarewell(response: ServerResponse, outbox: Outbox, text: string, waitMs: number): void {
  if (response.writableEnded) return;
  if (outbox.isEmpty) response.end(text);
  else void outbox.drained().then(() => response.end(text));
  // A reader that never reads again does not take the farewell either.
  const timer = setTimeout(() => response.destroy(), waitMs);
  timer.unref();
  response.once('close', () => clearTimeout(timer));
}

function sinkOf(
  write: (bytes: Buffer) => void,
  bytesOf: (bundle: Bundle) => Buffer,
): Pick<StreamSink, 'deliver' | 'tell'> {
  let highest = -1;
  return {
    deliver(bundle) {
      const first = bundle.messages[0]?.position ?? -1;
      const isInOrder = first > highest;
      highest = Math.max(highest, bundle.messages.at(-1)?.position ?? -1);
      write(isInOrder ? bytesOf(bundle) : Buffer.from(lateText(bundle, highest)));
      return true;
    },
    tell(event, notices) {
      const text = notices.map((one) => `event: ${event}\ndata: ${JSON.stringify(one)}\n\n`);
      write(Buffer.from(text.join('')));
    },
  };
}

/** The events of a bundle, made once for all readers that get it. */
function bundleBytes(bundle: Bundle, fanOut: FanOut, space: string): Buffer {
  const known = bundle.encoded.get('sse') as Buffer | undefined;
  if (known !== undefined) return known;
  const text = bundle.messages.map((one) => eventText(one.position, one)).join('');
  const bytes = Buffer.from(text);
  bundle.encoded.set('sse', bytes);
  fanOut.spoken(space, speakersOf(bundle), bytes.length);
  return bytes;
}

/** A released message lies behind what was shown; its id must not send a reader back there. */
function lateText(bundle: Bundle, highest: number): string {
  return bundle.messages.map((one) => eventText(highest, one)).join('');
}

function eventText(id: number, message: Published): string {
  return `id: ${id}\nevent: message\ndata: ${messageEnvelopeText(message)}\n\n`;
}

const FLAGS = ['receipts', 'marks', 'gates', 'turns', 'changes'] as const;
const QUERY: ReadonlySet<string> = new Set(['from', 'channels', 'channel', ...FLAGS]);

/** Query and header as the input of `stream.open`; wrong values are named by its own checks. */
function streamInput(request: IncomingMessage): Record<string, unknown> {
  const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
  const from = request.headers['last-event-id'] ?? query.get('from') ?? 'now';
  // A name may hold a comma; `channel` takes one name at a time.
  const named = [...(query.get('channels')?.split(',') ?? []), ...query.getAll('channel')];
  return {
    from: /^(-1|\d{1,15})$/.test(String(from)) ? Number(from) : from,
    ...(named.length > 0 && { channels: named }),
    ...Object.fromEntries(FLAGS.map((flag) => [flag, query.get(flag) === '1'])),
    // A misspelt name must not follow something else: it is refused like any unknown field.
    ...Object.fromEntries([...query].filter(([name]) => !QUERY.has(name))),
  };
}

function corsOf(request: IncomingMessage): Record<string, string> {
  const { origin } = request.headers;
  return origin === undefined ? {} : { 'access-control-allow-origin': origin, vary: 'origin' };
}

function refused(response: ServerResponse, answer: Answer): void {
  if ('ok' in answer) return;
  reply(response, answer.sound.http, answer.error);
}

function reply(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
