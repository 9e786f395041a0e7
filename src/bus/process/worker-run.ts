/**
 * One run of a worker: from a spawned process to the moment when nothing of it is left.
 *
 *   spawned → ready → ending (it exits, or we end it) → over
 *
 * `onOver` comes exactly once, and only when the process was reaped, its group is empty and its
 * output was read to the end; each of these is waited for, and none of them for ever.
 */

import type { ByteLine } from './byte-line.ts';
import { createDeadline } from './deadline.ts';
import { createGroupEnding } from './end-group.ts';
import { createInbound } from './inbound.ts';
import { addGroup, removeGroup } from './live-groups.ts';
import { createOutbound } from './outbound.ts';
import { plainText } from './plain-text.ts';
import { createProbes, inSeconds } from './probes.ts';
import type { WorkerEnd } from './restart.ts';
import type { Spawned } from './spawn-child.ts';
import type { WorkerSpec } from './spec.ts';
import { createStderrRing } from './stderr-ring.ts';
import type { Down, WorkerNote } from './worker.ts';

/** A worker we end because it misbehaves has so long to do it by itself. */
const MISBEHAVED_GRACE_MS = 1_000;
/** A process that is about to exit closes its pipes first; one that goes on without them is ended. */
const EXIT_AFTER_PIPE_MS = 1_000;
/** Process and group are gone: who else holds the pipe may do so for this long. */
const PIPES_MS = 2_000;
const STRAY_BYTES_SHOWN = 200;

/** How a run ended: what its pool is told, and what the next start is decided from. */
export type RunEnd = Omit<Down, 'restartInMs'> & Pick<WorkerEnd, 'isClean' | 'readyForMs'>;

export interface RunEvents {
  onSpawned(): void;
  onReady(): void;
  onLines(lines: readonly ByteLine[]): void;
  /** It takes no messages any more. */
  onEnding(): void;
  onNote(note: WorkerNote): void;
  onOver(over: RunEnd): void;
}

export interface WorkerRun {
  /** Null once it was reaped. */
  readonly pid: number | null;
  readonly queuedBytes: number;
  send(line: ByteLine, isAwaited?: boolean): number;
  setReading(isOn: boolean): void;
  stray(line: ByteLine): void;
  alive(isAwaited: boolean): void;
  stop(graceMs: number): void;
}

