/**
 * `synod bus`: pools of workers behind one JSON-RPC line, until a signal or the end of input. Stdout
 * belongs to the protocol; the log goes to stderr, a line an event, in the reference's form.
 */
import type { Command } from 'commander';
import type { BusLogLine } from '../bus/router/bus.ts';
import type { TransportConfig } from '../bus/router/config.ts';
import { BusConfigError } from '../bus/router/config-reader.ts';
import type { ListenAddress } from '../bus/router/listen.ts';
import { parseTcpAddress } from '../bus/router/listen-address.ts';
import type { ParsedBusConfig } from '../bus/router/parse-config.ts';
import {
  type ConfigSource,
  DESCRIPTOR_MAX,
  readBusConfig,
  sourceName,
} from '../bus/router/read-config.ts';
import { dataDirectory, type Globals } from '../client/node/target.ts';
import { type Context, collect, handle } from './context.ts';
import { type CliError, fail } from './failure.ts';
import { oneOf } from './parse-value.ts';
import { neutralise } from './terminal.ts';
import { collectYoungAlone, holdYoungSpace } from './young-space.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
/** Whoever does not read our log must not fill our memory. */
const LOG_BYTES_MAX = 1_048_576;

/** Of 8 messages of 64 KB in flight, a smaller space takes most for old: 0.34 ms for one instead of 0.27. */
const YOUNG_MB = 8;

/** As if the second signal had ended it. */
const CUT_EXIT = 130;

interface BusFlags {
  readonly config?: string;
  readonly configFd?: string;
  readonly stdio?: boolean;
  readonly unix?: string;
  readonly tcp?: string;
  readonly framing?: TransportConfig['framing'];
  readonly envAllow?: readonly string[];
  readonly check?: boolean;
  readonly logLevel?: (typeof LEVELS)[number];
  readonly metrics?: string;
}

export function registerBus(program: Command): void {
  const command = program
    .command('bus')
    .description('pools of workers behind one JSON-RPC line')
    .option('--config <file>', 'the config: pools, limits, transport')
    .option('--config-fd <n>', 'read the config from this descriptor, to its end')
    .option('--stdio', 'one client, on stdin and stdout (the default)')
    .option('--unix <path>', 'clients of this user, on a Unix socket')
    .option(
      '--tcp <host:port>',
      'clients over TCP, each with a token (made into the data directory)',
    )
    .option(
      ...oneOf('--framing <kind>', 'ndjson, or length: 4 bytes, big-endian (ndjson)', [
        'ndjson',
        'length',
      ]),
    )
    .option(
      '--env-allow <name>',
      'a variable every worker takes over, or NAME* for more; may be repeated',
      collect,
    )
    .option('--check', 'only say whether the config can be used and its commands are there')
    .option(
      ...oneOf(
        '--log-level <level>',
        `how much is said on stderr: ${LEVELS.join(', ')} (info)`,
        LEVELS,
      ),
    )
    .option('--metrics <host:port>', 'Prometheus at http://HOST:PORT/metrics, for this machine');
  handle<BusFlags & Globals>(command, serve);
}

async function serve({ flags, show }: Context<BusFlags & Globals>): Promise<void> {
  const source = sourceOf(flags);
  const asked = doorOf(flags);
  const metrics = flags.metrics === undefined ? null : parseTcpAddress(flags.metrics, '--metrics');
  if ('fd' in source && source.fd === 0 && asked === 'stdio') throw stdinTwice();
  const config = await readBusConfig(source);
  if (flags.check) {
    const { missingCommands } = await import('../bus/router/check-commands.ts');
    const missing = missingCommands(config, process.env);
    if (missing.length > 0) throw new BusConfigError(sourceName(source), missing);
    const { warnings } = config;
    return show({ ok: true, ...summaryOf(config), warnings }, () => [
      ...warnings.map((warning) => neutralise(`warning: ${sourceName(source)}: ${warning}`)),
      neutralise(`${sourceName(source)} can be used: ${poolsText(config)}`),
    ]);
  }
  const door = asked ?? doorOfConfig(config);
  if ('fd' in source && source.fd === 0 && door === 'stdio') throw stdinTwice();
  const onLog = createLog(flags.logLevel ?? (process.env.DEBUG_STDIO ? 'debug' : 'info'));
  for (const warning of config.warnings) {
    onLog({ level: 'warn', text: `${sourceName(source)}: ${warning}` });
  }
  const { serveBus } = await import('../bus/router/serve-bus.ts');
  // A client that goes away ends the bus in its own way; the CLI's way would lose answers.
  process.stdout.removeAllListeners('error');
  // No worker and no crash report shall find it there.
  const { SYNOD_BUS_TOKEN: given, ...environment } = process.env;
  delete process.env.SYNOD_BUS_TOKEN;
  const needsToken = door !== 'stdio' && 'host' in door && config.clients.length === 0;
  const token = given || (needsToken ? await ownToken(flags.dir, onLog) : null);
  holdYoungSpace(YOUNG_MB);
  collectYoungAlone();
  const end = await serveBus({
    config,
    source,
    door,
    framing: flags.framing ?? config.transport.framing,
    metrics,
    token,
    environment,
    envAllow: flags.envAllow ?? [],
    input: process.stdin,
    output: process.stdout,
    onLog,
  });
  // A descriptor of ours that somebody else keeps open must not keep us.
  process.exit(end === 'drained' ? 0 : CUT_EXIT);
}

