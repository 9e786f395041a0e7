/**
 * `stdio_bus/hello`, answered by the bus itself: the version both speak, and the extensions that
 * are active. What a client requires and the bus does not have fails the handshake [BU15].
 */
import { isObject } from '../process/json-object.ts';
import type { BusProblem } from './errors.ts';

export const PROTOCOL_VERSION = '0.1.0';

/** What this bus can do beyond forwarding, and the version of each. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  audit: '1.0',
  batch: '1.0',
  cancel: '1.0',
  deadline: '1.0',
  idempotency: '1.1',
  identity: '1.0',
  reattach: '1.1',
  requestId: '1.0',
};

export interface HelloResult {
  readonly negotiatedProtocolVersion: string;
  readonly sessionId: string;
  readonly extensions: Readonly<Record<string, { selected: string; active: boolean }>>;
}

const failed = (message: string, detail: Record<string, unknown>): BusProblem => ({
  code: 'bus.negotiation',
  message,
  detail,
});

export function hello(params: unknown, sessionId: string): HelloResult | BusProblem {
  const asked = isObject(params) ? params : {};
  const { protocolVersion = PROTOCOL_VERSION, extensions = {} } = asked;
  if (typeof protocolVersion !== 'string' || !protocolVersion.startsWith('0.1.')) {
    return failed(`this bus speaks ${PROTOCOL_VERSION}, not ${JSON.stringify(protocolVersion)}`, {
      offered: [PROTOCOL_VERSION],
    });
  }
  if (!isObject(extensions)) {
    return failed('"extensions" must be an object of name and {version, required}', {});
  }
  const selected: Record<string, { selected: string; active: boolean }> = {};
  const missing: string[] = [];
  for (const [name, wanted] of Object.entries(extensions)) {
    const offered = Object.hasOwn(EXTENSIONS, name) ? EXTENSIONS[name] : undefined;
    const { version, required } = isObject(wanted) ? wanted : {};
    const isServed =
      offered !== undefined &&
      (typeof version !== 'string' || majorOf(version) === majorOf(offered));
    if (!isServed && required === true) missing.push(name);
    selected[name] = { selected: isServed ? (offered as string) : '', active: isServed };
  }
  if (missing.length > 0) {
    return failed(`required extensions are not available: ${missing.join(', ')}`, {
      missing,
      offered: EXTENSIONS,
    });
  }
  return { negotiatedProtocolVersion: PROTOCOL_VERSION, sessionId, extensions: selected };
}

/** An empty version asks for any. */
const majorOf = (version: string): string =>
  version === '' ? '1' : (version.split('.')[0] as string);
