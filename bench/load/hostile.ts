/**
 * Load as bad input, and a bystander beside it: connections that say nothing, readers that never read, and
 * the largest bodies at every door at once. Each part begins, the bystander's round trips are measured
 * while it lasts, and it tells how often it was served, refused and let go.
 */
import { connect, type Socket } from 'node:net';
import { percentiles } from '../percentiles.ts';
import { encodeMasked, openLoadSocket } from './socket.ts';

export type Hostility = 'none' | 'silent' | 'stopped' | 'large';

export interface HostileJob {
  readonly kind: 'hostile';
  readonly url: string;
  readonly synapse: string;
  readonly what: Hostility;
  readonly count: number;
  /** Round trips of the bystander. */
  readonly trips: number;
}

export interface HostileResult {
  readonly p50: number;
  readonly p99: number;
  /** Of the hostile ones: still connected when the bystander was done. */
  readonly held: number;
  /** Refused in words, or closed with a code that says why. */
  readonly told: number;
  /** Cut off, or not let in, without a word. */
  readonly cut: number;
}

const MEGABYTE = 1024 * 1024;
const AT_ONCE = 500;
/** Close code 1009, as it stands in a frame. */
const TOO_BIG = Buffer.from([0x03, 0xf1]);

export async function hostile(job: HostileJob): Promise<HostileResult> {
  const crowd: Guest[] = [];
  const { hostname, port } = new URL(job.url);
  const open = (): Guest => createGuest(connect(Number(port), hostname));
  const speaker = job.what === 'stopped' ? await openLoadSocket(job.url, 'speaks') : null;
  for (let n = 0; n < job.count; n++) {
    if (job.what === 'silent') crowd.push(open());
    if (job.what === 'stopped') crowd.push(await stop(job.url, n));
    if (job.what === 'large') crowd.push(large(job, n));
    // A backlog that overflows would measure the kernel.
    if (n % AT_ONCE === AT_ONCE - 1) await wait(50);
  }
  const isOver = { yes: false };
  const talking = speaker === null ? Promise.resolve() : talk(speaker, isOver);
  const takenMs = await bystand(job.url, job.trips);
  isOver.yes = true;
  await talking;
  speaker?.close();
  const result = {
    ...percentiles(takenMs),
    held: crowd.filter((one) => one.isOpen).length,
    told: crowd.filter((one) => one.isTold).length,
    cut: crowd.filter((one) => !one.isOpen && !one.isTold).length,
  };
  for (const one of crowd) one.close();
  return result;
}

interface Guest {
  readonly isOpen: boolean;
  readonly isTold: boolean;
  close(): void;
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

/** Subscribed to what is said, and never reads it. */
async function stop(url: string, n: number): Promise<Guest> {
  const socket = await openLoadSocket(url, `stopped-${n}`);
  await socket.call('channels.subscribe', { pattern: 'bench:hostile' });
  await socket.call('stream.open', { from: 'now' });
  socket.stop();
  // Who does not read does not learn that it was cut off either.
  return { isOpen: true, isTold: false, close: () => socket.close() };
}

async function talk(
  socket: Awaited<ReturnType<typeof openLoadSocket>>,
  isOver: { readonly yes: boolean },
): Promise<void> {
  const body = { text: 'x'.repeat(8_000) };
  while (!isOver.yes) await socket.call('channels.send', { channel: 'bench:hostile', body });
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

/** One who does what agents do, one thing at a time. */
async function bystand(url: string, trips: number): Promise<number[]> {
  const socket = await openLoadSocket(url, `bystands-${process.pid}`);
  const takenMs: number[] = [];
  for (let n = 0; n < trips; n++) {
    const from = performance.now();
    await socket.call('channels.send', { channel: 'bench:bystander', body: { text: 'well?' } });
    takenMs.push(performance.now() - from);
  }
  socket.close();
  return takenMs;
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
