/** Sees that `dist/web` is built from the sources as they are now: once, whoever asks first. */
import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../tidy/repository.ts';
import { makeOnce } from './once.ts';

/** What the page is made of. */
const SOURCES = ['src/web', 'src/client', 'src/wire', 'src/core', 'vite.config.ts', 'package.json'];
const LOCK = join(ROOT, 'node_modules', '.cache', 'page-build.lock');

export async function buildPage(): Promise<void> {
  await makeOnce(LOCK, isFresh, async () => {
    const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
    const run = promisify(execFile);
    // A test runner's own NODE_ENV would build the page that React means for development.
    const env = { ...process.env, NODE_ENV: 'production' };
    await run(process.execPath, [vite, 'build', '--logLevel', 'warn'], { cwd: ROOT, env });
  });
}

async function isFresh(): Promise<boolean> {
  const built = await stat(join(ROOT, 'dist', 'web', 'index.html')).catch(() => null);
  if (built === null) return false;
  for (const source of SOURCES)
    if ((await newest(join(ROOT, source))) > built.mtimeMs) return false;
  return true;
}

async function newest(path: string): Promise<number> {
  const { mtimeMs } = await stat(path);
  const names = await readdir(path, { recursive: true }).catch(() => [] as string[]);
  const files = names.filter((name) => !/\.test\.tsx?$/.test(name)).map((name) => join(path, name));
  const times = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
  return Math.max(mtimeMs, ...times);
}
