/**
 * The pools of a config: `id`, `command`, `args` and `instances` as the reference has them, and what
 * we add. Two pools never share an id: who is meant must be clear. Several may serve one agent or
 * method; the work is then spread over all of them.
 */
import type { PingProbe, ReadyProbe } from '../process/spec.ts';
import type { PoolConfig } from './config.ts';
import { SECONDS_LIMIT } from './parse-config-limits.ts';
import { type ConfigReader, type Fields, found, pathOf } from './parse-config-reader.ts';

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
const WAIT_RANGE = { min: 0.01, max: SECONDS_LIMIT };

export const POOL_KEYS = [
  'id',
  'command',
  'args',
  'instances',
  'env',
  'env_allow',
  'cwd',
  'restart',
  'ready',
  'ping',
  'hang_timeout_sec',
  'max_in_flight',
  'agents',
  'methods',
] as const;

/** What a pool has when its config says only who it is and what to run. */
export const DEFAULT_POOL: Omit<PoolConfig, 'id' | 'command'> = {
  args: [],
  instances: 1,
  env: {},
  envAllow: [],
  cwd: null,
  restart: 'always',
  ready: null,
  ping: null,
  hangMs: null,
  inFlightMax: IN_FLIGHT_DEFAULT,
  agents: [],
  methods: [],
};

export function parsePools(reader: ConfigReader, value: unknown): readonly PoolConfig[] {
  if (value === undefined) {
    reader.refuse('pools', 'is missing; give an array with at least one pool');
    return [];
  }
  const list = reader.list(value, 'pools');
  if (Array.isArray(value) && list.length === 0) {
    reader.refuse('pools', 'must have at least one pool');
  }
  if (list.length > POOLS_MAX) {
    reader.refuse('pools', `must have at most ${POOLS_MAX} pools; found ${list.length}`);
    return [];
  }
  const pools = list.map((one, i) => parsePool(reader, one, `pools[${i}]`));
  refuseSameId(reader, pools);
  const workers = pools.reduce((sum, { instances }) => sum + instances, 0);
  if (workers > WORKERS_MAX) {
    reader.refuse('pools', `ask for ${workers} workers in all; at most ${WORKERS_MAX} are run`);
  }
  return pools;
}

function parsePool(reader: ConfigReader, value: unknown, field: string): PoolConfig {
  const fields = reader.fields(value, field);
  if (fields === null) return { ...DEFAULT_POOL, id: '', command: '' };
  reader.remarkUnknown(fields, field, POOL_KEYS);
  const at = (key: (typeof POOL_KEYS)[number]): string => `${field}.${key}`;
  const when = <T>(key: (typeof POOL_KEYS)[number], otherwise: T, read: (raw: unknown) => T): T =>
    fields[key] === undefined || fields[key] === null ? otherwise : read(fields[key]);
  return {
    id: reader.text(fields.id, at('id'), ID_CHARS_MAX),
    command: reader.text(fields.command, at('command')),
    args: reader
      .list(fields.args, at('args'))
      .map((one, i) => reader.argument(one, `${at('args')}[${i}]`)),
    instances: reader.whole(fields.instances, at('instances'), { min: 1, max: INSTANCES_MAX }),
    env: when('env', DEFAULT_POOL.env, (raw) => parseEnv(reader, raw, at('env'))),
    envAllow: parseAllow(reader, fields.env_allow, at('env_allow')),
    cwd: reader.optionalText(fields.cwd, at('cwd')),
    restart: when('restart', DEFAULT_POOL.restart, (raw) =>
      reader.oneOf(raw, at('restart'), ['always', 'on-failure', 'never']),
    ),
    ready: when('ready', DEFAULT_POOL.ready, (raw) => parseReady(reader, raw, at('ready'))),
    ping: when('ping', DEFAULT_POOL.ping, (raw) => parsePing(reader, raw, at('ping'))),
    hangMs: when('hang_timeout_sec', DEFAULT_POOL.hangMs, (raw) =>
      reader.seconds(raw, at('hang_timeout_sec'), WAIT_RANGE),
    ),
    inFlightMax: when('max_in_flight', DEFAULT_POOL.inFlightMax, (raw) =>
      reader.whole(raw, at('max_in_flight'), { min: 1, max: IN_FLIGHT_LIMIT }),
    ),
    agents: reader.texts(fields.agents, at('agents')),
    methods: reader.texts(fields.methods, at('methods')),
  };
}

function parseEnv(
  reader: ConfigReader,
  value: unknown,
  field: string,
): Readonly<Record<string, string>> {
  const fields: Fields = reader.fields(value, field) ?? {};
  const env: Record<string, string> = {};
  for (const [name, raw] of Object.entries(fields)) {
    const path = pathOf(field, name);
    if (!/^[^=\0]+$/.test(name)) reader.refuse(path, 'is no name for a variable');
    else env[name] = reader.argument(raw, path);
  }
  return env;
}

function parseAllow(reader: ConfigReader, value: unknown, field: string): readonly string[] {
  const names = reader.texts(value, field);
  for (const [i, name] of names.entries()) {
    if (name !== '' && !/^[^=*\s]*\*?$/.test(name)) {
      reader.refuse(
        `${field}[${i}]`,
        `must be the name of a variable, or the beginning of one with a * behind it; found ${found(name)}`,
      );
    }
  }
  return names;
}

function parseReady(reader: ConfigReader, value: unknown, field: string): ReadyProbe | null {
  const fields = reader.fields(value, field);
  if (fields === null) return null;
  reader.remarkUnknown(fields, field, ['method', 'timeout_sec']);
  const { method, timeout_sec: timeout = READY_SEC_DEFAULT } = fields;
  return {
    method: reader.text(method, `${field}.method`),
    timeoutMs: reader.seconds(timeout, `${field}.timeout_sec`, WAIT_RANGE),
  };
}

function parsePing(reader: ConfigReader, value: unknown, field: string): PingProbe | null {
  const fields = reader.fields(value, field);
  if (fields === null) return null;
  reader.remarkUnknown(fields, field, ['method', 'interval_sec', 'timeout_sec']);
  const { interval_sec: every = PING_EVERY_SEC_DEFAULT, timeout_sec: timeout = PING_SEC_DEFAULT } =
    fields;
  return {
    method: reader.text(fields.method, `${field}.method`),
    everyMs: reader.seconds(every, `${field}.interval_sec`, WAIT_RANGE),
    timeoutMs: reader.seconds(timeout, `${field}.timeout_sec`, WAIT_RANGE),
  };
}

function refuseSameId(reader: ConfigReader, pools: readonly PoolConfig[]): void {
  const owners = new Map<string, number>();
  for (const [i, { id }] of pools.entries()) {
    const owner = owners.get(id);
    if (owner === undefined) owners.set(id, i);
    else if (id !== '') {
      reader.refuse(`pools[${i}].id`, `${found(id)} is already that of pools[${owner}]`);
    }
  }
}
