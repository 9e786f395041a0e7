/**
 * Brings the vendors' command lines with npm, once, before the live tests; vitest calls `setup`.
 * The newest versions are taken on purpose: the point is to learn what changed. To keep to certain
 * ones, install them yourself and name the folder in SYNOD_LIVE_CLIS; that folder is never written.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clisDirectory, missingClis, PACKAGES } from './clis.ts';

export async function setup(): Promise<void> {
  const missing = missingClis();
  if (missing.length === 0) return;
  const directory = clisDirectory();
  if (process.env.SYNOD_LIVE_CLIS) {
    throw new Error(`SYNOD_LIVE_CLIS is ${directory}, which has no ${missing.join(', ')}`);
  }
  mkdirSync(directory, { recursive: true });
  const manifest = join(directory, 'package.json');
  // One that is there names what an earlier run brought; without it npm would take that away.
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private":true}\n');
  const names = missing.map((name) => PACKAGES[name]);
  const child = spawn('npm', ['install', '--no-audit', '--no-fund', ...names], {
    cwd: directory,
    stdio: 'inherit',
  });
  const [code] = await once(child, 'close');
  if (code !== 0 || missingClis().length > 0) {
    throw new Error(`npm did not bring ${missingClis().join(', ')} (it left with ${code})`);
  }
}
