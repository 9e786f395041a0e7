/** `synod up`: the hub in the background, one per data directory, unless it runs already. */
import type { Command } from 'commander';
import { ensureHub } from '../client/node/start-hub.ts';
import type { Globals, HubFile } from '../client/node/target.ts';
import type { Config } from '../server/run/config.ts';
import { handle } from './context.ts';
import { serveArguments } from './serve-arguments.ts';
import { addServeFlags, placedFlags, readConfig, type ServeOptions } from './serve-flags.ts';
import { synapseLine } from './synapse-line.ts';

export function registerUp(program: Command): void {
  const command = addServeFlags(
    program.command('up').description('start the hub in the background, unless it runs'),
  );
  handle<ServeOptions & Globals>(command, async ({ flags, show, remark }) => {
    // Judged here first, so that a mistake is told to the person and not to a log file.
    const config = await readConfig(flags);
    const { dir } = config;
    const asked = serveArguments(placedFlags(flags, config));
    const { hub, isNew } = await ensureHub(dir, asked);
    const { url, pid, socket, synapse } = hub;
    show({ running: true, started: isNew, url, pid, dir, socket, synapse }, () => [
      `${isNew ? 'started' : 'already running'} at ${url} (process ${pid}, ${dir})`,
      ...synapseLines(config, hub, isNew),
    ]);
    if (isNew || asked.length === 0) return;
    const names = asked.map((flag) => flag.replace(/=.*/s, '')).join(' ');
    remark(`it was started before, so these say nothing to it: ${names}; "synod down" stops it`);
  });
}

function synapseLines({ dir, synapse }: Config, hub: HubFile, isNew: boolean): string[] {
  if (hub.synapse === null) {
    const way = 'stop it with "synod down", then "synod up --synapse"';
    return synapse === null ? [] : [`it has no door for Synapse clients: ${way}`];
  }
  if (!isNew || synapse === null) return [`Synapse clients come to ${hub.synapse}`];
  return [synapseLine(hub.synapse, dir, synapse)];
}
