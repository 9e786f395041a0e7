/**
 * The server's configuration: flags over environment over file over defaults.
 *
 * It is pure: what the world says comes in, a whole Config or every problem comes
 * out. Each source is held to the same rules, also where another overrides it; a
 * problem names the field, where it was said and what is allowed.
 */

import { isAbsolute, join, resolve } from 'node:path';
import type { z } from 'zod';
import { usualKeyPath } from '../../log/signing-key-file.ts';
import type { RunnerSpec } from '../../wire/operations/runner-spec.ts';
import {
  type Agent,
  type ConfigFile,
  configFile,
  type FaultCode,
  KNOWN_NAMES,
  type LogLevel,
} from './config-file.ts';
import { noticesOf } from './config-notices.ts';
import { ENV_NAMES, readEnv, readFlags, type ServeFlags } from './config-sources.ts';
import { type SynapseConfig, synapseOf } from './config-synapse.ts';
import { type TelemetryConfig, telemetryOf } from './config-telemetry.ts';
import type { NoticesConfig } from './notices.ts';

export interface Config {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Absolute. */
  readonly dir: string;
  /** A store URL; null keeps one SQLite file per space under `<dir>/spaces`. */
  readonly store: string | null;
  /** Its name among several servers of one store; null where it is alone. */
  readonly serverName: string | null;
  /** For so long nobody asks here for a space that another server sequences, and it is closed; null: never. */
  readonly closeUnusedAfterMs: number | null;
  /** The key that signs heads; made at the usual place where none was chosen. */
  readonly recordKey: RecordKeyConfig;
  readonly auth: 'local' | 'open';
  readonly corsOrigins: readonly string[];
  /** Host names beside the address itself that a request may be addressed to. */
  readonly allowedHosts: readonly string[];
  /** Null: any name may come. Else, even when empty, only these. */
  readonly agents: readonly Agent[] | null;
  readonly settings: SettingsConfig;
  /** Set only under SOX_TEST_FAULTS=1. */
  readonly faultInject: FaultCode | null;
  readonly plugins: PluginsConfig;
  readonly logLevel: LogLevel;
  readonly isSocketOn: boolean;
  /** Null: no Synapse door. */
  readonly synapse: SynapseConfig | null;
  /** The folder of the mirrors, if there is one. */
  readonly mirror: string | null;
  /** Null: no relay file. */
  readonly relay: RelayConfig | null;
  /** The same for Synapse's own readers. */
  readonly synapseRelay: RelayConfig | null;
  /** The config file of the bus inside the hub. Absolute; null: no bus. */
  readonly bus: string | null;
  /** Null: off. A null token asks for the normal credential. */
  readonly metrics: { readonly token: string | null } | null;
  /** Requests a second from one remote address; null: as many as come. */
  readonly hostRateLimit: number | null;
  /** How people are told of what waits for them; null: they look. */
  readonly notices: NoticesConfig | null;
  readonly turns: TurnsConfig;
  /** Null: nobody is told. */
  readonly telemetry: TelemetryConfig | null;
}

export interface RecordKeyConfig {
  /** Absolute. */
  readonly path: string;
  readonly isChosen: boolean;
}

export interface TurnsConfig {
  /** Runners by name, for agents to be configured with. */
  readonly runners: Readonly<Record<string, RunnerSpec>>;
  /** Where turns may work. Absolute. */
  readonly roots: readonly string[];
  /** Turns of a space at one time; null leaves the space's own. */
  readonly parallelMax: number | null;
}

/** What every space starts from; null leaves the space's own default. */
export interface SettingsConfig {
  readonly backpressureMode: 'advisory' | 'enforced' | null;
  readonly queueLimit: number | null;
  readonly claimsPerAgent: number | null;
  readonly offersPerAgent: number | null;
  readonly idempotencyTtlMs: number | null;
  /** Channel name to JSON Schema; present, even empty, means that only these channels exist. */
  readonly typedChannels: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null;
  /** Calls a second for one agent. */
  readonly rateLimit: number | null;
  /** Seconds a heartbeat lasts when it does not say so itself. */
  readonly heartbeatTtl: number | null;
}

export interface RelayConfig {
  /** Absolute. */
  readonly path: string;
  /** The file holds between so many lines and twice as many. */
  readonly lines: number;
}

export interface PluginsConfig {
  /** Undefined: no list was given. */
  readonly allow: readonly string[] | undefined;
  /** The folder in whose `node_modules` plugins are looked for. Absolute; null: nowhere. */
  readonly from: string | null;
  readonly skipMismatched: boolean;
}

export interface ConfigProblem {
  /** `config.…`, fixed forever; the message may improve. */
  readonly code: 'config.invalid' | 'config.open-not-loopback' | 'config.faults-off';
  readonly field: string;
  readonly source: 'flag' | 'env' | 'file' | 'default';
  readonly message: string;
}

export interface ConfigInput {
  readonly flags: ServeFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The parsed config file; undefined when there is none. */
  readonly file: unknown;
  readonly home: string;
  readonly cwd: string;
}

