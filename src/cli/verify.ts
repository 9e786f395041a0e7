/**
 * `synod verify`: is what was installed still there, and as it was written? It looks at files; whether
 * messages get through is the question of `synod doctor`. Exit code 1 when something will not work.
 */
import type { Command } from 'commander';
import { type Finding, isProblem } from '../harness/install/problem.ts';
import { isEmptyRecord } from '../harness/install/record.ts';
import { findingLines } from '../harness/install/report-text.ts';
import { verifyScope } from '../harness/install/verify.ts';
import { readRecord } from '../harness/install/world.ts';
import { VENDORS } from '../wire/tool-names.ts';
import { handle } from './context.ts';
import { TROUBLE_EXIT } from './failure.ts';
import { addScopeFlags, readSites, type ScopeFlags } from './install.ts';
import { neutralise } from './terminal.ts';
import { parseVendors } from './vendor.ts';

export function registerVerify(program: Command): void {
  const command = addScopeFlags(
    program
      .command('verify')
      .description('is what install wrote still there; exit code 1 if not')
      .argument('[vendors...]', 'claude, codex, gemini, opencode, or all'),
  );
  handle<ScopeFlags>(command, async ({ args, flags, show }) => {
    const vendors = parseVendors(args) ?? VENDORS;
    const all = await readSites(flags, ['user', 'project']);
    const used = all.filter((site) => {
      const record = readRecord(site);
      return isProblem(record) || !isEmptyRecord(record);
    });
    // Where nothing is installed at all, the first scope says so.
    const sites = used.length > 0 ? used : all.slice(0, 1);
    const findings: Finding[] = sites.flatMap((site) => verifyScope(site, vendors));
    show({ findings }, () => findings.flatMap(findingLines).map(neutralise));
    if (findings.some(({ level }) => level === 'fail')) process.exitCode = TROUBLE_EXIT;
  });
}
