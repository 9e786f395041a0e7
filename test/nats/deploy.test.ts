/** The files for three machines are read by the programs that they are for, where these are here. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../tidy/repository.ts';
import { NO_NATS } from './server.ts';

const FILES = join(ROOT, 'deploy', 'three-machines');
const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;
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

interface Service {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
}

test('[JN8] the containers have every file that nats.conf names, open what it listens at, and keep what they store', () => {
  const conf = readFileSync(join(FILES, 'nats.conf'), 'utf8');
  const text = readFileSync(join(FILES, 'compose.yaml'), 'utf8');
  const { services, volumes } = parse(text) as {
    services: { nats: Service; synod: Service };
    volumes: Record<string, null>;
  };
  const { nats, synod } = services;
  const inside = (service: Service): string[] =>
    service.volumes.map((one) => one.split(':')[1] ?? '');
  const paths = [...conf.matchAll(/"(\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(5);
  for (const path of [...paths, '/etc/nats/users.conf', nats.command[1] ?? ''])
    expect([path, inside(nats).some((at) => path === at || path.startsWith(`${at}/`))]).toEqual([
      path,
      true,
    ]);
  const open = [...conf.matchAll(/listen: "0\.0\.0\.0:(\d+)"/g)].map(
    ([, port]) => `${port}:${port}`,
  );
  expect(nats.ports).toEqual(open);
  for (const [, name = ''] of conf.matchAll(/\$(\w+)/g))
    expect(nats.environment).toHaveProperty(name);
  expect(synod.command).toEqual(['serve', '--dir=/data', '--host=0.0.0.0']);
  // The file that "synod join --ca" is given, and that config.json names from then on.
  expect(inside(synod)).toEqual(['/etc/nats/tls/ca.crt', '/data', '/keys']);
  const kept = [...nats.volumes, ...synod.volumes].map((one) => one.split(':')[0] ?? '');
  expect(kept.filter((one) => !one.startsWith('./'))).toEqual(Object.keys(volumes));
});

test.skipIf(!hasCompose)('[JN8] docker compose reads the file', () => {
  const env = { ...process.env, NATS_NAME: 'nats-1' };
  const file = join(FILES, 'compose.yaml');
  const read = spawnSync('docker', ['compose', '--file', file, 'config'], {
    encoding: 'utf8',
    env,
  });
  expect([read.status, read.stderr]).toEqual([0, '']);
});
