/**
 * Options, checked by name and kind before anything is done with them [SD14]. One table an object,
 * which the compiler keeps complete; a name that is not in it is refused with the one that was meant,
 * because an option nobody reads is a wish that nobody hears.
 */
import { isObject } from '../process/json-object.ts';
import { meantWord } from '../process/misspelt.ts';
import { InvalidArgumentError } from './errors.ts';
import type { ExtensionWish, HelloParams } from './hello.ts';
import type { AuditEvent, CallerIdentity } from './message.ts';
import type { NotificationsOptions } from './notifications.ts';
import type {
  DockerOptions,
  EmbeddedOptions,
  PoolOptions,
  ReconnectOptions,
  SocketOptions,
  StdioBusOptions,
  SubprocessOptions,
} from './options.ts';
import type { RequestOptions } from './request-options.ts';
import { Dialect } from './states.ts';

type Kind =
  | 'text'
  | 'number'
  | 'time'
  | 'flag'
  | 'function'
  | 'texts'
  | 'object'
  /** Checked where it is used. */
  | 'any'
  | readonly string[];

/** Every member of `T`, and nothing else. */
type Kinds<T> = { readonly [K in keyof Required<T>]: Kind };

const OPTIONS: Kinds<StdioBusOptions> = {
  ...{ config: 'object', configPath: 'text', backend: 'any', timeoutMs: 'time', session: 'text' },
  ...{ functions: 'object', embedded: 'object', subprocess: 'object', socket: 'object' },
  ...{ docker: 'object', onLog: 'function' },
};
const EMBEDDED: Kinds<EmbeddedOptions> = {
  ...{ listenMode: 'any', tcpHost: 'text', tcpPort: 'number', unixPath: 'text', token: 'text' },
};
const SUBPROCESS: Kinds<SubprocessOptions> = {
  ...{ binaryPath: 'text', dialect: Dialect, startTimeoutSec: 'time', stderrBufferLines: 'number' },
  ...{ env: 'object', envAllow: 'texts' },
};
const SOCKET: Kinds<SocketOptions> = {
  ...{ unixPath: 'text', tcpHost: 'text', tcpPort: 'number', token: 'text', dialect: Dialect },
  ...{ connectTimeoutSec: 'time', reconnect: 'any' },
};
const RECONNECT: Kinds<ReconnectOptions> = {
  ...{ attemptsMax: 'number', waitMsMin: 'number', waitMsMax: 'number', random: 'function' },
};
const DOCKER: Kinds<DockerOptions> = {
  ...{ image: 'text', pullPolicy: ['never', 'if-missing', 'always'], enginePath: 'text' },
  ...{ startupTimeoutSec: 'time', containerNamePrefix: 'text', extraArgs: 'texts' },
  ...{ env: 'object', dialect: Dialect },
};
const REQUEST: Kinds<RequestOptions> = {
  ...{ sessionId: 'text', session: 'text', pool: 'text', agentId: 'text', timeoutMs: 'time' },
  ...{ identity: 'object', audit: 'object', idempotencyKey: 'text', signal: 'any' },
  traceparent: 'any',
  requiredExtensions: 'texts',
};
const IDENTITY: Kinds<CallerIdentity> = { subjectId: 'text', role: 'text', assertedBy: 'text' };
const AUDIT: Kinds<AuditEvent> = {
  ...{ eventId: 'text', action: 'text', parentEventId: 'text', timestamp: 'text' },
  ...{ actor: 'object', resource: 'text', outcome: 'text' },
};
const NOTIFICATIONS: Kinds<NotificationsOptions> = { maxQueue: 'any', overflow: 'any' };
const HELLO: Kinds<HelloParams> = { protocolVersion: 'text', extensions: 'object' };
const WISH: Kinds<ExtensionWish> = { version: 'text', required: 'flag' };

