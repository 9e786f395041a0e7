/**
 * Whether `Makefile` and `makefile` are two files where a path lies: asked of every folder on the way,
 * because some disks decide it folder by folder, by looking for another spelling of what is there and
 * never by the platform [GI23]. A folder in which nothing can be looked for tells nothing, and then
 * the two count as one: a false alarm costs a wait, a missed one costs somebody's work.
 */
import { join } from 'node:path';
import { DISK, type Disk } from './resolve-path.ts';

/** Entries of a folder that are looked through for one with a letter. */
const ENTRIES_MAX = 256;

export async function tellsCase(
  worktree: string,
  path: string,
  disk: Pick<Disk, 'lstat' | 'readdir'> = DISK,
): Promise<boolean> {
  let folder = worktree;
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    const isThere = (await look(join(folder, name), disk)) !== null;
    const known = isThere ? await tellsFor(folder, name, disk) : null;
    if (!(known ?? (await tellsAny(folder, disk)))) return false;
    // What is made below takes after the folder it is made in.
    if (!isThere) return true;
    folder = join(folder, name);
  }
  return true;
}

async function tellsAny(folder: string, disk: Pick<Disk, 'lstat' | 'readdir'>): Promise<boolean> {
  const names = await disk.readdir(folder).catch(() => []);
  for (const name of names.slice(0, ENTRIES_MAX)) {
    const known = await tellsFor(folder, name, disk);
    if (known !== null) return known;
  }
  return false;
}

/** Null when the name has no letter to spell otherwise. */
async function tellsFor(
  folder: string,
  name: string,
  disk: Pick<Disk, 'lstat'>,
): Promise<boolean | null> {
  const other = name.replace(/[a-z]/gi, (letter) =>
    letter < 'a' ? letter.toLowerCase() : letter.toUpperCase(),
  );
  if (other === name) return null;
  const [one, two] = [await look(join(folder, name), disk), await look(join(folder, other), disk)];
  return one !== null && (two === null || two.ino !== one.ino || two.dev !== one.dev);
}

type Found = Awaited<ReturnType<Disk['lstat']>>;

async function look(path: string, disk: Pick<Disk, 'lstat'>): Promise<Found | null> {
  return disk.lstat(path).catch(() => null);
}
