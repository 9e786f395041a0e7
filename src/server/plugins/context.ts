/**
 * What a unit sees of a call, and what it may change.
 *
 * Built-ins are ours and get the call itself. A plugin gets a view: operation, connection and
 * correlation cannot be written; `agent_id` is set once, by whoever holds the auth slot; changes
 * to the input are taken over only when they keep the field rules; `pipeline_trace` is the
 * host's, and the connection's credential is shown to the auth slot alone.
 */

import { isDeepStrictEqual } from 'node:util';
import { readJson } from '../../core/law/json.ts';
import { isFields } from '../../wire/fields.ts';
import { INPUT_CHARS_MAX, METADATA_KEYS_MAX } from './limits.ts';
import type { Transport } from './manifest.ts';
import type { Reply } from './reply.ts';
import type { TraceEntry } from './trace.ts';

/** One call on its way through the chain; made fresh by the caller, never shared. */
export interface CallContext {
  readonly operation: string;
  readonly transport: Transport;
  input: Record<string, unknown>;
  /** Null until auth. */
  agentId: string | null;
  readonly connectionId: string;
  readonly correlationId: string;
  readonly metadata: Record<string, unknown>;
}

/** What a plugin is given, under the contract's own names. */
export interface MiddlewareContext {
  readonly operation: string;
  readonly transport: Transport;
  input: Record<string, unknown>;
  agent_id: string | null;
  readonly connection_id: string;
  readonly correlation_id: string;
  readonly metadata: Record<string, unknown>;
  /** Resources of the providers the plugin `requires`. */
  readonly resources: Readonly<Record<string, unknown>>;
  /** On the response path, what the call was answered; null before. */
  readonly response: Reply | null;
}

/** A plugin broke a rule of the contract. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
}

export interface ViewOptions {
  /** Hooks, observe_only plugins and the response path: nothing can be written. */
  readonly isFrozen: boolean;
  readonly holdsAuth: boolean;
  readonly resources: Readonly<Record<string, unknown>>;
  readonly trace: readonly TraceEntry[];
  readonly response: Reply | null;
}

const TRACE = 'pipeline_trace';
const CREDENTIAL = '_connection_credential';

export interface View {
  readonly context: MiddlewareContext;
  /** Takes the unit's changes into the call, or throws a ContractViolation and takes none. */
  commit(): void;
}

export function createView(call: CallContext, options: ViewOptions): View {
  let input = structuredClone(call.input);
  let agentId = call.agentId;
  if (options.isFrozen) deepFreeze(input);
  const context: MiddlewareContext = {
    operation: call.operation,
    transport: call.transport,
    connection_id: call.connectionId,
    correlation_id: call.correlationId,
    metadata: metadataView(call, options),
    resources: options.resources,
    response: options.response === null ? null : deepFreeze(structuredClone(options.response)),
    get input() {
      return input;
    },
    set input(value) {
      refuseFrozen(options, 'input');
      input = value;
    },
    get agent_id() {
      return agentId;
    },
    set agent_id(value) {
      if (!options.holdsAuth || agentId !== null || typeof value !== 'string' || value === '') {
        throw new ContractViolation('agent_id is set once, by the auth slot');
      }
      agentId = value;
    },
  };
  return {
    context: Object.freeze(context),
    commit() {
      if (options.isFrozen) return;
      call.input = checkInput(call.input, input);
      call.agentId = agentId;
    },
  };
}

/** The changed input as plain JSON, cut off from whatever references the plugin kept. */
function checkInput(before: Record<string, unknown>, after: unknown): Record<string, unknown> {
  const text = JSON.stringify(after) ?? '';
  if (text.length > INPUT_CHARS_MAX) throw new ContractViolation('the input has grown too large');
  const copy: unknown = text === '' ? undefined : readJson(text);
  if (!isFields(copy)) throw new ContractViolation('input must stay an object');
  for (const field of ['correlation_id', 'reply_to', 'sender']) {
    if (!isDeepStrictEqual(before[field], copy[field])) {
      throw new ContractViolation(`input.${field} may not be changed`);
    }
  }
  if (typeof before.channel === 'string' && typeof copy.channel !== 'string') {
    throw new ContractViolation('input.channel may be normalised, not removed');
  }
  if (!isAdditive(before.body, copy.body)) {
    throw new ContractViolation('input.body may be added to, not changed');
  }
  return copy;
}

function isAdditive(before: unknown, after: unknown): boolean {
  if (!isFields(before) || !isFields(after)) return isDeepStrictEqual(before, after);
  return Object.entries(before).every(
    ([key, value]) => Object.hasOwn(after, key) && isDeepStrictEqual(value, after[key]),
  );
}

function metadataView(call: CallContext, options: ViewOptions): Record<string, unknown> {
  const isHidden = (key: string | symbol): boolean => key === CREDENTIAL && !options.holdsAuth;
  const write = (key: string | symbol): void => {
    refuseFrozen(options, 'metadata');
    if (key === TRACE || key === CREDENTIAL) {
      throw new ContractViolation(`metadata.${key} is written by the host alone`);
    }
    const keys = Object.keys(call.metadata);
    if (keys.length >= METADATA_KEYS_MAX && !Object.hasOwn(call.metadata, key)) {
      throw new ContractViolation(`metadata holds at most ${METADATA_KEYS_MAX} keys`);
    }
  };
  return new Proxy(call.metadata, {
    get(target, key) {
      if (key === TRACE) return structuredClone(options.trace);
      return isHidden(key) || !Object.hasOwn(target, key) ? undefined : Reflect.get(target, key);
    },
    has: (target, key) => key === TRACE || (!isHidden(key) && Object.hasOwn(target, key)),
    ownKeys: (target) => Reflect.ownKeys(target).filter((key) => !isHidden(key)),
    getOwnPropertyDescriptor: (target, key) =>
      isHidden(key) ? undefined : Reflect.getOwnPropertyDescriptor(target, key),
    defineProperty(target, key, descriptor) {
      write(key);
      return Reflect.defineProperty(target, key, descriptor);
    },
    deleteProperty(target, key) {
      write(key);
      return Reflect.deleteProperty(target, key);
    },
    setPrototypeOf: () => false,
    preventExtensions: () => false,
  });
}

function refuseFrozen(options: ViewOptions, field: string): void {
  if (options.isFrozen) throw new ContractViolation(`${field} is read-only for this plugin`);
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
