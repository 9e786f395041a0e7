/**
 * A deadline that is put off far more often than it is reached: touching it costs a look at the
 * clock, not a new timer. While it is held, time does not count: a worker cannot be late with an answer
 * that we do not read.
 */
const TIMER_MS_MAX = 2_147_483_647;

export interface Deadline {
  /** The time begins to run, or begins anew. */
  begin(): void;
  /** Puts it off, if it runs. */
  touch(): void;
  /** It does not run any more, until it begins again. */
  rest(): void;
  hold(): void;
  /** The whole time is given again. */
  release(): void;
  close(): void;
}

export function createDeadline(ms: number, onDue: () => void, isHeldNow = false): Deadline {
  let from = 0;
  let isRunning = false;
  let isHeld = isHeldNow;
  let timer: NodeJS.Timeout | null = null;

  const arm = (afterMs: number): void => {
    timer = setTimeout(look, timerMs(afterMs));
    // What is watched is a process, and that keeps us alive by itself.
    timer.unref();
  };
  const look = (): void => {
    timer = null;
    if (!isRunning || isHeld) return;
    const leftMs = from + ms - performance.now();
    if (leftMs > 0) return arm(leftMs);
    isRunning = false;
    onDue();
  };

  return {
    begin() {
      from = performance.now();
      isRunning = true;
      if (timer === null && !isHeld) arm(ms);
    },
    touch() {
      if (isRunning) from = performance.now();
    },
    rest() {
      isRunning = false;
    },
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      from = performance.now();
      if (isRunning && timer === null) arm(ms);
    },
    close() {
      isRunning = false;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** What a timer can hold: given more, Node would let it go off at once. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(0, Math.ceil(ms)), TIMER_MS_MAX);
}
