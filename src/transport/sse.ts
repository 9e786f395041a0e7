/**
 * Server-sent events at `/v1/stream`: every message of the caller's subscriptions,
 * or of the channels it names. The id of an event is its position in the log, so
 * `Last-Event-ID` resumes without a gap or a repeat [F2].
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRefusal } from '../core/decider.ts';
import { type Answer, refusalAnswer } from '../desk/answer.ts';
import type { Desk } from '../desk/desk.ts';
import { messageEnvelopeText } from '../desk/envelope.ts';
import type { StreamSink } from '../desk/stream.ts';
import { claimOf, type Guard } from './guard.ts';

const KEEPALIVE_MS = 15_000;
/** What may wait for one reader; past it the reader is cut off [F3]. */
export const STREAM_BYTES_MAX: number = 8 * 1024 * 1024;

export interface SseDoor {
  handle(request: IncomingMessage, response: ServerResponse, isOwnerSocket: boolean): Promise<void>;
  close(): void;
}

export function createSseDoor(desk: Desk, guard: Guard): SseDoor {
  let connections = 0;
  const open = new Set<{ end(reason: string): void; tokenId: string | null }>();
  const stopListening = desk.onRevoked((tokenId) => {
    for (const one of open) if (one.tokenId === tokenId) one.end('revoked');
  });

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    isOwnerSocket: boolean,
  ): Promise<void> {
    const turned = guard.check(request.headers, isOwnerSocket);
    if (turned !== null) return reply(response, turned.status, turned.envelope);
    const claim = claimOf(request.headers, `sse-${++connections}`, isOwnerSocket);
    const caller = await desk.authenticate(claim);
    if (isRefusal(caller)) return refused(response, refusalAnswer(caller));
    const input = streamInput(request);
    let stream: { close(): void } | null = null;
    const keepalive = setInterval(() => response.write(': here\n\n'), KEEPALIVE_MS);
    const finish = (reason: string): void => {
      if (!open.delete(entry)) return;
      clearInterval(keepalive);
      stream?.close();
      if (!response.writableEnded && response.headersSent) {
        response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
        // A reader that is cut off because it does not read would never take the farewell either.
        if (reason === 'slow_reader') response.socket?.destroySoon();
      }
    };
    const entry = { end: finish, tokenId: caller.tokenId };
    open.add(entry);
    const held: string[] = [];
    const write = (text: string): boolean => {
      if (!response.headersSent) {
        held.push(text);
        return true;
      }
      response.write(text);
      return response.writableLength <= STREAM_BYTES_MAX;
    };
    const opened = await desk.openStream(caller, input, sinkOf(response, write, finish));
    if ('error' in opened) {
      open.delete(entry);
      clearInterval(keepalive);
      return refused(response, opened.error);
    }
    stream = opened.stream;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...corsOf(request),
    });
    response.write(`: synod, from ${opened.stream.position}\n\n${held.join('')}`);
    request.on('close', () => finish('closed'));
    response.on('error', () => finish('closed'));
    if (request.destroyed) finish('closed');
  }

  return {
    handle,
    close() {
      stopListening();
      for (const one of [...open]) one.end('shutting_down');
    },
  };
}

function sinkOf(
  response: ServerResponse,
  write: (text: string) => boolean,
  finish: (reason: string) => void,
): StreamSink {
  return {
    deliver(segment) {
      let text = segment.encoded.get('sse') as string | undefined;
      if (text === undefined) {
        text = segment.messages
          .map(
            (one) => `id: ${one.position}\nevent: message\ndata: ${messageEnvelopeText(one)}\n\n`,
          )
          .join('');
        segment.encoded.set('sse', text);
      }
      return write(text);
    },
    async ready() {
      if (response.headersSent && response.writableNeedDrain) {
        await new Promise<void>((resolve) => {
          response.once('drain', resolve);
          response.once('close', resolve);
        });
      }
    },
    receipts(notices) {
      write(notices.map((one) => `event: receipt\ndata: ${JSON.stringify(one)}\n\n`).join(''));
    },
    end: finish,
  };
}

/** Query and header as the input of `stream.open`; wrong values are named by its own checks. */
function streamInput(request: IncomingMessage): Record<string, unknown> {
  const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
  const from = request.headers['last-event-id'] ?? query.get('from') ?? 'now';
  const channels = query.get('channels');
  return {
    from: /^\d{1,15}$/.test(String(from)) ? Number(from) : from,
    ...(channels !== null && { channels: channels.split(',') }),
    receipts: query.get('receipts') === '1',
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
