/** The bounds of waking: every one of them is an end of some loop that others have fallen into. */

/** How long an agent is left alone after it went idle: its person may be about to speak [WA3]. */
export const SETTLE_MS = 500;
/** How long mail is gathered, so that what comes together wakes once. */
export const GATHER_MS = 75;
/** A wake that nobody confirmed within this time did not happen. */
export const CONFIRM_MS = 10_000;
/** How often one message may be the reason. */
export const WAKES_PER_MESSAGE_MAX = 2;
/** So many in this time for one agent, whatever for. */
export const WAKES_PER_WINDOW_MAX = 10;
export const WINDOW_MS = 600_000;
/** At least so long between two; doubled for each wake in a row that led to no reading. */
export const GAP_MS = 2_000;
/** After so many in a row without reading there are none until the agent reads. */
export const FRUITLESS_MAX = 3;
/** What a wake looks at. */
export const WAKE_LOOK = 20;
/** For one attempt by one means. */
export const ATTEMPT_MS = 3_000;
