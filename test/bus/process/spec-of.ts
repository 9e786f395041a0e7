/** The fixtures as workers: small limits, no restart, nothing probed, unless a test says otherwise. */
import { fileURLToPath } from 'node:url';
import type { WorkerSpec } from '../../../src/bus/process/spec.ts';

export function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
}

/** A fixture as a worker: Node runs the scripts, the shell files run themselves. */
export function specOf(name: string, changes: Partial<WorkerSpec> = {}): WorkerSpec {
  const isScript = name.endsWith('.mjs');
  return {
    pool: 'p',
    command: isScript ? process.execPath : fixture(name),
    args: isScript ? [fixture(name)] : [],
    cwd: null,
    restart: {
      policy: 'never',
      restartsMax: 5,
      windowMs: 60_000,
      waitMsMin: 20,
      waitMsMax: 1_000,
      healthyAfterMs: 10_000,
    },
    ready: null,
    ping: null,
    hangMs: null,
    lineBytesMax: 10_485_760,
    straysMax: 100,
    stderrLinesKept: 10,
    ...changes,
    env: { PATH: process.env.PATH ?? '', ...changes.env },
  };
}