/** The values of these are the bus's to check; here only that nothing is lost on the way to it. */
export const POOL_KEYS: Kinds<PoolOptions> = {
  ...{ id: 'any', command: 'any', args: 'any', function: 'function', instances: 'any', env: 'any' },
  ...{ env_allow: 'any', cwd: 'any', restart: 'any', ready: 'any', ping: 'any' },
  ...{ hang_timeout_sec: 'any', max_in_flight: 'any', agents: 'any', methods: 'any' },
};

export function checkBusOptions(options: StdioBusOptions): void {
  check('', options, OPTIONS);
  const { embedded, subprocess, socket, docker, functions } = options;
  check('embedded', embedded, EMBEDDED);
  check('subprocess', subprocess, SUBPROCESS);
  check('socket', socket, SOCKET);
  if (socket?.reconnect !== false) check('socket.reconnect', socket?.reconnect, RECONNECT);
  check('docker', docker, DOCKER);
  for (const [pool, run] of Object.entries(functions ?? {})) {
    if (typeof run === 'function') continue;
    throw new InvalidArgumentError(`functions.${pool} must be a function; found ${shown(run)}`);
  }
}

export function checkRequestOptions(options: RequestOptions): void {
  check('', options, REQUEST);
  if (options.identity !== undefined) check('identity', options.identity, IDENTITY);
  if (options.audit !== undefined) check('audit', options.audit, AUDIT);
}

export function checkNotificationsOptions(options: NotificationsOptions): void {
  check('', options, NOTIFICATIONS);
}

export function checkHello(params: HelloParams): void {
  check('', params, HELLO);
  for (const [name, wish] of Object.entries(params.extensions ?? {})) {
    check(`extensions.${name}`, wish, WISH);
  }
}

export function checkPool(field: string, pool: PoolOptions): void {
  check(field, pool, POOL_KEYS);
}

function check(
  field: string,
  given: object | undefined,
  kinds: Readonly<Record<string, Kind>>,
): void {
  if (given === undefined) return;
  if (!isObject(given)) {
    throw new InvalidArgumentError(
      `${field || 'options'} must be an object; found ${shown(given)}`,
    );
  }
  for (const key in given) {
    const value = given[key];
    if (!Object.hasOwn(kinds, key)) throw unknown(field, key, Object.keys(kinds));
    const wanted = value === undefined ? null : wantedOf(kinds[key] as Kind, value);
    if (wanted === null) continue;
    const path = field === '' ? key : `${field}.${key}`;
    throw new InvalidArgumentError(`${path} must be ${wanted}; found ${shown(value)}`);
  }
}

function unknown(field: string, key: string, known: readonly string[]): InvalidArgumentError {
  const path = field === '' ? key : `${field}.${key}`;
  const meant = meantWord(key, known);
  const hint = meant === null ? `there are ${known.join(', ')}` : `did you mean ${meant}?`;
  return new InvalidArgumentError(`there is no option ${path}; ${hint}`);
}

/** What the value should be and is not; null when it is. */
function wantedOf(kind: Kind, value: unknown): string | null {
  if (typeof kind === 'object') {
    return kind.includes(value as string) ? null : kind.map((one) => `"${one}"`).join(' or ');
  }
  switch (kind) {
    case 'any':
      return null;
    case 'text':
      return typeof value === 'string' && value !== '' ? null : 'a text that is not empty';
    case 'number':
      return Number.isInteger(value) && (value as number) >= 0 ? null : 'a whole number from 0 on';
    case 'time':
      return typeof value === 'number' && value > 0 ? null : 'a number above 0';
    case 'flag':
      return typeof value === 'boolean' ? null : 'true or false';
    case 'function':
      return typeof value === 'function' ? null : 'a function';
    case 'object':
      return isObject(value) ? null : 'an object';
    case 'texts':
      return Array.isArray(value) && value.every((one) => typeof one === 'string')
        ? null
        : 'a list of texts';
  }
}

/** Short, and never the content of what may be a secret. */
function shown(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value === '' ? 'an empty text' : `a ${Array.isArray(value) ? 'list' : typeof value}`;
}
