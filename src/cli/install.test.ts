/** The four commands as a person runs them, in a home and a repository of their own. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Home, openHome, type Ran } from '../../test/e2e/cli-run.ts';
import { CHECKOUT_BIN } from '../../test/program.ts';

let root: string;
let cli: Home;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'synod-connect-'));
  cli = openHome();
  more = {};
  mkdirSync(join(root, 'app/src'), { recursive: true });
  git('init', '-q', '-b', 'main');
  put(
    'app/.claude/settings.json',
    '{ "env": { "TOKEN": "s3cret" }, "permissions": {"allow": ["Edit"]} }',
  );
  put('app/AGENTS.md', '# Rules\r\n');
  git('add', '.');
  git('-c', 'user.name=ada', '-c', 'user.email=ada@example.org', 'commit', '-qm', 'start');
  for (const [vendor, version] of [
    ['claude', '2.1.325 (Claude Code)'],
    ['codex', 'codex-cli 0.166.0'],
  ] as const) {
    program(vendor, `echo '${version}'`);
  }
});
afterEach(async () => {
  await cli.close();
  rmSync(root, { recursive: true, force: true });
});

const read = (path: string) => readFileSync(join(root, path), 'utf8');
function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
function program(name: string, line: string): void {
  put(`bin/${name}`, `#!/bin/sh\n${line}\n`);
  chmodSync(join(root, 'bin', name), 0o755);
}
function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: join(root, 'app'), encoding: 'utf8' });
}
let more: Record<string, string> = {};
const environment = (): Record<string, string> => ({
  HOME: join(root, 'home'),
  PATH: `${join(root, 'bin')}:/usr/bin:/bin`,
  ...more,
});
function synod(...args: string[]): Promise<Ran> {
  return cli.run(args, { cwd: join(root, 'app/src'), env: environment() });
}

test('[IN1] one command connects what is here, another leaves `git status` clean', async () => {
  const installed = await synod('install', 'all', '--project');
  expect(installed).toMatchObject({ code: 0 });
  expect(installed.stdout).toMatch(/^Claude Code, in .*\/app:$/m);
  expect(installed.stdout).toMatch(/create +\S+\/\.mcp\.json\n +registers the MCP server/);
  expect(installed.stdout).toContain('Codex, in');
  // Nobody has them here.
  expect(installed.stdout).not.toMatch(/Gemini|opencode/);
  expect(installed.stderr).toContain('reviewed');
  expect(git('status', '--porcelain')).toContain('.mcp.json');

  expect((await synod('install', 'all', '--project')).stdout).toContain('nothing to change');
  expect(await synod('verify')).toMatchObject({
    code: 0,
    stdout: expect.not.stringMatching(/FAIL|WARN/),
  });

  const gone = await synod('uninstall', 'all');
  expect(gone).toMatchObject({ code: 0, stdout: expect.stringContaining('restore') });
  expect(git('status', '--porcelain')).toBe('');
  expect(existsSync(join(root, 'home/.synod'))).toBe(false);
  expect((await synod('uninstall')).stderr).toContain('nothing of Synod was found');
  expect(await synod('verify')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('[FAIL]'),
  });
});

test('[IN4] a dry run shows what is ours and nobody’s secrets, and writes nothing', async () => {
  const ran = await synod('install', 'claude', '--project', '--dry-run');
  expect(ran.stdout).toContain('permissions.allow[]: "mcp__synod__*"');
  expect(ran.stdout).toContain('hooks.SessionStart[], hooks.UserPromptSubmit[]');
  expect(ran.stdout).not.toContain('s3cret');
  expect(git('status', '--porcelain')).toBe('');
  expect(existsSync(join(root, 'home/.synod'))).toBe(false);
});

test('[IN14] options are kept by an upgrade, which changes only what has drifted', async () => {
  // The name of the package belongs to nobody: npm is not asked about it.
  program('npm', `echo asked >> '${join(root, 'npm-asked')}'; exit 1`);
  await synod(
    'install',
    'claude',
    '--user',
    '--no-permissions',
    '--auto-subscribe',
    '--channel',
    '#dev',
  );
  expect(read('home/.claude/settings.json')).not.toContain('permissions');
  expect(read('home/.claude/skills/inter-agent-channels/SKILL.md')).toContain('#dev');
  expect(await synod('upgrade', '--check-only')).toMatchObject({ code: 0 });

  put('home/.synod/bin/hook', '#!/bin/sh\n# of an older version\n');
  rmSync(join(root, 'home/.claude/rules/synod.md'));
  const drifted = await synod('upgrade', '--check-only');
  expect(drifted).toMatchObject({ code: 1, stderr: expect.stringContaining('with --package') });
  expect(drifted.stdout.match(/^ {2}(create|change) .*/gm)).toHaveLength(2);
  expect(existsSync(join(root, 'home/.claude/rules/synod.md'))).toBe(false);

  expect(await synod('upgrade')).toMatchObject({ code: 0 });
  expect(existsSync(join(root, 'npm-asked'))).toBe(false);
  const checkout = await cli.run(['upgrade', '--package', 'synod@latest'], {
    ...{ cwd: join(root, 'app/src'), env: environment(), bin: CHECKOUT_BIN },
  });
  expect(checkout).toMatchObject({ code: 1, stderr: expect.stringContaining('is a checkout') });
  expect(existsSync(join(root, 'npm-asked'))).toBe(false);
  expect(await synod('upgrade', '--check-only')).toMatchObject({ code: 0 });
  expect(await synod('verify', '--user')).toMatchObject({ code: 0 });
  expect(read('home/.claude/settings.json')).not.toContain('permissions');
  await synod('uninstall', 'claude');
  expect(existsSync(join(root, 'home/.claude'))).toBe(false);
});

