/** `synod up`: the hub in the background, one per data directory, unless it runs already. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { ensureHub } from '../client/node/start-hub.ts';
import type { Globals } from '../client/node/target.ts';
import { handle } from './context.ts';
import { addServeFlags, readConfig, type ServeOptions, serveArguments } from './serve-flags.ts';

export function registerUp(program: Command): void {
  const command = addServeFlags(
    program.command('up').description('start the hub in the background, unless it runs'),
  );
  handle<ServeOptions & Globals>(command, async ({ flags, show }) => {
    // Judged here first, so that a mistake is told to the person and not to a log file.
    const { dir, synapse } = await readConfig(flags);
    const { hub, isNew } = await ensureHub(dir, serveArguments(flags));
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
