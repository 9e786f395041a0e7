/** The data directory and the file in it by which a hub is found: whole or not at all, its owner's alone. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unavailable } from '../../log/disk.ts';

export async function makeDirectory(dir: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unavailable(dir, 'make the data directory', cause);
  }
}

export async function writeHubFile(dir: string, value: object): Promise<void> {
  const path = join(dir, 'hub.json');
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, `${JSON.stringify(value)}\n`, { mode: 0o600 });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    throw unavailable(path, 'write', cause);
  }
}
