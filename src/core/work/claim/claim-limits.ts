/**
 * The bounds of the law of claims. Reaching one is a refusal that names it; only what is
 * remembered for convenience (checkpoints of the past, idempotency keys) is forgotten instead,
 * oldest first.
 */
export const CLAIM_ID_CHARS_MAX = 256;
export const CLAIMS_PER_AGENT_MAX = 128;
export const CLAIMS_MAX = 100_000;
export const CLAIM_TEXT_CHARS_MAX = 4_096;
export const CHECKPOINT_CHARS_MAX: number = 64 * 1024;
export const EVIDENCE_CHARS_MAX: number = 64 * 1024;
/** Checkpoints that claims left behind, and the characters of them: of all, and of those one agent left. */
export const INHERITED_MAX = 10_000;
export const INHERITED_PER_AGENT_MAX = 1_000;
export const INHERITED_CHARS_MAX = 32_000_000;
export const INHERITED_CHARS_PER_AGENT_MAX = 4_000_000;

export const TTL_MS_DEFAULT = 3_600_000;
export const TTL_MS_MIN = 30_000;
export const TTL_MS_MAX = 86_400_000;

/** What lapses together is recorded in steps of so much, each followed by the turns it brings. */
export const LAPSES_AT_ONCE_MAX = 256;

export const WAITS_PER_AGENT_MAX = 16;
export const WAITS_MAX = 4_096;
/** How long a waiter whose turn has come may take what it waited for before anybody else. */
export const RESERVATION_MS = 60_000;

export const CLAIM_KEYS_PER_AGENT_MAX = 256;
export const CLAIM_KEYS_MAX = 16_384;
export const CLAIM_KEY_CHARS_MAX = 256;

/** How many overlapping pairs of paths a refusal shows. */
export const OVERLAPS_SHOWN_MAX = 8;
