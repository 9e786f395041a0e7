/**
 * `synod uninstall`: takes out what `synod install` wrote, here and for the user unless one of them
 * is named. What nobody touched since comes back byte for byte; of the rest only our entries go. What
 * stays on the machine beside that is named, and deleted only with --everything --yes [IN18].
 */

import type { Command } from 'commander';
import { dataDirectory } from '../client/node/target.ts';
import { oneAtATime } from '../harness/install/one-at-a-time.ts';
import { listRemains } from '../harness/install/remains.ts';
import { uninstallVendor } from '../harness/install/uninstall.ts';
import type { InstallSite } from '../harness/install/vendors/vendor.ts';
import { listInstalled } from '../harness/install/world.ts';
import { VENDORS } from '../wire/tool-names.ts';
import { type Context, handle } from './context.ts';
import { hubProcess, stopHub } from './down.ts';
import { fail, TROUBLE_EXIT } from './failure.ts';
import { addScopeFlags, readSites, type ScopeFlags, showReports } from './install.ts';
import { neutralise } from './terminal.ts';
import { parseVendors } from './vendor.ts';

interface UninstallFlags extends ScopeFlags {
  readonly dryRun?: boolean;
  readonly everything?: boolean;
  readonly yes?: boolean;
}

export function registerUninstall(program: Command): void {
  const command = addScopeFlags(
    program
      .command('uninstall')
      .description('take out what install wrote; files come back as they were')
      .argument('[vendors...]', 'claude, codex, gemini, opencode, or all'),
  )
    .option('--dry-run', 'show what would be taken out, and take out nothing')
    .option('--everything', 'then also stop the hub and delete its data, cache and trust entries')
    .option('--yes', 'with --everything: delete, and do not only list');
  handle<UninstallFlags>(command, (context) => oneAtATime(() => uninstall(context)));
}

async function uninstall(context: Context<UninstallFlags>): Promise<void> {
  const { args, flags, remark } = context;
  const vendors = parseVendors(args) ?? VENDORS;
  const sites = await readSites(flags, ['project', 'user']);
  const isDry = flags.dryRun === true;
  const reports = sites.flatMap((site) =>
    vendors.map((vendor) => uninstallVendor({ vendor, site, isDry })),
  );
  const told = reports.filter(
    ({ changes, findings, problem }) => changes.length + findings.length > 0 || problem !== null,
  );
  showReports(context, told, { withPieces: isDry, isUninstall: true });
  if (told.length === 0) remark('nothing of Synod was found here');
  else if (isDry) remark('nothing was taken out (--dry-run)');
  if (isDry) return;
  const isLeft = reports.some(({ problem }) => problem !== null);
  for (const { scope, root } of listInstalled(process.env)) {
    const where = scope === 'user' ? 'for this user' : `in ${root}`;
    const flag = scope === 'user' ? '--user' : `--project-dir ${JSON.stringify(root)}`;
    remark(neutralise(`still installed ${where}: synod uninstall ${flag}`));
  }
  if (flags.everything && isLeft) {
    throw fail('cli.usage', 'first mend what was refused above; nothing else was deleted');
  }
  await tellRemains(context, sites);
}

/** What stays, and how to be rid of it; deleted only when that was said twice. */
async function tellRemains(
  { flags, remark }: Context<UninstallFlags>,
  sites: readonly InstallSite[],
): Promise<void> {
  const dir = dataDirectory(flags.dir, process.env);
  const isDeleting = flags.everything === true && flags.yes === true;
  const pid = isDeleting ? await stopHub(dir) : await hubProcess(dir);
  const remains = listRemains(dir, sites);
  // The cache alone is nothing to speak of: this very command has made it again.
  if (pid === null && remains.every(({ what }) => what === 'cache')) return;
  const verb = isDeleting ? 'deleted' : 'stays';
  if (pid !== null)
    remark(
      isDeleting
        ? `stopped: the hub (process ${pid})`
        : `stays: the hub (process ${pid}), until "synod down"`,
    );
  for (const { path, message, remove } of remains) {
    const problem = isDeleting ? remove() : null;
    if (problem !== null) process.exitCode = TROUBLE_EXIT;
    const done = problem === null ? verb : `stays (${problem.message}; ${problem.remedy})`;
    remark(neutralise(`${done}: ${path} (${message})`));
  }
  if (!isDeleting) remark('to be rid of that too: synod uninstall --everything --yes');
}
