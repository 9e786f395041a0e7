/**
 * Sends over HTTP, so many in flight, each on a connection of its own that is kept: the next goes out
 * when the answer is whole. The requests are written by hand, so that the client is not what is measured.
 */
import { connect, type Socket } from 'node:net';
import { type Percentiles, percentiles } from '../percentiles.ts';

export interface HttpSendJob {
  readonly kind: 'http-send';
  readonly url: string;
  readonly inFlight: number;
  readonly warmMs: number;
  readonly measureMs: number;
}

export interface HttpSendResult extends Percentiles {
  readonly sendsPerSecond: number;
  readonly sends: number;
}

const BODY = { text: 'tests are green on my side, the parser is yours now', step: 7 };

export async function httpSend(job: HttpSendJob): Promise<HttpSendResult> {
  const takenMs: number[] = [];
  let sends = 0;
  const from = performance.now();
  const until = from + job.warmMs + job.measureMs;
  await Promise.all(
    Array.from({ length: job.inFlight }, async (_, n) => {
      const send = await openSender(job.url, `posts-${process.pid}-${n}`);
      for (let at = performance.now(); at < until; ) {
        await send();
        const now = performance.now();
        sends += 1;
        if (at - from >= job.warmMs) takenMs.push(now - at);
        at = now;
      }
      send.close();
    }),
  );
  const seconds = (performance.now() - from - job.warmMs) / 1000;
  return { sendsPerSecond: takenMs.length / seconds, sends, ...percentiles(takenMs) };
}

type Send = (() => Promise<void>) & { close(): void };

async function openSender(url: string, agent: string): Promise<Send> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname).setNoDelay(true);
  const body = JSON.stringify({ channel: `bench:${agent}`, body: BODY });
  const request = Buffer.from(
    `POST /v1/ops/send HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\n` +
      `x-sox-agent-id: ${agent}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  let text = '';
  let onAnswer: ReturnType<typeof Promise.withResolvers<void>> | null = null;
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece;
    const end = text.indexOf('\r\n\r\n');
    if (end < 0 || !isWhole(text, end)) return;
    const whole = text;
    text = '';
    if (whole.startsWith('HTTP/1.1 200')) onAnswer?.resolve();
    else onAnswer?.reject(new Error(`a send was answered ${whole.slice(0, 400)}`));
  });
  socket.on('error', (error) => onAnswer?.reject(error));
  const send = () => {
    onAnswer = Promise.withResolvers<void>();
    socket.write(request);
    return onAnswer.promise;
  };
  return Object.assign(send, { close: () => void socket.destroy() });
}

function isWhole(text: string, end: number): boolean {
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  if (length !== undefined) return text.length >= end + 4 + Number(length);
  return text.endsWith('0\r\n\r\n');
}
