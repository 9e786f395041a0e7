/** What a workflow asks of a bus: `StdioBus` of `synod/sdk`, or anything that answers as it does. */

/**
 * @example
 * ```ts
 * const bus = new StdioBus({ configPath: 'bus.json' });
 * await bus.start();
 * const flow = await openFlow({ store: 'memory:', workflows: [land], bus });
 * ```
 */
export interface Bus {
  request(
    method: string,
    params: Record<string, unknown>,
    options: {
      readonly pool: string;
      readonly timeoutMs?: number;
      readonly idempotencyKey?: string;
      /** The trace that the step belongs to. */
      readonly traceparent?: string | null;
      readonly signal?: AbortSignal;
    },
  ): Promise<unknown>;
}
