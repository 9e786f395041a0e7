/**
 * The bounds of the law of gates. Open gates are shared out among those who ask; what has ended is
 * remembered for a while, so that whoever comes late is told who decided and when.
 */
export const GATES_MAX = 10_000;
export const GATES_PER_AGENT_MAX = 1_000;
/** Gates that have ended: of one asker, and of all together; the oldest are forgotten first. */
export const ENDED_GATES_PER_AGENT_MAX = 100;
export const ENDED_GATES_MAX = 5_000;
export const GATE_WORD_CHARS_MAX = 256;
export const GATE_SUBJECT_CHARS_MAX = 4_096;
export const GATE_REASON_CHARS_MAX = 2_048;
/** How many different people a gate may ask for, and how many it may name. */
export const GATE_COUNT_LIST_MAX = 5;
export const GATE_NAMES_LIST_MAX = 16;

export const GATE_DEADLINE_MS = 86_400_000;
export const GATE_DEADLINE_MS_MIN = 1_000;
export const GATE_DEADLINE_MS_MAX: number = 30 * 86_400_000;
/** An approval that nobody used is no approval after this. */
export const APPROVAL_MS = 900_000;
/** Gates that end at one look; the next takes the rest. */
export const GATES_AT_ONCE_MAX = 256;

export const PEOPLE_MAX = 100;
export const VERIFIER_CHARS_MAX = 512;
export const PASSKEYS_PER_PERSON_MAX = 8;
/** Of an id, and of a public key: an RSA key of 4,096 bits in base64url has some 750. */
export const PASSKEY_CHARS_MAX = 1_400;
export const PASSKEY_LABEL_CHARS_MAX = 64;
/** How long a proof to be a person lasts, unless the space says otherwise. */
export const PROOF_MS = 900_000;