test('[IN10] a vendor with a broken file is left alone and named; the others are connected', async () => {
  put('home/.codex/config.toml', 'model = "x\n');
  const ran = await synod('install', '--user');
  expect(ran.code).toBe(1);
  expect(ran.stderr).toMatch(/^install\.broken-config: .*config\.toml:1:\d+: not valid/m);
  expect(existsSync(join(root, 'home/.claude.json'))).toBe(true);
  expect(existsSync(join(root, 'home/.codex/hooks.json'))).toBe(false);
  const { vendors } = JSON.parse((await synod('install', '--user', '--json')).stdout);
  expect(vendors[1]).toMatchObject({
    vendor: 'codex',
    problem: { problem: 'install.broken-config' },
  });
});

test('[IN12] a vendor that is named is connected though it is not here, and that is said', async () => {
  const ran = await synod('install', 'gemini', '--user');
  expect(ran).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Gemini CLI is not installed'),
  });
  expect(ran.stdout).toContain('npm install -g @google/gemini-cli');
  expect(existsSync(join(root, 'home/.gemini/settings.json'))).toBe(true);
  rmSync(join(root, 'bin'), { recursive: true });
  expect(await synod('install')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('install.no-vendor'),
  });
});

test.each([
  [['install', 'cursor'], 'cursor is none of'],
  [['install', '--user', '--project'], 'either --user or --project'],
  [['install', 'claude', '--channel', 'x'], '--channel goes with --auto-subscribe'],
  [['install', 'claude', '--gates-wait', '9'], '--gates-wait goes with --gates'],
  [['install', 'claude', '--gates', '--gates-wait', '1.5'], '--gates-wait is 1 to 3600 whole'],
])('[IN12] %j is not understood', async (args, said) => {
  expect(await synod(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
});

test('[PG1] prompts wait for people where that was asked for, and a vendor that cannot is named', async () => {
  const line = 'claude gate 90';
  const made = await synod(
    'install',
    'claude',
    'gemini',
    '--user',
    '--gates',
    '--gates-wait',
    '90',
  );
  expect(made.stderr).toContain('takes no answer from it');
  const { hooks } = JSON.parse(read('home/.claude/settings.json'));
  const [handler] = hooks.PermissionRequest[0].hooks;
  expect(handler).toMatchObject({ command: expect.stringContaining(line), timeout: 95 });
  expect(hooks.PreToolUse[0].hooks[0].command).not.toContain('gate');
  expect(read('home/.gemini/settings.json')).not.toContain('gate 90');
  expect(await synod('upgrade', '--check-only')).toMatchObject({ code: 0 });
  await synod('install', 'claude', '--user');
  expect(read('home/.claude/settings.json')).not.toContain(line);
});

test('[IN1] one scope is left without the other, which is named', async () => {
  await synod('install', 'claude', '--user');
  const both = await synod('install', 'claude', '--project');
  expect(both.stdout).toContain('its hooks may run twice');
  const gone = await synod('uninstall', '--project');
  expect(gone.stderr).toContain('still installed for this user: synod uninstall --user');
  expect(git('status', '--porcelain')).toBe('');
  expect(existsSync(join(root, 'home/.synod/bin/hook'))).toBe(true);
  await synod('uninstall', '--user');
  expect(existsSync(join(root, 'home/.synod'))).toBe(false);
});

test('[IN1] a project without git is the folder one stands in', async () => {
  rmSync(join(root, 'app/.git'), { recursive: true });
  expect(await synod('install', 'claude', '--project')).toMatchObject({ code: 0 });
  expect(existsSync(join(root, 'app/src/.mcp.json'))).toBe(true);
  await synod('uninstall', '--project-dir', join(root, 'app/src'));
  expect(existsSync(join(root, 'app/src/.mcp.json'))).toBe(false);
});

test('[IN5] a channel that cannot be one is refused before anything is written', async () => {
  const ran = await synod('install', 'claude', '--user', '--auto-subscribe', '--channel', '');
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('"" is no name') });
  expect(existsSync(join(root, 'home/.claude'))).toBe(false);
});

