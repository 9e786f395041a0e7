/**
 * `synod service install|status|uninstall`: the hub as a service of this user, which the machine starts
 * with the session and again when it fails. It shows what it writes and which commands it runs.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { findHub } from '../client/node/start-hub.ts';
import { dataDirectory, type Globals } from '../client/node/target.ts';
import { handle } from './context.ts';
import { hubProcess } from './down.ts';
import { fail } from './failure.ts';
import { serveArguments } from './serve-arguments.ts';
import { addServeFlags, placedFlags, readConfig, type ServeOptions } from './serve-flags.ts';
import { carryOutInstall, carryOutUninstall, planInstall, readState } from './service-install.ts';
import { type Manager, managerOf, type ServiceWorld, serviceName } from './service-system.ts';
import { neutralise } from './terminal.ts';

const BIN = fileURLToPath(new URL('../../bin/synod.js', import.meta.url));

type InstallFlags = ServeOptions & Globals & { readonly dryRun?: boolean };

export function registerService(program: Command): void {
  const service = program
    .command('service')
    .description('have the machine start the hub: systemd, launchd or a task of Windows');
  registerInstall(service);
  registerStatus(service);
  registerUninstall(service);
}

function registerInstall(service: Command): void {
  const install = addServeFlags(
    service
      .command('install')
      .description('write the service and start it; the flags are those of up'),
  ).option('--dry-run', 'show what would be written and run, and do nothing');
  handle<InstallFlags>(install, async ({ flags, show, remark }) => {
    const config = await readConfig(flags);
    const { dir } = config;
    const args = serveArguments(placedFlags(flags, config));
    const world = thisWorld();
    const manager = managerIn(world, dir);
    if (/[\\/]_npx[\\/]/.test(BIN)) {
      throw fail('service.unsupported', 'this run of npx goes away, and the service with it', {
        hint: 'install it first: npm install --global synod',
      });
    }
    const { env } = process;
    const plan = planInstall(manager, {
      ...{ name: manager.name, dir, node: process.execPath, bin: BIN, args },
      path: env.PATH ?? '',
      user: `${env.USERDOMAIN ?? '.'}\\${env.USERNAME ?? ''}`,
    });
    const { path, text, before, commands } = plan;
    const isDry = flags.dryRun === true;
    const did = { path, text, commands: commands.map((words) => [...words]), is_dry_run: isDry };
    const words = commands.map((one) => `runs ${neutralise(one.join(' '))}`);
    show({ ...did, name: manager.name, manager: manager.kind, log: manager.log }, () =>
      commands.length === 0
        ? [`${path} is as it should be; see: synod service status`]
        : [`${before === null ? 'writes' : 'replaces'} ${path}:`, ...indented(text), ...words],
    );
    if (isDry) return remark('nothing was written (--dry-run)');
    if (commands.length === 0) return;
    // One that the service itself runs is replaced by it.
    const holder = before === null ? await hubProcess(dir) : null;
    if (holder !== null) {
      throw fail('service.hub-runs', `a hub runs from ${dir} already (process ${holder})`, {
        hint: 'stop it first: synod down',
      });
    }
    // Its log lies there, and some do not start a program whose log cannot be opened.
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    carryOutInstall(world, manager, plan);
    remark(`installed; its log: ${manager.log}`);
    if (manager.kind === 'systemd') remark('to keep it when you log out: loginctl enable-linger');
  });
}

function registerStatus(service: Command): void {
  const status = service
    .command('status')
    .description('is it installed, does it run, and where is its log');
  handle<Globals>(status, async ({ flags, show }) => {
    const dir = dataDirectory(flags.dir, process.env);
    const world = thisWorld();
    const manager = managerIn(world, dir);
    const { path, name, kind, log } = manager;
    const { state } = readState(manager);
    const running = state !== 'absent' && manager.isRunning(world.run(manager.ask));
    const hub = await findHub(dir);
    const here = hub && { url: hub.url, pid: hub.pid };
    show({ state, running, name, manager: kind, path, log, dir, hub: here }, () => [
      state === 'absent'
        ? `not installed: ${path} is not there`
        : `${state === 'changed' ? 'installed, and changed by hand' : 'installed'}: ${path}, ${running ? 'running' : 'not running'}`,
      here === null
        ? `no hub answers in ${dir}`
        : `the hub answers at ${here.url} (process ${here.pid})`,
      ...(state === 'absent' ? [] : [`log: ${log}`]),
    ]);
  });
}

function registerUninstall(service: Command): void {
  const uninstall = service
    .command('uninstall')
    .description('stop the service and take away what was written; data and hub stay')
    .option('--force', 'also when somebody changed the file');
  handle<Globals & { force?: boolean }>(uninstall, ({ flags, show, remark }) => {
    const world = thisWorld();
    const manager = managerIn(world, dataDirectory(flags.dir, process.env));
    const { path } = manager;
    const { wasThere, failed } = carryOutUninstall(world, manager, flags.force === true);
    show({ removed: wasThere, path, failed: [...failed] }, () => [
      wasThere ? `removed ${path}` : `nothing to remove: ${path} is not there`,
    ]);
    for (const words of failed) remark(`note: ${neutralise(words)}`);
  });
}

function managerIn(world: ServiceWorld, dir: string): Manager {
  return managerOf(world, serviceName(dir, dataDirectory(undefined, {})), dir);
}

function thisWorld(): ServiceWorld {
  return {
    platform: process.platform,
    home: homedir(),
    uid: process.getuid?.() ?? 0,
    env: process.env,
    run([program = '', ...words]) {
      const { status, stdout, stderr, error } = spawnSync(program, words, { encoding: 'utf8' });
      return { code: status, output: error?.message ?? `${stdout}${stderr}` };
    },
  };
}

function indented(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${neutralise(line)}`);
}
