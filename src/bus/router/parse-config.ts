/**
 * The text of a bus config, parsed: the reference's schema and our additions, defaults filled in.
 * A config that cannot be used is refused with the name of every field that is wrong. Keys that are
 * not known are warnings, because configs of the reference must run unchanged; but in a rule or a
 * client, or where `policy` or `clients` was meant, such a key is refused, since it would change who
 * may do what.
 */
import { type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { PingProbe, ReadyProbe } from '../process/spec.ts';
import type { BusConfig, KnownClient, PolicyRule, PoolConfig, TransportConfig } from './config.ts';
import { DEFAULT_LIMITS, readLimits, SECONDS_LIMIT } from './config-limits.ts';
import {
  argument,
  BusConfigError,
  ConfigReport,
  found,
  listOf,
  object,
  oneOf,
  optional,
  pathOf,
  type Reader,
  record,
  type Shape,
  seconds,
  text,
  whole,
} from './config-reader.ts';

const POOLS_MAX = 1_024;
const INSTANCES_MAX = 1_024;
/** All pools together. */
const WORKERS_MAX = 4_096;
const ID_CHARS_MAX = 255;
const IN_FLIGHT_LIMIT = 1_048_576;
/** As many as the reference allows all clients together, so no config gets less than it had. */
const IN_FLIGHT_DEFAULT = 4_096;
const READY_SEC_DEFAULT = 10;
const PING_EVERY_SEC_DEFAULT = 30;
const PING_SEC_DEFAULT = 5;
const RULES_MAX = 1_024;
const CLIENTS_MAX = 4_096;
const REASON_CHARS_MAX = 1_000;

export interface ParsedBusConfig extends BusConfig {
  /** What has no effect, a sentence each, with the field it is about. */
  readonly warnings: readonly string[];
}

/** `source` is what an error calls the text: the path of the file. */
export function parseBusConfig(json: string, source: string): ParsedBusConfig {
  return parseBusDocument(parseJson(json, source), source);
}

/** The same for a document that is parsed already; a strict one has no key that is not known. */
export function parseBusDocument(
  document: unknown,
  source: string,
  isStrict = false,
): ParsedBusConfig {
  const report = new ConfigReport(isStrict);
  const config = readConfig(document, '', report);
  if (config.pools !== undefined) checkTogether(config, report);
  if (report.problems.length > 0) throw new BusConfigError(source, report.problems);
  return { ...config, warnings: report.warnings };
}

const wait = seconds(0.01, SECONDS_LIMIT);
/** The default stands for a key that is not there; null is no time. */
const waitOr = (secondsDefault: number): Reader<number> => {
  return (value = secondsDefault, field, report) => wait(value, field, report);
};

const readyProbe: Reader<ReadyProbe> = record({
  method: ['method', text()],
  timeoutMs: ['timeout_sec', waitOr(READY_SEC_DEFAULT)],
});

const pingProbe: Reader<PingProbe> = record({
  method: ['method', text()],
  everyMs: ['interval_sec', waitOr(PING_EVERY_SEC_DEFAULT)],
  timeoutMs: ['timeout_sec', waitOr(PING_SEC_DEFAULT)],
});

const variables: Reader<Record<string, string>> = (value, field, report) => {
  const env: Record<string, string> = {};
  for (const [name, raw] of Object.entries(object(value, field, report))) {
    const path = pathOf(field, name);
    if (!/^[^=\0]+$/.test(name)) report.refuse(path, 'is no name for a variable');
    else env[name] = argument(raw, path, report);
  }
  return env;
};

const variableName: Reader<string> = (value, field, report) => {
  const name = text()(value, field, report);
  if (typeof value === 'string' && value !== '' && !/^[^=*\s]*\*?$/.test(name)) {
    const wanted = 'the name of a variable, or the beginning of one with a * behind it';
    report.refuse(field, `must be ${wanted}; found ${found(name)}`);
  }
  return name;
};

export const POOL_SHAPE: Shape<PoolConfig> = {
  id: ['id', text(ID_CHARS_MAX)],
  command: ['command', text()],
  args: ['args', listOf(argument)],
  instances: ['instances', whole(1, INSTANCES_MAX)],
  env: ['env', optional(variables, {})],
  envAllow: ['env_allow', listOf(variableName)],
  cwd: ['cwd', optional<string | null>(text(), null)],
  restart: ['restart', optional(oneOf('always', 'on-failure', 'never'), 'always')],
  ready: ['ready', optional<ReadyProbe | null>(readyProbe, null)],
  ping: ['ping', optional<PingProbe | null>(pingProbe, null)],
  hangMs: ['hang_timeout_sec', optional<number | null>(wait, null)],
  inFlightMax: ['max_in_flight', optional(whole(1, IN_FLIGHT_LIMIT), IN_FLIGHT_DEFAULT)],
  agents: ['agents', listOf(text())],
  methods: ['methods', listOf(text())],
};

const pools: Reader<PoolConfig[]> = (value, field, report) => {
  if (value === undefined) report.refuse(field, 'is missing; give an array with at least one pool');
  const list = listOf(record(POOL_SHAPE), POOLS_MAX)(value, field, report);
  if (Array.isArray(value) && value.length === 0) {
    report.refuse(field, 'must have at least one pool');
  }
  return list;
};

const NOT_HERE: Readonly<Record<string, string>> = {
  shm: 'shared memory is not a transport of this bus; use "unix"',
  mqueue: 'message queues are not a transport of this bus; use "unix"',
  raw: 'raw frames belong to message queues, which this bus does not have; use "ndjson" or "length"',
  capnp: 'Cap’n Proto is not a framing of this bus; use "ndjson" or "length"',
  binary: 'the binary envelope is not a protocol of this bus; use "json" with "length" framing',
};

/** One of the words; a word of the reference that this bus does not have is refused with a reason. */
function word<Word extends string>(...words: readonly Word[]): Reader<Word | null> {
  const known = oneOf(...words);
  return optional<Word | null>((value, field, report) => {
    const reason = typeof value === 'string' && Object.hasOwn(NOT_HERE, value) && NOT_HERE[value];
    if (!reason) return known(value, field, report);
    report.refuse(field, `${found(value)}: ${reason}`);
    return null;
  }, null);
}

const transportFields = record<TransportConfig & { protocol: unknown; options: unknown }>({
  mode: ['mode', word('stdio', 'unix', 'tcp')],
  framing: ['framing', (...given) => word('ndjson', 'length')(...given) ?? 'ndjson'],
  protocol: ['protocol', word('json')],
  options: [
    'options',
    (value, field, report) => {
      if (value === undefined) return;
      report.warn(field, 'has no effect: it is for transports this bus does not have');
    },
  ],
});

const transport: Reader<TransportConfig> = (value, field, report) => {
  const { mode, framing } = transportFields(value, field, report);
  return { mode, framing };
};

const optionalText = optional<string | null>(text(), null);

const rule: Reader<PolicyRule> = record(
  {
    effect: ['effect', oneOf('allow', 'deny')],
    method: ['method', optionalText],
    pool: ['pool', optionalText],
    subject: ['subject', optionalText],
    role: ['role', optionalText],
    reason: ['reason', optional<string | null>(text(REASON_CHARS_MAX), null)],
  },
  'every',
);

const tokenHash: Reader<string> = (value, field, report) => {
  const hash = typeof value === 'string' ? value.toLowerCase() : '';
  // The value is not shown: it may be the token itself.
  if (!/^[0-9a-f]{64}$/.test(hash)) {
    report.refuse(field, 'must be the SHA-256 of the token, 64 hexadecimal digits');
  }
  return hash;
};

const client: Reader<KnownClient> = record(
  {
    subjectId: ['subjectId', text()],
    role: ['role', optional(text(), 'client')],
    tokenHash: ['token_sha256', tokenHash],
  },
  'every',
);

const readConfig: Reader<BusConfig> = record(
  {
    pools: ['pools', pools],
    limits: ['limits', optional(readLimits, DEFAULT_LIMITS)],
    transport: ['transport', optional(transport, { mode: null, framing: 'ndjson' })],
    policy: ['policy', optional(listOf(rule, RULES_MAX), [])],
    clients: ['clients', optional(listOf(client, CLIENTS_MAX), [])],
  },
  ['policy', 'clients'],
);

/** What one field alone does not show: ids and tokens used twice, pools that are not there. */
function checkTogether({ pools, policy, clients }: BusConfig, report: ConfigReport): void {
  const idOwners = new Map<string, number>();
  for (const [i, { id }] of pools.entries()) {
    const owner = idOwners.get(id);
    if (owner === undefined) idOwners.set(id, i);
    else if (id) report.refuse(`pools[${i}].id`, `${found(id)} is already that of pools[${owner}]`);
  }
  const workers = pools.reduce((sum, { instances }) => sum + instances, 0);
  if (workers > WORKERS_MAX) {
    report.refuse('pools', `ask for ${workers} workers in all; at most ${WORKERS_MAX} are run`);
  }
  for (const [i, { pool }] of policy.entries()) {
    if (pool && !idOwners.has(pool)) {
      report.refuse(`policy[${i}].pool`, `there is no pool ${found(pool)}`);
    }
  }
  const hashes = new Set<string>();
  for (const [i, { tokenHash: hash }] of clients.entries()) {
    if (hash && hashes.has(hash)) {
      const field = `clients[${i}].token_sha256`;
      report.refuse(field, 'is that of another client; give each its own token');
    }
    hashes.add(hash);
  }
}

function parseJson(json: string, source: string): unknown {
  const bare = json.startsWith('\u{feff}') ? json.slice(1) : json;
  try {
    return JSON.parse(bare);
  } catch (cause) {
    throw notJson(bare, source, cause);
  }
}

function notJson(json: string, source: string, cause: unknown): BusConfigError {
  return new BusConfigError(source, [{ field: '', issue: jsonIssue(json) }], { cause });
}

/** The engine does not always say where; this parser does. */
function jsonIssue(json: string): string {
  if (json.trim() === '') return 'is empty; it must be a JSON object with "pools"';
  const first = firstError(json);
  if (first === undefined) return 'is not JSON';
  const before = json.slice(0, first.offset).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  const what = printParseErrorCode(first.error)
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim();
  return `is not JSON: ${what} at line ${before.length}, column ${column}`;
}

function firstError(json: string): ParseError | undefined {
  const errors: ParseError[] = [];
  try {
    parseTree(json, errors, { disallowComments: true, allowTrailingComma: false });
  } catch {
    // Nested deeper than the stack: whatever it is, it is no config.
  }
  return errors[0];
}
