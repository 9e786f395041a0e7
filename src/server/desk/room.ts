/** What a handler has at hand while it carries out one operation. */
import type { Refusal } from '../../core/law/decider.ts';
import type { Principal } from '../../core/law/principal.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Signal } from '../../hub/watch.ts';
import type { Operation, OutputOf, ParsedInputOf } from '../../wire/operation.ts';
import type { OPERATIONS, OperationId } from '../../wire/operations/table.ts';
import type { Activities } from './activity.ts';
import type { Caller } from './caller.ts';
import type { Platform } from './platform.ts';
import type { Proofs } from './proofs.ts';
import type { Spaces } from './spaces.ts';
import type { WebSessions } from './web-sessions.ts';

export interface Room {
  readonly caller: Caller;
  readonly by: Principal;
  readonly hub: Hub;
  readonly spaces: Spaces;
  readonly platform: Platform;
  readonly activities: Activities;
  readonly proofs: Proofs;
  readonly webSessions: WebSessions;
  readonly nodeId: string;
  readonly correlationId: string;
  /** `"auth:0ms"` and so on: what this call has cost so far. */
  timings(): string[];
  /** Aborted when the caller is gone: nothing may be handed out any more. */
  readonly signal: Signal | null;
  /** The trace that the call belongs to, as a `traceparent`. */
  readonly trace: string | null;
  readonly about: About;
  /**
   * Another operation for the same caller, carried out by `run`, with the access, input and plugins of
   * that operation around it.
   */
  instead(
    operation: Operation,
    input: unknown,
    run: Run,
  ): Promise<Record<string, unknown> | Refusal>;
}

/** What is done for whoever acts, a plugin may have said who; the input as plugins left it. */
export type Run = (acting: Caller, input: unknown) => Promise<Record<string, unknown> | Refusal>;

/** Facts about the running server. */
export interface About {
  readonly version: string;
  readonly startedAt: number;
  readonly plugins: readonly string[];
  /** Seconds a heartbeat lasts that does not say so itself; null for SOX's own 30. */
  readonly heartbeatTtl: number | null;
  /** Where a browser on this machine finds the page, without a slash at the end. */
  pageUrl(): string;
}

/** Operations a handler carries out; streams are opened by the doors that keep connections. */
export type HandledId = Exclude<OperationId, 'stream.open' | 'stream.close'>;

export type Handler<Id extends OperationId> = (
  room: Room,
  input: ParsedInputOf<(typeof OPERATIONS)[Id]>,
) => Promise<OutputOf<(typeof OPERATIONS)[Id]> | Refusal>;

export type Handlers<Id extends HandledId> = { readonly [K in Id]: Handler<K> };
