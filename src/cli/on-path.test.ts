import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pathLine, workingCommand } from './on-path.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "synod-it's-"));
  for (const folder of ['bin', 'clone', 'node_modules/.bin']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  put('clone/synod', 'echo 0.1.0');
  put('clone/synod.js', 'echo 0.1.0');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, line: string): string {
  writeFileSync(join(root, path), `#!/bin/sh\n${line}\n`);
  chmodSync(join(root, path), 0o755);
  return join(root, path);
}
const env = (...folders: string[]) => ({ PATH: [...folders, '/usr/bin', '/bin'].join(':') });

test('[CL17] nothing is said where synod is this one, and else the line that makes it so', () => {
  const program = join(root, 'clone/synod');
  const linked = join(root, 'clone/synod.js');
  const bin = join(root, 'bin');
  const line = pathLine({ ...env(bin), SHELL: '/bin/bash' }, program, linked);
  expect(line).toContain('npm link');
  expect(line).toContain(`alias synod='${program.replaceAll("'", "'\\''")}'`);
  expect(pathLine({ ...env(bin), SHELL: '/usr/bin/fish' }, program, linked)).toContain(
    "alias synod '",
  );
  // What npm puts before the PATH of its scripts is gone when they end.
  symlinkSync(program, join(root, 'node_modules/.bin/synod'));
  expect(pathLine(env(join(root, 'node_modules/.bin')), program, linked)).not.toBeNull();
  for (const one of [program, linked]) {
    symlinkSync(one, join(bin, 'synod'));
    expect(pathLine(env(bin), program, linked)).toBeNull();
    rmSync(join(bin, 'synod'));
  }
  put('bin/synod', 'echo another program');
  expect(pathLine(env(bin), program, linked)).not.toBeNull();
});

test('[CL17] a hook gets a command that works, by its name where it has one, or none', () => {
  const bin = join(root, 'bin');
  expect(workingCommand(put('clone/good', 'echo 0.1.0'), env())).toBe(join(root, 'clone/good'));
  expect(workingCommand(put('clone/bad', 'exit 1'), env())).toBeNull();
  expect(workingCommand(join(root, 'clone/gone'), env())).toBeNull();
  put('bin/synod', 'echo 0.1.0');
  expect(workingCommand(undefined, env(bin))).toBe('synod');
});
