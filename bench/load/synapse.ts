/**
 * The Synapse wire under load: chat from one to many, claims taken and released, many connects at once.
 * The same frames go to whichever server speaks it. A chat is over when its sender and every listener
 * have it, a claim when its grant has come back; frames that were not asked for fail the run.
 */
import { type Percentiles, percentiles } from '../percentiles.ts';
import { createStamp, encodeMasked, FIRST, type LoadSocket, openLoadSocket } from './socket.ts';

export interface ChatJob {
  readonly kind: 'synapse-chat';
  readonly url: string;
  readonly listeners: number;
  readonly inFlight: number;
  readonly warmMs: number;
  readonly measureMs: number;
}

export interface ChatResult extends Percentiles {
  readonly messagesPerSecond: number;
  /** Messages in all, the warming too. */
  readonly messages: number;
}

export interface WireClaimsJob {
  readonly kind: 'synapse-claims';
  readonly url: string;
  /** Claims to take first and leave; 0 when they are there. */
  readonly live: number;
  readonly paths: number;
  readonly agents: number;
  readonly measureMs: number;
}

export interface WireClaimsResult extends Percentiles {
  /** Claims and releases, each counted. */
  readonly perSecond: number;
  readonly operations: number;
}

export interface ConnectsJob {
  readonly kind: 'synapse-connects';
  readonly url: string;
  readonly agents: number;
}

const QUIET_MS = 300;
const HELD_BY_ONE = 100;

type WireFrame = Record<string, unknown>;

const frameOf = (sender: string, type: string, fields: object = {}): WireFrame => ({
  ...{ sender, target: 'all', type, payload: '', timestamp: 1 },
  ...fields,
});

/** Connected and named, as its own client would be. */
async function join(url: string, name: string): Promise<LoadSocket> {
  const socket = await openLoadSocket(url, name);
  socket.write(encodeMasked(JSON.stringify(frameOf(name, 'heartbeat', { payload: 'online' }))));
  return socket;
}

/** Until no frame has come for a while: who is here has been told to everybody. */
async function quiet(sockets: readonly LoadSocket[]): Promise<void> {
  const total = () => sockets.reduce((sum, { received }) => sum + received, 0);
  for (let before = -1; before !== total(); ) {
    before = total();
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
}

export async function chat(job: ChatJob): Promise<ChatResult> {
  const run = process.pid.toString(36);
  const sender = await join(job.url, `says-${run}`);
  const sockets = [sender];
  for (let n = 0; n < job.listeners; n++) sockets.push(await join(job.url, `hears-${run}-${n}`));
  await quiet(sockets);
  const before = sockets.map(({ received }) => received);
  const stamp = createStamp([
    frameOf(`says-${run}`, 'chat', {
      payload: 'tests are green on my side, the parser is yours now',
      number: FIRST,
    }),
  ]);
  const heard = () =>
    sockets.reduce((least, { received }, n) => Math.min(least, received - (before[n] ?? 0)), 1e9);
  const takenMs: number[] = [];
  const done = Promise.withResolvers<void>();
  let sent = 0;
  let sentAt = 0;
  let isOver = false;
  const step = (): void => {
    const all = heard();
    if (job.inFlight === 1 && all === sent && sent > 0) takenMs.push(performance.now() - sentAt);
    if (isOver) {
      if (all >= sent) done.resolve();
      return;
    }
    const count = job.inFlight - (sent - all);
    if (count <= 0 || count < job.inFlight / 4) return;
    sent += count;
    sentAt = performance.now();
    sender.write(stamp(count));
  };
  for (const socket of sockets) socket.onFrames = step;
  step();
  await wait(job.warmMs);
  const [from, already, timed] = [performance.now(), heard(), takenMs.length];
  await wait(job.measureMs);
  const messagesPerSecond = ((heard() - already) / (performance.now() - from)) * 1000;
  const measured = takenMs.slice(timed);
  isOver = true;
  step();
  await done.promise;
  for (const [n, socket] of sockets.entries()) {
    const { number, type } = socket.last() as WireFrame;
    if (socket.received - (before[n] ?? 0) === sent && number === FIRST + sent - 1) continue;
    throw new Error(`after ${sent} chats a socket has ${socket.received}, the last a ${type}`);
  }
  for (const socket of sockets) socket.close();
  return { messagesPerSecond, messages: sent, ...percentiles(measured) };
}

export async function wireClaims(job: WireClaimsJob): Promise<WireClaimsResult> {
  for (let from = 0; from < job.live; from += HELD_BY_ONE) {
    const name = `holds-${from}`;
    const holder = await join(job.url, name);
    for (let n = from; n < Math.min(from + HELD_BY_ONE, job.live); n++) {
      await ask(holder, 'claim_granted', claimOf(name, `live-${n}`, job.paths));
    }
    holder.close();
  }
  const run = process.pid.toString(36);
  const names = Array.from({ length: job.agents }, (_, n) => `takes-${run}-${n}`);
  const sockets: LoadSocket[] = [];
  for (const name of names) sockets.push(await join(job.url, name));
  await quiet(sockets);
  const takenMs: number[] = [];
  let operations = 0;
  const from = performance.now();
  await Promise.all(
    sockets.map(async (socket, n) => {
      const name = names[n] as string;
      for (let turn = 0; performance.now() - from < job.measureMs; turn++) {
        const task_id = `${name}-${turn}`;
        const at = performance.now();
        await ask(socket, 'claim_granted', claimOf(name, task_id, job.paths));
        takenMs.push(performance.now() - at);
        await ask(socket, 'release_granted', frameOf(name, 'release', { task_id }));
        operations += 2;
      }
    }),
  );
  const perSecond = (operations / (performance.now() - from)) * 1000;
  for (const socket of sockets) socket.close();
  return { perSecond, operations, ...percentiles(takenMs) };
}

function claimOf(name: string, task_id: string, count: number): WireFrame {
  const paths = Array.from({ length: count }, (_, n) => `packages/${task_id}/src/module-${n}.ts`);
  const fields = { task_id, paths, worktree: 'bench', ttl_seconds: 3_600, note: 'bench' };
  return frameOf(name, 'claim', fields);
}

/** Sends it, and waits for the frame of that type about the same task; a denial fails the run. */
function ask(socket: LoadSocket, type: string, frame: WireFrame): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const task = JSON.stringify(String(frame.task_id));
  const [granted, denied] = [`"${type}"`, `_denied"`];
  socket.onText = (text) => {
    if (!text.includes(task)) return;
    if (text.includes(denied)) reject(new Error(`refused: ${text.slice(0, 300)}`));
    if (text.includes(granted)) resolve();
  };
  socket.write(encodeMasked(JSON.stringify(frame)));
  return promise;
}

/** All at once, until the last has its welcome; each has named itself by then. */
export async function connects(job: ConnectsJob): Promise<{ allMs: number }> {
  const run = process.pid.toString(36);
  const from = performance.now();
  const sockets = await Promise.all(
    Array.from({ length: job.agents }, async (_, n) => {
      const socket = await join(job.url, `comes-${run}-${n}`);
      const welcomed = Promise.withResolvers<void>();
      if (socket.received > 0) welcomed.resolve();
      socket.onFrames = () => welcomed.resolve();
      await welcomed.promise;
      return socket;
    }),
  );
  const allMs = performance.now() - from;
  for (const socket of sockets) socket.close();
  return { allMs };
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
