/**
 * A newer Synod, when somebody asks for one and says where from: the name `synod` belongs to nobody in a
 * registry, so nothing is looked up by it [IN16]. npm fetches the package without running anything of
 * it; what it is can be told before it is installed, and that very file is installed.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { isFields, parseJson, textOf } from '../../wire/fields.ts';

const FETCH_TIMEOUT_MS = 120_000;

export interface FetchedPackage {
  readonly name: string;
  readonly version: string;
  /** As npm says it: `sha512-…`. */
  readonly integrity: string;
  /** Where it lies now. */
  readonly file: string;
}

/** From a folder, a tarball, a git address or `name@version`; a sentence when it cannot be had. */
export function fetchPackage(from: string, into: string): Promise<FetchedPackage | string> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', into, '--', from];
  const options = { timeout: FETCH_TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
  return new Promise((done) => {
    execFile('npm', args, options, (error, stdout, stderr) => {
      const found: unknown = error === null ? parseJson(stdout) : null;
      // A list, or by name, as npm's version has it.
      const [first] = isFields(found) ? Object.values(found) : Array.isArray(found) ? found : [];
      const fields = isFields(first) ? first : {};
      const [name, version, integrity, file] = ['name', 'version', 'integrity', 'filename'].map(
        (field) => textOf(fields, field),
      );
      if (name && version && integrity && file) {
        done({ name, version, integrity, file: join(into, file.replaceAll(/.*[/\\]/g, '')) });
      } else done(lastLine(stderr) ?? 'npm did not say what it fetched');
    });
  });
}

function lastLine(text: string): string | null {
  return text.trim().split('\n').at(-1)?.slice(0, 500) || null;
}

/** Brings in the file that was fetched; answers npm's exit code. */
export async function installPackage(file: string): Promise<number> {
  const child = spawn('npm', ['install', '--global', '--', file], { stdio: ['ignore', 2, 2] });
  const [code] = await Promise.race([once(child, 'exit'), once(child, 'error').then(() => [127])]);
  return code ?? 1;
}
