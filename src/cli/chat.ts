/**
 * `synod chat`: the hub on a terminal, for a person. It finds the hub as every command does, starts
 * one when none runs, and speaks to it through the client.
 */
import type { Command } from 'commander';
import { startHub } from '../client/node/start-hub.ts';
import { dataDirectory, type Globals } from '../client/node/target.ts';
import { collect, handle } from './context.ts';
import { fail } from './failure.ts';
import { openClient } from './open-client.ts';
import { wantsColours } from './terminal.ts';

interface ChatFlags extends Globals {
  readonly channel?: readonly string[];
  /** Commander makes `--no-spawn` out of it. */
  readonly spawn?: boolean;
}

export function registerChat(program: Command): void {
  const command = program
    .command('chat')
    .description('talk and watch on the terminal; starts the hub when none runs')
    .option('--channel <name>', 'join this channel and begin there; may be repeated', collect)
    .option('--no-spawn', 'do not start a hub');
  handle<ChatFlags>(command, async ({ flags, isJson }) => {
    checkTerminal(isJson);
    const isElsewhere = Boolean(flags.url ?? process.env.SYNOD_URL);
    if (flags.spawn !== false && !isElsewhere) {
      await startHub(dataDirectory(flags.dir, process.env));
    }
    await talk(flags, flags.channel ?? []);
  });
}

/** Refused before anything is started or joined. */
function checkTerminal(isJson: boolean): void {
  const { stdin, stdout, env } = process;
  const isUsable = stdin.isTTY && stdout.isTTY && env.TERM !== 'dumb';
  if (isUsable && !isJson) return;
  throw fail('cli.usage', 'chat needs a terminal to draw on, and this is none', {
    hint: 'run it in a terminal; for programs and pipes: synod tail, synod recv and synod send',
  });
}

async function talk(globals: Globals, channels: readonly string[]): Promise<void> {
  const { runChat } = await import('../tui/app.ts');
  const client = await openClient(globals, true);
  const stop = new AbortController();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const onSignal = (): void => stop.abort();
  for (const signal of signals) process.once(signal, onSignal);
  const hasColour = wantsColours(process.stdout, process.env);
  try {
    const { stdin: input, stdout: output } = process;
    await runChat({ client, channels, hasColour, signal: stop.signal, input, output });
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    await client.close();
  }
}
