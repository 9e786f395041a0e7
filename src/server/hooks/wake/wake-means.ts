/**
 * A way to reach an idle session. An attempt that ended well was handed over, and that is all it says:
 * whether the session woke is known when its own hook tells us so [WA2].
 */

import type { WakeSettings } from '../../../wire/hook-settings.ts';
import type { Attention } from '../attention.ts';

/** For one attempt by one means. */
export const ATTEMPT_MS = 3_000;

export interface WakeRequest {
  readonly id: string;
  readonly attention: Attention;
  /** The quoted facts, with the id. */
  readonly text: string;
  readonly settings: WakeSettings;
}

export interface WakeMeans {
  readonly name: string;
  /** Whether the session could be reached this way at all. */
  isFor(attention: Attention, settings: WakeSettings): boolean;
  /** Null when it was handed over; else why it was not. */
  attempt(request: WakeRequest): Promise<string | null>;
}

/**
 * An agent that waits by itself, as with `synod arm`: its stream has already brought the message, so there
 * is nothing to send. It is given its time before anything else is tried.
 */
export const streamMeans: WakeMeans = {
  name: 'stream',
  isFor: ({ caller }) => (caller?.activity.connections ?? 0) > 0,
  attempt: () => Promise.resolve(null),
};
