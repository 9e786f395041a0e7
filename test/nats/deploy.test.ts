/** The files for three machines are read by the programs that they are for, where these are here. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../tidy/repository.ts';
import { NO_NATS } from './server.ts';

const FILES = join(ROOT, 'deploy', 'three-machines');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(NO_NATS !== null)(`[JN8] nats-server reads nats.conf ${NO_NATS ?? ''}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'synod-deploy-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  copyFileSync(join(FILES, 'users.conf'), join(dir, 'users.conf'));
  // Certificates and the newest setting are of the machine; what is left must read.
  const text = readFileSync(join(FILES, 'nats.conf'), 'utf8')
    .replaceAll(/^ *tls \{[^}]*\}\n/gm, '')
    .replace(/^ *sync_interval:.*\n/m, '');
  writeFileSync(join(dir, 'nats.conf'), text);
  const program = process.env.SYNOD_NATS_SERVER ?? 'nats-server';
  const env = { ...process.env, NATS_NAME: 'nats-1' };
  const read = spawnSync(program, ['-t', '-c', join(dir, 'nats.conf')], { encoding: 'utf8', env });
  expect([read.status, read.stderr]).toEqual([0, expect.stringContaining('is valid')]);
});

test.skipIf(!hasSystemd)('[JN8] systemd reads the units', () => {
  for (const unit of ['nats.service', 'synod.service']) {
    const read = spawnSync('systemd-analyze', ['verify', join(FILES, unit)], { encoding: 'utf8' });
    expect(read.stderr).not.toMatch(/Unknown|Failed to parse|Invalid/);
  }
});
