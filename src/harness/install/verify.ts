/**
 * Is everything that was installed still there, and as it was written? Each thing is looked at on
 * disk: the entries, the files, the two scripts and what they start. Findings are values; `fail` means
 * that something will not work, `warn` that somebody should look.
 */
import { statSync } from 'node:fs';
import { VENDORS, type Vendor } from '../../wire/tool-names.ts';
import { readBytes } from './apply.ts';
import { lookAtPieces, readValue } from './document.ts';
import { wantedFiles } from './install.ts';
import { nameOfPiece, type WantedFile } from './piece.ts';
import { type Finding, finding, isProblem } from './problem.ts';
import { vendorsOf } from './record.ts';
import { hookShim, hookShimPath, launcherPath } from './shim.ts';
import { VENDOR_PARTS } from './vendors/all.ts';
import type { InstallSite, Switch } from './vendors/vendor.ts';
import { installedDirectory, readRecord } from './world.ts';

export function verifyScope(site: InstallSite, vendors: readonly Vendor[] = VENDORS): Finding[] {
  const record = readRecord(site);
  if (isProblem(record)) return [finding('fail', 'the record', record.message, record.remedy)];
  const installed = vendorsOf(record).filter((vendor) => vendors.includes(vendor));
  if (installed.length === 0) {
    const scope = site.scope === 'user' ? '--user' : '--project';
    const what = site.scope === 'user' ? 'for this user' : `in ${site.root}`;
    return [finding('fail', site.scope, `nothing is installed ${what}`, `synod install ${scope}`)];
  }
  const findings = verifyLaunchers(site);
  for (const vendor of installed) {
    const options = record.options[vendor];
    if (options === undefined) continue;
    const wanted = wantedFiles(vendor, site, options);
    for (const file of wanted) findings.push(...verifyFile(vendor, file));
    findings.push(
      ...VENDOR_PARTS[vendor].switches(site).flatMap((one) => verifySwitch(vendor, one)),
    );
    const old = record.files.filter(
      ({ path, pieces }) =>
        pieces.some((one) => one.vendor === vendor) && !wanted.some((file) => file.path === path),
    );
    for (const { path } of old) {
      const message = `${path} is no longer where ${vendor} looks`;
      findings.push(finding('warn', `${vendor}: ${path}`, message, 'synod upgrade'));
    }
  }
  return findings;
}

function verifyFile(vendor: Vendor, { path, format, pieces, why }: WantedFile): Finding[] {
  const what = `${vendor}: ${path}`;
  const bytes = readBytes(path);
  if (isProblem(bytes)) return [finding('fail', what, bytes.message, bytes.remedy)];
  const again = `synod install ${vendor}`;
  if (bytes === null) return [finding('fail', what, `${path} is gone (${why})`, again)];
  const looks = lookAtPieces(path, format, bytes, pieces);
  if (isProblem(looks)) return [finding('fail', what, looks.message, looks.remedy)];
  const odd = looks.flatMap(({ piece, state }) => {
    const name = nameOfPiece(piece);
    if (state === 'absent') return [finding('fail', what, `${name} is missing in ${path}`, again)];
    if (state === 'other') {
      const message = `${name} in ${path} is not as it is written today`;
      return [finding('warn', what, message, 'synod upgrade, unless you changed it yourself')];
    }
    return [];
  });
  return odd.length > 0 ? odd : [finding('ok', what, `${path}: ${why}`)];
}

/** A file that is broken was told of already. */
function verifySwitch(vendor: Vendor, { path, format, at, isOff, message }: Switch): Finding[] {
  const bytes = readBytes(path);
  const value = Buffer.isBuffer(bytes) ? readValue(format, bytes, at) : undefined;
  if (!isOff(value)) return [];
  const remedy = 'change it there, or synod uninstall, so that nobody relies on it';
  return [finding('fail', `${vendor}: ${path}`, `${message}, in ${path}`, remedy)];
}

function verifyLaunchers({ synodHome }: InstallSite): Finding[] {
  const again = 'synod upgrade';
  const wanted = hookShim(installedDirectory(synodHome));
  return [hookShimPath(synodHome), launcherPath(synodHome)].map((path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return finding('fail', path, `${path} is gone`, again);
    if ((stat.mode & 0o100) === 0) {
      return finding(
        'fail',
        path,
        `${path} is not executable`,
        `chmod u+x ${JSON.stringify(path)}`,
      );
    }
    const text = readBytes(path);
    if (!Buffer.isBuffer(text)) return finding('fail', path, `${path} cannot be read`, again);
    const [, program] = /^program='(.*)'$/m.exec(text.toString('utf8')) ?? [];
    if (program !== undefined && statSync(program, { throwIfNoEntry: false }) === undefined) {
      return finding('fail', path, `${path} starts ${program}, which is gone`, again);
    }
    if (path === hookShimPath(synodHome) && text.toString('utf8') !== wanted) {
      return finding('warn', path, `${path} is not as it is written today`, again);
    }
    return finding('ok', path, path);
  });
}
