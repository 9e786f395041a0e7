/**
 * The bounds of turns, and their times. What is laid down for one agent: agent-limits.ts.
 */
export const MANAGED_AGENTS_MAX = 10_000;
/** Turns that are remembered; of those that have ended the oldest are forgotten first. */
export const TURNS_KEPT_MAX = 5_000;
/** Messages of one turn; the rest make the next one. */
export const MESSAGES_PER_TURN_MAX = 20;
/** Messages that may wake an agent and wait for its next turns. */
export const PENDING_PER_AGENT_MAX = 1_000;
export const RUNNER_BYTES_MAX = 262_144;
export const WAKE_PATTERNS_LIST_MAX = 64;
export const WAKE_PATTERN_CHARS_MAX = 256;
/** Operations that a turn of one agent may be limited to. */
export const TURN_TOOLS_LIST_MAX = 256;
export const TURN_NOTE_CHARS_MAX = 4_096;
export const TURN_WORD_CHARS_MAX = 1_024;
/** Of what a turn said so much is looked at. */
export const TURN_OUTPUT_CHARS_MAX = 65_536;

/** Turns that run at once where a space does not say otherwise. */
export const TURNS_AT_ONCE = 4;
/** A turn is due so long after the last message, and at the latest so long after the first [TN4]. */
export const GATHER_MS = 25;
export const GATHER_LONGEST_MS = 75;
/** A turn that was taken must show within this time that it runs [TN6]. */
export const START_LEASE_MS = 10_000;
/** How long a turn that failed waits before it is tried again; after the last of them it is dead [TN8]. */
export const BACKOFF_MS: readonly number[] = [2_000, 4_000, 8_000];
