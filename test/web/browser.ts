/**
 * The browser that comes from npm: Chromium without a head, driven by Playwright, with the shared libraries
 * and the font of its package, so that it is the same on every machine and needs nothing installed. It runs
 * with its web security on: the arguments that the package suggests switch off what these tests are about.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium as driver, type LaunchOptions } from 'playwright-core';
import { ROOT } from '../tidy/repository.ts';
import { buildPage } from './build-page.ts';
import { makeOnce } from './once.ts';

const PACKAGE = join(ROOT, 'node_modules', '@sparticuz', 'chromium');

/** Opens the browser, and sees that the page it is to show is built from today's sources. */
export async function openBrowser(): Promise<Browser> {
  const [launch] = await Promise.all([launchOptions(), buildPage()]);
  return driver.launch(launch);
}

async function launchOptions(): Promise<LaunchOptions> {
  // Elsewhere than on Linux the package has no program; a Chrome that is installed does as well.
  if (process.platform !== 'linux' || process.arch !== 'x64') return { channel: 'chrome' };
  const home = await unpack();
  return {
    executablePath: join(home, 'chromium'),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--font-render-hinting=none'],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(home, 'al2023', 'lib'),
      FONTCONFIG_PATH: join(home, 'fonts'),
    },
  };
}

/** Unpacked once, beside the package: what lies in the common folder for temporary files may be anybody's. */
async function unpack(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const home = join(ROOT, 'node_modules', '.cache', `chromium-${version}`);
  await makeOnce(
    `${home}.lock`,
    async () => existsSync(home),
    async () => {
      const draft = `${home}.draft`;
      await rm(draft, { recursive: true, force: true });
      await mkdir(draft, { recursive: true });
      await unpackInto(draft);
      const config = join(draft, 'fonts', 'fonts.conf');
      const text = await readFile(config, 'utf8');
      await writeFile(config, text.replaceAll('/tmp/fonts', join(home, 'fonts')));
      await rename(draft, home);
    },
  );
  return home;
}

async function unpackInto(dir: string): Promise<void> {
  const script = fileURLToPath(new URL('unpack-chromium.ts', import.meta.url));
  const env = { PATH: process.env.PATH, TMPDIR: dir, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' };
  await promisify(execFile)(process.execPath, [script], { env });
}
