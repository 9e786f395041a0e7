/**
 * `synod install`: connects the coding agents of this machine, or of one project, to Synod. Shows
 * what it writes and why; writes only what is not there yet; `synod uninstall` takes it all back.
 */
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { dataDirectory } from '../client/node/target.ts';
import { isChannelName } from '../core/law/name.ts';
import { installVendor, type VendorReport } from '../harness/install/install.ts';
import { oneAtATime } from '../harness/install/one-at-a-time.ts';
import { type Probe, probeFinding, probeVendor } from '../harness/install/probe.ts';
import { type ReportOptions, reportDocument, reportLines } from '../harness/install/report-text.ts';
import { VENDOR_PARTS } from '../harness/install/vendors/all.ts';
import type { InstallSite, ScopeKind } from '../harness/install/vendors/vendor.ts';
import { createSite, installedDirectory, type Launch } from '../harness/install/world.ts';
import { isProblem } from '../place/problem.ts';
import { readRepository } from '../place/repository.ts';
import { PROMPT_WAIT_SECONDS } from '../wire/hook-settings.ts';
import { VENDORS, type Vendor } from '../wire/tool-names.ts';
import { type Context, collect, handle } from './context.ts';
import { type CliError, fail, TROUBLE_EXIT, trouble } from './failure.ts';
import { neutralise } from './terminal.ts';
import { parseVendors } from './vendor.ts';

export interface ScopeFlags {
  readonly project?: boolean;
  readonly user?: boolean;
  readonly projectDir?: string;
}

interface InstallFlags extends ScopeFlags {
  readonly dryRun?: boolean;
  readonly permissions: boolean;
  readonly autoSubscribe?: boolean;
  readonly channel?: readonly string[];
  readonly gates?: boolean;
  readonly gatesWait?: string;
}

export function registerInstall(program: Command): void {
  const command = addScopeFlags(
    program
      .command('install')
      .description('connect coding agents: claude, codex, gemini, opencode, or all that are here')
      .argument('[vendors...]', 'which; all that are installed, unless said'),
  )
    .option('--dry-run', 'show all that would be written, and write nothing')
    .option('--no-permissions', 'let the agent be asked before each of our tools')
    .option('--auto-subscribe', 'tell the agent to subscribe and look for mail when it starts')
    .option('--channel <name>', 'with it: a channel to subscribe to; may be repeated', collect)
    .option('--gates', 'ask people at a gate what the agent would ask at its terminal')
    .option('--gates-wait <seconds>', 'with it: then the terminal asks (default: 120)');
  handle<InstallFlags>(command, (context) => oneAtATime(() => install(context)));
}

/** Flags that say where; the handler decides what their absence means. */
export function addScopeFlags(command: Command): Command {
  return command
    .option('--user', 'for this user, in every project')
    .option('--project', 'for this project alone, in files that may be committed')
    .option('--project-dir <dir>', 'the project (default: the repository you are in)');
}

async function install(context: Context<InstallFlags>): Promise<void> {
  const { args, flags, remark } = context;
  const asked = parseVendors(args);
  const [site] = await readSites(flags, ['user']);
  if (site === undefined) throw fail('cli.usage', 'say --user or --project');
  if (flags.channel !== undefined && !flags.autoSubscribe) {
    throw fail('cli.usage', '--channel goes with --auto-subscribe');
  }
  if (flags.gatesWait !== undefined && !flags.gates) {
    throw fail('cli.usage', '--gates-wait goes with --gates');
  }
  // A pattern is a name with stars in it.
  const odd = flags.channel?.find((name) => !isChannelName(name.replace(/[*?]/g, 'x')));
  if (odd !== undefined) throw fail('cli.usage', `"${odd}" is no name of a channel`);
  const probes = await probeAll(asked ?? VENDORS);
  const vendors = asked ?? VENDORS.filter((vendor) => probes.get(vendor)?.state !== 'missing');
  if (vendors.length === 0) throw noVendor();
  const options = {
    permissions: flags.permissions,
    autoSubscribe: flags.autoSubscribe === true,
    channels: flags.channel ?? [],
    ...(flags.gates && { gates: waitSeconds(flags.gatesWait) }),
  };
  const isDry = flags.dryRun === true;
  const launch = launchAt(flags.dir);
  const reports = vendors.map((vendor) => {
    const report = installVendor({ vendor, site, options, launch, isDry });
    const found = probeFinding(VENDOR_PARTS[vendor], probes.get(vendor) ?? { state: 'missing' });
    return found.level === 'ok' ? report : { ...report, findings: [found, ...report.findings] };
  });
  showReports(context, reports, { withPieces: isDry, isUninstall: false });
  if (isDry) remark('nothing was written (--dry-run)');
  else if (reports.some(({ changes }) => changes.length > 0)) sayNext(context, reports, site);
}

