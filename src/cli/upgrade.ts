/**
 * `synod upgrade`: brings in a newer Synod when the registry has one, and what is installed to what
 * that one would write, with the options it was installed with. Stored messages need nothing:
 * the hub brings them along when it starts. With `--check-only` it only says what has drifted, and
 * leaves by exit code 1 when something has.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { convergeScope } from '../harness/install/install.ts';
import { oneAtATime } from '../harness/install/one-at-a-time.ts';
import { installPackage, packageStep, readNewest } from '../harness/install/package-step.ts';
import { isProblem } from '../harness/install/problem.ts';
import { type Context, handle } from './context.ts';
import { TROUBLE_EXIT, trouble } from './failure.ts';
import { addScopeFlags, readSites, type ScopeFlags, showReports, thisLaunch } from './install.ts';

interface UpgradeFlags extends ScopeFlags {
  readonly checkOnly?: boolean;
  readonly package: boolean;
}

export function registerUpgrade(program: Command): void {
  const command = addScopeFlags(
    program.command('upgrade').description('bring what is installed up to this version'),
  )
    .option('--check-only', 'only say what would change; exit code 1 if anything would')
    .option('--no-package', 'leave the package as it is, and bring the files up to this one');
  handle<UpgradeFlags>(command, upgrade);
}

async function upgrade(context: Context<UpgradeFlags>): Promise<void> {
  const { flags, remark } = context;
  const isDry = flags.checkOnly === true;
  const { packageVersion } = await import('../server/run/version.ts');
  const version = packageVersion();
  const found = flags.package ? await readNewest() : 'unknown';
  const newest = typeof found === 'object' ? found.version : null;
  const step = flags.package
    ? packageStep(version, found, isCheckout())
    : { line: `package: ${version}, left as it is`, wanted: null };
  remark(step.line);
  if (step.wanted !== null && !isDry) {
    await continueWith(step.wanted);
    return;
  }
  const sites = await readSites(flags, ['user', 'project']);
  const converge = async () =>
    sites.flatMap((site) => {
      const converged = convergeScope({ site, launch: thisLaunch(), isDry });
      if (!isProblem(converged)) return converged;
      throw trouble(converged.problem, converged.message, converged.remedy);
    });
  const reports = await oneAtATime(converge);
  showReports(context, reports, { withPieces: isDry, isUninstall: false }, { version, newest });
  if (reports.length === 0) remark('files: nothing is installed here; see: synod install --help');
  remark('data: nothing to do; the hub brings stored messages along when it starts');
  const drifted = reports.some(({ changes }) => changes.length > 0);
  if (isDry && (drifted || step.wanted !== null)) process.exitCode = TROUBLE_EXIT;
}

/** The new program does the rest: it knows what it would write. */
async function continueWith(version: string): Promise<void> {
  const code = await installPackage(version);
  if (code !== 0) {
    const hint = `see what npm said above, or go on without: synod upgrade --no-package`;
    const message = `npm could not bring in synod@${version} (exit code ${code})`;
    throw trouble('install.package', message, hint);
  }
  const { node, program } = thisLaunch();
  const args = [program, ...process.argv.slice(2), '--no-package'];
  process.exitCode = spawnSync(node, args, { stdio: 'inherit' }).status ?? TROUBLE_EXIT;
}

const isCheckout = (): boolean =>
  existsSync(fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url)));
