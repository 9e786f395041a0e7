/**
 * Something that is made once and then used by every test file, also when several begin at the same moment in
 * processes of their own: the first makes it, the others wait until it is there.
 */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { until } from '../e2e/deadline.ts';

const WAIT_MS = 120_000;

/** `lock` is a folder that stands while somebody makes it. */
export async function makeOnce(
  lock: string,
  isThere: () => Promise<boolean>,
  make: () => Promise<void>,
): Promise<void> {
  if (await isThere()) return;
  await mkdir(dirname(lock), { recursive: true });
  await until(`${lock} is given back`, () => take(lock), Boolean, WAIT_MS);
  try {
    if (!(await isThere())) await make();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function take(lock: string): Promise<boolean> {
  const owner = join(lock, 'pid');
  try {
    await mkdir(lock);
    await writeFile(owner, String(process.pid));
    return true;
  } catch {
    const pid = Number(await readFile(owner, 'utf8').catch(() => '0'));
    if (pid > 0 ? !isAlive(pid) : await isForgotten(lock)) {
      await rm(lock, { recursive: true, force: true });
    }
    // A folder that goes tells nobody: it is looked for again.
    await new Promise((resolve) => setTimeout(resolve, 100));
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Nobody takes ten seconds between making the folder and signing it. */
async function isForgotten(lock: string): Promise<boolean> {
  const made = await stat(lock).catch(() => null);
  return made !== null && Date.now() - made.mtimeMs > 10_000;
}
