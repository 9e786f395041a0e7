/**
 * What an upgrade would change now, and the upgrade itself: every vendor of a scope is installed again
 * with the options it was installed with. Nothing drifts: nothing is written.
 */

import { installVendor, type VendorReport } from './install.ts';
import { type InstallProblem, isProblem } from './problem.ts';
import { vendorsOf } from './record.ts';
import { DEFAULT_OPTIONS, type InstallSite } from './vendors/vendor.ts';
import { type Launch, readRecord } from './world.ts';

export interface ConvergeRequest {
  readonly site: InstallSite;
  readonly launch: Launch;
  /** Only say what would change. */
  readonly isDry: boolean;
}

export function convergeScope(request: ConvergeRequest): readonly VendorReport[] | InstallProblem {
  const { site, launch, isDry } = request;
  const record = readRecord(site);
  if (isProblem(record)) return record;
  return vendorsOf(record).map((vendor) =>
    installVendor({
      vendor,
      site,
      options: record.options[vendor] ?? DEFAULT_OPTIONS,
      launch,
      isDry,
    }),
  );
}
