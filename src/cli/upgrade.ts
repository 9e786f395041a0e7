/**
 * `synod upgrade`: brings what is installed to what this Synod would write, with the options it was
 * installed with. Stored messages need nothing: the hub brings them along when it starts. With
 * `--package` a newer Synod is brought in first, from where one says, after it was said what that is;
 * with `--check-only` it only says what has drifted, and leaves by exit code 1 when something has.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { convergeScope } from '../harness/install/install.ts';
import { oneAtATime } from '../harness/install/one-at-a-time.ts';
import { fetchPackage, installPackage } from '../harness/install/package-step.ts';
import { isProblem } from '../harness/install/problem.ts';
import { type Context, handle } from './context.ts';
import { fail, TROUBLE_EXIT, trouble } from './failure.ts';
import { addScopeFlags, readSites, type ScopeFlags, showReports, thisLaunch } from './install.ts';
import { neutralise } from './terminal.ts';

interface UpgradeFlags extends ScopeFlags {
  readonly checkOnly?: boolean;
  readonly package?: string;
  readonly yes?: boolean;
}

export function registerUpgrade(program: Command): void {
  const command = addScopeFlags(
    program.command('upgrade').description('bring what is installed up to this version'),
  )
    .option('--check-only', 'only say what would change; exit code 1 if anything would')
    .option(
      '--package <from>',
      'first bring in a newer Synod: a folder, tarball, git address or name@version',
    )
    .option('--yes', 'bring it in without asking');
  handle<UpgradeFlags>(command, upgrade);
}

async function upgrade(context: Context<UpgradeFlags>): Promise<void> {
  const { flags, remark } = context;
  const isDry = flags.checkOnly === true;
  const { packageVersion } = await import('../server/run/version.ts');
  const version = packageVersion();
  if (flags.package !== undefined && !isDry) {
    await bringIn(context, version, flags.package);
    return;
  }
  remark(`package: ${version}; a newer one is brought in with --package, from where you say`);
  const sites = await readSites(flags, ['user', 'project']);
  const converge = async () =>
    sites.flatMap((site) => {
      const converged = convergeScope({ site, launch: thisLaunch(), isDry });
      if (!isProblem(converged)) return converged;
      throw trouble(converged.problem, converged.message, converged.remedy);
    });
  const reports = await oneAtATime(converge);
  showReports(context, reports, { withPieces: isDry, isUninstall: false }, { version });
  if (reports.length === 0) remark('files: nothing is installed here; see: synod install --help');
  remark('data: nothing to do; the hub brings stored messages along when it starts');
  const drifted = reports.some(({ changes }) => changes.length > 0);
  if (isDry && drifted) process.exitCode = TROUBLE_EXIT;
}

/** Fetched, told, agreed to and installed; the new program does the rest: it knows what it would write. */
async function bringIn(
  { flags, remark }: Context<UpgradeFlags>,
  version: string,
  from: string,
): Promise<void> {
  if (isCheckout()) {
    const hint = 'git pull && npm install, and then: synod upgrade';
    throw trouble('install.package', 'this Synod is a checkout, which its owner updates', hint);
  }
  const folder = mkdtempSync(join(tmpdir(), 'synod-package-'));
  try {
    const fetched = await fetchPackage(from, folder);
    if (typeof fetched === 'string' || fetched.name !== 'synod') {
      const what = typeof fetched === 'string' ? fetched : `it is called ${fetched.name}`;
      const message = `there is no Synod to be had from ${neutralise(from)}: ${neutralise(what)}`;
      throw trouble('install.package', message, 'say another place with --package');
    }
    remark(
      `package: ${version} now; synod ${neutralise(fetched.version)} from ${neutralise(from)}`,
    );
    remark(`  ${neutralise(fetched.integrity)}`);
    if (!flags.yes) await askFirst();
    const code = await installPackage(fetched.file);
    if (code !== 0) {
      const message = `npm could not bring in ${neutralise(from)} (exit code ${code})`;
      throw trouble('install.package', message, 'see what npm said above');
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { node, program } = thisLaunch();
  const { user, project, projectDir } = flags;
  const scope = [
    ...(user ? ['--user'] : []),
    ...(project ? ['--project'] : []),
    ...(projectDir === undefined ? [] : ['--project-dir', projectDir]),
  ];
  process.exitCode =
    spawnSync(node, [program, 'upgrade', ...scope], { stdio: 'inherit' }).status ?? TROUBLE_EXIT;
}

async function askFirst(): Promise<void> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) {
    throw fail('cli.usage', 'nothing was installed: nobody is here to be asked', {
      hint: 'look at what would come, and say --yes',
    });
  }
  const asking = createInterface({ input: stdin, output: stderr });
  const answer = await asking
    .question('Install it for this user? [y/N] ')
    .finally(() => asking.close());
  if (!/^y(es)?$/i.test(answer.trim()))
    throw fail('cli.usage', 'nothing was installed, as you said');
}

const isCheckout = (): boolean =>
  existsSync(fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url)));
