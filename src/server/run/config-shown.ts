/**
 * The configuration as a person reads it: every setting, what is in force, and where that was said
 * [CF8]. Secrets are never among it: of them it is told only that there is one.
 */
import { join } from 'node:path';
import {
  type Config,
  type ConfigInput,
  type ConfigProblem,
  flagName,
  parseConfig,
  parseSources,
  type Said,
  sourceOf,
} from './config.ts';
import { ENV_NAMES } from './config-sources.ts';
import { shownStore } from './store-url.ts';

export interface ShownSetting {
  readonly field: string;
  /** Null where nothing is set, and the hub or the space does as it does by itself. */
  readonly value: unknown;
  readonly source: ConfigProblem['source'];
  /** The flag, the variable or the name in the file; null of a default. */
  readonly said: string | null;
}

const HIDDEN = '(hidden)';

/** The compiler asks for a new setting here. */
const IN_FORCE: Readonly<Record<keyof Said, (config: Config) => unknown>> = {
  host: (config) => config.host,
  port: (config) => config.port,
  dir: (config) => config.dir,
  store: ({ store, dir }) =>
    store === null ? `sqlite://${join(dir, 'spaces', '<space>.sqlite')}` : shownStore(store),
  record_key: ({ recordKey }) => recordKey.path,
  auth: (config) => config.auth,
  cors_origins: (config) => config.corsOrigins,
  allowed_hosts: (config) => config.allowedHosts,
  agents: (config) => config.agents,
  backpressure_mode: ({ settings }) => settings.backpressureMode,
  queue_limit: ({ settings }) => settings.queueLimit,
  claims_per_agent: ({ settings }) => settings.claimsPerAgent,
  offers_per_agent: ({ settings }) => settings.offersPerAgent,
  idempotency_ttl_ms: ({ settings }) => settings.idempotencyTtlMs,
  typed_channels: ({ settings }) => settings.typedChannels,
  rate_limit: ({ settings }) => settings.rateLimit,
  heartbeat_ttl: ({ settings }) => settings.heartbeatTtl,
  fault_inject: (config) => config.faultInject,
  allow_plugins: ({ plugins }) => plugins.allow,
  discovery: ({ plugins }) => plugins.from,
  skip_mismatched_plugins: ({ plugins }) => plugins.skipMismatched,
  log_level: (config) => config.logLevel,
  socket: (config) => config.isSocketOn,
  synapse_port: ({ synapse }) => synapse?.port,
  synapse_token: ({ synapse }) => (synapse?.auth === 'open' ? 'none' : synapse?.token && HIDDEN),
  relay: ({ relay }) => relay?.path,
  relay_lines: ({ relay, synapseRelay }) => (relay ?? synapseRelay)?.lines,
  synapse_relay: ({ synapseRelay }) => synapseRelay?.path,
  mirror: (config) => config.mirror,
  synapse_clients: ({ synapse }) => synapse?.limits.clientsMax,
  synapse_unauthenticated: ({ synapse }) => synapse?.limits.unauthenticatedMax,
  synapse_auth_timeout_ms: ({ synapse }) => synapse?.limits.authTimeoutMs,
  synapse_takeover_cooldown_ms: ({ synapse }) => synapse?.limits.takeoverCooldownMs,
  bus: (config) => config.bus,
  metrics: ({ metrics }) => (metrics?.token ? HIDDEN : metrics !== null),
  host_rate_limit: (config) => config.hostRateLimit,
  notices: ({ notices }) => notices?.ways,
  remind_after: ({ notices }) => notices && (notices.remindAfterMs ?? 0) / 1000,
  runners: ({ turns }) => turns.runners,
  turns_roots: ({ turns }) => turns.roots,
  turns_parallel_max: ({ turns }) => turns.parallelMax,
  server_name: (config) => config.serverName,
  close_unused_after: (config) => (config.closeUnusedAfterMs ?? 0) / 1000,
  otlp: ({ telemetry }) => telemetry?.otlp?.endpoint,
  otlp_headers: ({ telemetry }) => headerNames(telemetry?.otlp?.headers ?? {}),
  telemetry_file: ({ telemetry }) => telemetry?.file,
  telemetry_sample: ({ telemetry }) => telemetry?.sample,
  telemetry_content: ({ telemetry }) => telemetry?.hasContent,
  telemetry_service: ({ telemetry }) => telemetry?.service,
};

/** Every setting a hub would have that is started with this, in the order of the reference. */
export function showConfig(
  input: ConfigInput,
): { readonly settings: readonly ShownSetting[] } | ConfigProblem[] {
  const config = parseConfig(input);
  const sources = parseSources(input);
  if (Array.isArray(config)) return config;
  if (Array.isArray(sources)) return sources;
  const settings = (Object.keys(IN_FORCE) as (keyof Said)[]).map((field): ShownSetting => {
    const source = sourceOf(field, sources);
    const said = { flag: flagName(field), env: ENV_NAMES[field], file: field, default: null };
    return { field, value: IN_FORCE[field](config) ?? null, source, said: said[source] ?? null };
  });
  return { settings };
}

/** Keys are often among them. */
function headerNames(headers: Readonly<Record<string, string>>): Record<string, string> | null {
  const names = Object.keys(headers);
  return names.length === 0 ? null : Object.fromEntries(names.map((name) => [name, HIDDEN]));
}
