/**
 * `<dir>/hub.json` and `<dir>/credential`: how the hub of a directory is found, and what opens it.
 * Both lie where only the owner reads. A file left by a hub that was killed is possible, so what it
 * says is an address to try and never a promise.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export interface HubFile {
  readonly url: string;
  readonly socket: string | null;
  readonly pid: number;
  readonly since: string;
}

/** How a hub ends that finds its directory held by another process. */
export const LOCKED_EXIT = 75;

/** The same rule as the server's config, kept here because a one-shot command must not load that. */
export function dataDirectory(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  const path = flag ?? (env.SYNOD_DIR || undefined);
  if (path === undefined) return join(homedir(), '.synod');
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : resolve(path);
}

export function readHubFile(dir: string): HubFile | null {
  try {
    const file = JSON.parse(readFileSync(join(dir, 'hub.json'), 'utf8'));
    if (typeof file?.url !== 'string' || typeof file.pid !== 'number') return null;
    return { url: file.url, socket: file.socket ?? null, pid: file.pid, since: String(file.since) };
  } catch {
    // Missing or half written: no hub has said that it is ready.
    return null;
  }
}

export function readCredential(dir: string): string | null {
  try {
    return readFileSync(join(dir, 'credential'), 'utf8').trim() || null;
  } catch {
    // Missing, or another user's: then we have none to show.
    return null;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
