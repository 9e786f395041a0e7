/** The handshake as the SDK speaks it: what was asked for, what came back, and what is missing. */

import { type JsonObject, objectAt, textAt } from '../process/json-object.ts';
import { PROTOCOL_VERSION } from '../router/hello.ts';
import { NegotiationFailedError } from './errors.ts';

export interface ExtensionWish {
  readonly version?: string;
  readonly required?: boolean;
}

export interface HelloParams {
  readonly protocolVersion?: string;
  readonly extensions?: Readonly<Record<string, ExtensionWish>>;
}

export interface ExtensionState {
  readonly version: string;
  readonly required: boolean;
  readonly active: boolean;
}

export interface HelloResult {
  readonly negotiatedProtocolVersion: string;
  readonly sessionId: string;
  readonly extensions: Readonly<Record<string, ExtensionState>>;
}

export function helloRequest(params: HelloParams): JsonObject {
  const wishes = Object.entries(params.extensions ?? {}).map(([name, wish]) => [
    name,
    { version: wish.version ?? '', required: wish.required ?? false },
  ]);
  return {
    protocolVersion: params.protocolVersion ?? PROTOCOL_VERSION,
    extensions: Object.fromEntries(wishes),
  };
}

/** A bus that does not negotiate at all answers blanks; what was required must not pass for active. */
export function readHello(result: unknown, params: HelloParams): HelloResult {
  const found = objectAt(result, 'extensions');
  const extensions: Record<string, ExtensionState> = {};
  for (const name of new Set([...Object.keys(params.extensions ?? {}), ...Object.keys(found)])) {
    const one = objectAt(found, name);
    extensions[name] = {
      version: textAt(one, 'selected') || (textAt(one, 'version') ?? ''),
      required: params.extensions?.[name]?.required ?? false,
      active: one.active === true,
    };
  }
  const missing = Object.entries(extensions).filter(([, one]) => one.required && !one.active);
  if (missing.length > 0) {
    const names = missing.map(([name]) => name);
    throw new NegotiationFailedError(`required extensions are not active: ${names.join(', ')}`, {
      details: { missing: names },
    });
  }
  return {
    negotiatedProtocolVersion: textAt(result, 'negotiatedProtocolVersion') ?? '',
    sessionId: textAt(result, 'sessionId') ?? '',
    extensions,
  };
}
