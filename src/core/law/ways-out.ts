/**
 * How each bound of the law empties, or what to do about it: the end of every refusal with the code
 * `limit.reached` [GA7], and the table in docs/reference/limits.md. It is complete by its type: a bound
 * that is exported and not here does not compile.
 */
import type * as context from '../context/context-limits.ts';
import type * as gates from '../gates/gate-limits.ts';
import type * as processes from '../processes/process-limits.ts';
import type * as sessions from '../sessions/session-limits.ts';
import type * as threads from '../threads/thread-limits.ts';
import type * as turns from '../turns/turn-limits.ts';
import type * as claims from '../work/claim/claim-limits.ts';
import type * as work from '../work/work-limits.ts';
import type * as workflows from '../workflows/workflow-limits.ts';
import type * as law from './limits.ts';

type Exported =
  | keyof typeof law
  | keyof typeof work
  | keyof typeof claims
  | keyof typeof gates
  | keyof typeof turns
  | keyof typeof processes
  | keyof typeof context
  | keyof typeof sessions
  | keyof typeof workflows
  | keyof typeof threads;
export type BoundName = Extract<Exported, `${string}_MAX`>;

/** Bounds that nobody fills for others: of one text, page, thing, agent or look … */
type OfOne =
  | Extract<BoundName, `${string}_${'CHARS' | 'BYTES' | 'DEPTH' | 'MS' | 'LIST' | 'ROWS'}_MAX`>
  | Extract<BoundName, `${string}_${'NAMED' | 'SHOWN' | 'AT_ONCE'}_MAX` | `${string}_PER_${string}`>
  | 'CARD_SKILLS_MAX'
  | 'DELIVERIES_MAX'
  | 'DRAIN_MESSAGES_MAX'
  | 'GROUP_MEMBERS_MAX'
  | 'OFFER_CAPACITY_MAX'
  | 'RECALLED_IDS_MAX'
  | 'REOFFERS_MAX'
  | 'REPLAY_MESSAGES_MAX'
  | 'ROLES_MAX'
  | 'RUNNERS_UP_MAX';

/** … those that forget the oldest, and those that the owner or a person fills. */
type Forgetful =
  | 'FATES_REMEMBERED_MAX'
  | 'CLAIM_KEYS_MAX'
  | 'DEFINITIONS_MAX'
  | 'DOCKET_CLOSED_KEPT_MAX'
  | 'EMPTY_NAMESPACES_MAX'
  | 'ENDED_GATES_MAX'
  | 'ENDED_INSTANCES_MAX'
  | 'ENDED_SESSIONS_MAX'
  | 'ENDED_RUNS_MAX'
  | 'INHERITED_MAX'
  | 'INSTANCES_MAX'
  | 'MANAGED_AGENTS_MAX'
  | 'NOTES_KEPT_MAX'
  | 'REPLIES_REMEMBERED_MAX'
  | 'RETIRED_CHANNELS_MAX'
  | 'PEOPLE_MAX'
  | 'PASSKEYS_PER_PERSON_MAX'
  | 'QUEUES_MAX'
  | 'RETRY_KEYS_MAX'
  | 'SPACES_MAX'
  | 'CLUSTER_SERVERS_MAX'
  | 'TURNS_KEPT_MAX';

/** Whatever else is exported is filled by all agents of a space together: see shares.ts [SH1]. */
export type SharedBound =
  | Exclude<BoundName, OfOne | Forgetful>
  | 'PLAN_CHARS_MAX'
  | 'DESCRIBED_CHARS_MAX'
  | 'JOURNAL_CHARS_MAX';
export type OwnBound = Exclude<BoundName, SharedBound>;

const SHORTER = 'make the text shorter';
const FEWER = 'ask for fewer; the next call goes on';
const OLDEST_GO = 'the oldest are forgotten first';
const MOST_GO = 'whoever has the most there gives up its oldest';
const OWN_GO =
  'its own oldest are forgotten first; claims.forget or memory_retention_ms of spaces.configure takes them away';
const OLD_CONTEXT =
  'take some away with context.delete, or set them with a ttl; agents.remove with with_channels takes what one agent wrote';
