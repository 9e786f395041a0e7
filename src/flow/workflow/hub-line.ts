/**
 * The line to the hub that keeps the journal: over a socket to one that runs elsewhere, or straight to the desk
 * of one inside this process. Both say the same; a refusal is thrown with the hub's own code.
 */
import { createClient } from '../../client/client.ts';
import { envelopeError, isPassing, SynodError } from '../../client/error.ts';
import type { CallId, CallInput } from '../../client/operations.ts';
import { type Clock, openEmbeddedHub } from '../../server/run/index.ts';
import { currentTrace } from '../../telemetry/scope.ts';

export interface LineOptions {
  readonly signal?: AbortSignal;
  /** Instead of the agent of this flow: the owner of the hub inside. */
  readonly asOwner?: boolean;
  /** Another agent of that owner. */
  readonly agent?: string;
}

export interface HubLine {
  readonly clock: Clock;
  call<T>(operation: string, input: object, options?: LineOptions): Promise<T>;
  close(): Promise<void>;
}

const realClock: Clock = {
  now: () => Date.now(),
  soon: (run) => void setImmediate(run),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};

export interface RemoteHub {
  /** `http://127.0.0.1:8765`; https, ws and wss will do as well. */
  readonly url: string;
  readonly token?: string;
  /** Whom to act as, with the owner's credential. */
  readonly agent?: string;
  readonly space?: string;
}

export function openRemoteLine(hub: RemoteHub): HubLine {
  const client = createClient({
    url: hub.url,
    ...(hub.token !== undefined && { token: hub.token }),
    ...(hub.agent !== undefined && { agent: hub.agent }),
    ...(hub.space !== undefined && { space: hub.space }),
  });
  return {
    clock: realClock,
    async call<T>(operation: string, input: object, { signal }: LineOptions = {}): Promise<T> {
      const id = operation as CallId;
      const asked = client.call(id, input as CallInput<CallId>, {
        ...(signal && { signal }),
        traceparent: currentTrace(),
      });
      return (await asked) as T;
    },
    close: () => client.close(),
  };
}

export interface InnerHub {
  /** `memory:`, `sqlite:///path`, `file:///dir` or `nats://…`. */
  readonly store: string;
  readonly clock?: Clock;
  /** What this program is called on the record. Default `flow`. */
  readonly agent?: string;
  onTrouble(what: string, cause: unknown): void;
}

export async function openInnerLine(options: InnerHub): Promise<HubLine> {
  const { clock = realClock, agent = 'flow', store, onTrouble } = options;
  const hub = await openEmbeddedHub({ store, clock, onTrouble });
  return {
    clock,
    async call<T>(
      operation: string,
      input: object,
      { signal, asOwner = false, agent: other = agent }: LineOptions = {},
    ): Promise<T> {
      signal?.throwIfAborted();
      const answer = await hub.call(asOwner ? null : other, operation, input, {
        ...(signal && { signal }),
        traceparent: currentTrace(),
      });
      signal?.throwIfAborted();
      if ('error' in answer) throw envelopeError(answer.error, null, 'the hub gave no reason');
      return answer.ok as T;
    },
    close: () => hub.close(),
  };
}

export function codeOf(error: unknown): string | null {
  return error instanceof SynodError ? error.code : null;
}

/** The same question may be answered a moment later. */
export function isPassingError(error: unknown): boolean {
  return error instanceof SynodError && (isPassing(error) || error.code === 'hub.busy');
}
