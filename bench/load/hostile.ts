/**
 * Load as bad input at a hub: connections that say nothing, readers that never read, a thousand that wait for the
 * same message, and the largest bodies at every door at once. It begins, goes on until it is told to end, and tells
 * how often it was served, refused and let go. The bystander it is measured by is another process.
 */
import { connect, type Socket } from 'node:net';
import { encodeMasked, type LoadSocket, openLoadSocket } from './socket.ts';
import { begun, type UntilTold } from './until-told.ts';

export type Hostility =
  | 'silent'
  | 'stopped'
  | 'stopped-sse'
  | 'stopped-synapse'
  | 'reading'
  | 'polls'
  | 'large';

export interface HostileJob {
  readonly kind: 'hostile';
  readonly url: string;
  readonly synapse: string;
  readonly what: Hostility;
  readonly count: number;
}

export interface HostileResult {
  /** Of the hostile ones: still connected when the bystander was done. */
  readonly held: number;
  /** Refused in words, or closed with a code that says why. */
  readonly told: number;
  /** Cut off, or not let in, without a word. */
  readonly cut: number;
  /** Messages that were said to those who listen. */
  readonly said: number;
}

interface Guest {
  readonly isOpen: boolean;
  readonly isTold: boolean;
  close(): void;
}

const MEGABYTE = 1024 * 1024;
const AT_ONCE = 500;
/** Close code 1009, as it stands in a frame. */
const TOO_BIG = Buffer.from([0x03, 0xf1]);
const CHANNEL = 'bench:hostile';
/** Where Synapse sockets hear what is said at every door. */
const SYNAPSE_CHANNEL = 'synapse/chat';
const TALK = { text: 'x'.repeat(8_000) };
const POLL_MS = 25_000;

export async function hostile(job: HostileJob): Promise<HostileResult> {
  const { what } = job;
  if (what === 'polls') return poll(job);
  if (what === 'large') return sendLarge(job);
  const hasListeners = what.startsWith('stopped') || what === 'reading';
  const speaker = hasListeners ? await openLoadSocket(job.url, 'speaks') : null;
  const crowd = await gather(job);
  const until = begun();
  const channel = what === 'stopped-synapse' ? SYNAPSE_CHANNEL : CHANNEL;
  const said = speaker === null ? 0 : await talk(speaker, channel, until);
  await until.over;
  speaker?.close();
  const result = { ...countOf(crowd), said };
  for (const one of crowd) one.close();
  return result;
}

function countOf(crowd: readonly Guest[]): Omit<HostileResult, 'said'> {
  return {
    held: crowd.filter((one) => one.isOpen).length,
    told: crowd.filter((one) => one.isTold).length,
    cut: crowd.filter((one) => !one.isOpen && !one.isTold).length,
  };
}

async function gather(job: HostileJob): Promise<Guest[]> {
  const { hostname, port } = new URL(job.url);
  if (job.what === 'stopped-synapse') return gatherSynapse(job);
  const crowd: Guest[] = [];
  for (let n = 0; n < job.count; n++) {
    if (job.what === 'silent') crowd.push(createGuest(connect(Number(port), hostname)));
    else if (job.what === 'stopped-sse') crowd.push(await stopSse(job.url, n));
    else crowd.push(await listen(job.url, n, job.what === 'reading'));
    // A backlog that overflows would measure the kernel.
    if (n % AT_ONCE === AT_ONCE - 1) await wait(50);
  }
  return crowd;
}

function createGuest(socket: Socket): Guest & { readonly socket: Socket } {
  const state = { isOpen: true, isTold: false };
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => {
    state.isTold ||= bytes.includes('error') || bytes.includes(TOO_BIG);
  });
  socket.on('close', () => {
    state.isOpen = false;
  });
  return {
    socket,
    get isOpen() {
      return state.isOpen;
    },
    get isTold() {
      return state.isTold;
    },
    close: () => void socket.destroy(),
  };
}

/** Who does not read does not learn that it was cut off either. */
function silentGuest(close: () => void): Guest {
  return { isOpen: true, isTold: false, close };
}

/** Subscribed to what is said; reads it, or never does. */
async function listen(url: string, n: number, isReading: boolean): Promise<Guest> {
  const socket = await openLoadSocket(url, `listens-${process.pid}-${n}`);
  await socket.call('channels.subscribe', { pattern: CHANNEL });
  await socket.call('stream.open', { from: 'now' });
  socket.isSearched = false;
  if (!isReading) socket.stop();
  return silentGuest(() => socket.close());
}

