/**
 * Which files a patch in the form of Codex touches: those it adds, changes, deletes, and where it
 * moves them. Lines of the files themselves begin with a space, `+` or `-`, so a patch about
 * patches is not misread.
 */
const MARK = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$/;

export function patchPaths(patch: string): string[] {
  const paths = patch.split(/\r?\n/).flatMap((line) => {
    const [, path] = MARK.exec(line) ?? [];
    return path === undefined ? [] : [path];
  });
  return [...new Set(paths)];
}
