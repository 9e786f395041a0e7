/** The bounds of threads, marks and descriptions. */
export const MARK_NOTE_CHARS_MAX = 4_096;
/** Pinned threads of one channel, and those that one agent pinned there. */
export const PINS_PER_CHANNEL_MAX = 1_000;
export const PINS_PER_AGENT_MAX = 50;
/** Names in a root's `owners`; those beyond may mark nothing. */
export const OWNERS_NAMED_MAX = 32;

export const TITLE_CHARS_MAX = 200;
export const DESCRIPTION_CHARS_MAX = 2_000;
export const POST_TYPES_LIST_MAX = 64;
export const POST_TYPE_CHARS_MAX = 64;
export const POST_SCHEMA_CHARS_MAX = 65_536;
/** What all descriptions of channels of a space are together, in characters. */
export const DESCRIBED_CHARS_MAX = 16_000_000;
