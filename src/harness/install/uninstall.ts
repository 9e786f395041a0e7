/**
 * One vendor taken out of one scope. A file that is as we left it becomes what it was before us, byte
 * for byte; from one that has changed since, our entries go and nothing else. What we made and
 * nobody used is removed, folders too. A vendor's own record of trust is never touched.
 */
import type { Vendor } from '../../wire/tool-names.ts';
import { applyChanges } from './apply.ts';
import { lookAtPieces } from './document.ts';
import { reporter, type VendorReport, wantedFiles } from './install.ts';
import { planVendor } from './plan.ts';
import { type Finding, finding, isProblem } from './problem.ts';
import { isEmptyRecord, vendorsOf } from './record.ts';
import { DEFAULT_OPTIONS, type InstallSite } from './vendors/vendor.ts';
import { whyOutside } from './within-project.ts';
import { launcherRemovals, readPresent, readRecord, recordChanges } from './world.ts';

export interface UninstallRequest {
  readonly vendor: Vendor;
  readonly site: InstallSite;
  readonly isDry?: boolean;
}

export function uninstallVendor(request: UninstallRequest): VendorReport {
  const { vendor, site, isDry = false } = request;
  const report = reporter(vendor, site);
  const record = readRecord(site);
  if (isProblem(record)) return report({ problem: record });
  const likely = wantedFiles(vendor, site, record.options[vendor] ?? DEFAULT_OPTIONS);
  // A user's own files nobody but us writes into under our name. A project's may come from others.
  const recognised = site.scope === 'user' ? likely : [];
  const outside = whyOutside(site, [...likely, ...record.files]);
  if (outside !== null) return report({ problem: outside });
  const present = readPresent(site, record, likely);
  if (isProblem(present)) return report({ problem: present });
  const plan = planVendor({ vendor, options: null, wanted: [], recognised, record, present });
  if (isProblem(plan)) return report({ problem: plan });
  const { first, last } = recordChanges(site, plan);
  const launchers = isEmptyRecord(plan.record) ? launcherRemovals(site) : [];
  const isOthers = site.scope === 'project' && !vendorsOf(record).includes(vendor);
  const unrecorded = isOthers ? unrecordedFindings(likely, present.bytes) : [];
  // While a file of others is not mended yet, the record must still tell of it.
  const changes = [...plan.changes, ...first, ...last, ...launchers];
  const problem = isDry ? null : applyChanges(changes);
  return report({
    problem,
    findings: [...plan.findings, ...unrecorded],
    changes: problem === null ? [...plan.changes, ...launchers] : [],
  });
}

/** Entries of ours that somebody else put into the project, and may have committed. */
function unrecordedFindings(
  files: ReturnType<typeof wantedFiles>,
  bytes: (path: string) => Buffer | null,
): Finding[] {
  return files.flatMap(({ path, format, pieces }) => {
    const looks = lookAtPieces(path, format, bytes(path), pieces);
    if (isProblem(looks) || !looks.some(({ state }) => state === 'present')) return [];
    const message = `${path} has entries of Synod that were not written from here; they were left`;
    return [
      finding('warn', path, message, 'take them out by hand if the project shall be without'),
    ];
  });
}
