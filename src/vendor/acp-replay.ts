/**
 * What an ACP agent tells of the past when a session is loaded. The protocol has it told before the call is
 * answered; Gemini CLI answers first and tells afterwards, so that the past would be taken for the beginning of
 * the next turn. Nothing says when it is through but its silence.
 */
import { setTimeout as pause } from 'node:timers/promises';

const QUIET_MS = 300;
/** An agent that never falls silent is not waited for. */
const WAIT_MS_MAX = 10_000;

export interface Replay {
  /** Something of the past was told. */
  heard(): void;
  /** The call was answered: resolves when nothing more comes. */
  over(): Promise<void>;
}

export function createReplay(): Replay {
  let heardAt = 0;
  return {
    heard() {
      heardAt = performance.now();
    },
    async over() {
      const answeredAt = performance.now();
      for (;;) {
        const now = performance.now();
        const leftMs = Math.max(heardAt, answeredAt) + QUIET_MS - now;
        if (leftMs <= 0 || now - answeredAt > WAIT_MS_MAX) return;
        await pause(leftMs);
      }
    },
  };
}
