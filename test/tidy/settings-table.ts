/**
 * The settings in words, one row for each name the config file knows; the reference page is made
 * from it, and a test refuses a name without a row and a row without a name.
 */

export interface SettingRow {
  readonly flag: string | null;
  readonly value: string;
  readonly fallback: string;
  readonly what: string;
}

const row = (flag: string | null, value: string, fallback: string, what: string): SettingRow => ({
  flag,
  value,
  fallback,
  what,
});

export const SETTINGS: Readonly<Record<string, SettingRow>> = {
  host: row('--host', 'an address', '127.0.0.1', 'where to listen'),
  port: row('--port', '0 to 65535', '8765', 'where to listen; 0 takes any free port'),
  dir: row('--dir', 'a directory', '~/.synod', 'where everything is kept'),
  store: row(
    '--store',
    '`memory:`, `file:///dir`, `sqlite:///path` or `npm:PACKAGE?options`',
    'one SQLite file for each space, under the directory',
    'where the log is kept',
  ),
  auth: row(
    '--auth',
    '`local` or `open`',
    'local',
    'local: the owner’s credential and tokens; open: names at their word, on loopback only',
  ),
  cors_origins: row(
    '--cors-origin',
    'a list of origins',
    'none',
    'web pages that may call; the port may be `*`',
  ),
  allowed_hosts: row(
    '--allow-host',
    'a list of host names',
    'none',
    'names, beside the address itself, that this hub is reached by',
  ),
  agents: row(
    null,
    'a list of `{id, namespace}`; with `runner`, and `wake`, `limits`, `session`, `subscribe`, one that the hub runs',
    'anybody',
    'with `--auth open`: who may come, and into which space; given, even empty, nobody else, unless all of them have a runner. One with a `runner` (a name under `runners`, or a runner as `agents.manage` takes it) is subscribed and managed as it says each time the hub starts, and left to itself when it is named no more',
  ),
  backpressure_mode: row(
    null,
    '`advisory` or `enforced`',
    'advisory',
    'whether a full channel refuses',
  ),
  queue_limit: row(null, '1 to 10000000', '1000', 'when a channel is full'),
  claims_per_agent: row(null, '1 to 10000', '128', 'the claims one agent may hold'),
  offers_per_agent: row(null, '1 to 1000', '64', 'the offers one agent may have'),
  idempotency_ttl_ms: row(null, 'milliseconds', 'a day', 'how long a key is remembered'),
  typed_channels: row(
    null,
    'channel name to JSON Schema',
    'none',
    'typed channels; given, even empty, no other channel exists',
  ),
  rate_limit: row(
    null,
    'calls a second',
    'none for the owner’s agents, 1000 with a token, 100 for an untrusted one',
    'for each agent; given, it holds for all of them',
  ),
  heartbeat_ttl: row(null, 'seconds', '30', 'how long a heartbeat lasts that does not say'),
  fault_inject: row(
    null,
    '`store_unavailable`, `internal_error` or `rate_limited`',
    'none',
    'every operation is refused so; only under `SOX_TEST_FAULTS=1`',
  ),
  server_config: row(null, 'an object', 'none', 'SOX’s place for the seven settings above'),
  allow_plugins: row(
    '--allow-plugins',
    'a list of plugin ids',
    'none',
    'load these plugins and no others; see [write a plugin](../guide/write-a-plugin.md)',
  ),
  discovery: row(
    '--discovery',
    'a folder, or true for the one you stand in',
    'off, unless `allow_plugins` names some',
    'look for plugins in its `node_modules`',
  ),
  skip_mismatched_plugins: row(
    '--skip-mismatched-plugins',
    'true or false',
    'false',
    'leave out plugins of another protocol version instead of refusing to start',
  ),
  log_level: row(
    '--log-level',
    '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
    'info',
    'what the hub says about itself',
  ),
  socket: row('--no-socket', 'true or false', 'true', 'also listen on `hub.sock` in the directory'),
  relay: row(
    '--relay',
    'a file',
    'none',
    'public messages and claim events of the default space, a line each',
  ),
  synapse_clients: row(null, '1 to 65536', '1024', 'sockets the Synapse door takes'),
  synapse_unauthenticated: row(
    null,
    '1 to 65536',
    'as many as sockets',
    'of them, how many may not have shown the token yet',
  ),
  synapse_auth_timeout_ms: row(null, '100 to 600000', '10000', 'how long they have to show it'),
  synapse_takeover_cooldown_ms: row(
    null,
    '0 to 600000',
    '2000',
    'how long a name that was taken over is safe from the next',
  ),
  synapse_relay: row(
    '--synapse-relay',
    'a file',
    'none',
    'the same in the shape `synapse relay` and `syn inbox` read, with directed chat; see [the guide](../guide/synapse.md)',
  ),
  mirror: row(
    '--mirror',
    'a folder',
    'none',
    'everything that is said, receipts, marks, gates and turns, a JSONL file for each channel of each space',
  ),
  relay_lines: row(
    '--relay-lines',
    '1 to 1000000',
    '5000',
    'a relay file holds this many lines to twice as many',
  ),
  bus: row(
    '--bus',
    'a file',
    'none',
    'worker pools behind `bus.sock` in the directory, every request on the record',
  ),
  metrics: row(
    '--metrics',
    'true, false or a token of 8 to 256 characters',
    'false',
    'Prometheus at `/metrics`, for that token or the usual credential; see [metrics](metrics.md)',
  ),
  host_rate_limit: row(
    null,
    'requests a second',
    'none',
    'for each remote address, with two seconds’ worth of burst; requests, upgrades and frames count',
  ),
  notices: row(
    null,
    'a list of `{kind: desktop}`, `{kind: webhook, url, secret_file}`, `{kind: command, command}`',
    'none',
    'how people are told of what waits for them; see [notices](notices.md)',
  ),
  remind_after: row(
    null,
    'seconds, to 2592000',
    '3600',
    'when they are told again of what nobody has taken; 0: never',
  ),
  runners: row(
    null,
    'name to runner, each as `agents.manage` takes it: `{kind: "command", command: […], cwd?, env?, pass_env?, timeout_ms?}` …',
    'none',
    'how turns of managed agents are run, under a name that `runner` may give; what it says holds from the next turn on after a restart',
  ),
  record_key: row(
    null,
    'a file',
    '`~/.local/state/synod/record.key`, or under `XDG_STATE_HOME`',
    'the Ed25519 key that signs heads of logs, made on first use; outside the data directory, and nobody else may read it. See [the guide](../guide/record.md)',
  ),
  turns_roots: row(
    null,
    'a list of directories',
    'the home directory of the hub’s user',
    'where turns may work (`cwd`), links followed; never in the hub’s own directory. An agent without a `cwd` works in one of its own under `turns/work`',
  ),
  turns_parallel_max: row(
    null,
    '1 to 1000',
    'as the space has it',
    'turns of one space at the same time',
  ),
  synapse_port: row(
    '--synapse [port]',
    'a port, or 0 for any',
    'off; 8876 when asked for without one',
    'the door for Synapse clients; see [the guide](../guide/synapse.md)',
  ),
  synapse_token: row(
    '--synapse-token',
    'text of 8 characters or more, or `none`',
    'one the hub makes into `synapse-token`',
    'the secret Synapse clients show; with `none`, or `--auth open`, names are taken at their word',
  ),
  server_name: row(
    '--server-name',
    '1 to 64 letters, digits or any of `. _ -`',
    'none: the server is alone with its store',
    'its name among several servers that share a store at `nats://`; see [the guide](../guide/nats.md)',
  ),
  close_unused_after: row(
    null,
    'seconds',
    '600',
    'a space that nobody asks for at this server for so long, and that another server sequences, is closed here until somebody asks; 0: it stays open',
  ),
  otlp: row(
    '--otlp',
    'an http or https address',
    'nobody is told',
    'an OpenTelemetry collector (OTLP over HTTP, JSON) that is told what is done',
  ),
  otlp_headers: row(null, 'header name to text', 'none', 'what the collector wants to see'),
  telemetry_file: row('--telemetry-file', 'a file', 'none', 'the same, a line of JSON each'),
  telemetry_sample: row(null, '0 to 1', '1', 'the share of new traces that is kept'),
  telemetry_content: row(
    null,
    '`true` or `false`',
    'false',
    'whether bodies leave too: what models are told and say, and messages of errors',
  ),
  telemetry_service: row(null, 'a name', 'synod', 'what the hub calls itself there'),
};
