/**
 * Taking a claim, and waiting for it: first a place in the hub's queue, then long calls that are
 * answered when the turn has come. Whoever gives up leaves the queue, so that nobody is kept a
 * turn for that has gone; a hub that is restarted meanwhile is waited for [CL31].
 */
import { randomUUID } from 'node:crypto';
import type { SpokenInput } from '../client/node/call.ts';
import type { CallOutput } from '../client/operations.ts';
import { isWaitable } from './claim-text.ts';
import type { Context } from './context.ts';
import { createPatience } from './outlast.ts';
import { neutralise } from './terminal.ts';

/** A place lasts a little longer than a call: it is never lost between two, and soon after a death. */
const CALL_WAIT_MS = 25_000;
const PLACE_S = 60;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** As a shell tells Ctrl-C. */
const GIVEN_UP_EXIT = 130;

/** Asks for it; where somebody is in the way and there is time, waits in the queue. */
export async function takeClaim(
  { call, remark }: Pick<Context<object>, 'call' | 'remark'>,
  input: SpokenInput<'claims.take'>,
  waitMs: number,
): Promise<CallOutput<'claims.take'>> {
  const patience = createPatience(remark, Date.now() + waitMs);
  // A grant whose answer was lost is told again, and not as a renewal.
  const key = waitMs > 0 ? { idempotency_key: `retry:${randomUUID()}` } : {};
  const take = (callMs: number) =>
    call('claims.take', { ...input, ...key, wait_ms: callMs || undefined });
  let obstacle = '';
  try {
    return await patience.ask(() => take(0));
  } catch (error) {
    if (!isWaitable(error) || patience.leftMs() === 0) throw error;
    obstacle = error.message;
  }
  const { task_id, paths, worktree } = input;
  const join = () =>
    patience.ask(() => call('claims.wait', { task_id, paths, worktree, ttl_seconds: PLACE_S }));
  // Before the queue is joined: a place that a signal cannot give back would stay for the dead.
  let joined = join();
  const leave = async () => {
    const { wait } = await joined;
    await call('claims.unwait', { wait });
  };
  const giveUp = () =>
    void leave()
      .catch(() => {})
      .finally(() => process.exit(GIVEN_UP_EXIT));
  for (const signal of SIGNALS) process.once(signal, giveUp);
  try {
    const { ahead } = await joined;
    remark(neutralise(obstacle));
    remark(`waiting; ${ahead} before you`);
    for (;;) {
      try {
        return await patience.ask(() => take(Math.min(patience.leftMs(), CALL_WAIT_MS)));
      } catch (error) {
        if (!isWaitable(error) || patience.leftMs() === 0) {
          await leave().catch(() => {});
          throw error;
        }
      }
      // It keeps the place for a while longer, or takes another where the hub was away for too long.
      joined = join();
      await joined.catch(() => {});
    }
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, giveUp);
  }
}

/** What the holder before left, behind a bar; nothing when it left nothing. */
export function checkpointLines(checkpoint: string | null): string[] {
  if (checkpoint === null) return [];
  return ['the last holder left a checkpoint:', ...checkpoint.split('\n').map(barred)];
}

function barred(line: string): string {
  return `  │ ${neutralise(line)}`;
}
