/** The package step of an upgrade, with a program in npm's place that writes down what it was told. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fetchPackage, installPackage } from './package-step.ts';

let folder: string;
const path = process.env.PATH ?? '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'synod-npm-'));
  process.env.PATH = `${folder}${delimiter}${path}`;
});
afterEach(() => {
  process.env.PATH = path;
  rmSync(folder, { recursive: true, force: true });
});

function npm(script: string): void {
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'npm'), 0o755);
}

const told = (): string => readFileSync(join(folder, 'told'), 'utf8');

test('[IN16] a package is fetched without running anything of it, and said by name, version and digest', async () => {
  const fetched = { name: 'synod', version: '9.9.9', integrity: 'sha512-x', filename: 's.tgz' };
  npm(`echo "$@" > '${folder}/told'; echo '${JSON.stringify([fetched])}'`);
  expect(await fetchPackage('git+https://example.org/synod', folder)).toEqual({
    ...{ name: 'synod', version: '9.9.9', integrity: 'sha512-x', file: join(folder, 's.tgz') },
  });
  expect(told()).toBe(
    `pack --json --ignore-scripts --pack-destination ${folder} -- git+https://example.org/synod\n`,
  );
  npm('echo "npm error code E404" >&2; exit 1');
  expect(await fetchPackage('synod', folder)).toBe('npm error code E404');
  npm('echo "[]"');
  expect(await fetchPackage('synod', folder)).toContain('npm did not say');
});

test('[IN16] the file that was fetched is the one that is installed', async () => {
  npm(`echo "$@" > '${folder}/told'; exit 3`);
  expect(await installPackage('/x/s.tgz')).toBe(3);
  expect(told()).toBe('install --global -- /x/s.tgz\n');
});
