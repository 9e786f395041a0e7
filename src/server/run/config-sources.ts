/**
 * Flags and environment, brought to the form of the config file, so that one set of
 * rules judges all three. Text that should be a number or a list becomes one where it
 * can; where it cannot it is passed on as it is, and the rules say what is wrong.
 */

/** As commander gives them: text, or a list where a flag may be repeated. */
export interface ServeFlags {
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly dir?: string | undefined;
  readonly store?: string | undefined;
  readonly auth?: string | undefined;
  readonly corsOrigin?: readonly string[] | undefined;
  readonly allowHost?: readonly string[] | undefined;
  readonly allowPlugins?: string | undefined;
  /** A folder; true for the one we stand in. */
  readonly discovery?: boolean | string | undefined;
  readonly skipMismatchedPlugins?: boolean | undefined;
  readonly logLevel?: string | undefined;
  readonly socket?: boolean | undefined;
  /** True when the flag came without a port. */
  readonly synapse?: string | boolean | undefined;
  readonly synapseToken?: string | undefined;
  readonly serverName?: string | undefined;
  readonly relay?: string | undefined;
  readonly relayLines?: string | undefined;
  readonly synapseRelay?: string | undefined;
  readonly mirror?: string | undefined;
  readonly bus?: string | undefined;
  /** True when the flag came without a token. */
  readonly metrics?: boolean | string | undefined;
  readonly otlp?: string | undefined;
  readonly telemetryFile?: string | undefined;
}

const SYNAPSE_PORT = 8876;

/** Which variable says which field, for messages and for the reference. */
export const ENV_NAMES: Readonly<Record<string, string>> = {
  dir: 'SYNOD_DIR',
  store: 'SOX_BACKING_STORE',
  record_key: 'SYNOD_RECORD_KEY',
  host: 'SOX_HTTP_HOST',
  port: 'SOX_HTTP_PORT',
  cors_origins: 'SOX_HTTP_CORS_ORIGINS',
  agents: 'SOX_PRE_REGISTERED_AGENTS',
  log_level: 'SOX_LOG_LEVEL',
  allow_plugins: 'SOX_ALLOWED_PLUGINS',
  discovery: 'SOX_NO_DISCOVERY',
  heartbeat_ttl: 'SOX_HEARTBEAT_TTL_DEFAULT',
  synapse_token: 'SYNAPSE_TOKEN',
  otlp: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  otlp_headers: 'OTEL_EXPORTER_OTLP_HEADERS',
  telemetry_service: 'OTEL_SERVICE_NAME',
};

export function readFlags(flags: ServeFlags): Record<string, unknown> {
  return present({
    host: flags.host,
    port: asNumber(flags.port),
    dir: flags.dir,
    store: flags.store,
    server_name: flags.serverName,
    auth: flags.auth,
    cors_origins: flags.corsOrigin,
    allowed_hosts: flags.allowHost,
    allow_plugins: asList(flags.allowPlugins),
    discovery: flags.discovery,
    skip_mismatched_plugins: flags.skipMismatchedPlugins,
    log_level: flags.logLevel,
    // Commander answers true for a `--no-…` flag that was not given; that says nothing.
    socket: flags.socket === false ? false : undefined,
    synapse_port: synapsePort(flags.synapse),
    synapse_token: flags.synapseToken,
    relay: flags.relay,
    relay_lines: asNumber(flags.relayLines),
    synapse_relay: flags.synapseRelay,
    mirror: flags.mirror,
    bus: flags.bus,
    metrics: flags.metrics,
    otlp: flags.otlp,
    telemetry_file: flags.telemetryFile,
  });
}

export function readEnv(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, unknown> {
  // A variable set to nothing says nothing, but for the list of agents: present, even empty, it is strict.
  const said = (field: string): string | undefined => env[ENV_NAMES[field] as string] || undefined;
  const agents = env.SOX_PRE_REGISTERED_AGENTS;
  return present({
    dir: said('dir'),
    store: said('store'),
    record_key: said('record_key'),
    host: said('host'),
    port: asNumber(said('port')),
    cors_origins: asList(said('cors_origins')),
    agents: agents === undefined ? undefined : asList(agents)?.map((id) => ({ id })),
    log_level: said('log_level'),
    allow_plugins: asList(said('allow_plugins')),
    discovery: /^(1|true|yes)$/i.test(said('discovery') ?? '') ? false : undefined,
    heartbeat_ttl: asNumber(said('heartbeat_ttl')),
    synapse_token: said('synapse_token'),
    ...telemetrySaid(env, said),
  });
}

function synapsePort(flag: string | boolean | undefined): number | string | undefined {
  if (flag === true) return SYNAPSE_PORT;
  return flag === false ? undefined : asNumber(flag);
}

function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function asNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : text;
}

function asList(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** As OpenTelemetry's own programs read them; one variable turns all of it off. */
function telemetrySaid(
  env: Readonly<Record<string, string | undefined>>,
  said: (field: string) => string | undefined,
): Record<string, unknown> {
  if (/^true$/i.test(env.OTEL_SDK_DISABLED ?? '') || said('otlp') === undefined) return {};
  return {
    otlp: said('otlp'),
    otlp_headers: asHeaders(said('otlp_headers')),
    telemetry_service: said('telemetry_service'),
  };
}

/** `name=value,name=value`, each percent-encoded. */
function asHeaders(text: string | undefined): Record<string, string> | undefined {
  const pairs = asList(text)?.map((pair) => {
    const at = pair.indexOf('=');
    return at < 0 ? [pair, ''] : [pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())];
  });
  return pairs && Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
