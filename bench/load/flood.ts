/**
 * Floods a server with sends and counts what comes back.
 *
 * Each sender keeps a window of sends in flight. A send is over when it is acknowledged and every
 * listener has it, so listeners are never owed more than a window and the rate is one that a
 * server could hold for ever. What was in flight at the end is awaited, and every figure is
 * checked against the sequence numbers that the server gave out.
 */
import { createStamp, FIRST, type LoadSocket, openLoadSocket } from './socket.ts';
import { manyTexts } from './texts.ts';

export interface FloodJob {
  readonly kind: 'flood';
  readonly url: string;
  readonly senders: number;
  readonly listeners: number;
  readonly window: number;
  readonly warmMs: number;
  /** How long to measure; or, when `sends` is given, how many sends in all. */
  readonly measureMs: number;
  readonly sends?: number;
  /** Further servers that senders are spread over, and spaces; else all are at the one, in its default space. */
  readonly beside?: readonly string[];
  readonly spaces?: readonly string[];
  /** Further listeners that never read; what is owed to them counts for nothing. */
  readonly stopped?: number;
}

export interface FloodResult {
  readonly sendsPerSecond: number;
  readonly deliveriesPerSecond: number;
  readonly sends: number;
}

const TEXT_CHARS = 51;
/** More of one sender's than are in one append. */
const TEXTS = 256;

interface Sender {
  readonly socket: LoadSocket;
  readonly stamp: (count: number) => Buffer;
  sent: number;
}

interface Listener {
  readonly socket: LoadSocket;
  /** Replies to the set-up: not deliveries. */
  readonly before: number;
}

interface Party {
  readonly senders: readonly Sender[];
  readonly listeners: readonly Listener[];
  readonly stopped: readonly LoadSocket[];
}

export async function flood(job: FloodJob): Promise<FloodResult> {
  const party = await gather(job);
  const result = await measure(job, party);
  check(party);
  for (const { socket } of [...party.senders, ...party.listeners]) socket.close();
  for (const socket of party.stopped) socket.close();
  return result;
}

async function gather(job: FloodJob): Promise<Party> {
  // A channel of its own each run: the same server may be flooded again.
  const run = process.pid.toString(36);
  const listeners: Listener[] = [];
  const stopped: LoadSocket[] = [];
  for (let n = 0; n < job.listeners; n++) {
    const socket = await openLoadSocket(job.url, `listener-${run}-${n}`);
    await socket.call('channels.subscribe', { pattern: `bench:${run}-*` });
    await socket.call('stream.open', { from: 'now' });
    socket.isSearched = false;
    listeners.push({ socket, before: socket.received });
  }
  for (let n = 0; n < (job.stopped ?? 0); n++) {
    const socket = await openLoadSocket(job.url, `stopped-${run}-${n}`);
    await socket.call('channels.subscribe', { pattern: `bench:${run}-*` });
    await socket.call('stream.open', { from: 'now' });
    socket.stop();
    stopped.push(socket);
  }
  const senders: Sender[] = [];
  const texts = manyTexts(job.senders * TEXTS, TEXT_CHARS);
  for (let n = 0; n < job.senders; n++) {
    const urls = [job.url, ...(job.beside ?? [])];
    const { spaces = [] } = job;
    const space = spaces[Math.floor(n / urls.length) % spaces.length];
    const socket = await openLoadSocket(
      urls[n % urls.length] as string,
      `sender-${run}-${n}`,
      space,
    );
    const calls = texts.slice(n * TEXTS, (n + 1) * TEXTS).map((text) => {
      const params = { channel: `bench:${run}-${n}`, body: { text, step: 7 } };
      return { jsonrpc: '2.0', id: FIRST, method: 'channels.send', params };
    });
    senders.push({ socket, stamp: createStamp(calls), sent: 0 });
  }
  return { senders, listeners, stopped };
}

const sentBy = ({ senders }: Party) => senders.reduce((sum, { sent }) => sum + sent, 0);
const ackedTo = ({ senders }: Party) =>
  senders.reduce((sum, { socket }) => sum + socket.received, 0);
const heardBy = ({ socket, before }: Listener) => socket.received - before;
const deliveredTo = ({ listeners }: Party) =>
  listeners.reduce((sum, listener) => sum + heardBy(listener), 0);
/** What every listener has; with no listener, no bound. */
const heardByAll = ({ listeners }: Party) =>
  listeners.reduce((least, listener) => Math.min(least, heardBy(listener)), Infinity);

function measure(job: FloodJob, party: Party): Promise<FloodResult> {
  const { promise, resolve } = Promise.withResolvers<FloodResult>();
  const quota = job.sends === undefined ? Infinity : job.sends / job.senders;
  // Topping up frame by frame would be a write a frame: wait until a quarter is free. What listeners hear comes in
  // reads of 64 KB, of which a window is one and a rest: were a rest of a quarter enough, it would go round as a batch of
  // its own for ever, and whether it is depends on a few bytes a message.
  const least = job.window / (job.listeners > 0 ? 2 : 4);
  let isOver = false;
  let result: FloodResult | undefined;
  let from = read(party);

  function pump(sender: Sender, room: number): void {
    const left = quota - sender.sent;
    const count = Math.min(job.window - (sender.sent - sender.socket.received), room, left);
    if (count <= 0 || (count < least && count < left)) return;
    sender.sent += count;
    sender.socket.write(sender.stamp(count));
  }

  function step(): void {
    const sent = sentBy(party);
    if (isOver || sent >= job.senders * quota) {
      const isSettled = ackedTo(party) >= sent && deliveredTo(party) >= sent * job.listeners;
      if (isSettled) resolve(result ?? rate(from, read(party)));
      return;
    }
    const unheard = Math.max(0, sent - heardByAll(party));
    for (const sender of party.senders) pump(sender, job.window * job.senders - unheard);
  }

  for (const { socket } of [...party.senders, ...party.listeners]) socket.onFrames = step;
  if (job.sends === undefined) {
    setTimeout(() => {
      from = read(party);
    }, job.warmMs);
    setTimeout(() => {
      result = rate(from, read(party));
      isOver = true;
      step();
    }, job.warmMs + job.measureMs);
  }
  step();
  return promise;
}

/** The server's own numbers must agree with what was counted. */
function check(party: Party): void {
  const sent = sentBy(party);
  for (const sender of party.senders) {
    const last = sender.socket.last();
    if (last.result?.seq === sender.sent) continue;
    throw new Error(`${sender.sent} sends ended in another seq: ${JSON.stringify(last)}`);
  }
  for (const listener of party.listeners) {
    if (heardBy(listener) === sent && 'params' in listener.socket.last()) continue;
    throw new Error(
      `a listener of ${sent} sends got ${heardBy(listener)} frames, or no message last`,
    );
  }
}

type Reading = { at: number; acked: number; delivered: number };

function read(party: Party): Reading {
  return { at: performance.now(), acked: ackedTo(party), delivered: deliveredTo(party) };
}

function rate(from: Reading, to: Reading): FloodResult {
  const seconds = (to.at - from.at) / 1000;
  return {
    sendsPerSecond: (to.acked - from.acked) / seconds,
    deliveriesPerSecond: (to.delivered - from.delivered) / seconds,
    sends: to.acked,
  };
}
