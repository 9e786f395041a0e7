/** The bounds of definitions and instances. Reaching one is a refusal that names it. */
export const DEFINITIONS_MAX = 1_000;
/** Instances of one agent that are not over, whatever its definition says. */
export const INSTANCES_PER_AGENT_MAX = 100;
/** Instances of all agents that are not over. */
export const INSTANCES_MAX = 10_000;
/** Instances that are over and can still be looked at. */
export const ENDED_INSTANCES_MAX = 1_000;
export const CAPABILITIES_LIST_MAX = 64;
export const CAPABILITY_CHARS_MAX = 64;
/** What is kept of why an instance went, and of its last lines. */
export const INSTANCE_REASON_CHARS_MAX = 400;
export const INSTANCE_LINES_LIST_MAX = 10;
export const INSTANCE_LINE_CHARS_MAX = 200;
/** Who hosts it, in its own words: a machine and a number. */
export const HOST_CHARS_MAX = 128;

export const INSTANCE_LEASE_MS = 30_000;
export const INSTANCE_LEASE_MS_MIN = 1_000;
export const INSTANCE_LEASE_MS_LONGEST = 86_400_000;
/** So many failures without a healthy minute between them, and it is given up [IP7]. */
export const FAILURES_IN_A_ROW = 5;
export const HEALTHY_AFTER_MS = 60_000;

interface Range {
  readonly min: number;
  readonly max: number;
}

/** What the process of an instance may use, by name. Seconds, but for megabytes and a number of files. */
export const PROCESS_LIMITS: Readonly<Record<ProcessLimit, Range>> = {
  memory_mb: { min: 16, max: 1_048_576 },
  cpu: { min: 1, max: 31_536_000 },
  files: { min: 16, max: 1_048_576 },
  wall: { min: 1, max: 31_536_000 },
};

export type ProcessLimit = 'memory_mb' | 'cpu' | 'files' | 'wall';
/** One that is not there is not bounded. */
export type ProcessLimits = { readonly [K in ProcessLimit]?: number };
