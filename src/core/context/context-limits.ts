/** The bounds of context. Reaching one is a refusal that names it, and says what makes room. */
export const NAMESPACE_CHARS_MAX = 256;
export const CONTEXT_KEY_CHARS_MAX = 256;
/** One value as JSON; what is longer is stored elsewhere, and here is where. */
export const CONTEXT_VALUE_BYTES_MAX = 262_144;
export const CONTEXT_VALUE_DEPTH_MAX = 64;
export const KEYS_PER_NAMESPACE_MAX = 10_000;
/** Bytes of all values that a namespace holds now. */
export const BYTES_PER_NAMESPACE_MAX: number = 32 * 1_048_576;
/** Keys of a space, and the bytes of their values; each writer has its share of both. */
export const CONTEXT_KEYS_MAX = 200_000;
export const CONTEXT_VOLUME_MAX: number = 1_024 * 1_048_576;
/** Namespaces that hold nothing now and whose past can still be read; and as many that were forgotten. */
export const EMPTY_NAMESPACES_MAX = 10_000;
/** Keys that one call takes away, and that lapse at one look. */
export const DELETED_AT_ONCE_MAX = 1_000;
/** Changes between a snapshot and now that one call walks back over. */
export const CHANGES_WALKED_AT_ONCE_MAX = 10_000;
/** And the bytes of their values. */
export const WALKED_BYTES_MAX: number = 32 * 1_048_576;
export const CONTEXT_TTL_MS_MIN = 1_000;
export const CONTEXT_TTL_MS_MAX: number = 366 * 86_400_000;
