/** What can be wrong on a machine: each is told in a sentence, and nothing is broken by it. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installVendor, type VendorReport } from './install.ts';
import { isOlder, probeFinding, probeVendor } from './probe.ts';
import { recordPath } from './record.ts';
import { uninstallVendor } from './uninstall.ts';
import { VENDOR_PARTS } from './vendors/all.ts';
import { DEFAULT_OPTIONS, type InstallSite, type ScopeKind } from './vendors/vendor.ts';
import { verifyScope } from './verify.ts';
import { createSite, installedDirectory } from './world.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'synod-trouble-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const at = (path: string) => join(root, path);
const read = (path: string) => readFileSync(at(path), 'utf8');
function put(path: string, text: string): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
}

function place(scope: ScopeKind = 'user'): InstallSite {
  mkdirSync(at('home'), { recursive: true });
  mkdirSync(at('app'), { recursive: true });
  return createSite(scope, at('app'), { HOME: at('home') });
}

function install(
  vendor: 'claude' | 'codex' | 'gemini' | 'opencode',
  where: InstallSite,
): VendorReport {
  put('synod.js', '');
  const launch = { node: process.execPath, program: at('synod.js') };
  return installVendor({ vendor, site: where, options: DEFAULT_OPTIONS, launch });
}

test.each([
  ['claude', 'home/.claude/settings.json', '{\n  "a": 1,\n  b\n}', 'settings.json:3:3: not valid'],
  ['codex', 'home/.codex/config.toml', 'a = 1\nb = = 2\n', 'config.toml:2:5: not valid'],
  ['gemini', 'home/.gemini/settings.json', '{ "hooks": [] }', 'hooks is a list and not an object'],
  ['opencode', 'home/.config/opencode/opencode.json', '\xff\xfe{', 'is not valid|not valid'],
] as const)(
  '[IN10] %s: a broken %s is left alone and named, and nothing else is written',
  (vendor, path, text, said) => {
    put(path, text);
    const { problem, changes } = install(vendor, place());
    expect(problem?.message).toMatch(new RegExp(said.replaceAll('.', '\\.')));
    expect(problem?.message).toContain('left alone');
    expect(changes).toEqual([]);
    expect(read(path)).toBe(text);
    expect(existsSync(at('home/.synod'))).toBe(false);
  },
);

test('[IN10] bytes that are no text are left alone', () => {
  put('home/.claude.json', '');
  writeFileSync(at('home/.claude.json'), Buffer.of(0x7b, 0xff, 0x7d));
  expect(install('claude', place()).problem).toMatchObject({ problem: 'install.not-text' });
});

test('[IN10] a file that was broken after the installation is named by uninstall, and stays', () => {
  const where = place();
  expect(install('gemini', where).problem).toBeNull();
  put('home/.gemini/settings.json', '{ "half": ');
  const { problem, changes } = uninstallVendor({ vendor: 'gemini', site: where });
  expect(problem?.message).toContain('settings.json:1:11');
  expect(changes).toEqual([]);
  expect(existsSync(at('home/.gemini/skills/inter-agent-channels/SKILL.md'))).toBe(true);
  expect(verifyScope(where)).toContainEqual(
    expect.objectContaining({ level: 'fail', message: expect.stringContaining('not valid') }),
  );
});

test('[IN5] a read-only configuration refuses the vendor with what to do, and writes nothing', () => {
  put('home/.claude.json', '{}');
  chmodSync(at('home/.claude.json'), 0o400);
  const { problem } = install('claude', place());
  expect(problem).toMatchObject({ problem: 'install.read-only' });
  expect(existsSync(at('home/.synod'))).toBe(false);
  expect(existsSync(at('home/.claude'))).toBe(false);
});

test('[IN5] a folder in the place of one of our scripts refuses the vendor too', () => {
  mkdirSync(at('home/.synod/bin/hook'), { recursive: true });
  expect(install('gemini', place()).problem).toMatchObject({ problem: 'install.not-a-file' });
  expect(existsSync(at('home/.gemini'))).toBe(false);
});

test('[IN4] a server of the same name that is not ours stays, and that is said', () => {
  const mine = '{"mcpServers":{"synod":{"command":"mine"}}}';
  put('home/.claude.json', mine);
  const where = place();
  const { findings } = install('claude', where);
  expect(findings).toEqual([
    expect.objectContaining({
      level: 'warn',
      message: expect.stringContaining('mcpServers.synod'),
    }),
  ]);
  expect(read('home/.claude.json')).toBe(mine);
  uninstallVendor({ vendor: 'claude', site: where });
  expect(read('home/.claude.json')).toBe(mine);
});

test('[IN4] a skill of the same name that is not ours stays too', () => {
  const path = 'home/.claude/skills/inter-agent-channels/SKILL.md';
  put(path, 'mine');
  const where = place();
  expect(install('claude', where).findings[0]?.message).toContain('is not ours');
  uninstallVendor({ vendor: 'claude', site: where });
  expect(read(path)).toBe('mine');
});

test('[IN2] a file of ours that somebody edited is not overwritten, nor deleted', () => {
  const where = place();
  install('claude', where);
  const path = 'home/.claude/skills/inter-agent-channels/SKILL.md';
  put(path, `${read(path)}\nAnd be nice.\n`);
  const edited = read(path);
  expect(install('claude', where)).toMatchObject({ changes: [], problem: null });
  expect(verifyScope(where)).toContainEqual(expect.objectContaining({ level: 'warn' }));
  const { findings } = uninstallVendor({ vendor: 'claude', site: where });
  expect(findings[0]?.remedy).toContain('by hand');
  expect(read(path)).toBe(edited);
  expect(existsSync(at('home/.claude/settings.json'))).toBe(false);
});

test('[IN2] an entry of ours that somebody edited keeps the edit until it is taken out', () => {
  const where = place();
  install('gemini', where);
  const path = 'home/.gemini/settings.json';
  put(path, read(path).replace('"trust": true', '"trust": true,\n      "timeout": 9'));
  const { findings, changes } = install('gemini', where);
  expect(changes).toEqual([]);
  expect(findings[0]?.message).toContain('mcpServers.synod');
  expect(read(path)).toContain('"timeout": 9');
  uninstallVendor({ vendor: 'gemini', site: where });
  expect(existsSync(at('home/.gemini'))).toBe(false);
});

test('[IN8] without its record a user’s installation is recognised by what it wrote', () => {
  put('home/.codex/config.toml', 'model = "x"\n');
  put('home/.claude/settings.json', '{\n  "model": "x"\n}\n');
  const where = place();
  for (const vendor of ['claude', 'codex', 'gemini', 'opencode'] as const) install(vendor, where);
  rmSync(at('home/.synod'), { recursive: true });
  for (const vendor of ['claude', 'codex', 'gemini', 'opencode'] as const) {
    expect(uninstallVendor({ vendor, site: where }).problem).toBeNull();
  }
  expect(read('home/.codex/config.toml')).toBe('model = "x"\n');
  // Leave to call our tools may be a person's own word, and only the record would say that it is not.
  expect(JSON.parse(read('home/.claude/settings.json'))).toEqual({
    model: 'x',
    permissions: { allow: ['mcp__synod__*'] },
  });
  expect(existsSync(at('home/.gemini/settings.json'))).toBe(false);
  expect(existsSync(at('home/.config/opencode/plugins/synod.js'))).toBe(false);
});

const SCHEMA = '"$schema": "https://opencode.ai/config.json"';

test.each([
  ['one that holds nothing but its schema', `{ ${SCHEMA} }\n`],
  ['one with settings', `{\n  ${SCHEMA},\n  "theme": "x", "mcp": {}, "instructions": []\n}\n`],
  ['one with leave that a person gave', `{ ${SCHEMA}, "permission": { "synod_*": "allow" } }`],
])(
  '[IN18] a configuration that was never ours is as it was after every uninstall: %s',
  (_, text) => {
    put('home/.config/opencode/opencode.json', text);
    put('home/.claude/settings.json', '{ "permissions": { "allow": ["mcp__synod__*"] } }');
    put('home/.synod/bin/hook', '#!/bin/sh\n# a script of somebody else\n');
    const where = place();
    const uninstall = (vendor: 'opencode' | 'claude') => uninstallVendor({ vendor, site: where });
    expect(uninstall('opencode').changes).toEqual([]);
    expect(uninstall('claude').changes).toEqual([]);
    rmSync(at('home/.synod'), { recursive: true });
    install('opencode', where);
    uninstall('opencode');
    expect(uninstall('opencode')).toMatchObject({ changes: [], findings: [] });
    expect(read('home/.config/opencode/opencode.json')).toBe(text);
  },
);

test('[IN18] what came between install and uninstall under a name of ours stays', () => {
  put('home/.config/opencode/opencode.json', '{}\n');
  const where = place();
  install('opencode', where);
  const path = 'home/.config/opencode/opencode.json';
  put(
    path,
    read(path).replace('opencode.ai/config', 'example.org/mine').replace('"allow"', '"ask"'),
  );
  expect(uninstallVendor({ vendor: 'opencode', site: where }).problem).toBeNull();
  expect(JSON.parse(read(path))).toEqual({
    $schema: 'https://example.org/mine.json',
    permission: { 'synod_*': 'ask' },
  });
});

test('[IN8] entries that came with a project are left, and that is said', () => {
  const where = place('project');
  install('claude', where);
  rmSync(at('home/.synod'), { recursive: true });
  const before = read('app/.mcp.json');
  const { changes, findings } = uninstallVendor({ vendor: 'claude', site: where });
  expect(changes).toEqual([]);
  expect(findings[0]?.message).toContain('not written from here');
  expect(read('app/.mcp.json')).toBe(before);
  // Another person who installs there writes nothing into the project.
  expect(install('claude', where).changes.every(({ path }) => path.includes('.synod'))).toBe(true);
  uninstallVendor({ vendor: 'claude', site: where });
  expect(read('app/.mcp.json')).toBe(before);
});

test('[IN8] an installation that was cut short after its record is undone, or finished', () => {
  put('home/.gemini/settings.json', '{ "model": "x" }');
  const where = place();
  install('gemini', where);
  const record = read('home/.synod/install/user.json');
  uninstallVendor({ vendor: 'gemini', site: where });
  put('home/.synod/install/user.json', record);
  expect(uninstallVendor({ vendor: 'gemini', site: where }).problem).toBeNull();
  expect(read('home/.gemini/settings.json')).toBe('{ "model": "x" }');
  put('home/.synod/install/user.json', record);
  expect(install('gemini', where).problem).toBeNull();
  expect(verifyScope(where).every(({ level }) => level === 'ok')).toBe(true);
  uninstallVendor({ vendor: 'gemini', site: where });
  expect(read('home/.gemini/settings.json')).toBe('{ "model": "x" }');
  expect(existsSync(at('home/.synod'))).toBe(false);
});

test('[IN8] what was there before is kept where only its owner reads it', () => {
  put('home/.claude.json', '{ "token": "s3cret" }');
  install('claude', place());
  const mode = (path: string) => statSync(at(path)).mode & 0o777;
  const [kept = ''] = readdirSync(at('home/.synod/install/user'));
  expect(read(`home/.synod/install/user/${kept}`)).toBe('{ "token": "s3cret" }');
  expect(mode(`home/.synod/install/user/${kept}`)).toBe(0o600);
  expect(mode('home/.synod/install/user.json')).toBe(0o600);
  expect([mode('home/.synod'), mode('home/.synod/install/user')]).toEqual([0o700, 0o700]);
});

test('[IN8] a record that cannot be read is named, and nothing is guessed', () => {
  const where = place();
  install('gemini', where);
  put('home/.synod/install/user.json', '{"version":99}');
  expect(install('gemini', where).problem).toMatchObject({ problem: 'install.broken-record' });
  expect(uninstallVendor({ vendor: 'gemini', site: where }).problem?.message).toContain(
    recordPath(where),
  );
});

test('[IN19] the data directory that was asked for is in both scripts, kept by an upgrade, and taken back', async () => {
  const where = place();
  const dir = at('it\'s/a $HOME "hub"');
  put('synod.js', 'console.log(process.env.SYNOD_DIR)');
  const launch = { node: process.execPath, program: at('synod.js') };
  const run = (path: string, env = {}) =>
    execFileSync(at(path), ['codex'], { env: { HOME: at('home'), ...env }, input: '{}' });
  const again = (more: object) =>
    installVendor({
      vendor: 'codex',
      site: where,
      options: DEFAULT_OPTIONS,
      launch: { ...launch, ...more },
    });
  again({ dir });
  expect(installedDirectory(where.synodHome)).toBe(dir);
  expect(String(run('home/.synod/bin/synod')).trim()).toBe(dir);
  expect(String(run('home/.synod/bin/synod', { SYNOD_DIR: '/other' })).trim()).toBe('/other');
  expect(again({}).changes).toEqual([]);
  expect(verifyScope(where).filter(({ level }) => level !== 'ok')).toEqual([]);
  // The script speaks to a socket alone; what is behind it is curl's to find out.
  const hub = createServer().listen(at('s'));
  await once(hub, 'listening');
  const said = { url: 'http://127.0.0.1:9/', socket: at('s'), pid: 1 };
  put('it\'s/a $HOME "hub"/hub.json', JSON.stringify(said));
  put('bin/curl', `#!/bin/sh\necho called > '${at('called')}'\n`);
  chmodSync(at('bin/curl'), 0o755);
  run('home/.synod/bin/hook', { PATH: `${at('bin')}:/usr/bin:/bin` });
  hub.close();
  expect(existsSync(at('called'))).toBe(true);
  again({ dir: null });
  expect(installedDirectory(where.synodHome)).toBeNull();
});

test('[IN11] verify says what is missing, what is edited and what no longer starts', () => {
  const where = place();
  expect(verifyScope(where)).toEqual([
    expect.objectContaining({ level: 'fail', remedy: 'synod install --user' }),
  ]);
  install('claude', where);
  expect(verifyScope(where).map(({ level }) => level)).toEqual(Array(6).fill('ok'));
  rmSync(at('synod.js'));
  chmodSync(at('home/.synod/bin/hook'), 0o644);
  rmSync(at('home/.claude/rules/synod.md'));
  const settings = read('home/.claude/settings.json');
  put('home/.claude/settings.json', settings.replace('mcp__synod__*', 'mcp__else__*'));
  const said = verifyScope(where).flatMap(({ level, message }) =>
    level === 'fail' ? [message] : [],
  );
  expect(said).toEqual([
    expect.stringContaining('not executable'),
    expect.stringContaining('which is gone'),
    expect.stringContaining('mcp__synod__* in permissions.allow is missing'),
    expect.stringContaining('synod.md is gone'),
  ]);
});

test('[IN11] verify says when a setting of the vendor switches us off', () => {
  const where = place('project');
  for (const vendor of ['claude', 'codex', 'gemini'] as const) install(vendor, where);
  const failed = () =>
    verifyScope(where).flatMap((one) => (one.level === 'fail' ? [one.message] : []));
  expect(failed()).toEqual([]);
  put(
    'app/.claude/settings.local.json',
    '{"disabledMcpjsonServers":["synod"],"disableAllHooks":true}',
  );
  put('app/.codex/config.toml', `${read('app/.codex/config.toml')}[features]\nhooks = false\n`);
  const gemini = read('app/.gemini/settings.json');
  put(
    'app/.gemini/settings.json',
    gemini.replace('{', '{ "hooksConfig": {"disabled":["synod"]}, "mcp": {"allowed":["x"]},'),
  );
  expect(failed()).toEqual([
    expect.stringContaining('disableAllHooks'),
    expect.stringContaining('disabledMcpjsonServers'),
    expect.stringContaining('features.hooks'),
    expect.stringContaining('hooksConfig.disabled'),
    expect.stringContaining('mcp.allowed'),
  ]);
});

test('[IN11] in two scopes at once the hooks would run twice, and that is said', () => {
  install('claude', place());
  expect(install('claude', place('project')).findings).toContainEqual(
    expect.objectContaining({ level: 'warn', message: expect.stringContaining('run twice') }),
  );
});

test('[IN12] a vendor that is missing, old or mute is a finding that says what to do', async () => {
  const claude = VENDOR_PARTS.claude;
  const program = (text: string) => {
    put('bin/claude', `#!/bin/sh\n${text}\n`);
    chmodSync(at('bin/claude'), 0o755);
    return probeVendor(claude, { PATH: `${at('bin')}:/usr/bin:/bin` });
  };
  const missing = await probeVendor(claude, { PATH: at('nowhere') });
  expect(probeFinding(claude, missing)).toMatchObject({
    level: 'warn',
    remedy: 'npm install -g @anthropic-ai/claude-code',
  });
  expect(probeFinding(claude, await program('echo "2.1.325 (Claude Code)"')).level).toBe('ok');
  expect(probeFinding(claude, await program('echo 1.0.9')).message).toContain('older than');
  expect(probeFinding(claude, await program('echo oops >&2; exit 3')).level).toBe('warn');
  expect([
    isOlder('1.9.0', '1.10.0'),
    isOlder('2.0.0', '1.10.0'),
    isOlder('1.2.3', '1.2.3'),
  ]).toEqual([true, false, false]);
});