/** Nobody gave a token and TCP is open to every program and web page here: one of our own is asked for [BD21]. */
async function ownToken(dir: string | undefined, onLog: (line: BusLogLine) => void) {
  const { ensureSecret, secretPath } = await import('../server/run/credential.ts');
  const home = dataDirectory(dir, process.env);
  const token = await ensureSecret(home, 'bus');
  onLog({ level: 'info', text: `clients show the token in ${secretPath(home, 'bus')}` });
  return token;
}

function sourceOf(flags: BusFlags): ConfigSource {
  const { config, configFd } = flags;
  if ((config === undefined) === (configFd === undefined)) {
    throw fail('cli.usage', 'synod bus wants either --config FILE or --config-fd N', {
      hint: 'see: synod bus --help',
    });
  }
  if (config !== undefined) return { path: config };
  if (!/^\d{1,4}$/.test(configFd as string) || Number(configFd) > DESCRIPTOR_MAX) {
    throw fail('cli.usage', `--config-fd must be from 0 to ${DESCRIPTOR_MAX}; found ${configFd}`);
  }
  return { fd: Number(configFd) };
}

/** What the flags say, or null when they leave it to the config. */
function doorOf(flags: BusFlags): 'stdio' | ListenAddress | null {
  const { stdio, unix, tcp } = flags;
  const given = [stdio && '--stdio', unix !== undefined && '--unix', tcp !== undefined && '--tcp'];
  const names = given.filter((one) => typeof one === 'string');
  if (names.length > 1) {
    throw fail('cli.usage', `${names.join(' and ')} exclude each other; a bus has one door`);
  }
  if (stdio) return 'stdio';
  if (unix === '') throw fail('cli.usage', '--unix wants the path of a socket');
  if (unix !== undefined) return { path: unix };
  return tcp === undefined ? null : parseTcpAddress(tcp, '--tcp');
}

function doorOfConfig({ transport: { mode } }: ParsedBusConfig): 'stdio' {
  if (mode === null || mode === 'stdio') return 'stdio';
  const flag = mode === 'unix' ? '--unix PATH' : '--tcp HOST:PORT';
  throw fail('cli.usage', `the config says transport.mode "${mode}" and cannot say where`, {
    hint: `add ${flag}`,
  });
}

function stdinTwice(): CliError {
  return fail('cli.usage', 'stdin cannot be both the config and the client', {
    hint: 'use another descriptor, or --unix or --tcp',
  });
}

function summaryOf({ pools }: ParsedBusConfig): { pools: { id: string; instances: number }[] } {
  return { pools: pools.map(({ id, instances }) => ({ id, instances })) };
}

function poolsText({ pools }: ParsedBusConfig): string {
  return pools.map(({ id, instances }) => `${id} (${instances})`).join(', ');
}

/** `[2026-11-15T07:48:34.123] [INFO] [worker=echo/0] text`: local time, as the reference writes it. */
function createLog(least: (typeof LEVELS)[number]): (line: BusLogLine) => void {
  const floor = LEVELS.indexOf(least);
  let unsaid = 0;
  // The log is the least of what we do: when nobody reads it, the bus goes on.
  process.stderr.on('error', () => {});
  return ({ level, text }) => {
    if (LEVELS.indexOf(level) < floor) return;
    if (process.stderr.writableLength > LOG_BYTES_MAX) {
      unsaid += 1;
      return;
    }
    const gap = unsaid === 0 ? '' : ` (${unsaid} lines before this were not written)`;
    unsaid = 0;
    const line = `[${localTime(new Date())}] [${level.toUpperCase()}] ${neutralise(text)}${gap}\n`;
    process.stderr.write(line);
  };
}

function localTime(now: Date): string {
  const shifted = new Date(now.getTime() - now.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, -1);
}
