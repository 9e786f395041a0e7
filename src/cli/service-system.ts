/**
 * What sees to services on a machine: where it looks for the file, what it is told, and how it answers
 * whether the service runs. The commands are those a person would type, and are shown before they run.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fail } from './failure.ts';
import { launchdAgent, type ServiceSpec, systemdUnit, windowsTask } from './service-files.ts';

/** What is looked at of the machine; a test has its own. */
export interface ServiceWorld {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly uid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs a program that the path finds, to its end. */
  run(command: readonly string[]): { readonly code: number | null; readonly output: string };
}

type Command = readonly string[];

export interface Manager {
  readonly kind: 'systemd' | 'launchd' | 'schtasks';
  readonly name: string;
  /** The file it reads. */
  readonly path: string;
  text(spec: ServiceSpec, folders: number): string;
  /** As the file holds the text. */
  encode(text: string): Buffer;
  decode(bytes: Buffer): string;
  /** What it is told when the file is new, and when it was ours and is another now. */
  readonly install: readonly Command[];
  readonly change: readonly Command[];
  /** Before the file is taken away, and after. */
  readonly stop: readonly Command[];
  readonly forget: readonly Command[];
  /** Asks, and reads the answer. */
  readonly ask: Command;
  isRunning(answer: { readonly code: number | null; readonly output: string }): boolean;
  /** Where its words go: a command to type, or a file. */
  readonly log: string;
}

/** The data directory that is usual has the plain name; any other one of its own. */
export function serviceName(dir: string, usual: string): string {
  if (dir === usual) return 'synod';
  return `synod-${createHash('sha256').update(dir).digest('hex').slice(0, 8)}`;
}

export function managerOf(world: ServiceWorld, name: string, dir: string): Manager {
  switch (world.platform) {
    case 'linux':
      return systemd(world, name);
    case 'darwin':
      return launchd(world, `dev.${name.replace('-', '.')}`, dir);
    case 'win32':
      return schtasks(name, dir);
    default:
      throw fail('service.unsupported', `services of ${world.platform} are not known to Synod`, {
        hint: 'have it start "synod serve" by what starts programs there',
      });
  }
}

const UTF8 = {
  encode: (text: string) => Buffer.from(text),
  decode: (bytes: Buffer) => bytes.toString(),
};

function systemd({ home, env }: ServiceWorld, name: string): Manager {
  const unit = `${name}.service`;
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  const systemctl = (...words: string[]): Command => ['systemctl', '--user', ...words];
  return {
    ...{ kind: 'systemd', name, path: join(config, 'systemd', 'user', unit) },
    ...{ text: systemdUnit, ...UTF8 },
    install: [systemctl('daemon-reload'), systemctl('enable', '--now', unit)],
    change: [systemctl('daemon-reload'), systemctl('enable', unit), systemctl('restart', unit)],
    stop: [systemctl('disable', '--now', unit)],
    forget: [systemctl('daemon-reload')],
    ask: systemctl('is-active', unit),
    isRunning: ({ code }) => code === 0,
    log: `journalctl --user --unit ${name}`,
  };
}

function launchd({ home, uid }: ServiceWorld, label: string, dir: string): Manager {
  const path = join(home, 'Library', 'LaunchAgents', `${label}.plist`);
  const domain = `gui/${uid}`;
  const begin = ['launchctl', 'bootstrap', domain, path];
  const end = ['launchctl', 'bootout', `${domain}/${label}`];
  return {
    ...{ kind: 'launchd', name: label, path, text: launchdAgent, ...UTF8 },
    ...{ install: [begin], change: [end, begin], stop: [end], forget: [] },
    ask: ['launchctl', 'print', `${domain}/${label}`],
    isRunning: ({ code, output }) => code === 0 && /state = running/.test(output),
    log: join(dir, 'hub.log'),
  };
}

function schtasks(name: string, dir: string): Manager {
  // The scheduler keeps a copy of its own; this one says what was told it.
  const path = join(dir, 'service.xml');
  const make = ['schtasks', '/Create', '/TN', name, '/XML', path];
  const start = ['schtasks', '/Run', '/TN', name];
  const end = ['schtasks', '/End', '/TN', name];
  return {
    ...{ kind: 'schtasks', name, path, text: windowsTask },
    encode: (text) => Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`, 'utf16le'),
    decode: (bytes) =>
      bytes
        .toString('utf16le')
        .replace(/^\ufeff/, '')
        .replaceAll('\r\n', '\n'),
    install: [make, start],
    change: [end, [...make, '/F'], start],
    stop: [end, ['schtasks', '/Delete', '/TN', name, '/F']],
    forget: [],
    ask: ['schtasks', '/Query', '/TN', name, '/FO', 'CSV', '/NH'],
    isRunning: ({ code, output }) => code === 0 && /"Running"/.test(output),
    log: join(dir, 'hub.log'),
  };
}
