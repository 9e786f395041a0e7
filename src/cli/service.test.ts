/** Services written for each system, into a home of their own; the system's programs are recorded. */
import { spawnSync } from 'node:child_process';
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
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { ServiceSpec } from './service-files.ts';
import { carryOutInstall, carryOutUninstall, planInstall, readState } from './service-install.ts';
import { type Manager, managerOf, type ServiceWorld, serviceName } from './service-system.ts';

const work = mkdtempSync(join(tmpdir(), 'synod-service-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));
/** Of systemd; not everywhere. */
const ANALYZE = 'systemd-analyze';
const BIN = fileURLToPath(new URL('../../bin/synod.js', import.meta.url));

interface Scene {
  readonly home: string;
  readonly manager: Manager;
  readonly world: ServiceWorld;
  spec(args?: readonly string[]): ServiceSpec;
  /** What the system was told since it was last asked. */
  told(): string[];
  /** Has the program fail when its arguments match. */
  failAt(pattern: string): void;
  /** Every file and folder of the home, with its bytes. */
  tree(): [string, string | null][];
}

/** A real program on the path, which writes down what it is told. */
function openScene(platform: 'linux' | 'darwin' | 'win32', folder = 'hub'): Scene {
  const place = mkdtempSync(join(work, `${platform}-`));
  const home = join(place, 'home');
  const dir = join(home, folder);
  const bin = join(place, 'bin');
  const record = join(place, 'record');
  const failing = join(place, 'failing');
  mkdirSync(dir, { recursive: true });
  mkdirSync(bin);
  for (const name of ['systemctl', 'launchctl', 'schtasks']) {
    const script = `#!/bin/sh
echo "${name} $*" >> '${record}'
[ -e '${failing}' ] && echo "$*" | grep -q -f '${failing}' && { echo 'it said no' >&2; exit 5; }
exit 0
`;
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  }
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const world: ServiceWorld = {
    ...{ platform, home, uid: 501, env },
    run([program = '', ...words]) {
      const { status, stdout, stderr } = spawnSync(program, words, { env, encoding: 'utf8' });
      return { code: status, output: `${stdout}${stderr}` };
    },
  };
  const manager = managerOf(world, serviceName(dir, dir), dir);
  return {
    ...{ home, manager, world },
    spec: (args = []) => ({
      ...{ name: manager.name, dir, node: process.execPath, bin: BIN, args },
      ...{ path: '/usr/bin:/bin', user: 'HOME\\ada' },
    }),
    told() {
      const lines = existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : [];
      rmSync(record, { force: true });
      return lines;
    },
    failAt: (pattern) => writeFileSync(failing, `${pattern}\n`),
    tree: () =>
      readdirSync(home, { recursive: true, withFileTypes: true })
        .map((file) => join(file.parentPath, file.name))
        .sort()
        .map((path) => [path, statSync(path).isDirectory() ? null : readFileSync(path, 'base64')]),
  };
}

const install = ({ world, manager, spec }: Scene, args?: readonly string[]): void =>
  carryOutInstall(world, manager, planInstall(manager, spec(args)));

const SYSTEMS = [
  {
    platform: 'linux',
    file: '.config/systemd/user/synod.service',
    install: ['systemctl --user daemon-reload', 'systemctl --user enable --now synod.service'],
    change: [
      'systemctl --user daemon-reload',
      'systemctl --user enable synod.service',
      'systemctl --user restart synod.service',
    ],
    uninstall: ['systemctl --user disable --now synod.service', 'systemctl --user daemon-reload'],
  },
  {
    platform: 'darwin',
    file: 'Library/LaunchAgents/dev.synod.plist',
    install: ['launchctl bootstrap gui/501 FILE'],
    change: ['launchctl bootout gui/501/dev.synod', 'launchctl bootstrap gui/501 FILE'],
    uninstall: ['launchctl bootout gui/501/dev.synod'],
  },
  {
    platform: 'win32',
    file: 'hub/service.xml',
    install: ['schtasks /Create /TN synod /XML FILE', 'schtasks /Run /TN synod'],
    change: [
      'schtasks /End /TN synod',
      'schtasks /Create /TN synod /XML FILE /F',
      'schtasks /Run /TN synod',
    ],
    uninstall: ['schtasks /End /TN synod', 'schtasks /Delete /TN synod /F'],
  },
] as const;

describe.each(SYSTEMS)('on $platform', ({ platform, file, ...commands }) => {
  const told = (scene: Scene, lines: readonly string[]): void => {
    const path = join(scene.home, file);
    expect(scene.told()).toEqual(lines.map((line) => line.replace('FILE', path)));
  };

  test('[SI1] [SI2] what was installed is taken away to the byte, and the system is told', () => {
    const scene = openScene(platform);
    const before = scene.tree();
    install(scene, ['--port=0']);
    told(scene, commands.install);
    expect(existsSync(join(scene.home, file))).toBe(true);
    expect(readState(scene.manager).state).toBe('installed');
    install(scene, ['--port=0']);
    told(scene, []);
    install(scene, ['--port=0', '--synapse']);
    told(scene, commands.change);
    expect(readState(scene.manager).text).toContain('--synapse');
    expect(carryOutUninstall(scene.world, scene.manager, false).wasThere).toBe(true);
    told(scene, commands.uninstall);
    expect(scene.tree()).toEqual(before);
    expect(carryOutUninstall(scene.world, scene.manager, false).wasThere).toBe(false);
  });

  test('[SI2] a file that somebody changed, or that is not ours, is left as it is', () => {
    const scene = openScene(platform);
    const { manager, world } = scene;
    mkdirSync(dirname(manager.path), { recursive: true });
    writeFileSync(manager.path, manager.encode('somebody’s own'));
    const foreign = scene.tree();
    expect(() => install(scene)).toThrow('not as Synod writes it');
    expect(() => carryOutUninstall(world, manager, false)).toThrow('left as it is');
    expect(scene.tree()).toEqual(foreign);
    rmSync(manager.path);
    install(scene);
    const text = readState(manager).text ?? '';
    writeFileSync(manager.path, manager.encode(text.replace('serve', 'serve --auth open')));
    expect(readState(manager).state).toBe('changed');
    scene.told();
    expect(() => install(scene)).toThrow('not as Synod writes it');
    expect(() => carryOutUninstall(world, manager, false)).toThrow('left as it is');
    expect(scene.told()).toEqual([]);
    carryOutUninstall(world, manager, true);
    expect(existsSync(manager.path)).toBe(false);
  });

  test('[SI2] a machine that does not take it is left as it was', () => {
    const scene = openScene(platform);
    const before = scene.tree();
    const [last = ''] = commands.install.slice(-1);
    scene.failAt(last.split(' ').slice(1, 3).join(' '));
    expect(() => install(scene)).toThrow('it said no');
    expect(scene.tree()).toEqual(before);
  });
});

test('[SI1] a unit with an odd path is one that systemd takes', ({ skip }) => {
  const scene = openScene('linux', 'o"dd %h $HOME \\dir');
  install(scene, ['--relay=/a b/c%d.ndjson']);
  const { path } = scene.manager;
  const env = { PATH: '/usr/bin:/bin', HOME: scene.home, XDG_RUNTIME_DIR: dirname(scene.home) };
  const verify = (): string => {
    const words = ['verify', '--user', path];
    const { stderr, error } = spawnSync(ANALYZE, words, { env, encoding: 'utf8' });
    if (error !== undefined || /initialize manager/.test(stderr))
      skip('systemd-analyze is not here');
    return stderr;
  };
  expect(verify()).not.toContain(path);
  // It would say so.
  writeFileSync(path, readFileSync(path, 'utf8').replace('Type=exec', 'Type=none-such'));
  expect(verify()).toContain('Failed to parse service type');
});

test('[SI1] an agent of launchd and a task of Windows are XML, whatever the path', () => {
  for (const platform of ['darwin', 'win32'] as const) {
    const scene = openScene(platform, 'o<d>d & dir');
    const { text } = planInstall(scene.manager, scene.spec(['--relay=/a b/c.ndjson']));
    const tags: string[] = [];
    for (const [, slash, name, isEmpty] of text.matchAll(/<(\/?)([A-Za-z]\w*)[^<>]*?(\/?)>/g)) {
      if (slash === '/') expect(tags.pop()).toBe(name);
      else if (isEmpty !== '/') tags.push(name as string);
    }
    expect(tags).toEqual([]);
    expect(text).toContain('o&lt;d&gt;d &amp; dir');
    expect(text).not.toMatch(/&(?!amp;|lt;|gt;)/);
  }
  const task = openScene('win32', '100%');
  expect(() => planInstall(task.manager, task.spec())).toThrow('no " and no %');
});

test('[SI1] each data directory has a service of its own, and other systems are told the way', () => {
  expect(serviceName('/home/ada/.synod', '/home/ada/.synod')).toBe('synod');
  const other = serviceName('/srv/hub', '/home/ada/.synod');
  expect(other).toMatch(/^synod-[0-9a-f]{8}$/);
  expect(serviceName('/srv/hub2', '/home/ada/.synod')).not.toBe(other);
  const { world } = openScene('linux');
  expect(() => managerOf({ ...world, platform: 'freebsd' }, 'synod', '/x')).toThrow('not known');
});
