/**
 * Drains inboxes fifty at a time, over the WebSocket or over HTTP.
 *
 * Several agents are owed the same messages and drain side by side, one recv in flight each. Only
 * the draining is timed. The backlog stays below a thousand, the usual warning line of a queue,
 * and the last page of each agent must hold exactly what was asked.
 */
import { Agent, request } from 'node:http';
import { type Cost, createMeter } from '../process.ts';
import { createRequestStamp, type LoadSocket, openLoadSocket } from './socket.ts';

export interface RecvJob {
  readonly kind: 'recv';
  readonly url: string;
  readonly pid: number;
  readonly door: 'ws' | 'http';
  readonly agents: number;
  readonly measureMs: number;
}

export interface RecvResult extends Cost {
  readonly recvsPerSecond: number;
}

const PAGE = 50;
const PAGES = 16;

type Drain = () => Promise<{ messages?: unknown[] }>;

export async function recv(job: RecvJob): Promise<RecvResult> {
  const run = `${job.door}-${process.pid.toString(36)}`;
  const channel = `bench:${run}`;
  const sender = await openLoadSocket(job.url, `fills-${run}`);
  const stamp = createRequestStamp('channels.send', { channel, body: { text: 'one of fifty' } });
  const sockets: LoadSocket[] = [];
  const drains: Drain[] = [];
  for (let n = 0; n < job.agents; n++) {
    const agent = `drains-${run}-${n}`;
    const socket = await openLoadSocket(job.url, agent);
    await socket.call('channels.subscribe', { pattern: channel });
    sockets.push(socket);
    drains.push(
      job.door === 'http'
        ? createHttpDrain(job.url, agent)
        : () => socket.call('channels.recv', { max_messages: PAGE }),
    );
  }
  let takenMs = 0;
  let busyUs = 0;
  let mainUs = 0;
  let recvs = 0;
  while (takenMs < job.measureMs) {
    await fill(sender, stamp(PAGE * PAGES), PAGE * PAGES);
    const from = performance.now();
    const meter = createMeter(job.pid);
    await Promise.all(drains.map(drainAll));
    const spent = meter.costOf(1);
    busyUs += spent.busyUs;
    mainUs += spent.mainUs;
    takenMs += performance.now() - from;
    recvs += job.agents * PAGES;
  }
  for (const socket of [sender, ...sockets]) socket.close();
  const cost = { busyUs: busyUs / recvs, mainUs: mainUs / recvs };
  return { recvsPerSecond: recvs / (takenMs / 1000), ...cost };
}

function fill(sender: LoadSocket, frames: Buffer, count: number): Promise<void> {
  const goal = sender.received + count;
  const { promise, resolve } = Promise.withResolvers<void>();
  sender.onFrames = () => sender.received >= goal && resolve();
  sender.write(frames);
  return promise;
}

async function drainAll(drain: Drain): Promise<void> {
  let page: { messages?: unknown[] } = {};
  for (let n = 0; n < PAGES; n++) page = await drain();
  if (page.messages?.length !== PAGE) {
    throw new Error(`the last page holds ${page.messages?.length} messages instead of ${PAGE}`);
  }
}

function createHttpDrain(url: string, agent: string): Drain {
  const connection = new Agent({ keepAlive: true, maxSockets: 1 });
  const body = JSON.stringify({ max_messages: PAGE });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-sox-agent-id': agent,
  };
  const options = { method: 'POST', agent: connection, headers };
  return () => {
    const { promise, resolve, reject } = Promise.withResolvers<{ messages?: unknown[] }>();
    const call = request(`${url}/v1/ops/recv`, options, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString();
        if (response.statusCode !== 200) {
          reject(new Error(`recv answered ${response.statusCode}: ${text}`));
          return;
        }
        const reply = JSON.parse(text) as { result?: { messages: unknown[] } };
        resolve(reply.result ?? (reply as { messages?: unknown[] }));
      });
    });
    call.on('error', reject);
    call.end(body);
    return promise;
  };
}