test('[IN18] uninstall names what stays, and deletes it only when that is said twice', async () => {
  const hooks = join(root, 'home/.codex/hooks.json');
  const state = `[hooks.state."${hooks}:PreToolUse:0:0"]\ntrusted_hash = "x"\n`;
  const others = '[hooks.state."/elsewhere/hooks.json:Stop:0:0"]\ntrusted_hash = "y"\n';
  put('home/.codex/config.toml', `${state}\n${others}`);
  put('home/.claude.json', '{"projects": {"/a": {"enabledMcpjsonServers": ["gh", "synod"]}}}');
  const ran = await cli.run(['up', '--port', '0']);
  expect(ran.code).toBe(0);
  writeFileSync(join(cli.dir, 'notes.txt'), 'mine');

  const gone = await synod('uninstall', '--everything');
  expect(gone.stderr).toMatch(/stays: the hub \(process \d+\)/);
  expect(gone.stderr).toContain(`stays: ${cli.dir} (what the hub keeps: 1 space`);
  expect(gone.stderr).toContain('Codex: hooks of ours were reviewed');
  expect(gone.stderr).toContain('synod uninstall --everything --yes');
  expect(existsSync(join(cli.dir, 'spaces'))).toBe(true);
  expect(read('home/.codex/config.toml')).toContain(state);

  more = { XDG_CACHE_HOME: join(root, 'cache') };
  put('cache/synod/compiled/v24/code', 'what a package compiled');
  const all = await synod('uninstall', '--everything', '--yes');
  expect(all.stderr).toMatch(/stopped: the hub/);
  expect(readdirSync(cli.dir)).toEqual(['notes.txt']);
  expect(existsSync(join(root, 'cache/synod'))).toBe(false);
  expect(read('home/.codex/config.toml').trim()).toBe(others.trim());
  expect(JSON.parse(read('home/.claude.json'))).toEqual({
    projects: { '/a': { enabledMcpjsonServers: ['gh'] } },
  });
});
