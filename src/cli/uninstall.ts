/**
 * `synod uninstall`: takes out what `synod install` wrote, here and for the user unless one of them
 * is named. What nobody touched since comes back byte for byte; of the rest only our entries go.
 */

import type { Command } from 'commander';
import { oneAtATime } from '../harness/install/one-at-a-time.ts';
import { uninstallVendor } from '../harness/install/uninstall.ts';
import { listInstalled } from '../harness/install/world.ts';
import { VENDORS } from '../wire/tool-names.ts';
import { type Context, handle } from './context.ts';
import { addScopeFlags, readSites, type ScopeFlags, showReports } from './install.ts';
import { neutralise } from './terminal.ts';
import { parseVendors } from './vendor.ts';

interface UninstallFlags extends ScopeFlags {
  readonly dryRun?: boolean;
}

export function registerUninstall(program: Command): void {
  const command = addScopeFlags(
    program
      .command('uninstall')
      .description('take out what install wrote; files come back as they were')
      .argument('[vendors...]', 'claude, codex, gemini, opencode, or all'),
  ).option('--dry-run', 'show what would be taken out, and take out nothing');
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
  for (const { scope, root } of listInstalled(process.env)) {
    const where = scope === 'user' ? 'for this user' : `in ${root}`;
    const flag = scope === 'user' ? '--user' : `--project-dir ${JSON.stringify(root)}`;
    remark(neutralise(`still installed ${where}: synod uninstall ${flag}`));
  }
}
