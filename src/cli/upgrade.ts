/**
 * `synod upgrade`: asks the registry whether there is a newer Synod, and brings what is installed to
 * what this one would write, with the options it was installed with. Stored messages need nothing:
 * the hub brings them along when it starts. With `--check-only` it only says what has drifted, and
 * leaves by exit code 1 when something has.
 */
import { execFile } from 'node:child_process';
import type { Command } from 'commander';
import { convergeScope } from '../harness/install/drift.ts';
import { isOlder } from '../harness/install/probe.ts';
import { isProblem } from '../harness/install/problem.ts';
import { type Context, handle } from './context.ts';
import { CliError } from './failure.ts';
import { addScopeFlags, readPlaces, type ScopeFlags, showReports, thisLaunch } from './install.ts';

const REGISTRY_TIMEOUT_MS = 5_000;
const TROUBLE_EXIT = 1;

interface UpgradeFlags extends ScopeFlags {
  readonly checkOnly?: boolean;
}

export function registerUpgrade(program: Command): void {
  const command = addScopeFlags(
    program.command('upgrade').description('bring what is installed up to this version'),
  ).option('--check-only', 'only say what would change; exit code 1 if anything would');
  handle<UpgradeFlags>(command, upgrade);
}

async function upgrade(context: Context<UpgradeFlags>): Promise<void> {
  const { flags, remark } = context;
  const isDry = flags.checkOnly === true;
  const { packageVersion } = await import('../server/version.ts');
  const version = packageVersion();
  const newest = await readNewest();
  remark(packageLine(version, newest));
  const places = await readPlaces(flags, ['user', 'project']);
  const reports = places.flatMap((place) => {
    const converged = convergeScope({ place, launch: thisLaunch(), isDry });
    if (!isProblem(converged)) return converged;
    const { problem: code, message, remedy: hint } = converged;
    throw new CliError(
      { error_code: code, message, detail: { hint } },
      { code, exit: TROUBLE_EXIT, hint },
    );
  });
  showReports(context, reports, { withPieces: isDry, isUninstall: false }, { version, newest });
  if (reports.length === 0) remark('files: nothing is installed here; see: synod install --help');
  remark('data: nothing to do; the hub brings stored messages along when it starts');
  const drifted = reports.some(({ changes }) => changes.length > 0);
  if (isDry && drifted) process.exitCode = TROUBLE_EXIT;
}

function packageLine(mine: string, newest: string | null): string {
  if (newest === null) {
    return `package: ${mine}; the registry did not answer, so maybe there is a newer one`;
  }
  return isOlder(mine, newest)
    ? `package: ${mine}, and ${newest} is out: npm install -g synod@latest, then synod upgrade again`
    : `package: ${mine} is the newest`;
}

/** Null when npm does not know, is not there, or takes its time. */
function readNewest(): Promise<string | null> {
  const options = { timeout: REGISTRY_TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
  return new Promise((done) => {
    execFile('npm', ['view', 'synod', 'version'], options, (error, stdout) => {
      const [version] = /^\d+\.\d+\.\d+/m.exec(stdout) ?? [];
      done(error === null ? (version ?? null) : null);
    });
  });
}
