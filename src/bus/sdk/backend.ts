/**
 * A backend: one line to one bus, wherever that bus runs. The SDK above it speaks messages; the
 * backend brings lines there and back, and says when the line breaks.
 *
 *   [SD1] `open` ends when the bus takes messages, or throws why not and leaves nothing behind;
 *   [SD2] `send` never blocks; false means the line was not taken and cannot have been seen;
 *   [SD3] a line that breaks is told once by `onDown`; with `willReturn` an `onUp` or a last `onDown`
 *         follows;
 *   [SD4] `stop` lets answers still under way arrive, and after it nothing of the backend is left.
 */
import type { ByteLine } from '../process/byte-line.ts';
import type { BusLogLine } from '../router/bus.ts';
import type { StdioBusError } from './errors.ts';
import type { BackendType, Dialect, ListenMode, StdioBusCounts, StdioBusStats } from './states.ts';

export type LogLevel = BusLogLine['level'];

export interface BackendEvents {
  onLines(lines: readonly ByteLine[]): void;
  /** The line is gone; what was sent may have run. */
  onDown(problem: StdioBusError, willReturn: boolean): void;
  /** The line is there again: the bus knows nothing of this client yet. */
  onUp(): void;
  onLog(level: LogLevel, text: string): void;
  /** About what this program gave: it is heard also where no log is. */
  onWarning(text: string): void;
}

/** What the backend knows without asking over the wire. */
export interface BackendLook {
  readonly stats: StdioBusStats;
  readonly counts: StdioBusCounts;
}

export interface Backend {
  readonly type: BackendType;
  readonly dialect: Dialect;
  readonly listenMode: ListenMode;
  /** Bytes that `send` took and the other side has not. */
  readonly queuedBytes: number;
  /** What the bus takes as one message; null when this side cannot know. */
  readonly messageBytesMax: number | null;
  /** Takes nothing more, and `onDown` with the reason is about to come. */
  readonly isEnding?: boolean;
  open(events: BackendEvents): Promise<void>;
  send(line: ByteLine): boolean;
  stop(timeoutMs: number): Promise<void>;
  /** At once, without waiting for anything. Safe to call twice, and before `open`. */
  destroy(): void;
  /** Null when the bus must be asked over the wire. */
  look(): BackendLook | null;
  /** The last lines the bus wrote to stderr, oldest first. */
  stderrTail(count: number): readonly string[];
}
