/** The package step of an upgrade, with a program in npm's place that writes down what it was told. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installPackage, packageStep, readNewest } from './package-step.ts';

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

test('[IN16] what the registry says, that it has none, and that it is silent are three things', async () => {
  npm('echo 9.9.9');
  expect(await readNewest()).toEqual({ version: '9.9.9' });
  npm('echo "npm error code E404" >&2; exit 1');
  expect(await readNewest()).toBe('absent');
  npm('exit 1');
  expect(await readNewest()).toBe('unknown');
});

test('[IN16] a newer package is brought in, but never over a checkout', async () => {
  const newer = { version: '9.9.9' };
  expect(packageStep('0.1.0', newer, false)).toMatchObject({ wanted: '9.9.9' });
  expect(packageStep('0.1.0', newer, true)).toMatchObject({
    wanted: null,
    line: expect.stringMatching(/9\.9\.9 is out.*checkout/),
  });
  expect(packageStep('9.9.9', newer, false).wanted).toBeNull();
  expect(packageStep('0.1.0', 'absent', false).wanted).toBeNull();
  npm(`echo "$@" > '${join(folder, 'told')}'; exit 3`);
  expect(await installPackage('9.9.9')).toBe(3);
  expect(readFileSync(join(folder, 'told'), 'utf8')).toBe('install --global synod@9.9.9\n');
});
