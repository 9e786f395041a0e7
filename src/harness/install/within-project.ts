/**
 * A project's files are written in the project. A clone may hold links, to a file or to a folder above
 * one, that lead anywhere on the machine: what leads out is named and refused before it is read [IN22].
 */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type InstallProblem, problem } from './problem.ts';
import type { InstallSite } from './vendors/vendor.ts';

const LINKS_MAX = 40;

export function whyOutside(
  { scope, root }: InstallSite,
  files: Iterable<{ readonly path: string }>,
): InstallProblem | null {
  if (scope === 'user') return null;
  const project = placeOf(resolve(root));
  for (const { path } of files) {
    if (!isBelow(resolve(root), path)) continue;
    const target = placeOf(path);
    if (target !== null && project !== null && isBelow(project, target)) continue;
    return problem(
      'install.outside',
      `${path} leads out of the project${target === null ? '' : `, to ${target}`}; nothing was written`,
      'replace the link by a file or folder of the project, or install for the user (--user)',
    );
  }
  return null;
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`);
}

/** Where a path really lies, also when nothing is there yet; null for links without an end. */
function placeOf(path: string, links = 0): string | null {
  if (links > LINKS_MAX) return null;
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) {
    const folder = placeOf(dirname(path), links + 1);
    return folder === null ? null : placeOf(resolve(folder, readlinkSync(path)), links + 1);
  }
  if (stat !== undefined) return realpathSync(path);
  const above = dirname(path);
  if (above === path) return path;
  const folder = placeOf(above, links);
  return folder === null ? null : join(folder, path.slice(above.length).replaceAll(sep, ''));
}
