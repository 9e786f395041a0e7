/** The bounds of runs, their steps, signals and queues. Reaching one is a refusal that names it. */
/** Runs of all starters that are not over; 100,000 that sleep are nothing out of the ordinary. */
export const RUNS_MAX = 250_000;
export const RUNS_PER_AGENT_MAX = 150_000;
/** What the journals of runs take in memory that are not over: names and keys of steps, not their results. */
export const JOURNAL_CHARS_MAX = 400_000_000;
/** Runs that are over and can still be looked at, retried and forked. */
export const ENDED_RUNS_MAX = 10_000;
export const ENDED_RUNS_PER_AGENT_MAX = 2_000;
export const ENDED_CHARS_PER_AGENT_MAX = 20_000_000;
export const STEPS_PER_RUN_MAX = 10_000;
/** Runs that a run started and that are not over. */
export const CHILDREN_PER_RUN_MAX = 1_000;
/** What one call cancels of a run, its children and theirs. */
export const FAMILY_AT_ONCE_MAX = 5_000;
/** Waits of one run that have not been taken up. */
export const WAITS_PER_RUN_MAX = 1_000;
/** Signals that came before anybody waited for them. */
export const SIGNALS_PER_RUN_MAX = 64;
export const SIGNALS_PER_SENDER_MAX = 16;
export const QUEUES_MAX = 1_000;
export const QUEUE_EXECUTORS_LIST_MAX = 64;
/** What a queue counts of: first takes within `per_ms`. */
export const RATE_LIST_MAX = 1_000;
export const ENTRIES_LIST_MAX = 256;
export const TAKE_LIST_MAX = 100;
export const HELD_RUNS_LIST_MAX = 1_000;
export const WORKFLOWS_LIST_MAX = 256;
export const STEP_NAMES_LIST_MAX = 1_000;

export const RUN_ID_CHARS_MAX = 128;
export const WORKFLOW_NAME_CHARS_MAX = 128;
export const VERSION_CHARS_MAX = 64;
export const STEP_NAME_CHARS_MAX = 128;
export const STEP_KEY_CHARS_MAX = 256;
export const STEP_KIND_CHARS_MAX = 16;
export const QUEUE_NAME_CHARS_MAX = 64;
export const RUN_KEY_CHARS_MAX = 256;
export const SIGNAL_NAME_CHARS_MAX = 128;
export const EXECUTOR_CHARS_MAX = 128;
export const RUN_REASON_CHARS_MAX = 400;
export const DIFFERENCE_CHARS_MAX = 1_000;
export const ERROR_NAME_CHARS_MAX = 128;
export const ERROR_MESSAGE_CHARS_MAX = 4_000;
/** An input, a result, the value of a signal. */
export const RESULT_BYTES_MAX: number = 1024 * 1024;

export const RUN_LEASE_MS = 30_000;
export const RUN_LEASE_MS_SHORTEST = 1_000;
export const RUN_LEASE_MS_LONGEST = 86_400_000;
/** A year: who waits longer waits again. */
export const SLEEP_MS_MAX: number = 366 * 86_400_000;
export const PRIORITY_HIGHEST = 100;
/** So long a wait is worth one step of priority, so that nobody waits for ever [WF12]. */
export const AGEING_MS = 10_000;
/** So many executors lost in a row without a step between them, and the run is stuck [WF7]. */
export const LAPSES_IN_A_ROW = 10;
export const WAKES_AT_ONCE_MAX = 128;