export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 8765;
const DEFAULT_RELAY_LINES = 5_000;
/** Seconds. */
const CLOSE_UNUSED_AFTER_S = 600;

export function parseConfig(input: ConfigInput): Config | ConfigProblem[] {
  const sources = parseSources(input);
  if (Array.isArray(sources)) return sources;
  const { env, home, cwd } = input;
  const { flag, env: said, file } = sources;
  const all = { ...file, ...said, ...flag };
  const config = { ...toConfig(all, home, cwd), recordKey: recordKeyOf(all, input) };
  const refused = [
    checkFaults(config, env.SOX_TEST_FAULTS === '1', file),
    checkOpen(config, sourceOf('auth', sources)),
    checkSynapse(config, sourceOf('synapse_port', sources)),
    checkRunnerNames(config, sourceOf('agents', sources)),
    checkServerName(config, sourceOf('server_name', sources)),
  ].filter((problem) => problem !== null);
  return refused.length > 0 ? refused : config;
}

/** What each source says, judged by itself. */
export interface Sources {
  readonly flag: Said;
  readonly env: Said;
  readonly file: Said;
}

export function parseSources(input: ConfigInput): Sources | ConfigProblem[] {
  const flags = readFlags(input.flags);
  const environment = readEnv(input.env);
  const parts = [
    judge('flag', flags, flagName),
    judge('env', environment, (field) => ENV_NAMES[field] ?? field),
    judge('file', input.file ?? {}, (field) => field),
  ] as const;
  const problems = parts.flatMap((part) => part.problems);
  if (problems.length > 0) return problems;
  const [flag, env, file] = parts.map((part) => merged(part.value)) as [Said, Said, Said];
  return { flag, env, file };
}

/** Where the flag is not the setting with hyphens. */
const FLAG_NAMES: Readonly<Record<string, string>> = {
  synapse_port: '--synapse',
  cors_origins: '--cors-origin',
  allowed_hosts: '--allow-host',
};

export function flagName(field: string): string {
  return FLAG_NAMES[field] ?? `--${field.replaceAll('_', '-')}`;
}

export type Said = Omit<ConfigFile, 'server_config'>;

/** SOX's `server_config` is the same names, one level down; the outer one wins. */
function merged(file: ConfigFile): Said {
  const { server_config: inner, ...outer } = file;
  return { ...inner, ...outer };
}

function judge(
  source: 'flag' | 'env' | 'file',
  value: unknown,
  name: (field: string) => string,
): { value: ConfigFile; problems: ConfigProblem[] } {
  const parsed = configFile.safeParse(value, { reportInput: true });
  if (parsed.success) return { value: parsed.data, problems: [] };
  return {
    value: {},
    problems: parsed.error.issues.flatMap((issue) => explain(issue, source, name)),
  };
}

function explain(
  issue: z.core.$ZodIssue,
  source: 'flag' | 'env' | 'file',
  name: (field: string) => string,
): ConfigProblem[] {
  const problem = (path: readonly PropertyKey[], message: string): ConfigProblem => {
    const [first = 'the file', ...rest] = path.map(String);
    const field = [name(first), ...rest].join('.');
    return { code: 'config.invalid', field, source, message };
  };
  if (issue.code === 'unrecognized_keys') {
    const known = issue.path.length === 0 ? `; known are ${KNOWN_NAMES.join(', ')}` : '';
    return issue.keys.map((key) => problem([...issue.path, key], `is not a setting${known}`));
  }
  const isSecret = ['synapse_token', 'metrics', 'otlp', 'otlp_headers'].includes(
    String(issue.path[0]),
  );
  const shown =
    issue.input === undefined || isSecret
      ? ''
      : ` (found ${JSON.stringify(issue.input)?.slice(0, 80)})`;
  return [problem(issue.path, `${issue.message}${shown}`)];
}

function recordKeyOf({ record_key }: Said, { env, home, cwd }: ConfigInput): RecordKeyConfig {
  if (record_key === undefined) return { path: usualKeyPath(env, home), isChosen: false };
  return { path: absolute(record_key, home, cwd), isChosen: true };
}

