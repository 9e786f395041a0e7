/** How much the guard rails remember; of each the oldest is forgotten first. */

/** Messages of which the chain is known; threads; pairs; triggers of one agent; tasks and their cost. */
export const CHAINS_KEPT = 20_000;
export const THREADS_KEPT = 10_000;
export const PAIRS_KEPT = 10_000;
export const PAIR_TIMES_KEPT = 1_000;
export const TRIGGERS_KEPT = 256;
export const TASKS_KEPT = 10_000;