const NEWER = 'begin at a newer snapshot, or compare what context.list tells at both';
const NEXT_LOOK = 'the next look takes the rest';
const SMALLER_CARD = 'advertise a smaller card with cards.advertise';

export const WAYS_OUT: Readonly<Record<BoundName, string>> = {
  CHANNEL_NAME_CHARS_MAX: SHORTER,
  CORRELATION_ID_CHARS_MAX: SHORTER,
  IDEMPOTENCY_KEY_CHARS_MAX: SHORTER,
  ACK_REASON_CHARS_MAX: SHORTER,
  INVITE_MESSAGE_CHARS_MAX: SHORTER,
  ROLES_MAX: 'give it fewer with agents.assign',
  ROLE_CHARS_MAX: SHORTER,
  BODY_BYTES_MAX: 'store it elsewhere and send where',
  BODY_DEPTH_MAX: 'flatten it, or send it as text',
  CHANNELS_MAX:
    'take idle ones away with channels.retire, or let them lapse by message_retention_ms of spaces.configure',
  AGENTS_MAX:
    'take away those that are gone with agents.remove, or let them lapse sooner by agent_idle_ms of spaces.configure',
  GROUPS_MAX: 'dissolve one with group.remove; one that nobody is left in lapses',
  GROUP_MEMBERS_MAX: 'a member leaves with group.leave, or make another group with group.create',
  GROUP_INVITATIONS_PER_AGENT_MAX:
    'whoever was invited joins or declines with group.leave; the creator of the group may invite more',
  GLOB_CHARS_PER_AGENT_MAX:
    'drop some with channels.unsubscribe, or begin your globs with the names they share',
  SUBSCRIPTIONS_PER_AGENT_MAX: 'drop some with channels.unsubscribe, or use one glob for many',
  TOKENS_MAX: 'end one with tokens.revoke: the oldest that is revoked makes room',
  SPACES_MAX: 'take one away with spaces.remove',
  CLUSTER_SERVERS_MAX:
    'take a server out, or a token back that nobody will use: synod cluster revoke NAME or ID',
  FATES_REMEMBERED_MAX: MOST_GO,
  READERS_NAMED_MAX: 'the others are not named; receipts.get tells of each',
  REPLIES_REMEMBERED_MAX: MOST_GO,
  REPLIERS_PER_MESSAGE_MAX: 'later repliers are not remembered; their messages are kept',
  IDEMPOTENCY_KEYS_MAX:
    'wait until the oldest is forgotten, or shorten idempotency_ttl_ms with spaces.configure',
  RETRY_KEYS_MAX: MOST_GO,
  HELD_MESSAGES_MAX:
    'a person decides with held.review; the rest expire after held_ttl_ms of spaces.configure',
  HELD_PER_CHANNEL_MAX:
    'a person decides with held.review; when those that were refused fill it, use another channel or channels.retire',
  RETIRED_CHANNELS_MAX: MOST_GO,
  DOCKET_ITEMS_MAX: 'a person decides, answers or closes with docket.close',
  DOCKET_ITEMS_PER_AGENT_MAX:
    'the rest is counted on its newest item; a person closes with docket.close',
  SUBJECTS_PER_ITEM_MAX: 'a person decides or closes; the rest is counted',
  QUESTIONS_PER_AGENT_MAX:
    'a person answers with docket.close, or give questions a time with until',
  DOCKET_CLOSED_KEPT_MAX: OLDEST_GO,
  DOCKET_TEXT_CHARS_MAX: SHORTER,
  DOCKET_REASON_CHARS_MAX: SHORTER,
  QUESTION_UNTIL_MS_MAX: 'ask again later with docket.raise',
  LEASED_PER_AGENT_MAX: 'settle some with channels.ack, or wait until their leases run out',
  LEASE_MS_MAX: 'ask for a shorter lease and take the message again',
  SKIPPED_PER_MEMBER_MAX: 'the oldest are passed by, and their receipts say so',
  DELIVERIES_MAX: 'settle it with channels.ack; after that it is dead and its receipt says so',
  LAPSES_PER_LOOK_MAX: NEXT_LOOK,
  DRAIN_MESSAGES_MAX: FEWER,
  REPLAY_MESSAGES_MAX: FEWER,
  THREAD_DEPTH_MAX: 'read further up with channels.replay',
  GATES_MAX:
    'people decide with gates.decide; every gate but one without a deadline ends by itself',
  GATES_PER_AGENT_MAX: 'take some back with gates.withdraw, or let their deadlines pass',
  ENDED_GATES_PER_AGENT_MAX: OLDEST_GO,
  ENDED_GATES_MAX: OLDEST_GO,
  GATE_WORD_CHARS_MAX: SHORTER,
  PASSKEY_CHARS_MAX: SHORTER,
  PASSKEY_LABEL_CHARS_MAX: SHORTER,
  GATE_SUBJECT_CHARS_MAX: 'name the thing and its place; payload_hash stands for the whole of it',
  GATE_REASON_CHARS_MAX: SHORTER,
  GATE_COUNT_LIST_MAX: 'ask for fewer people',
  GATE_NAMES_LIST_MAX: 'name fewer people, or nobody, so that any of them decides',
  GATE_DEADLINE_MS_MAX: 'ask anew when it has expired, or ask with the deadline never',
  GATES_AT_ONCE_MAX: NEXT_LOOK,
  PEOPLE_MAX: 'take one away with people.remove',
  PASSKEYS_PER_PERSON_MAX: 'take one away with people.passkey_remove',
  VERIFIER_CHARS_MAX: SHORTER,
  TASK_ID_CHARS_MAX: SHORTER,
  TASK_TITLE_CHARS_MAX: SHORTER,
  TASK_DESCRIPTION_CHARS_MAX: SHORTER,
  PROJECT_CHARS_MAX: SHORTER,
  TASKS_MAX: 'take away what has ended with plan.remove',
  TASKS_PER_PROJECT_MAX: 'take away what has ended with plan.remove, or use another project',
  DEPENDENCIES_PER_TASK_MAX: 'put a task between them with plan.declare',
  DEPENDENCIES_MAX: 'take away what has ended with plan.remove',
  PLAN_CHARS_MAX: 'take away what has ended with plan.remove, or redeclare it shorter',
  CYCLE_NAMED_MAX: 'a longer cycle is named by its beginning and its end',
  NOTES_KEPT_MAX: 'older notes are in the log alone',
  NOTE_CHARS_MAX: SHORTER,
  PAGE_ROWS_MAX: FEWER,
  PAGE_BYTES_MAX: FEWER,
  REOFFERS_MAX: 'a person looks and moves the task with plan.update',
  SUPERVISED_AT_ONCE_MAX: NEXT_LOOK,
  OFFERS_PER_AGENT_MAX: 'take one back with offers.withdraw, or let it expire',
  OFFERS_MAX: 'take some back with offers.withdraw, or let them expire',
  OFFER_NAME_CHARS_MAX: SHORTER,
  OFFER_CAPACITY_MAX: 'offer less, or offer it twice under two names',
  OFFER_TTL_MS_MAX: 'make the offer again with offers.make before it expires',
  META_BYTES_MAX: 'store it elsewhere and say where',
  CARDS_MAX:
    'take one back with cards.withdraw; the card of an agent that is offline goes by itself',
  CARD_BYTES_MAX: SMALLER_CARD,
  CARD_SKILLS_MAX: SMALLER_CARD,
  CARD_LIST_MAX: SMALLER_CARD,
  RUNNERS_UP_MAX: 'see all cards with cards.manifest',
  STATEMENT_CHARS_MAX: SHORTER,
  FINDING_WORD_CHARS_MAX: SHORTER,
  FINDING_REF_CHARS_MAX: SHORTER,
  FINDING_LIST_MAX: 'record it as several with findings.record',
  RECALLED_IDS_MAX: 'log it as several with findings.recall',
  QUERY_CHARS_MAX: SHORTER,
  GUARD_LIST_MAX: 'tell the rest with another guard.record',
  GUARD_NAME_CHARS_MAX: SHORTER,
  GUARD_TEXT_CHARS_MAX: 'what is longer is cut',
  CLAIM_ID_CHARS_MAX: SHORTER,
  CLAIMS_PER_AGENT_MAX: 'let some go with claims.release, or let their leases lapse',
  CLAIMS_MAX: 'holders let go with claims.release; every lease lapses by itself',
  CLAIM_TEXT_CHARS_MAX: SHORTER,
  CHECKPOINT_CHARS_MAX: 'store it elsewhere and say where',
  EVIDENCE_CHARS_MAX: 'store it elsewhere and say where',
  INHERITED_MAX: MOST_GO,
  INHERITED_PER_AGENT_MAX: OWN_GO,
  INHERITED_CHARS_MAX: MOST_GO,
  INHERITED_CHARS_PER_AGENT_MAX: OWN_GO,
  TTL_MS_MAX: 'renew it with claims.take before it lapses',
  WAITS_PER_AGENT_MAX: 'leave a queue with claims.unwait, or let a wait lapse',
  WAITS_MAX: 'waiters leave with claims.unwait; every wait lapses by itself',
  CLAIM_KEYS_PER_AGENT_MAX: OLDEST_GO,
  CLAIM_KEYS_MAX: OLDEST_GO,
  CLAIM_KEY_CHARS_MAX: SHORTER,
  OVERLAPS_SHOWN_MAX: 'the rest is not shown; claims.check asks about one path',
  LAPSES_AT_ONCE_MAX: NEXT_LOOK,
  MANAGED_AGENTS_MAX: 'end it for one with agents.unmanage',
  TURNS_KEPT_MAX: 'of those that have ended the oldest are forgotten first',
  MESSAGES_PER_TURN_MAX: 'the rest make the next turn',
  PENDING_PER_AGENT_MAX: 'the agent is parked; a person resumes it with turns.resume',
  RUNNER_BYTES_MAX: 'keep what is long in a file and name it',
  WAKE_PATTERNS_LIST_MAX: 'use one glob for many',
  WAKE_PATTERN_CHARS_MAX: SHORTER,
  TURN_TOOLS_LIST_MAX: 'list fewer operations, or leave tools out',
  TURN_NOTE_CHARS_MAX: SHORTER,
  TURN_WORD_CHARS_MAX: SHORTER,
  TURN_OUTPUT_CHARS_MAX: SHORTER,
  DEFINITIONS_MAX: 'take one away with agents.undefine',
  INSTANCES_PER_AGENT_MAX: 'end one with agents.stop',
  INSTANCES_MAX: 'end one with agents.stop; one whose host is gone fails by itself',
  ENDED_INSTANCES_MAX: OLDEST_GO,
  CAPABILITIES_LIST_MAX: 'name fewer in agents.define',
  CAPABILITY_CHARS_MAX: SHORTER,
  INSTANCE_REASON_CHARS_MAX: SHORTER,
  INSTANCE_LINES_LIST_MAX: 'send only the last lines with agents.report',
  INSTANCE_LINE_CHARS_MAX: SHORTER,
  HOST_CHARS_MAX: SHORTER,
  NAMESPACE_CHARS_MAX: SHORTER,
  CONTEXT_KEY_CHARS_MAX: SHORTER,
  CONTEXT_VALUE_BYTES_MAX: 'store it elsewhere and say where',
  CONTEXT_VALUE_DEPTH_MAX: 'flatten it, or set it as text',
  KEYS_PER_NAMESPACE_MAX:
    'take some away with context.delete, one key or all with a prefix; or use another namespace',
  BYTES_PER_NAMESPACE_MAX:
    'take some away with context.delete, one key or all with a prefix; or use another namespace',
  CONTEXT_KEYS_MAX: OLD_CONTEXT,
  CONTEXT_VOLUME_MAX: OLD_CONTEXT,
  EMPTY_NAMESPACES_MAX: MOST_GO,
  DELETED_AT_ONCE_MAX: 'the answer says that there is more; ask again',
  CHANGES_WALKED_AT_ONCE_MAX: NEWER,
  WALKED_BYTES_MAX: NEWER,
  CONTEXT_TTL_MS_MAX: 'set it again before it lapses, or without a ttl',
  SESSIONS_MAX: 'end some with sessions.close; others lapse by themselves',
  SESSION_ITEMS_MAX:
    'put a summary in the place of old items with sessions.compact, or end some with sessions.close',
  ITEMS_PER_SESSION_MAX:
    'put a summary in the place of the oldest with sessions.compact; the originals are kept',
  APPENDED_ITEMS_LIST_MAX: 'append the rest with the next sessions.append',
  OPEN_CALLS_PER_SESSION_MAX: 'append the results of some with sessions.append first',
  SHARED_PER_SESSION_MAX: 'take one back with sessions.share, access none',
  ENDED_SESSIONS_MAX: MOST_GO,
  SESSION_KEY_CHARS_MAX: SHORTER,
  CALL_WORD_CHARS_MAX: SHORTER,
  HANDOFF_WHY_CHARS_MAX: SHORTER,
  HANDOFF_CLAIMS_LIST_MAX: 'name fewer in claims, and offer the rest with claims.handoff',
  RUNS_MAX: 'runs end by themselves; end one with workflows.cancel',
  RUNS_PER_AGENT_MAX: 'end one with workflows.cancel, or wait until some are over',
  JOURNAL_CHARS_MAX: 'end runs with workflows.cancel; what is over makes room',
  ENDED_RUNS_MAX: OLDEST_GO,
  ENDED_RUNS_PER_AGENT_MAX: OLDEST_GO,
  ENDED_CHARS_PER_AGENT_MAX: OLDEST_GO,
  STEPS_PER_RUN_MAX: 'go on in a run of its own with workflows.start and a parent',
  CHILDREN_PER_RUN_MAX: 'wait until some are over, or end one with workflows.cancel',
  FAMILY_AT_ONCE_MAX:
    'cancel the rest with workflows.cancel; workflows.list finds the runs of a parent',
  WAITS_PER_RUN_MAX: 'wait for some in a run of its own, with workflows.start and a parent',
  SIGNALS_PER_RUN_MAX: 'the run takes them up one by one; workflows.get says where it is',
  SIGNALS_PER_SENDER_MAX: 'the run takes yours up one by one; workflows.get says where it is',
  QUEUES_MAX: 'take one away with workflows.queue and remove',
  QUEUE_EXECUTORS_LIST_MAX: 'name fewer, or give them the tier trusted',
  RATE_LIST_MAX: 'say a smaller limit per shorter time',
  ENTRIES_LIST_MAX: 'record the rest with the next workflows.record',
  TAKE_LIST_MAX: FEWER,
  HELD_RUNS_LIST_MAX: 'name the rest in another call',
  WORKFLOWS_LIST_MAX: 'take for the rest in another call',
  STEP_NAMES_LIST_MAX: 'name fewer',
  RUN_ID_CHARS_MAX: SHORTER,
  WORKFLOW_NAME_CHARS_MAX: SHORTER,
  VERSION_CHARS_MAX: SHORTER,
  STEP_NAME_CHARS_MAX: SHORTER,
  STEP_KEY_CHARS_MAX: SHORTER,
  STEP_KIND_CHARS_MAX: SHORTER,
  QUEUE_NAME_CHARS_MAX: SHORTER,
  RUN_KEY_CHARS_MAX: SHORTER,
  SIGNAL_NAME_CHARS_MAX: SHORTER,
  EXECUTOR_CHARS_MAX: SHORTER,
  RUN_REASON_CHARS_MAX: SHORTER,
  DIFFERENCE_CHARS_MAX: SHORTER,
  ERROR_NAME_CHARS_MAX: SHORTER,
  ERROR_MESSAGE_CHARS_MAX: SHORTER,
  RESULT_BYTES_MAX: 'store it elsewhere and record where',
  SLEEP_MS_MAX: 'wait again when it is over',
  WAKES_AT_ONCE_MAX: NEXT_LOOK,
  MARK_NOTE_CHARS_MAX: 'say the rest in a message of the thread before it is closed',
  PINS_PER_CHANNEL_MAX: 'take one off with threads.mark unpin',
  PINS_PER_AGENT_MAX: 'take one of yours off with threads.mark unpin',
  OWNERS_NAMED_MAX: 'name fewer; a person marks what is left',
  TITLE_CHARS_MAX: SHORTER,
  DESCRIPTION_CHARS_MAX: SHORTER,
  POST_TYPES_LIST_MAX: 'name fewer types, or none, so that any will do',
  POST_TYPE_CHARS_MAX: SHORTER,
  POST_SCHEMA_CHARS_MAX: 'make the schema smaller',
  DESCRIBED_CHARS_MAX:
    'describe some channels shorter with channels.describe, or take idle ones away with channels.retire',
};
