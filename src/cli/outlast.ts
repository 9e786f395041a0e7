/**
 * Waiting that outlasts the hub: a command that was told how long to wait goes on waiting while the hub
 * is restarted, and asks again when it is back [CL31]. Only what bears being asked twice comes here. A
 * hub that was never there is told at once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SynodError } from '../client/error.ts';
import type { SpokenInput } from '../client/node/call.ts';
import type { CallOutput } from '../client/operations.ts';
import type { Context } from './context.ts';

const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 2_000;
/** Shorter than the hub allows, and than a connection may be silent. */
const CALL_WAIT_MS = 60_000;

type Talk = Pick<Context<object>, 'call' | 'remark'>;

export interface Patience {
  leftMs(): number;
  /** Asks, and while the hub is away and there is time, asks again. */
  ask<T>(question: () => Promise<T>): Promise<T>;
}

export function createPatience(remark: Talk['remark'], until: number): Patience {
  let wasThere = false;
  const leftMs = () => Math.max(0, until - Date.now());
  return {
    leftMs,
    async ask(question) {
      for (let retryMs = 0; ; retryMs = Math.min(2 * retryMs || RETRY_MS_MIN, RETRY_MS_MAX)) {
        try {
          const answer = await question();
          wasThere = true;
          return answer;
        } catch (error) {
          // A refusal was said by a hub that is there.
          wasThere ||= !isAway(error);
          if (!wasThere || !isAway(error) || leftMs() === 0) throw error;
          if (retryMs === 0) remark('the hub is away; waiting for it');
        }
        await pause(Math.min(retryMs, leftMs()));
      }
    },
  };
}

/** Drains the inbox, by long calls, as soon as there is something or when the time is up. */
export async function waitForMail(
  { call, remark }: Talk,
  input: SpokenInput<'channels.recv'>,
  until: number,
): Promise<CallOutput<'channels.recv'>> {
  const patience = createPatience(remark, until);
  for (;;) {
    const wait_ms = Math.min(CALL_WAIT_MS, patience.leftMs());
    const drained = await patience.ask(() => call('channels.recv', { ...input, wait_ms }));
    if (drained.messages.length > 0 || patience.leftMs() === 0) return drained;
    // A hub that stops answers early, with nothing.
    await pause(Math.min(RETRY_MS_MIN, patience.leftMs()));
  }
}

/** Not there, or about to go. */
function isAway(error: unknown): boolean {
  return (
    error instanceof SynodError &&
    (error.code === 'hub.unreachable' || error.code === 'store.unavailable')
  );
}
