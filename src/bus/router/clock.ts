/** Time, as an argument: the router's tests bring their own. */
export interface Clock {
  now(): number;
  /** Calls once after the time; answers how to call it off. A timer never keeps a process alive. */
  after(ms: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
