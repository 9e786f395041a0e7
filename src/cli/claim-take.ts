/**
 * Taking a claim, and waiting for it: first a place in the hub's queue, then long calls that are
 * answered when the turn has come. Whoever gives up leaves the queue, so that nobody is kept a
 * turn for that has gone.
 */
import type { SpokenInput } from '../client/node/call.ts';
import type { CallOutput } from '../client/operations.ts';
import { isWaitable } from './claim-text.ts';
import type { Context } from './context.ts';
import { neutralise } from './terminal.ts';

/** Shorter than the hub keeps a place in the queue, so that ours is never lost between two calls. */
const CALL_WAIT_MS = 25_000;
const PLACE_S_MIN = 30;
const PLACE_S_MAX = 86_400;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** As a shell tells Ctrl-C. */
const GIVEN_UP_EXIT = 130;

/** Asks for it; where somebody is in the way and there is time, waits in the queue. */
export async function takeClaim(
  { call, remark }: Pick<Context<object>, 'call' | 'remark'>,
  input: SpokenInput<'claims.take'>,
  waitMs: number,
): Promise<CallOutput<'claims.take'>> {
  const until = Date.now() + waitMs;
  const leftMs = () => Math.max(0, until - Date.now());
  const take = (callMs: number) => call('claims.take', { ...input, wait_ms: callMs || undefined });
  let obstacle = '';
  try {
    return await take(0);
  } catch (error) {
    if (!isWaitable(error) || leftMs() === 0) throw error;
    obstacle = error.message;
  }
  const { task_id, paths, worktree } = input;
  const ttl = Math.min(Math.max(leftMs() / 1000, PLACE_S_MIN), PLACE_S_MAX);
  // Before the queue is joined: a place that a signal cannot give back would stay for the dead.
  const joined = call('claims.wait', { task_id, paths, worktree, ttl_seconds: ttl });
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
        return await take(Math.min(leftMs(), CALL_WAIT_MS));
      } catch (error) {
        if (isWaitable(error) && leftMs() > 0) continue;
        await leave().catch(() => {});
        throw error;
      }
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
