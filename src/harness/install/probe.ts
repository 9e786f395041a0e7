/**
 * Is a vendor's program on this machine, and new enough? It is asked for its version and nothing
 * else, and given a moment. What cannot be found out is a finding, never a failure.
 */
import { execFile } from 'node:child_process';
import { type Finding, finding } from './problem.ts';
import type { VendorPart } from './vendors/vendor.ts';

const ANSWER_TIMEOUT_MS = 10_000;
const OUTPUT_BYTES_MAX = 64 * 1024;

export type Probe =
  | { readonly state: 'found'; readonly version: string }
  | { readonly state: 'missing' }
  /** It is there, and does not say a version. */
  | { readonly state: 'silent'; readonly reason: string };

export function probeVendor(
  { command }: Pick<VendorPart, 'command'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Probe> {
  const options = {
    env: { ...env },
    timeout: ANSWER_TIMEOUT_MS,
    maxBuffer: OUTPUT_BYTES_MAX,
    killSignal: 'SIGKILL',
  } as const;
  return new Promise((resolve) => {
    execFile(command, ['--version'], options, (error, stdout) => {
      if ((error as NodeJS.ErrnoException | null)?.code === 'ENOENT') {
        return resolve({ state: 'missing' });
      }
      const [version] = /\d+\.\d+\.\d+/.exec(stdout) ?? [];
      if (version !== undefined) return resolve({ state: 'found', version });
      const reason = error === null ? 'it says none' : error.message.split('\n', 1)[0];
      return resolve({ state: 'silent', reason: reason ?? 'it says none' });
    });
  });
}

export function probeFinding(part: VendorPart, probe: Probe): Finding {
  const { name, title, command, versionMin } = part;
  const get = `npm install -g ${part.package}`;
  switch (probe.state) {
    case 'missing':
      return finding('warn', name, `${title} is not installed: no ${command} on the PATH`, get);
    case 'silent':
      return finding(
        'warn',
        name,
        `${command} --version did not answer with a version (${probe.reason})`,
        `run it by hand; if it is broken: ${get}`,
      );
    case 'found':
      return isOlder(probe.version, versionMin)
        ? finding(
            'warn',
            name,
            `${title} ${probe.version} is older than ${versionMin}; its hooks may not work`,
            `${get}@latest`,
          )
        : finding('ok', name, `${title} ${probe.version}`);
  }
}

export function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
