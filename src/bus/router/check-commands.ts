/**
 * What `--check` looks for beside the text of a config: whether each pool's folder is there, and its
 * command in it, or on the PATH its workers get [BC15]. Nothing is started.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { workerEnvironment } from '../process/environment.ts';
import type { BusConfig, PoolConfig } from './config.ts';
import type { ConfigProblem } from './config-reader.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export function missingCommands(
  { pools }: BusConfig,
  environment: Environment,
): readonly ConfigProblem[] {
  return pools.flatMap((pool, i) => {
    const { command, cwd } = pool;
    const where = cwd ?? process.cwd();
    if (!statSync(where, { throwIfNoEntry: false })?.isDirectory()) {
      const issue = `there is no folder ${JSON.stringify(where)}; make it, or change "cwd"`;
      return [{ field: `pools[${i}].cwd`, issue }];
    }
    if (candidatesOf(pool, where, environment).some(isProgram)) return [];
    const issue = /[/\\]/.test(command)
      ? `there is no program at ${JSON.stringify(resolve(where, command))}`
      : `${JSON.stringify(command)} is not on the PATH its workers get; install it, or give its full path`;
    return [{ field: `pools[${i}].command`, issue }];
  });
}

function candidatesOf(pool: PoolConfig, where: string, environment: Environment): string[] {
  const { PATH = '', PATHEXT = '' } = workerEnvironment(environment, pool.envAllow, pool.env);
  const folders = /[/\\]/.test(pool.command) ? [''] : PATH.split(delimiter);
  const endings = process.platform === 'win32' ? ['', ...PATHEXT.split(';')] : [''];
  return folders.flatMap((folder) =>
    endings.map((ending) => resolve(where, folder, `${pool.command}${ending}`)),
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
