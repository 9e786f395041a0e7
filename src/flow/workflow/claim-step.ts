/**
 * Files held against others while a run is under way. The claim is the hub's own, under the run's name; it is
 * renewed while the run is in a process, and given back when the run ends, however it ends.
 */
import { codeOf } from './hub-line.ts';
import { createStep } from './step.ts';
import type { StepOptions, StepScope } from './step-options.ts';
import type { Activity, Engine } from './visit.ts';

/**
 * What may be said of a claim.
 *
 * @example
 * ```ts
 * const options: ClaimOptions = { worktree: '/srv/app', ttlSeconds: 600, timeoutMs: 60_000 };
 * ```
 */
export interface ClaimOptions {
  /** What is worked on; the run's id when left out. */
  readonly task?: string;
  /** The directory that the paths are in. */
  readonly worktree?: string;
  readonly branch?: string;
  /** How long it holds without a word of ours. Default 3,600; 30 to 86,400. */
  readonly ttlSeconds?: number;
  /** How long to wait for others. Default: for ever. */
  readonly timeoutMs?: number;
}

/**
 * Files that are held.
 *
 * @example
 * ```ts
 * const giveBack = (claim: Claim): Promise<void> => claim.release();
 * ```
 */
export interface Claim {
  readonly task: string;
  readonly epoch: number;
  /** Gives them back before the run ends. */
  release(): Promise<void>;
}

interface Kept {
  readonly task: string;
  readonly epoch: number;
}

type Step = <T>(
  name: string,
  run: (scope: StepScope) => Promise<T> | T,
  options?: StepOptions<T>,
) => Promise<T>;

const WAIT_MS = 20_000;
/** Somebody else still holds it: ask again, there is a queue. */
const ELSEWHERE: ReadonlySet<string | null> = new Set([
  ...['claim.held', 'claim.overlap', 'claim.reserved'],
]);

export function createClaim(
  engine: Engine,
  step: Step,
  name: string,
  key: string | undefined,
  paths: readonly string[],
  options: ClaimOptions,
): { readonly activity: Activity; hold(kept: Kept): Claim } {
  const { task = engine.run.id, ttlSeconds = 3_600, worktree, branch, timeoutMs } = options;
  const input = {
    ...{ task_id: task, paths: [...paths], ttl_seconds: ttlSeconds },
    ...(worktree !== undefined && { worktree }),
    ...(branch !== undefined && { branch }),
  };
  let stopRenewing = (): void => {};

  async function take({ signal }: StepScope): Promise<Kept> {
    for (;;) {
      signal.throwIfAborted();
      try {
        const { claim } = await engine.hub.call<{ claim: { epoch: number } }>(
          'claims.take',
          { ...input, wait_ms: WAIT_MS },
          { signal },
        );
        return { task, epoch: claim.epoch };
      } catch (error) {
        if (!ELSEWHERE.has(codeOf(error))) throw error;
      }
    }
  }

  async function release({ epoch }: Kept): Promise<void> {
    stopRenewing();
    await engine.hub.call('claims.release', { task_id: task, epoch }).catch((error) => {
      // It lapsed, or was taken away: either way it is not ours to give back.
      if (codeOf(error) === null) throw error;
    });
  }

  function renewLater({ epoch }: Kept): void {
    stopRenewing = engine.clock.after((ttlSeconds * 1000) / 3, () => {
      if (engine.signal.aborted) return;
      engine.hub.call('claims.take', { ...input, epoch }).catch(() => {});
      renewLater({ task, epoch });
    });
  }

  return {
    activity: createStep<Kept>(engine, 'claim', name, take, {
      ...(timeoutMs !== undefined && { timeoutMs }),
    }),
    hold(kept) {
      let isReleased = false;
      renewLater(kept);
      engine.signal.addEventListener('abort', () => stopRenewing());
      engine.onEnd(async () => {
        if (!isReleased) await release(kept);
      });
      return {
        ...kept,
        async release() {
          isReleased = true;
          await step(`${name}:release`, () => release(kept), key === undefined ? {} : { key });
        },
      };
    },
  };
}
