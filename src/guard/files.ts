/**
 * Files by way of the guard. What is opened is held by a handle, and the handle is asked where it lies
 * before a byte is read or written: a link put in between the decision and the deed is found, and the deed
 * is not done [PO4]. Writing and deleting go through a handle of the folder. Only Linux can be asked for a
 * handle's path; elsewhere the path is looked up once more, which is later and not at the same time.
 */
import { constants } from 'node:fs';
import {
  type FileHandle,
  mkdir,
  open,
  readlink,
  realpath,
  rm,
  stat,
  unlink,
} from 'node:fs/promises';
import { basename, dirname } from 'node:path';

const { O_RDONLY, O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;
const HAS_PROC = process.platform === 'linux';

/** Why a file was not touched; the guard makes a decision of it. */
export class FileTrouble extends Error {
  readonly code: 'guard.moved' | 'guard.not-a-file' | 'guard.too-large';

  constructor(message: string, { code, cause }: { code: FileTrouble['code']; cause?: unknown }) {
    super(message, { cause });
    this.code = code;
  }
}

/** `real` is a real path that was allowed. */
export async function readThere(real: string, maxBytes: number): Promise<Buffer> {
  // Without O_NONBLOCK a pipe in the place of a file would never open.
  await using file = await opened(() => open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  await stay(file, real);
  const { size } = await ordinary(file);
  if (size > maxBytes) throw tooLarge(maxBytes);
  const chunks: Buffer[] = [];
  let total = 0;
  // Some files, those of /proc, say that they are empty; some grow.
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(65_536), 0, 65_536, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    total += bytesRead;
    if (total > maxBytes) throw tooLarge(maxBytes);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

/**
 * How a guarded file is written.
 *
 * @example
 * ```ts
 * const options: WriteOptions = { makeFolders: true, mode: 0o600 };
 * ```
 */
export interface WriteOptions {
  /** Folders on the way that are missing are made. */
  readonly makeFolders?: boolean;
  readonly mode?: number;
}

export async function writeThere(
  real: string,
  data: string | Uint8Array,
  { makeFolders = false, mode = 0o666 }: WriteOptions,
): Promise<void> {
  await using folder = await openFolder(dirname(real), makeFolders);
  const path = within(folder, real);
  const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  await using file = await opened(() => open(path, flags, mode));
  const { nlink } = await ordinary(file);
  if (nlink > 1) {
    // Its other name may be anywhere on the disk, and would be written as well.
    throw new FileTrouble('the file has a second name; copy it first', {
      code: 'guard.not-a-file',
    });
  }
  await file.truncate(0);
  await file.writeFile(data);
}

export async function removeThere(real: string, isRecursive: boolean): Promise<void> {
  await using folder = await openFolder(dirname(real), false);
  const path = within(folder, real);
  if (isRecursive) await rm(path, { recursive: true });
  else await unlink(path);
}

/** An entry of an open folder, whatever has become of the folder's path. */
function within(folder: FileHandle, real: string): string {
  return HAS_PROC ? `/proc/self/fd/${folder.fd}/${basename(real)}` : real;
}

async function openFolder(real: string, isMade: boolean): Promise<FileHandle> {
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  try {
    const folder = await opened(() => open(real, flags));
    return await staying(folder, real);
  } catch (error) {
    if (!isMade || (error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(real) === real) {
      throw error;
    }
  }
  await using above = await openFolder(dirname(real), true);
  const path = HAS_PROC ? within(above, real) : real;
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return staying(await opened(() => open(path, flags)), real);
}

async function staying(handle: FileHandle, real: string): Promise<FileHandle> {
  try {
    await stay(handle, real);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Throws unless what is open is what the decision was about. */
async function stay(handle: FileHandle, real: string): Promise<void> {
  const at = HAS_PROC ? await readlink(`/proc/self/fd/${handle.fd}`) : await placeOf(handle, real);
  if (at !== real) {
    throw new FileTrouble('it is now somewhere else: a link was put there', {
      code: 'guard.moved',
    });
  }
}

async function placeOf(handle: FileHandle, real: string): Promise<string | null> {
  const [mine, there] = await Promise.all([handle.stat(), stat(real)]);
  return mine.ino === there.ino && mine.dev === there.dev ? realpath(real) : null;
}

async function ordinary(file: FileHandle): Promise<{ size: number; nlink: number }> {
  const found = await file.stat();
  if (!found.isFile())
    throw new FileTrouble('it is no ordinary file', { code: 'guard.not-a-file' });
  return found;
}

async function opened(act: () => Promise<FileHandle>): Promise<FileHandle> {
  try {
    return await act();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // The name was no link when it was looked up; a pipe that nobody reads cannot be opened to write.
    if (code === 'ELOOP') {
      throw new FileTrouble('it has become a link', { code: 'guard.moved', cause });
    }
    if (code === 'ENXIO' || code === 'ENOTDIR') {
      throw new FileTrouble('it is no ordinary file', { code: 'guard.not-a-file', cause });
    }
    throw cause;
  }
}

function tooLarge(maxBytes: number): FileTrouble {
  return new FileTrouble(`it is larger than ${maxBytes} bytes`, { code: 'guard.too-large' });
}
