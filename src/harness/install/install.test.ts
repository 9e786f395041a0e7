import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parse as parseJson } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { afterAll, describe, expect, test } from 'vitest';
import { VENDORS, type Vendor } from '../../wire/tool-names.ts';
import { convergeScope, installVendor, type VendorReport } from './install.ts';
import { isProblem } from './problem.ts';
import { hookCommand } from './shim.ts';
import { uninstallVendor } from './uninstall.ts';
import { DEFAULT_OPTIONS, type InstallOptions, type InstallSite } from './vendors/vendor.ts';
import { verifyScope } from './verify.ts';
import { createSite } from './world.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

interface Stage {
  readonly root: string;
  readonly site: InstallSite;
  install(vendor: Vendor, options?: Partial<InstallOptions>, program?: string): VendorReport;
  uninstall(vendor: Vendor): VendorReport;
  /** Where a file of the vendor is, from the root of the stage. */
  at(path: string): string;
}

function stage(scope: 'user' | 'project'): Stage {
  const root = mkdtempSync(join(tmpdir(), 'synod-install-'));
  folders.push(root);
  mkdirSync(join(root, 'home'));
  mkdirSync(join(root, 'app'));
  const site = createSite(scope, join(root, 'app'), { HOME: join(root, 'home') });
  const launch = { node: process.execPath, program: join(root, 'synod.js') };
  writeFileSync(launch.program, '');
  return {
    root,
    site,
    install: (vendor, options = {}, program = launch.program) =>
      installVendor({
        vendor,
        site,
        options: { ...DEFAULT_OPTIONS, ...options },
        launch: { ...launch, program },
      }),
    uninstall: (vendor) => uninstallVendor({ vendor, site }),
    at: (path) => join(root, path),
  };
}

/** Everything below a folder: bytes, modes, links, folders. */
function photograph(root: string): Record<string, string> {
  const seen: Record<string, string> = {};
  const look = (folder: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const stat = lstatSync(path);
      const mode = (stat.mode & 0o7777).toString(8);
      const key = relative(root, path);
      if (stat.isSymbolicLink()) seen[key] = `link ${readlinkSync(path)}`;
      else if (stat.isDirectory()) seen[key] = `folder ${mode}`;
      else seen[key] = `${mode} ${readFileSync(path).toString('base64')}`;
      if (stat.isDirectory()) look(path);
    }
  };
  look(root);
  return seen;
}

function mtimes(root: string): Record<string, bigint> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(
    files.map((name) => [name, lstatSync(join(root, name), { bigint: true }).mtimeNs]),
  );
}

function put(stage: Stage, path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(stage.at(path)), { recursive: true });
  writeFileSync(stage.at(path), text);
  chmodSync(stage.at(path), mode);
}

function must(report: VendorReport): VendorReport {
  if (report.problem !== null) throw new Error(report.problem.message);
  return report;
}

const HOOKED = `{
  // my own things, in my own order
  "model": "opus", /* for now */
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./check.sh" }] } // keep
    ]
  },
  "permissions": { "allow": ["Bash(npm test)", "Edit"], "deny": [] },
  "mcpServers": {
    "github": { "command": "gh-mcp", "env": { "TOKEN": "s3cret" } }
  },
  "mcp": { "other": { "type": "local", "command": ["x"] } },
  "instructions": ["docs/*.md"],
  "zunknown": { "a": [1, 2, { "b": null }] }
}
`;
const TOML = `# mine
model = "o9" # good

[mcp_servers.github]
command = "gh-mcp"
args = [
  "serve", # it
]

[projects."/srv/app"]
trust_level = "trusted"
`;
const RULES = '# House rules\n\nBe kind.\n';

/** The files that may be there before, by vendor and scope. */
const FILES: Readonly<Record<Vendor, Record<'user' | 'project', Record<string, string>>>> = {
  claude: {
    user: { 'home/.claude.json': HOOKED, 'home/.claude/settings.json': HOOKED },
    project: { 'app/.mcp.json': HOOKED, 'app/.claude/settings.json': HOOKED },
  },
  codex: {
    user: {
      'home/.codex/config.toml': TOML,
      'home/.codex/hooks.json': HOOKED,
      'home/.codex/AGENTS.md': RULES,
    },
    project: {
      'app/.codex/config.toml': TOML,
      'app/.codex/hooks.json': HOOKED,
      'app/AGENTS.md': RULES,
    },
  },
  gemini: {
    user: { 'home/.gemini/settings.json': HOOKED, 'home/.gemini/GEMINI.md': RULES },
    project: { 'app/.gemini/settings.json': HOOKED, 'app/GEMINI.md': RULES },
  },
  opencode: {
    user: { 'home/.config/opencode/opencode.jsonc': HOOKED },
    project: { 'app/opencode.json': HOOKED },
  },
};

