/**
 * What somebody may do, as a value that JSON can say: folders to read, write and delete in, programs to
 * execute, addresses to connect to. What is absent or empty allows nothing [PO1]. A policy that cannot be
 * meant (an unknown field, an empty path, a port that is none) is refused when the guard is made.
 */

export const POLICY_LIST_MAX = 256;
export const POLICY_TEXT_CHARS_MAX = 4_096;

/**
 * One way of calling one program.
 *
 * @example
 * ```ts
 * const rule: ExecuteRule = { program: 'git', args: ['log', '**'] };
 * ```
 */
export interface ExecuteRule {
  /** A path, or a name that is looked for on PATH when the guard is made. */
  readonly program: string;
  /**
   * One pattern for each argument; absent: no arguments. `*` stands for any text, and at the beginning of a
   * pattern for none that begins with `-`, so that no option is passed for a name. A last `**` allows
   * anything to follow.
   */
  readonly args?: readonly string[];
}

/**
 * One place of the network.
 *
 * @example
 * ```ts
 * const rule: ConnectRule = { scheme: 'https', host: '*.example.com', methods: ['GET', 'POST'] };
 * ```
 */
export interface ConnectRule {
  /** `https`, `http`, `wss`, `ws`, `tcp` or `tls`. */
  readonly scheme: Scheme;
  /** A name, an address, `*.example.com` for names below, or `*` for any. */
  readonly host: string;
  /** Absent: the scheme's own. */
  readonly port?: number;
  /** Of HTTP; absent: GET and HEAD. `*` stands for all. */
  readonly methods?: readonly string[];
  /**
   * What the name may stand for: addresses, or ranges such as `10.1.0.0/16`. Absent: any public address. An
   * address of a cloud's metadata counts as named only when it stands there by itself.
   */
  readonly addresses?: readonly string[];
}

export const SCHEMES = ['https', 'http', 'wss', 'ws', 'tcp', 'tls'] as const;
/**
 * A scheme of addresses that a rule may name.
 *
 * @example
 * ```ts
 * const isSafe = (scheme: Scheme): boolean => scheme === 'https' || scheme === 'tls';
 * ```
 */
export type Scheme = (typeof SCHEMES)[number];

/**
 * What a guard allows; all that it does not mention is refused.
 *
 * @example
 * ```ts
 * const policy: Policy = {
 *   ...{ read: ['/srv/app'], write: ['/srv/app/out'], except: ['/srv/app/.env'] },
 *   execute: [{ program: 'git', args: ['log', '**'] }],
 * };
 * ```
 */
export interface Policy {
  /** A path and all that is below it. */
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly delete?: readonly string[];
  /** Neither read nor written nor deleted, whatever the other lists say. */
  readonly except?: readonly string[];
  readonly execute?: readonly ExecuteRule[];
  readonly connect?: readonly ConnectRule[];
  /** Names of the environment that a child process may be given; absent: PATH and LANG. */
  readonly env?: readonly string[];
}

export const ENV_DEFAULT: readonly string[] = ['PATH', 'LANG'];

/**
 * A policy that says what cannot be meant.
 *
 * @example
 * ```ts
 * try {
 *   createGuard(JSON.parse(text));
 * } catch (error) {
 *   if (error instanceof PolicyError) console.error(error.message);
 * }
 * ```
 */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
  readonly code = 'guard.policy';
}

const FIELDS = ['read', 'write', 'delete', 'except', 'execute', 'connect', 'env'] as const;
const RULE_FIELDS = {
  execute: ['program', 'args'],
  connect: ['scheme', 'host', 'port', 'methods', 'addresses'],
} as const;

/** The same policy, copied, so that nobody changes it afterwards; throws what is wrong with it. */
export function parsePolicy(policy: Policy): Required<Policy> {
  fieldsOf('a policy', policy, FIELDS);
  return {
    read: texts('read', policy.read),
    write: texts('write', policy.write),
    delete: texts('delete', policy.delete),
    except: texts('except', policy.except),
    execute: list('execute', policy.execute).map(parseExecute),
    connect: list('connect', policy.connect).map(parseConnect),
    env: policy.env === undefined ? ENV_DEFAULT : texts('env', policy.env),
  };
}

function parseExecute(rule: ExecuteRule): ExecuteRule {
  fieldsOf('a rule of execute', rule, RULE_FIELDS.execute);
  const args = texts('args', rule.args, true);
  if (args.slice(0, -1).includes('**')) wrong('`**` allows anything to follow: write it last');
  return { program: text('program', rule.program), args };
}

function parseConnect(rule: ConnectRule): ConnectRule {
  fieldsOf('a rule of connect', rule, RULE_FIELDS.connect);
  const { scheme, port, methods, addresses } = rule;
  if (!SCHEMES.includes(scheme)) wrong(`a scheme is one of ${SCHEMES.join(', ')}`);
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
    wrong('a port is a whole number from 1 to 65535');
  }
  if (port === undefined && (scheme === 'tcp' || scheme === 'tls')) {
    wrong(`${scheme} has no port of its own: name one`);
  }
  return {
    scheme,
    host: text('host', rule.host),
    ...(port !== undefined && { port }),
    ...(methods !== undefined && { methods: texts('methods', methods) }),
    ...(addresses !== undefined && { addresses: texts('addresses', addresses) }),
  };
}

function fieldsOf(what: string, value: object, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    wrong(`${what} is an object`);
  }
  const strange = Object.keys(value).find((name) => !known.includes(name));
  // A word misspelt would allow nothing, or forbid nothing, without a word.
  if (strange !== undefined) {
    wrong(`${what} has no field ${JSON.stringify(strange.slice(0, 64))}: ${known.join(', ')}`);
  }
}

function list<T>(name: string, value: readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) wrong(`${name} is a list`);
  if (value.length > POLICY_LIST_MAX) {
    wrong(`${name} has ${value.length} entries; ${POLICY_LIST_MAX} is the most: name folders`);
  }
  return [...value];
}

function texts(
  name: string,
  value: readonly string[] | undefined,
  mayBeEmpty = false,
): readonly string[] {
  return list(name, value).map((one) => text(name, one, mayBeEmpty));
}

function text(name: string, value: string, mayBeEmpty = false): string {
  if (typeof value !== 'string' || (value === '' && !mayBeEmpty)) {
    wrong(`${name} holds an entry that is no text, or an empty one`);
  }
  if (value.length > POLICY_TEXT_CHARS_MAX || value.includes('\0')) {
    wrong(`${name} holds an entry with NUL, or over ${POLICY_TEXT_CHARS_MAX} characters`);
  }
  return value;
}

function wrong(why: string): never {
  throw new PolicyError(why);
}
