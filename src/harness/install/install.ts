/**
 * One vendor installed in one scope: look, plan, and, unless it is only asked what would happen,
 * carry it out. A vendor whose files are in no state to be written is left wholly alone, and says why.
 * An upgrade is every vendor of a scope installed again, with the options it was installed with.
 */
import type { Vendor } from '../../wire/tool-names.ts';
import { renderDiscipline } from '../discipline/render.ts';
import { applyChanges } from './apply.ts';
import type { WantedFile } from './piece.ts';
import { type Change, planVendor } from './plan.ts';
import { type Finding, finding, type InstallProblem, isProblem } from './problem.ts';
import { vendorsOf } from './record.ts';
import { VENDOR_PARTS } from './vendors/all.ts';
import { DEFAULT_OPTIONS, type InstallOptions, type InstallSite } from './vendors/vendor.ts';
import { whyOutside } from './within-project.ts';
import {
  createSite,
  type Launch,
  launcherChanges,
  readPresent,
  readRecord,
  recordChanges,
} from './world.ts';

export interface VendorReport {
  readonly vendor: Vendor;
  readonly scope: InstallSite['scope'];
  readonly root: string;
  /** What was changed, or would be. */
  readonly changes: readonly Change[];
  readonly findings: readonly Finding[];
  /** Where it says something, nothing was changed. */
  readonly problem: InstallProblem | null;
}

export interface InstallRequest {
  readonly vendor: Vendor;
  readonly site: InstallSite;
  readonly options: InstallOptions;
  readonly launch: Launch;
  /** Only say what would happen. */
  readonly isDry?: boolean;
}

export function wantedFiles(
  vendor: Vendor,
  site: InstallSite,
  options: InstallOptions,
): readonly WantedFile[] {
  const { channels } = options;
  const text = renderDiscipline({
    vendor,
    ...(options.autoSubscribe && { autoSubscribe: { channels } }),
  });
  return VENDOR_PARTS[vendor].files(site, options, text);
}

export function installVendor(request: InstallRequest): VendorReport {
  const { vendor, site, options, launch, isDry = false } = request;
  const report = reporter(vendor, site);
  const record = readRecord(site);
  if (isProblem(record)) return report({ problem: record });
  const wanted = wantedFiles(vendor, site, options);
  const outside = whyOutside(site, [...wanted, ...record.files]);
  if (outside !== null) return report({ problem: outside });
  const present = readPresent(site, record, wanted);
  if (isProblem(present)) return report({ problem: present });
  const plan = planVendor({ vendor, options, wanted, record, present });
  if (isProblem(plan)) return report({ problem: plan });
  const { first, last } = recordChanges(site, plan);
  const launchers = launcherChanges(site, launch);
  if (isProblem(launchers)) return report({ problem: launchers });
  const findings = [...plan.findings, ...elsewhereFindings(vendor, site)];
  const problem = isDry ? null : applyChanges([...first, ...launchers, ...plan.changes, ...last]);
  const changes = [...launchers, ...plan.changes];
  return report({ problem, findings, changes: problem === null ? changes : [] });
}

/** What drifted is brought back; where nothing did, nothing is written. */
export function convergeScope(
  request: Omit<InstallRequest, 'vendor' | 'options'>,
): readonly VendorReport[] | InstallProblem {
  const record = readRecord(request.site);
  if (isProblem(record)) return record;
  return vendorsOf(record).map((vendor) =>
    installVendor({ ...request, vendor, options: record.options[vendor] ?? DEFAULT_OPTIONS }),
  );
}

export function reporter(
  vendor: Vendor,
  { scope, root }: InstallSite,
): (of: Partial<VendorReport>) => VendorReport {
  return (of) => ({ vendor, scope, root, changes: [], findings: [], problem: null, ...of });
}

/** In both scopes at once every hook would run twice. */
function elsewhereFindings(vendor: Vendor, site: InstallSite): readonly Finding[] {
  if (site.scope === 'user') return [];
  const user = readRecord(createSite('user', site.home, site.env));
  if (isProblem(user) || !vendorsOf(user).includes(vendor)) return [];
  return [
    finding(
      'warn',
      vendor,
      `${vendor} is installed for the user as well, so its hooks may run twice here`,
      `keep one of the two: synod uninstall ${vendor} --user, or synod uninstall ${vendor} --project`,
    ),
  ];
}
