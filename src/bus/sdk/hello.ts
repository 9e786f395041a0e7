/** The handshake as the SDK speaks it: what was asked for, what came back, and what is missing. */
import { NegotiationFailedError } from './errors.ts';
import { isRecord, type JsonObject } from './message.ts';

export const PROTOCOL_VERSION = '0.1.0';

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
  const said = isRecord(result) ? result : {};
  const found = isRecord(said.extensions) ? said.extensions : {};
  const extensions: Record<string, ExtensionState> = {};
  for (const name of new Set([...Object.keys(params.extensions ?? {}), ...Object.keys(found)])) {
    const one = found[name];
    const { selected, version, active } = isRecord(one) ? one : {};
    extensions[name] = {
      version: textOf(selected) || textOf(version),
      required: params.extensions?.[name]?.required ?? false,
      active: active === true,
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
    negotiatedProtocolVersion: textOf(said.negotiatedProtocolVersion),
    sessionId: textOf(said.sessionId),
    extensions,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