async function stopSse(url: string, n: number): Promise<Guest> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(
    `GET /v1/stream?channel=${encodeURIComponent(CHANNEL)} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
      `x-sox-agent-id: listens-${process.pid}-${n}\r\n\r\n`,
  );
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  return silentGuest(() => void socket.destroy());
}

/** They stop when all are there: who comes is told to everybody. */
async function gatherSynapse({ synapse, count }: HostileJob): Promise<Guest[]> {
  const sockets: LoadSocket[] = [];
  for (let from = 0; from < count; from += 100) {
    const some = Array.from({ length: Math.min(100, count - from) }, async (_, n) => {
      const sender = `listens-${process.pid}-${from + n}`;
      const socket = await openLoadSocket(synapse, sender);
      socket.isSearched = false;
      const frame = { sender, target: 'all', type: 'heartbeat', payload: 'online', timestamp: 1 };
      socket.write(encodeMasked(JSON.stringify(frame)));
      return socket;
    });
    sockets.push(...(await Promise.all(some)));
  }
  const heard = () => sockets.reduce((sum, { received }) => sum + received, 0);
  for (let before = -1; before !== heard(); ) {
    before = heard();
    await wait(500);
  }
  for (const socket of sockets) socket.stop();
  return sockets.map((socket) => silentGuest(() => socket.close()));
}

/** One message after the other, each when the last is answered. */
async function talk(socket: LoadSocket, channel: string, until: UntilTold): Promise<number> {
  let said = 0;
  for (; !until.isOver; said++) await socket.call('channels.send', { channel, body: TALK });
  return said;
}

/** So many wait for a message over HTTP; when the last of them has it and waits again, the next is said. */
async function poll({ url, count }: HostileJob): Promise<HostileResult> {
  const { hostname, port } = new URL(url);
  const speaker = await openLoadSocket(url, 'speaks');
  const body = JSON.stringify({ wait_ms: POLL_MS });
  const sockets: Socket[] = [];
  let heard = 0;
  let allHeard = Promise.withResolvers<void>();
  for (let n = 0; n < count; n++) {
    const agent = `polls-${process.pid}-${n}`;
    const own = await openLoadSocket(url, agent);
    await own.call('channels.subscribe', { pattern: CHANNEL });
    own.close();
    const socket = connect(Number(port), hostname);
    const ask = () =>
      socket.write(
        `POST /v1/ops/recv HTTP/1.1\r\nhost: ${hostname}:${port}\r\nx-sox-agent-id: ${agent}\r\n` +
          `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      if (!bytes.includes('HTTP/1.1 200')) return;
      ask();
      if (++heard % count === 0) allHeard.resolve();
    });
    ask();
    sockets.push(socket);
  }
  const until = begun();
  let said = 0;
  for (; !until.isOver; said++) {
    allHeard = Promise.withResolvers();
    await speaker.call('channels.send', { channel: CHANNEL, body: { text: 'wake up' } });
    await Promise.race([allHeard.promise, until.over]);
  }
  const held = sockets.filter(({ destroyed }) => !destroyed).length;
  for (const socket of [...sockets, { destroy: speaker.close }]) socket.destroy();
  return { held, told: 0, cut: count - held, said };
}

/** So many at once; when all are answered or let go, as many again. */
async function sendLarge(job: HostileJob): Promise<HostileResult> {
  const total = { held: 0, told: 0, cut: 0, said: 0 };
  const until = begun();
  do {
    const crowd = Array.from({ length: job.count }, (_, n) => large(job, n));
    while (!until.isOver && crowd.some((one) => one.isOpen && !one.isTold)) await wait(5);
    const { held, told, cut } = countOf(crowd);
    total.held = held;
    total.told += told;
    total.cut += cut;
    total.said += crowd.length;
    for (const one of crowd) one.close();
  } while (!until.isOver);
  return total;
}

/** A body of a megabyte, by HTTP, WebSocket, MCP and the Synapse wire in turn. */
function large({ url, synapse }: HostileJob, n: number): Guest {
  const by = n % 4;
  const { hostname, port } = new URL(by === 3 ? synapse : url);
  const guest = createGuest(connect(Number(port), hostname));
  const text = 'x'.repeat(MEGABYTE);
  const host = `host: ${hostname}:${port}\r\nx-sox-agent-id: large-${n}\r\n`;
  if (by === 0 || by === 2) {
    const path = by === 0 ? '/v1/ops/send' : '/mcp';
    const body = JSON.stringify({ channel: 'bench:large', body: { text } });
    const type =
      'content-type: application/json\r\naccept: application/json, text/event-stream\r\n';
    const length = `content-length: ${body.length}\r\n`;
    guest.socket.write(`POST ${path} HTTP/1.1\r\n${host}${type}${length}\r\n${body}`);
    return guest;
  }
  guest.socket.write(
    `GET /ws HTTP/1.1\r\n${host}upgrade: websocket\r\nconnection: Upgrade\r\n` +
      'sec-websocket-key: c3lub2QtYmVuY2gtbG9hZA==\r\nsec-websocket-version: 13\r\n\r\n',
  );
  const params = { channel: 'bench:large', body: { text } };
  const frame =
    by === 1
      ? { jsonrpc: '2.0', id: 1, method: 'channels.send', params }
      : { sender: `large-${n}`, target: 'all', type: 'chat', payload: text };
  guest.socket.once('data', () => guest.socket.write(encodeMasked(JSON.stringify(frame))));
  return guest;
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
