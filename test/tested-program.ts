/**
 * What the tests start: the program as the package carries it, bundled from the sources as they are now.
 * A process of it starts in two thirds of the CPU that the same takes from the sources, and the tests
 * start thousands. The folder is named by a stamp over every file that goes into it, so nothing stale can
 * be run, and a run after a run without changes builds nothing.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SHELF = join(ROOT, 'node_modules', '.cache', 'tested');
const INPUTS = [
  'src/**/*.ts',
  'bin/*',
  'vite.program.config.ts',
  'package.json',
  'package-lock.json',
];
/** Loaded by their path at run time. */
const THREADS = globSync('server/**/{thread,*-thread}.ts', { cwd: join(ROOT, 'src') }).map((path) =>
  path.replace(/\.ts$/, ''),
);
const KEPT_MS = 2 * 60 * 60 * 1000;

/** Before the first test of a run. Who watches changes the sources: then they run themselves. */
export async function setup({ vitest }: TestProject): Promise<void> {
  if (vitest.config.watch || process.env.SYNOD_TESTED_BIN !== undefined) return;
  process.env.SYNOD_TESTED_BIN = await bundleProgram();
}

/** Where its `bin` lies; made if it is not there yet. */
export async function bundleProgram(): Promise<string> {
  const place = join(SHELF, stampOf(ROOT));
  if (!isThere(place)) await buildInto(place);
  utimesSync(place, new Date(), new Date());
  forgetOld();
  return join(place, 'bin');
}

function stampOf(root: string): string {
  const hash = createHash('sha256');
  for (const path of globSync(INPUTS, { cwd: root }).sort()) {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

async function buildInto(place: string): Promise<void> {
  mkdirSync(SHELF, { recursive: true });
  const fresh = mkdtempSync(join(SHELF, 'fresh-'));
  // Some tests start it as another user.
  chmodSync(fresh, 0o755);
  const program = join(fresh, 'dist', 'program');
  await build({
    ...{ root: ROOT, configFile: join(ROOT, 'vite.program.config.ts'), logLevel: 'warn' },
    build: {
      outDir: program,
      license: false,
      rolldownOptions: {
        input: Object.fromEntries(
          THREADS.map((path) => [entryOf(path), join(ROOT, 'src', `${path}.ts`)]),
        ),
      },
    },
  });
  for (const path of THREADS) {
    const file = join(fresh, 'dist', `${path}.js`);
    mkdirSync(dirname(file), { recursive: true });
    const entry = relative(dirname(file), join(program, `${entryOf(path)}.js`));
    writeFileSync(file, `import ${JSON.stringify(entry)};\n`);
  }
  cpSync(join(ROOT, 'bin'), join(fresh, 'bin'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(fresh, 'package.json'));
  symlinkSync(join(ROOT, 'plugins'), join(fresh, 'plugins'));
  symlinkSync(join(ROOT, 'dist', 'web'), join(fresh, 'dist', 'web'));
  try {
    renameSync(fresh, place);
  } catch (cause) {
    // Another run was faster, with the same.
    if (!isThere(place)) throw cause;
    rmSync(fresh, { recursive: true });
  }
}

function entryOf(path: string): string {
  return path.replaceAll('/', '-');
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function forgetOld(): void {
  const least = Date.now() - KEPT_MS;
  for (const name of globSync('*', { cwd: SHELF })) {
    const path = join(SHELF, name);
    const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (mtimeMs < least) rmSync(path, { recursive: true, force: true });
  }
}
