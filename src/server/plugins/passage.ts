/**
 * One call's passage through the chain: what the units of a call share while it lasts.
 *
 * Here a plugin's failure becomes what the contract says of it: a log line with the correlation
 * id and the cause, a verdict in the trace, and nothing but a generic text for the caller.
 */

import { type CallContext, createView, type MiddlewareContext, type View } from './context.ts';
import type { Manifest } from './manifest.ts';
import type { PluginLog } from './registry.ts';
import { internalError, type Reply } from './reply.ts';
import type { Slot } from './slots.ts';
import { finishEntry, startEntry, type TraceEntry } from './trace.ts';

export type Next = () => Promise<Reply>;

/** A plugin of the request path, made and ready. */
export interface PluginUnit {
  readonly manifest: Manifest;
  /** The slot it holds, if any. */
  readonly slot: Slot | null;
  readonly resources: Readonly<Record<string, unknown>>;
  readonly run: (context: MiddlewareContext, next?: Next) => unknown;
}

export type HookFailureMode = 'swallow' | 'alarm' | 'raise';

/** What does not change from call to call. */
export interface Rules {
  readonly unitTimeoutMs: number;
  readonly hookFailureMode: HookFailureMode;
  log: PluginLog;
  countHookFailure(): void;
}

export interface Passage {
  readonly call: CallContext;
  readonly rules: Rules;
  readonly trace: TraceEntry[];
  /** The store has been asked; nobody may ask it again for this call. */
  isDispatched: boolean;
  /** The store has done what was asked. */
  isCarriedOut: boolean;
  /** Set on the response path. */
  response: Reply | null;
}

export function enter(passage: Passage, unit: PluginUnit): { view: View; entry: TraceEntry } {
  const { id, kind, isObserveOnly } = unit.manifest;
  const view = createView(passage.call, {
    // Behind the store the call is history: the audit must read what was carried out.
    isFrozen: kind === 'hook' || isObserveOnly || passage.response !== null,
    holdsAuth: unit.slot === 'auth',
    resources: unit.resources,
    trace: passage.trace,
    response: passage.response,
  });
  const entry = startEntry(id, kind, passage.call.correlationId);
  passage.trace.push(entry);
  return { view, entry };
}

/** The failure of a unit: told to the log in full, to the caller in general. */
export function failUnit(passage: Passage, entry: TraceEntry, cause: unknown): Reply {
  finishEntry(entry, 'error', 'internal_error');
  logFailure(passage, entry.plugin_id, cause);
  return internalError(passage.isCarriedOut, passage.call.correlationId);
}

export function logFailure(passage: Passage, id: string, cause: unknown): void {
  const { operation, correlationId } = passage.call;
  const line = `plugin failed: id=${id} operation=${operation} correlation_id=${correlationId}`;
  passage.rules.log('error', line, cause);
}

/** Known by name: a plugin's package cannot import our classes. */
export function isNamed(thrown: unknown, name: string): thrown is Error {
  return thrown instanceof Error && thrown.name === name;
}
