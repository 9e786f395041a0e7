/**
 * Probes: requests of our own to a worker, to see that it is ready and still there. Each has an id
 * that no other request has; any answer counts, a result or an error, and none is passed on [WO13].
 * One is open at a time.
 *
 * Time counts from when the process took the probe, or last took anything before it: a worker that
 * still reads a long queue before the ping is not late. It does not count while we do not read.
 */

import { type ByteLine, messageOf } from './byte-line.ts';
import { createDeadline, type Deadline, timerMs } from './deadline.ts';
import type { WorkerSpec } from './spec.ts';

export interface ProbeEvents {
  /** Writes the probe; calls back once the process has taken it. */
  send(line: ByteLine, onTaken: () => void): void;
  onReady(): void;
  /** No answer in time. The sentence says to what. */
  onLate(reason: string): void;
}

export interface Probes {
  /** The process runs. Without a ready probe it is ready with that. */
  begin(): void;
  /** The lines without the answers that were for us. */
  screen(lines: readonly ByteLine[]): readonly ByteLine[];
  /** The process took something. */
  touch(): void;
  setReading(isOn: boolean): void;
  close(): void;
}

interface OpenProbe {
  readonly id: string;
  readonly due: Deadline;
  readonly onAnswer: () => void;
  isTaken: boolean;
}

export function createProbes(
  spec: WorkerSpec,
  startNumber: number,
  isReadingNow: boolean,
  events: ProbeEvents,
): Probes {
  const { ready, ping } = spec;
  let isReading = isReadingNow;
  let open: OpenProbe | null = null;
  let pings = 0;
  let nextPing: NodeJS.Timeout | undefined;

  function probe(id: string, method: string, due: Deadline, onAnswer: () => void): void {
    const fresh: OpenProbe = { id, due, onAnswer, isTaken: false };
    open = fresh;
    due.begin();
    events.send(messageOf({ jsonrpc: '2.0', id, method }), () => {
      due.touch();
      fresh.isTaken = true;
    });
  }

  function becomeReady(): void {
    events.onReady();
    waitToPing();
  }

  function waitToPing(): void {
    if (ping === null) return;
    nextPing = setTimeout(() => {
      const late = `did not answer the ping ${JSON.stringify(ping.method)} for ${inSeconds(ping.timeoutMs)}`;
      const due = createDeadline(ping.timeoutMs, () => events.onLate(late), !isReading);
      pings += 1;
      probe(`synod-ping-${pings}`, ping.method, due, waitToPing);
    }, timerMs(ping.everyMs));
    nextPing.unref();
  }

  function isAnswer(line: ByteLine, id: string): boolean {
    // Nearly every line is an answer to another request, and is not parsed to find that out.
    if (!line.includes(`"${id}"`)) return false;
    try {
      const answer = JSON.parse(line);
      return answer.id === id && !('method' in answer) && ('result' in answer || 'error' in answer);
    } catch {
      // No message at all: the bus counts it.
      return false;
    }
  }

  return {
    begin() {
      if (ready === null) return becomeReady();
      const late = `did not answer ${JSON.stringify(ready.method)} within ${inSeconds(ready.timeoutMs)} of its start, so it never was ready`;
      const due = createDeadline(ready.timeoutMs, () => events.onLate(late), !isReading);
      probe(`synod-ready-${startNumber}`, ready.method, due, becomeReady);
    },
    screen(lines) {
      if (open === null) return lines;
      const { id, due, onAnswer } = open;
      const at = lines.findIndex((line) => isAnswer(line, id));
      if (at < 0) return lines;
      open = null;
      due.close();
      onAnswer();
      return lines.toSpliced(at, 1);
    },
    touch() {
      if (open !== null && !open.isTaken) open.due.touch();
    },
    setReading(isOn) {
      isReading = isOn;
      if (isOn) open?.due.release();
      else open?.due.hold();
    },
    close() {
      clearTimeout(nextPing);
      open?.due.close();
      open = null;
    },
  };
}

export function inSeconds(ms: number): string {
  return `${ms / 1_000} s`;
}
