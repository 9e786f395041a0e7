/** `synod up`: the hub in the background, one per data directory, unless it runs already. */
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { ensureHub } from '../client/node/start-hub.ts';
import type { Globals } from '../client/node/target.ts';
import type { Config } from '../server/run/config.ts';
import { handle } from './context.ts';
import { addServeFlags, readConfig, type ServeOptions, serveArguments } from './serve-flags.ts';

export function registerUp(program: Command): void {
  const command = addServeFlags(
    program.command('up').description('start the hub in the background, unless it runs'),
  );
  handle<ServeOptions & Globals>(command, async ({ flags, show }) => {
    // Judged here first, so that a mistake is told to the person and not to a log file.
    const config = await readConfig(flags);
    const { dir, synapse } = config;
    const { hub, isNew } = await ensureHub(dir, serveArguments(placed(flags, config)));
    const { url, pid, socket } = hub;
    show({ running: true, started: isNew, url, pid, dir, socket }, () => [
      `${isNew ? 'started' : 'already running'} at ${url} (process ${pid}, ${dir})`,
      ...(isNew && synapse?.auth === 'token' && synapse.token === null
        ? [`Synapse clients come with --token-file ${join(dir, 'synapse-token')}`]
        : []),
      ...(isNew && synapse?.auth === 'open' ? ['the Synapse door takes names at their word'] : []),
    ]);
  });
}

/** The hub stands in its data directory: what was meant from here is said in full. */
function placed(flags: ServeOptions, { relay, bus, plugins }: Config): ServeOptions {
  return {
    ...flags,
    ...(flags.config !== undefined && { config: resolve(flags.config) }),
    ...(relay !== null && { relay: relay.path }),
    ...(bus !== null && { bus }),
    ...(plugins.from !== null && { discovery: plugins.from }),
  };
}
