/**
 * The bounds of sessions. Sessions and their items are shared out among those who create them; what one
 * session may hold is told by the refusal together with the way out, `sessions.compact` [SN7].
 */
export const SESSIONS_MAX = 100_000;
/** Places in histories that are kept in memory, of all live sessions together. */
export const SESSION_ITEMS_MAX = 2_000_000;
export const ITEMS_PER_SESSION_MAX = 10_000;
/** Items of one append, and of a seed. */
export const APPENDED_ITEMS_LIST_MAX = 100;
/** Calls without a result, at one time. */
export const OPEN_CALLS_PER_SESSION_MAX = 128;
export const SHARED_PER_SESSION_MAX = 64;
/** Sessions that are over and can still be read. */
export const ENDED_SESSIONS_MAX = 10_000;
export const SESSION_KEY_CHARS_MAX = 256;
export const CALL_WORD_CHARS_MAX = 256;
export const HANDOFF_WHY_CHARS_MAX = 1_024;
/** Claims that go along with one hand-off. */
export const HANDOFF_CLAIMS_LIST_MAX = 64;

/** How long after its last change a session is kept, unless its creator says otherwise; 0 is for ever. */
export const SESSION_TTL_MS: number = 30 * 86_400_000;
export const SESSION_TTL_MS_MIN = 1_000;
export const SESSION_TTL_MS_LONGEST: number = 3_650 * 86_400_000;
/** How often a session may come back to one who held it before, until a person looks [HO5]. */
export const HANDOFF_RETURNS = 4;
/** Of how many holders that is remembered. */
export const HANDOFF_TRAIL = 32;