const MANNERS: Readonly<Record<string, ((text: string, path: string) => string) | null>> = {
  'as people write them': (text) => text,
  'with carriage returns': (text) => text.replaceAll('\n', '\r\n'),
  'with tabs': (text) => text.replaceAll('  ', '\t'),
  'without a last newline': (text) => text.trimEnd(),
  'with a byte order mark': (text) => `\uFEFF${text}`,
  'on one line': (text, path) => (/jsonc?$/.test(path) ? JSON.stringify(parseJson(text)) : text),
  'as good as empty': (_, path) => (/jsonc?$/.test(path) ? '{}' : '\n'),
  'of no bytes at all': () => '',
  absent: null,
};

const CASES = VENDORS.flatMap((vendor) =>
  (['user', 'project'] as const).flatMap((scope) =>
    Object.keys(MANNERS).map((manner) => ({ vendor, scope, manner })),
  ),
);

test.each(CASES)(
  '[IN1] $vendor, $scope, files $manner: installed, again, otherwise, newer, gone without a trace',
  ({ vendor, scope, manner }) => {
    const it = stage(scope);
    const write = MANNERS[manner] ?? null;
    for (const [path, text] of Object.entries(FILES[vendor][scope])) {
      if (write !== null)
        put(it, path, write(text, path), path.endsWith('.claude.json') ? 0o600 : 0o640);
    }
    const before = photograph(it.root);

    expect(must(it.install(vendor)).changes.length).toBeGreaterThan(3);
    const installed = photograph(it.root);
    expect(verifyScope(it.site).filter(({ level }) => level !== 'ok')).toEqual([]);

    const times = mtimes(it.root);
    expect(must(it.install(vendor)).changes).toEqual([]);
    expect(mtimes(it.root)).toEqual(times);

    const otherwise = { permissions: false, autoSubscribe: true, channels: ['#dev'], gates: 60 };
    must(it.install(vendor, otherwise));
    expect(photograph(it.root)).not.toEqual(installed);
    must(it.install(vendor));
    expect(photograph(it.root)).toEqual(installed);

    writeFileSync(it.at('newer.js'), '');
    must(it.install(vendor, {}, it.at('newer.js')));
    rmSync(it.at('newer.js'));

    must(it.uninstall(vendor));
    expect(photograph(it.root)).toEqual(before);
    expect(must(it.uninstall(vendor)).changes).toEqual([]);
  },
);

/** The values of the files that were there, without formatting. */
function values(it: Stage, vendor: Vendor, scope: 'user' | 'project'): unknown[] {
  return Object.keys(FILES[vendor][scope]).map((path) => {
    const text = readFileSync(it.at(path), 'utf8');
    if (/jsonc?$/.test(path)) return parseJson(text);
    return path.endsWith('.toml') ? parseToml(text) : text;
  });
}

describe.each(
  VENDORS.flatMap((vendor) => (['user', 'project'] as const).map((scope) => ({ vendor, scope }))),
)('$vendor, $scope', ({ vendor, scope }) => {
  function changedSince(): Stage {
    const it = stage(scope);
    for (const [path, text] of Object.entries(FILES[vendor][scope])) put(it, path, text);
    must(it.install(vendor));
    for (const path of Object.keys(FILES[vendor][scope])) {
      const text = readFileSync(it.at(path), 'utf8');
      if (/jsonc?$/.test(path)) {
        // As the vendors themselves write: all anew, with something of their own.
        const value = { first: 1, ...parseJson(text), numStartups: 7 };
        value.hooks.PreToolUse.push({ hooks: [{ type: 'command', command: 'later' }] });
        writeFileSync(it.at(path), JSON.stringify(value, null, 4));
      } else if (path.endsWith('.toml')) writeFileSync(it.at(path), `${text}\n[later]\nx = 1\n`);
      else writeFileSync(it.at(path), `${text}\nLater.\n`);
    }
    return it;
  }

  test('[IN2] files that others changed since lose our entries and nothing else', () => {
    const it = changedSince();
    must(it.uninstall(vendor));
    const json = parseJson(HOOKED);
    json.hooks.PreToolUse.push({ hooks: [{ type: 'command', command: 'later' }] });
    const expected = Object.keys(FILES[vendor][scope]).map((path) => {
      if (/jsonc?$/.test(path)) return { first: 1, ...json, numStartups: 7 };
      return path.endsWith('.toml') ? parseToml(`${TOML}\n[later]\nx = 1\n`) : `${RULES}\nLater.\n`;
    });
    expect(values(it, vendor, scope)).toEqual(expected);
    expect(existsSync(it.at('home/.synod'))).toBe(false);
  });

  test('[IN3] nor are they written again while all of ours is still in them', () => {
    const it = changedSince();
    const seen = photograph(it.root);
    expect(must(it.install(vendor)).changes).toEqual([]);
    expect(photograph(it.root)).toEqual(seen);
    must(it.install(vendor, { permissions: false }));
    must(it.install(vendor));
    must(it.uninstall(vendor));
    expect(JSON.stringify(values(it, vendor, scope))).not.toContain('synod');
  });

  test('[IN9] nothing in a configuration names a version, and hooks call one line for ever', () => {
    const it = stage(scope);
    must(it.install(vendor));
    const texts = Object.keys(photograph(it.root))
      .filter((path) => !path.includes('.synod') && lstatSync(it.at(path)).isFile())
      .map((path) => readFileSync(it.at(path), 'utf8'));
    const all = texts.join('\n');
    expect(all).not.toContain(process.execPath);
    expect(all).not.toContain('synod.js"');
    if (scope === 'project') expect(all).not.toContain(it.root);
    if (vendor !== 'opencode') expect(all).toContain(JSON.stringify(hookCommand(vendor)));
    const again = convergeScope({
      site: it.site,
      launch: { node: '/elsewhere/node', program: '/elsewhere/synod.js' },
      isDry: true,
    });
    if (isProblem(again)) throw new Error(again.message);
    expect(again.flatMap(({ changes }) => changes.map(({ path }) => path))).toEqual([
      it.at('home/.synod/bin/synod'),
    ]);
  });
});

