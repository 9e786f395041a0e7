/**
 * A queue with an async reader: what arrives waits for the reader, and the reader
 * for what arrives. It counts what it holds, so that whoever fills it can stop in
 * time; what it holds is still handed out after it has ended with an error.
 */
export interface Sequence<T> {
  readonly size: number;
  /** Characters held, as told by `push`. */
  readonly chars: number;
  push(value: T, chars: number): void;
  next(): Promise<IteratorResult<T, undefined>>;
  /** No more is to come; the reader is told after it has read what is there. */
  fail(error: unknown): void;
  /** The reader has left: what is held is dropped. */
  stop(): void;
}

interface Waiter<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

interface Ending {
  readonly error: unknown;
  /** Whether a reader has yet to be told of the error. */
  readonly isFailure: boolean;
}

const DONE = { done: true, value: undefined } as const;
const ENDED: Ending = { error: null, isFailure: false };

export function createSequence<T>(): Sequence<T> {
  const waiters: Waiter<T>[] = [];
  let held: (readonly [value: T, chars: number])[] = [];
  let head = 0;
  let chars = 0;
  let ending: Ending | null = null;

  function take(): T {
    const [value, size] = held[head++] as readonly [T, number];
    chars -= size;
    // Cutting the front off only now and then keeps taking cheap.
    if (head >= 1024 && head * 2 > held.length) {
      held = held.slice(head);
      head = 0;
    }
    return value;
  }

  function end(error: unknown, isFailure: boolean): void {
    if (ending !== null) return;
    const [first, ...others] = waiters.splice(0);
    // One reader is told of the failure; asking on after that finds the end.
    ending = { error, isFailure: isFailure && first === undefined };
    if (isFailure) first?.reject(error);
    else first?.resolve(DONE);
    for (const other of others) other.resolve(DONE);
  }

  return {
    get size() {
      return held.length - head;
    },
    get chars() {
      return chars;
    },
    push(value, size) {
      if (ending !== null) return;
      const waiter = waiters.shift();
      if (waiter !== undefined) {
        waiter.resolve({ done: false, value });
        return;
      }
      held.push([value, size]);
      chars += size;
    },
    next() {
      if (head < held.length) return Promise.resolve({ done: false, value: take() });
      if (ending === null) {
        return new Promise((resolve, reject) => waiters.push({ resolve, reject }));
      }
      const { error, isFailure } = ending;
      ending = ENDED;
      return isFailure ? Promise.reject(error) : Promise.resolve(DONE);
    },
    fail: (error) => end(error, true),
    stop() {
      held = [];
      head = 0;
      chars = 0;
      end(null, false);
      ending = ENDED;
    },
  };
}
