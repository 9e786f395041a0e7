/**
 * The stage for a bus without processes: a clock that stands still until it is told, workers that
 * take, answer, lie, crash and come back, and clients that read slowly or not at all. All chance is
 * drawn from one seed.
 */

import { type ByteLine, messageOf, textOf } from '../../../src/bus/process/byte-line.ts';
import type { Worker, WorkerEvents, WorkerState } from '../../../src/bus/process/worker.ts';
import type { Clock } from '../../../src/bus/router/clock.ts';
import type { Attachment, Identity, Peer, PeerClosing } from '../../../src/bus/router/peer.ts';

export interface StageClock extends Clock {
  advance(ms: number): void;
}

export function createStageClock(): StageClock {
  let now = 0;
  let last = 0;
  const timers = new Map<number, { at: number; call: () => void }>();
  return {
    now: () => now,
    after(ms, call) {
      last += 1;
      const id = last;
      timers.set(id, { at: now + ms, call });
      return () => timers.delete(id);
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        let next: { id: number; at: number; call: () => void } | null = null;
        for (const [id, timer] of timers) {
          if (timer.at <= until && (!next || timer.at < next.at)) next = { id, ...timer };
        }
        if (!next) break;
        timers.delete(next.id);
        now = Math.max(now, next.at);
        next.call();
      }
      now = until;
    },
  };
}

interface Taken {
  readonly id: string;
  readonly token: string;
}

export interface StageWorker extends Worker {
  /** The process takes its next message off the pipe. */
  take(): void;
  /** It answers one of what it took. */
  answer(pick: (count: number) => number, isTwice: boolean): void;
  say(line: ByteLine): void;
  crash(isComingBack: boolean, lastWords?: readonly string[]): void;
  /** Its process is about to end: nobody has been told yet. */
  sink(): void;
  comeUp(): void;
  readonly takenCount: number;
  readonly isReading: boolean;
  /** It would be ended if it gave no sign for long. */
  readonly isAwaited: boolean;
  /** Everything its processes took, in order. */
  readonly heard: readonly ByteLine[];
  /** What it wrote that was no message. */
  readonly strays: readonly ByteLine[];
}

/** `onRun` is told every token a process took, `onLost` those it had taken when it went down. */
export function createStageWorker(
  name: string,
  pool: string,
  events: WorkerEvents,
  watch: { onRun(token: string, worker: string): void; onLost(token: string): void },
): StageWorker {
  let state: WorkerState = 'idle';
  let queue: ByteLine[] = [];
  let taken: Taken[] = [];
  let sent = 0;
  let handedOver = 0;
  let starts = 0;
  let isReading = true;
  let isAwaited = false;
  let unread: ByteLine[] = [];
  const heard: ByteLine[] = [];
  const strays: ByteLine[] = [];

  const down = (
    reason: string,
    restartInMs: number | null,
    stderrTail: readonly string[] = [],
  ): void => {
    const unsent = queue;
    const had = { handedOver };
    for (const { token } of taken) watch.onLost(token);
    queue = [];
    taken = [];
    unread = [];
    events.onDown(worker, {
      reason,
      exitCode: 1,
      signal: null,
      ...had,
      unsent,
      restartInMs,
      stderrTail,
    });
  };

  const worker: StageWorker = {
    name,
    pool,
    get state() {
      return state;
    },
    pid: null,
    get starts() {
      return starts;
    },
    get queuedBytes() {
      return queue.reduce((sum, line) => sum + line.length, 0);
    },
    get takenCount() {
      return taken.length;
    },
    get isReading() {
      return isReading;
    },
    heard,
    strays,
    start() {
      state = 'starting';
    },
    comeUp() {
      if (state !== 'starting' && state !== 'waiting') return;
      state = 'ready';
      starts += 1;
      sent = 0;
      handedOver = 0;
      events.onReady(worker);
    },
    get isAwaited() {
      return isAwaited;
    },
    send(line, isAsk) {
      if (isAsk) isAwaited = true;
      if (state !== 'ready') throw new Error(`${name} was sent a message while ${state}`);
      queue.push(line);
      sent += 1;
      return sent;
    },
    take() {
      const line = queue.shift();
      if (line === undefined) return;
      handedOver += 1;
      heard.push(line);
      const message = JSON.parse(textOf(line));
      if (message.method && message.id !== undefined) {
        const token = message.params?.token;
        taken.push({ id: JSON.stringify(message.id), token });
        watch.onRun(token, `${name}#${starts}`);
      }
    },
    answer(pick, isTwice) {
      const one = taken.splice(pick(taken.length), 1)[0];
      if (!one) return;
      const line = `{"jsonrpc":"2.0","id":${one.id},"result":{"token":"${one.token}"}}` as ByteLine;
      worker.say(line);
      if (isTwice) worker.say(line);
    },
    say(line) {
      if (state !== 'ready') return;
      if (isReading) events.onLines(worker, [line]);
      else unread.push(line);
    },
    setReading(isOn) {
      isReading = isOn;
      while (isReading && unread.length > 0) events.onLines(worker, unread.splice(0, 1));
    },
    stray: (line) => strays.push(line),
    alive(isStill) {
      isAwaited = isStill;
    },
    sink() {
      state = 'stopping';
    },
    crash(isComingBack, lastWords = []) {
      if (state !== 'ready' && state !== 'starting' && state !== 'stopping') return;
      state = isComingBack ? 'waiting' : 'failed';
      down('crashed', isComingBack ? 100 : null, lastWords);
    },
    async stop() {
      if (state === 'stopped') return;
      const wasUp = state === 'ready' || state === 'starting';
      state = 'stopped';
      if (wasUp) down('was stopped', null);
    },
  };
  return worker;
}

export interface StagePeer extends Peer {
  readonly got: ByteLine[];
  attachment: Attachment | null;
  isReadable: boolean;
  isClosed: boolean;
  closedBy: PeerClosing | null;
  /** The other side reads so many of the messages that wait for it. */
  read(count: number): void;
}

export function createStagePeer(
  label: string,
  onMessage: (text: string) => void,
  identity: Identity | null = null,
): StagePeer {
  const waiting: ByteLine[] = [];
  const peer: StagePeer = {
    label,
    identity,
    got: [],
    attachment: null,
    isReadable: true,
    isClosed: false,
    closedBy: null,
    send(line) {
      if (peer.isClosed) throw new Error(`${label} was sent a message after it was closed`);
      waiting.push(line);
    },
    get queuedBytes() {
      return waiting.reduce((sum, line) => sum + line.length, 0);
    },
    setReading(isOn) {
      peer.isReadable = isOn;
    },
    close(reason: PeerClosing, isGraceful) {
      if (isGraceful) peer.read(waiting.length);
      peer.isClosed = true;
      peer.closedBy = reason;
      peer.attachment?.closed(reason);
    },
    read(count) {
      for (const line of waiting.splice(0, count)) onMessage(textOf(line));
      peer.attachment?.drained();
    },
  };
  return peer;
}

export const requestLine = (id: number, token: string, extra: object): ByteLine =>
  messageOf({ jsonrpc: '2.0', id, method: 'work/do', params: { token }, ...extra });
