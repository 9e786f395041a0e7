/**
 * Every bound of the law in one place. Reaching one is a refusal with the code
 * `limit.reached` (or a more telling one), never a surprise.
 */
export const CHANNEL_NAME_CHARS_MAX = 256;
export const CORRELATION_ID_CHARS_MAX = 128;
export const IDEMPOTENCY_KEY_CHARS_MAX = 256;
export const ACK_REASON_CHARS_MAX = 512;
export const INVITE_MESSAGE_CHARS_MAX = 1024;
export const ROLES_MAX = 16;
export const ROLE_CHARS_MAX = 64;

export const BODY_BYTES_MAX: number = 1024 * 1024;
export const BODY_DEPTH_MAX = 64;

export const CHANNELS_MAX = 100_000;
export const AGENTS_MAX = 100_000;
export const GROUPS_MAX = 10_000;
export const GROUP_MEMBERS_MAX = 1_000;
/** Invitations of one member, other than the creator, that nobody has taken yet. */
export const GROUP_INVITATIONS_PER_AGENT_MAX = 100;
export const SUBSCRIPTIONS_PER_AGENT_MAX = 1_000;
/** Characters of an agent's globs from the first wildcard on: each may be tried with each new channel. */
export const GLOB_CHARS_PER_AGENT_MAX = 8_192;
export const TOKENS_MAX = 10_000;
/** Spaces of one hub; removed ones do not count. */
export const SPACES_MAX = 256;
/** Servers of one cluster, and join tokens that may each become one. */
export const CLUSTER_SERVERS_MAX = 64;

/** Who was handed a message is named, up to so many. */
export const READERS_NAMED_MAX = 100;
/** How many messages with an ack, a reply or an unusual fate are remembered; older ones are forgotten in order. */
export const FATES_REMEMBERED_MAX = 200_000;
export const REPLIES_REMEMBERED_MAX = 100_000;
export const REPLIERS_PER_MESSAGE_MAX = 1_000;
export const IDEMPOTENCY_KEYS_MAX = 500_000;
/** Keys `retry:…`: remembered for minutes, the oldest forgotten first. */
export const RETRY_KEYS_MAX = 100_000;
export const RETRY_KEY_TTL_MS = 600_000;
export const HELD_MESSAGES_MAX = 10_000;
/** Messages of one channel that wait for a person or were never released: readers pass them by. */
export const HELD_PER_CHANNEL_MAX = 10_000;
/** Names of retired channels that are remembered, so that whoever asks is told. */
export const RETIRED_CHANNELS_MAX = 10_000;

/** Messages out on lease to one agent at once. */
export const LEASED_PER_AGENT_MAX = 10_000;
export const LEASE_MS_MIN = 1_000;
export const LEASE_MS_MAX = 3_600_000;
/** Messages that stay owed below the cursor of a member, because later ones were read first. */
export const SKIPPED_PER_MEMBER_MAX = 1_000;
/** A message that came back this often without an ack is dead. */
export const DELIVERIES_MAX = 5;

/** Items of the docket that wait, of one agent and of all; what comes beyond is counted on the newest. */
export const DOCKET_ITEMS_MAX = 20_000;
export const DOCKET_ITEMS_PER_AGENT_MAX = 100;
/** Things listed under one item; beyond it the agent gets another, or they are counted alone. */
export const SUBJECTS_PER_ITEM_MAX = 1_000;
/** Questions of one agent that no person has answered. */
export const QUESTIONS_PER_AGENT_MAX = 100;
/** Items that ended and can still be looked at. */
export const DOCKET_CLOSED_KEPT_MAX = 1_000;
export const DOCKET_TEXT_CHARS_MAX = 2_000;
export const DOCKET_REASON_CHARS_MAX = 200;
/** An agent makes one new item in this time. */
export const NEW_ITEM_EVERY_MS = 60_000;
export const QUESTION_UNTIL_MS_MAX: number = 30 * 86_400_000;

/** How often it is looked for what may lapse. */
export const SWEEP_EVERY_MS = 3_600_000;
/** Channels, groups, agents or held messages that lapse at one look; the next takes the rest. */
export const LAPSES_PER_LOOK_MAX = 500;

export const DRAIN_MESSAGES_MAX = 1_000;
export const REPLAY_MESSAGES_MAX = 1_000;
export const THREAD_DEPTH_MAX = 50;

export const DAY_MS = 86_400_000;
export const STALE_AFTER_MS = 30_000;
export const OFFLINE_AFTER_MS = 90_000;