test('[IN6] a linked file stays a link, and what it leads to is written and restored', () => {
  const it = stage('user');
  put(it, 'dotfiles/claude.json', HOOKED, 0o600);
  mkdirSync(it.at('home/.claude'));
  symlinkSync('../../dotfiles/claude.json', it.at('home/.claude/settings.json'));
  symlinkSync('../dotfiles/not-there-yet.json', it.at('home/.claude.json'));
  const before = photograph(it.root);
  must(it.install('claude'));
  expect(lstatSync(it.at('home/.claude/settings.json')).isSymbolicLink()).toBe(true);
  expect(readFileSync(it.at('dotfiles/claude.json'), 'utf8')).toContain('mcp__synod__*');
  expect(lstatSync(it.at('dotfiles/claude.json')).mode & 0o777).toBe(0o600);
  expect(readFileSync(it.at('dotfiles/not-there-yet.json'), 'utf8')).toContain('synod');
  must(it.uninstall('claude'));
  expect(photograph(it.root)).toEqual(before);
});

test('[IN1] vendors come and go in any order, and the scripts stay while anybody calls them', () => {
  const it = stage('project');
  for (const vendor of VENDORS) {
    for (const [path, text] of Object.entries(FILES[vendor].project)) put(it, path, text);
  }
  const before = photograph(it.root);
  for (const vendor of VENDORS) must(it.install(vendor));
  const user = createSite('user', it.site.root, it.site.env);
  const launch = { node: process.execPath, program: it.at('synod.js') };
  must(installVendor({ vendor: 'gemini', site: user, options: DEFAULT_OPTIONS, launch }));
  for (const vendor of ['codex', 'claude', 'opencode', 'gemini'] as const)
    must(it.uninstall(vendor));
  expect(existsSync(it.at('home/.synod/bin/hook'))).toBe(true);
  must(uninstallVendor({ vendor: 'gemini', site: user }));
  expect(photograph(it.root)).toEqual(before);
});

test('[IN23] Codex waits for the server longer than its own ten seconds', () => {
  const it = stage('user');
  must(it.install('codex'));
  const text = readFileSync(it.at('home/.codex/config.toml'), 'utf8');
  const [, table = ''] = text.split('[mcp_servers.synod]\n');
  expect(table.split('\n[')[0]).toMatch(/^startup_timeout_sec = 60$/m);
});

describe('a link in a project', () => {
  test.each([
    ['the file', '.claude/settings.json', 'settings.json'],
    ['a folder above it', '.claude', 'folder'],
    ['a file that is not there yet', '.mcp.json', 'not-yet.json'],
  ])('[IN22] that leads out of it is refused and named, for %s', (_, name, target) => {
    const { install, uninstall, root, site } = stage('project');
    const outside = join(root, 'home', target);
    if (target === 'folder') mkdirSync(outside);
    if (target === 'settings.json') writeFileSync(outside, '{"mine": true}\n');
    mkdirSync(dirname(join(site.root, name)), { recursive: true });
    symlinkSync(outside, join(site.root, name));
    for (const report of [install('claude'), uninstall('claude')]) {
      expect(report.problem).toMatchObject({
        problem: 'install.outside',
        message: expect.stringContaining(outside),
      });
    }
    if (target === 'settings.json') expect(readFileSync(outside, 'utf8')).toBe('{"mine": true}\n');
    else expect(existsSync(outside) && readdirSync(outside).length > 0).toBe(false);
  });

  test('[IN22] that stays in it is written through', () => {
    const { install, site } = stage('project');
    mkdirSync(join(site.root, 'config'));
    symlinkSync('config', join(site.root, '.claude'));
    expect(install('claude').problem).toBeNull();
    expect(readdirSync(join(site.root, 'config'))).toContain('settings.json');
  });
});
