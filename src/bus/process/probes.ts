/**
 * Questions of our own to a worker: is it ready, is it still there. Each is a JSON-RPC request with
 * an id that nobody else uses; any answer counts, a result or an error, and none of them is passed
 * on [WO13]. One is asked at a time.
 *
 * Time counts from when the process took the question, or last took anything before it: a ping that
 * waits behind a long queue accuses nobody who is still reading. It does not count while we do not read.
 */
import { createDeadline, type Deadline, timerMs } from './deadline.ts';
import { type Line, messageOf } from './line.ts';
import type { WorkerSpec } from './spec.ts';

export interface ProbeEvents {
  /** Writes the question; calls back once the process has taken it. */
  ask(line: Line, onTaken: () => void): void;
  onReady(): void;
  /** No answer in time. The sentence says to what. */
  onLate(reason: string): void;
}

export interface Probes {
  /** The process runs. Without a ready probe it is ready with that. */
  begin(): void;
  /** The lines without the answers that were for us. */
  screen(lines: readonly Line[]): readonly Line[];
  /** The process took something. */
  touch(): void;
  setReading(isOn: boolean): void;
  close(): void;
}

interface Asked {
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
  let asked: Asked | null = null;
  let pings = 0;
  let nextPing: NodeJS.Timeout | undefined;

  function ask(id: string, method: string, due: Deadline, onAnswer: () => void): void {
    const question: Asked = { id, due, onAnswer, isTaken: false };
    asked = question;
    due.begin();
    events.ask(messageOf({ jsonrpc: '2.0', id, method }), () => {
      due.touch();
      question.isTaken = true;
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
      ask(`synod-ping-${pings}`, ping.method, due, waitToPing);
    }, timerMs(ping.everyMs));
    nextPing.unref();
  }

  function isAnswer(line: Line, id: string): boolean {
    // Nearly every line is somebody else's, and is not parsed to find that out.
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
      ask(`synod-ready-${startNumber}`, ready.method, due, becomeReady);
    },
    screen(lines) {
      if (asked === null) return lines;
      const { id, due, onAnswer } = asked;
      const at = lines.findIndex((line) => isAnswer(line, id));
      if (at < 0) return lines;
      asked = null;
      due.close();
      onAnswer();
      return lines.toSpliced(at, 1);
    },
    touch() {
      if (asked !== null && !asked.isTaken) asked.due.touch();
    },
    setReading(isOn) {
      isReading = isOn;
      if (isOn) asked?.due.release();
      else asked?.due.hold();
    },
    close() {
      clearTimeout(nextPing);
      asked?.due.close();
      asked = null;
    },
  };
}

export function inSeconds(ms: number): string {
  return `${ms / 1_000} s`;
}