function waitSeconds(said: string | undefined): number {
  const { least, usual, most } = PROMPT_WAIT_SECONDS;
  const seconds = said === undefined ? usual : Number(said);
  if (Number.isInteger(seconds) && seconds >= least && seconds <= most) return seconds;
  throw fail('cli.usage', `--gates-wait is ${least} to ${most} whole seconds`);
}

function sayNext(
  { remark, flags }: Context<InstallFlags>,
  reports: readonly VendorReport[],
  site: InstallSite,
): void {
  for (const { vendor, problem } of reports) {
    if (problem !== null) continue;
    const { advice, noGates } = VENDOR_PARTS[vendor];
    for (const line of advice(site)) remark(`note: ${line}`);
    if (flags.gates && noGates !== undefined) remark(`note: ${noGates}`);
  }
  if (/[\\/]_npx[\\/]/.test(thisLaunch().program)) {
    remark(
      'note: this Synod runs from a cache of npx, which may be cleaned; install it from a place that stays',
    );
  }
  const dir = installedDirectory(site.synodHome);
  if (dir !== null)
    remark(neutralise(`note: agents use the hub of ${dir}, unless SYNOD_DIR says another`));
  remark('sessions that are open see it when they are started anew');
}

/** The scopes that were asked for, or those to take when none was. */
export async function readSites(
  flags: ScopeFlags,
  otherwise: readonly ScopeKind[],
): Promise<readonly InstallSite[]> {
  const isProject = flags.project === true || flags.projectDir !== undefined;
  if (isProject && flags.user) {
    throw fail('cli.usage', 'it is either --user or --project; run it twice for both');
  }
  const scopes = isProject ? ['project' as const] : flags.user ? ['user' as const] : otherwise;
  const root = scopes.includes('project') ? await readRoot(flags) : '';
  return scopes.map((scope) => createSite(scope, root, process.env));
}

/** The repository one stands in; without git, the folder itself. */
async function readRoot({ projectDir }: ScopeFlags): Promise<string> {
  // One project has one name, by whichever link it is reached; one that is gone keeps the name it had.
  if (projectDir !== undefined) {
    return realpath(projectDir).catch(() => resolve(projectDir));
  }
  const repository = await readRepository(process.cwd());
  return isProblem(repository) ? process.cwd() : repository.toplevel;
}

async function probeAll(vendors: readonly Vendor[]): Promise<ReadonlyMap<Vendor, Probe>> {
  const entries = vendors.map(
    async (vendor) => [vendor, await probeVendor(VENDOR_PARTS[vendor], process.env)] as const,
  );
  return new Map(await Promise.all(entries));
}

export function thisLaunch(): Launch {
  const program = fileURLToPath(new URL('../../bin/synod.js', import.meta.url));
  return { node: process.execPath, program };
}

/** With the data directory that was asked for; the one in the home needs no word. */
function launchAt(flag: string | undefined): Launch {
  if (flag === undefined) return thisLaunch();
  const dir = dataDirectory(flag, {});
  return { ...thisLaunch(), dir: dir === dataDirectory(undefined, {}) ? null : dir };
}

function noVendor(): CliError {
  const hint = 'install one, or name the one you mean: synod install claude';
  return trouble('install.no-vendor', `none of ${VENDORS.join(', ')} is on the PATH`, hint);
}

/** Prints all reports; a vendor that was refused is told on stderr and in the exit code. */
export function showReports<Flags>(
  { show, isJson }: Context<Flags>,
  reports: readonly VendorReport[],
  how: Omit<ReportOptions, 'home'>,
  more: object = {},
): void {
  const options = { ...how, home: process.env.HOME || homedir() };
  show({ ...more, vendors: reports.map((report) => reportDocument(report, options)) }, () =>
    reports
      .flatMap((report) => reportLines(report, VENDOR_PARTS[report.vendor].title, options))
      .map(neutralise),
  );
  for (const { problem } of reports) {
    if (problem === null) continue;
    process.exitCode = TROUBLE_EXIT;
    const { problem: code, message, remedy } = problem;
    if (!isJson)
      process.stderr.write(`${neutralise(`${code}: ${message}`)}\n  ${neutralise(remedy)}\n`);
  }
}
