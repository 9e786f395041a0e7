/**
 * The bounds of shared work: plan, offers, cards, findings. Reaching one is a
 * refusal with the code `limit.reached` that names it; text that is too long is
 * `input.invalid`. Together they bound memory, not only counts.
 */
export const TASK_ID_CHARS_MAX = 256;
export const TASK_TITLE_CHARS_MAX = 512;
export const TASK_DESCRIPTION_CHARS_MAX = 4_096;
export const PROJECT_CHARS_MAX = 256;
export const TASKS_MAX = 50_000;
export const TASKS_PER_PROJECT_MAX = 10_000;
export const DEPENDENCIES_PER_TASK_MAX = 128;
/** Dependencies of all tasks together: what a search for a cycle may have to walk. */
export const DEPENDENCIES_MAX = 200_000;
/** Characters of all tasks together. */
export const PLAN_CHARS_MAX = 32_000_000;
/** A longer cycle is named by its beginning and its end. */
export const CYCLE_NAMED_MAX = 32;

/** Notes kept in memory with their text; older ones are in the log alone. */
export const NOTES_KEPT_MAX = 5_000;
export const NOTE_CHARS_MAX = 4_096;

export const PAGE_ROWS_MAX = 500;
/** A page ends here even when its rows are fewer, so that it fits any frame. */
export const PAGE_BYTES_MAX = 262_144;

/** How often the supervisor looks, while there is anything to watch. */
export const SUPERVISE_EVERY_MS = 30_000;
export const STALLED_AFTER_MS = 300_000;
/** How often a task is offered again before a person must look. */
export const REOFFERS_MAX = 3;
/** Tasks one look of the supervisor handles; the next look takes the rest. */
export const SUPERVISED_AT_ONCE_MAX = 500;

export const OFFERS_PER_AGENT_MAX = 64;
export const OFFERS_MAX = 10_000;
export const OFFER_NAME_CHARS_MAX = 128;
export const OFFER_CAPACITY_MAX = 1_000_000_000;
export const OFFER_TTL_MS = 300_000;
export const OFFER_TTL_MS_MIN = 1_000;
export const OFFER_TTL_MS_MAX = 86_400_000;
export const META_BYTES_MAX = 8_192;

export const CARDS_MAX = 4_096;
export const CARD_BYTES_MAX = 32_768;
export const CARD_SKILLS_MAX = 64;
/** Tags, modes, classes, examples: entries of any one list on a card. */
export const CARD_LIST_MAX = 64;
export const RUNNERS_UP_MAX = 5;

export const STATEMENT_CHARS_MAX = 8_192;
export const FINDING_WORD_CHARS_MAX = 128;
export const FINDING_REF_CHARS_MAX = 2_048;
export const FINDING_LIST_MAX = 64;
export const RECALLED_IDS_MAX = 256;
export const QUERY_CHARS_MAX = 4_096;

/** Decisions of guards told at once. */
export const GUARD_LIST_MAX = 100;
export const GUARD_NAME_CHARS_MAX = 128;
/** Longer texts of a decision are cut. */
export const GUARD_TEXT_CHARS_MAX = 512;
