/**
 * Staying present: a heartbeat now and at every interval, never two at once. A beat
 * that does not get through is made good by the next one; a refusal is told to
 * whoever asked to know.
 */
import { SynodError } from './error.ts';
import { tellProgram } from './tell-program.ts';

export type Presence = 'online' | 'busy' | 'offline';

export interface KeepPresenceOptions {
  /** Default 10 s: a third of the time after which the hub calls an agent stale. */
  readonly everyMs?: number;
  /** Seconds after which the hub calls you stale; its own default is 30. */
  readonly ttl?: number;
  /** Told of each refusal, and of each failure that a later beat has to make good. */
  readonly onError?: (error: SynodError) => void;
}

const HEARTBEAT_EVERY_MS = 10_000;
const BEAT_TIMEOUT_MS_MIN = 5_000;

export function keepPresence(
  beat: (timeoutMs: number) => Promise<unknown>,
  options: KeepPresenceOptions,
): () => void {
  const everyMs = options.everyMs ?? HEARTBEAT_EVERY_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  async function run(): Promise<void> {
    try {
      await beat(Math.max(everyMs, BEAT_TIMEOUT_MS_MIN));
    } catch (error) {
      if (!(error instanceof SynodError)) throw error;
      if (!isStopped) tellProgram(() => options.onError?.(error));
      if (error.code === 'client.closed') return;
    }
    if (!isStopped) timer = setTimeout(() => void run(), everyMs);
  }

  void run();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
