/**
 * The package itself, when there is a newer one: a checkout is its owner's to update; anything else
 * is brought up by npm, and the new program then goes on with the files.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { isOlder } from './probe.ts';

const REGISTRY_TIMEOUT_MS = 5_000;

/** `unknown`: npm did not answer; `absent`: the registry has no such package. */
export type Newest = { readonly version: string } | 'unknown' | 'absent';

export interface PackageStep {
  /** For a person, one line. */
  readonly line: string;
  /** The version to bring in, or null. */
  readonly wanted: string | null;
}

export function readNewest(): Promise<Newest> {
  const options = { timeout: REGISTRY_TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
  return new Promise((done) => {
    execFile('npm', ['view', 'synod', 'version'], options, (error, stdout, stderr) => {
      const [version] = /^\d+\.\d+\.\d+/m.exec(stdout) ?? [];
      if (error === null && version !== undefined) done({ version });
      else done(/\bE404\b/.test(stderr) ? 'absent' : 'unknown');
    });
  });
}

export function packageStep(mine: string, newest: Newest, isCheckout: boolean): PackageStep {
  if (newest === 'unknown') {
    const line = `package: ${mine}; the registry did not answer, so maybe there is a newer one`;
    return { line, wanted: null };
  }
  if (newest === 'absent') {
    return { line: `package: ${mine}; the registry has no synod to compare with`, wanted: null };
  }
  const { version } = newest;
  if (!isOlder(mine, version)) return { line: `package: ${mine} is the newest`, wanted: null };
  if (isCheckout) {
    const line = `package: ${mine}, and ${version} is out: this is a checkout; git pull && npm install`;
    return { line, wanted: null };
  }
  return { line: `package: ${mine}, and ${version} is out`, wanted: version };
}

/** Brings it in; answers npm's exit code. */
export async function installPackage(version: string): Promise<number> {
  const child = spawn('npm', ['install', '--global', `synod@${version}`], {
    stdio: ['ignore', 2, 2],
  });
  const [code] = await Promise.race([once(child, 'exit'), once(child, 'error').then(() => [127])]);
  return code ?? 1;
}
