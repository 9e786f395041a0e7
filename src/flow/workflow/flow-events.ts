/** What happens in this executor, for whoever listens. A listener that throws changes nothing [FW9]. */
import type { RecordedError } from './errors.ts';

/**
 * @example
 * ```ts
 * const flow = await openFlow({
 *   store: 'memory:',
 *   workflows: [land],
 *   onEvent: (event: FlowEvent) => console.log(event.kind),
 * });
 * ```
 */
export type FlowEvent =
  | { readonly kind: 'run.taken'; readonly run: string; readonly epoch: number }
  | { readonly kind: 'run.ended'; readonly run: string; readonly state: string }
  | { readonly kind: 'run.stuck'; readonly run: string; readonly difference: string }
  | {
      readonly kind: 'step.completed';
      readonly run: string;
      readonly step: string;
      readonly result: unknown;
    }
  | {
      readonly kind: 'step.failed';
      readonly run: string;
      readonly step: string;
      readonly error: RecordedError;
    }
  | {
      readonly kind: 'step.retry';
      readonly run: string;
      readonly step: string;
      readonly error: unknown;
    }
  | { readonly kind: 'trouble'; readonly run: string | null; readonly error: unknown };

/** Tells a listener without being at its mercy. */
export function createTeller(listener?: (event: FlowEvent) => unknown): (event: FlowEvent) => void {
  if (listener === undefined) return () => {};
  return (event) => {
    try {
      // One that answers with a promise that fails is no better than one that throws.
      Promise.resolve(listener(event)).catch(() => {});
    } catch {
      // It is told, and that is all that is owed to it.
    }
  };
}