function toConfig(said: Said, home: string, cwd: string): Omit<Config, 'recordKey'> {
  const relayTo = (file: string | undefined): RelayConfig | null =>
    file === undefined
      ? null
      : { path: absolute(file, home, cwd), lines: said.relay_lines ?? DEFAULT_RELAY_LINES };
  return {
    host: said.host ?? DEFAULT_HOST,
    port: said.port ?? DEFAULT_PORT,
    dir: said.dir === undefined ? join(home, '.synod') : absolute(said.dir, home, cwd),
    store: said.store ?? null,
    serverName: said.server_name ?? null,
    closeUnusedAfterMs: (said.close_unused_after ?? CLOSE_UNUSED_AFTER_S) * 1000 || null,
    auth: said.auth ?? 'local',
    corsOrigins: said.cors_origins ?? [],
    allowedHosts: said.allowed_hosts ?? [],
    agents: said.agents ?? null,
    settings: {
      backpressureMode: said.backpressure_mode ?? null,
      queueLimit: said.queue_limit ?? null,
      claimsPerAgent: said.claims_per_agent ?? null,
      offersPerAgent: said.offers_per_agent ?? null,
      idempotencyTtlMs: said.idempotency_ttl_ms ?? null,
      typedChannels: said.typed_channels ?? null,
      rateLimit: said.rate_limit ?? null,
      heartbeatTtl: said.heartbeat_ttl ?? null,
    },
    faultInject: said.fault_inject ?? null,
    plugins: {
      allow: said.allow_plugins,
      from: pluginFolder(said, home, cwd),
      skipMismatched: said.skip_mismatched_plugins ?? false,
    },
    logLevel: said.log_level ?? 'info',
    isSocketOn: said.socket ?? true,
    synapse: said.synapse_port === undefined ? null : synapseOf(said.synapse_port, said),
    mirror: said.mirror === undefined ? null : absolute(said.mirror, home, cwd),
    relay: relayTo(said.relay),
    synapseRelay: relayTo(said.synapse_relay),
    bus: said.bus === undefined ? null : absolute(said.bus, home, cwd),
    metrics: metricsOf(said.metrics),
    hostRateLimit: said.host_rate_limit ?? null,
    notices: noticesOf(said, (path) => absolute(path, home, cwd)),
    turns: {
      runners: said.runners ?? {},
      roots: (said.turns_roots ?? ['~']).map((root) => absolute(root, home, cwd)),
      parallelMax: said.turns_parallel_max ?? null,
    },
    telemetry: telemetryOf(said, (path) => absolute(path, home, cwd)),
  };
}

/** Code of the folder one happens to stand in runs only where somebody asked for plugins. */
function pluginFolder({ discovery, allow_plugins: allow }: Said, home: string, cwd: string) {
  if (typeof discovery === 'string') return absolute(discovery, home, cwd);
  return (discovery ?? (allow !== undefined && allow.length > 0)) ? cwd : null;
}

function metricsOf(said: boolean | string | undefined): Config['metrics'] {
  if (said === undefined || said === false) return null;
  return { token: said === true ? null : said };
}

/** The shell expands `~` only at the start of a word; in a file or after `=` we must. */
export function absolute(path: string, home: string, cwd: string): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(cwd, path);
}

export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host);
}

function checkOpen(config: Config, source: ConfigProblem['source']): ConfigProblem | null {
  if (config.auth !== 'open' || isLoopback(config.host)) return null;
  return {
    code: 'config.open-not-loopback',
    field: 'auth',
    source,
    message: `open takes every caller at its word, so it serves on loopback alone and not on ${config.host}; use --host 127.0.0.1, or leave out --auth open and give agents tokens (synod token create)`,
  };
}

/** One among several needs a store that several can write to [SQ1]. */
function checkServerName(config: Config, source: ConfigProblem['source']): ConfigProblem | null {
  const { store, serverName } = config;
  if (serverName === null || store?.startsWith('nats:')) return null;
  const message = 'goes with a store that several servers share: --store nats://HOST:PORT/PREFIX';
  return { code: 'config.invalid', field: 'server_name', source, message };
}

function checkSynapse(config: Config, source: ConfigProblem['source']): ConfigProblem | null {
  const { synapse, host } = config;
  if (synapse === null || synapse.auth === 'token' || isLoopback(host)) return null;
  return {
    code: 'config.open-not-loopback',
    field: 'synapse_port',
    source,
    message: `without a token the Synapse door takes every name at its word, so it serves on loopback alone and not on ${host}; leave out --synapse-token none, or use --host 127.0.0.1`,
  };
}

/** A name that means nothing would be found out when mail comes. */
function checkRunnerNames(config: Config, source: ConfigProblem['source']): ConfigProblem | null {
  const { runners } = config.turns;
  for (const [at, { managed }] of (config.agents ?? []).entries()) {
    const name = managed?.runner;
    if (typeof name !== 'string' || Object.hasOwn(runners, name)) continue;
    const known = Object.keys(runners).join(', ') || 'none';
    const message = `${JSON.stringify(name)} is not among the runners: ${known}`;
    return { code: 'config.invalid', field: `agents.${at}.runner`, source, message };
  }
  return null;
}

function checkFaults(config: Config, mayFault: boolean, file: Said): ConfigProblem | null {
  if (config.faultInject === null || mayFault) return null;
  return {
    code: 'config.faults-off',
    field: 'fault_inject',
    source: file.fault_inject === undefined ? 'flag' : 'file',
    message: 'is for tests alone: set SOX_TEST_FAULTS=1, or remove it',
  };
}

export function sourceOf(field: keyof Said, { flag, env, file }: Sources): ConfigProblem['source'] {
  if (flag[field] !== undefined) return 'flag';
  if (env[field] !== undefined) return 'env';
  return file[field] === undefined ? 'default' : 'file';
}