export function beginRun(
  spec: WorkerSpec,
  { child, pid }: Spawned,
  startNumber: number,
  isReadingNow: boolean,
  events: RunEvents,
): WorkerRun {
  addGroup(pid);
  /** Why we ended it; null while we have not. */
  let verdict: string | null = null;
  let exit: { readonly code: number | null; readonly signal: string | null } | null = null;
  let readyAt: number | null = null;
  let readyForMs: number | null = null;
  let strays = 0;
  /** It owes an answer: the time runs from when it was asked, and only its own output puts it off. */
  let isAwaited = false;
  let isEnding = false;
  let isStopWanted = false;
  let isGroupDone = false;
  let isStderrDone = false;
  let isOver = false;
  let pipesTimer: NodeJS.Timeout | undefined;
  let exitTimer: NodeJS.Timeout | undefined;

  const ending = createGroupEnding(
    pid,
    () => outbound.close(),
    (isEmpty) => {
      isGroupDone = true;
      if (isEmpty) removeGroup(pid);
      waitForPipes();
      maybeOver();
    },
  );
  const outbound = createOutbound(child.stdin, {
    onTaken: () => probes.touch(),
    onBroken: () => expectExit('closed its stdin and went on running'),
  });
  const inbound = createInbound(child.stdout, spec.lineBytesMax, isReadingNow, {
    onBytes: () => hang?.touch(),
    onLines(lines) {
      const others = probes.screen(lines);
      if (others.length > 0) events.onLines(others);
    },
    onTooLarge() {
      end(`wrote a line of more than ${spec.lineBytesMax} bytes, which is the limit for a message`);
    },
    onEnd() {
      expectExit('closed its stdout and went on running');
      maybeOver();
    },
  });
  const probes = createProbes(spec, startNumber, isReadingNow, {
    send: (line, onTaken) => outbound.sendProbe(line, onTaken),
    onReady() {
      readyAt = performance.now();
      events.onReady();
    },
    onLate(reason) {
      events.onNote({ level: 'warn', what: 'hang', text: reason });
      end(reason);
    },
  });
  const hang = spec.hangMs === null ? null : createDeadline(spec.hangMs, onHang, !isReadingNow);
  const ring = createStderrRing(spec.stderrLinesKept, (text) =>
    events.onNote({ level: 'info', what: 'stderr', text }),
  );

  function onHang(): void {
    const reason = `hangs: it has work in hand and gave no sign for ${inSeconds(spec.hangMs ?? 0)}`;
    events.onNote({ level: 'warn', what: 'hang', text: reason });
    end(reason);
  }

  function watch(isWanted: boolean): void {
    if (isWanted === isAwaited) return;
    isAwaited = isWanted;
    if (isWanted) hang?.begin();
    else hang?.rest();
  }

  /** From here on it is down for everybody, whatever is still to be read from it. */
  function beginEnding(): void {
    if (isEnding) return;
    isEnding = true;
    if (readyAt !== null) readyForMs = performance.now() - readyAt;
    clearTimeout(exitTimer);
    probes.close();
    hang?.close();
    events.onEnding();
  }

  function end(reason: string, graceMs: number = MISBEHAVED_GRACE_MS): void {
    if (isEnding) return;
    verdict = reason;
    beginEnding();
    ending.begin(graceMs);
  }

  function expectExit(reason: string): void {
    if (isEnding || exitTimer !== undefined) return;
    exitTimer = setTimeout(() => end(reason), EXIT_AFTER_PIPE_MS);
  }

  /** While reading is off, what is left in the pipe waits for the bus, unless the bus stops. */
  function waitForPipes(): void {
    if (!isGroupDone || isOver || pipesTimer !== undefined) return;
    if (!inbound.isReading && !isStopWanted) return;
    pipesTimer = setTimeout(() => {
      inbound.abandon();
      child.stderr.destroy();
      isStderrDone = true;
      maybeOver();
    }, PIPES_MS);
  }

  function maybeOver(): void {
    if (isOver || !isGroupDone || !inbound.isDone || !isStderrDone) return;
    isOver = true;
    clearTimeout(pipesTimer);
    ring.end();
    child.stdin.destroy();
    events.onOver({
      reason: verdict === null ? describeExit() : describeVerdict(verdict),
      exitCode: exit?.code ?? null,
      signal: exit?.signal ?? null,
      handedOver: outbound.handedOver,
      unsent: outbound.unsent(),
      stderrTail: ring.tail(),
      isClean: verdict === null && exit?.code === 0 && readyAt !== null,
      readyForMs,
    });
  }

  function describeExit(): string {
    const how =
      exit?.signal == null ? `exited with code ${exit?.code}` : `was killed by ${exit.signal}`;
    return readyAt === null ? `${how} before it was ready` : how;
  }

  function describeVerdict(reason: string): string {
    if (exit === null) return `${reason}; it could not even be killed`;
    return ending.hasKilled ? `${reason}; it did not end by itself and was killed` : reason;
  }

  child.once('spawn', () => {
    events.onSpawned();
    // It may have been stopped in the very tick it was started.
    if (!isEnding) probes.begin();
  });
  child.once('exit', (code, signal) => {
    exit = { code, signal };
    // The unkillable died after all.
    if (isOver) return removeGroup(pid);
    beginEnding();
    outbound.close();
    ending.leaderGone();
  });
  // Only a signal or a message sent through `child` could fail here, and we send none; but unheard
  // it would end the whole bus.
  child.on('error', () => {});
  child.stderr.on('data', (chunk: Buffer) => {
    hang?.touch();
    ring.push(chunk);
  });
  child.stderr.on('error', () => {});
  child.stderr.once('close', () => {
    isStderrDone = true;
    maybeOver();
  });

  return {
    get pid() {
      return exit === null ? pid : null;
    },
    get queuedBytes() {
      return outbound.queuedBytes;
    },
    send(line, isAsk) {
      if (isAsk) watch(true);
      return outbound.push(line);
    },
    setReading(isOn) {
      inbound.setReading(isOn);
      probes.setReading(isOn);
      if (isOn) hang?.release();
      else hang?.hold();
      waitForPipes();
    },
    stray(line) {
      strays += 1;
      const text = `wrote a line that is no message: ${plainText(line, STRAY_BYTES_SHOWN)}`;
      if (strays <= spec.straysMax + 1) events.onNote({ level: 'warn', what: 'stray', text });
      if (strays <= spec.straysMax) return;
      end(
        `wrote ${strays} lines that are no messages to its stdout; ${spec.straysMax} are allowed`,
      );
    },
    alive: watch,
    stop(graceMs) {
      isStopWanted = true;
      end('was stopped', graceMs);
      ending.begin(graceMs);
      waitForPipes();
    },
  };
}
