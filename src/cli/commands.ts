/**
 * Every command there is: where it is listed, how it is used, and the file that does it. Only the
 * file of the command that was asked for is loaded, which keeps a one-shot command quick.
 */
import type { Command } from 'commander';

export interface CommandEntry {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  load(): Promise<(program: Command) => void>;
}

export interface CommandGroup {
  readonly heading: string;
  readonly commands: readonly CommandEntry[];
}

const entry = (
  name: string,
  usage: string,
  summary: string,
  load: CommandEntry['load'],
): CommandEntry => ({ name, usage, summary, load });

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    heading: 'The hub',
    commands: [
      entry(
        'serve',
        '',
        'run it here until Ctrl-C (plain "synod" does too)',
        async () => (await import('./serve.ts')).registerServe,
      ),
      entry(
        'up',
        '',
        'start it in the background, unless it runs',
        async () => (await import('./up.ts')).registerUp,
      ),
      entry('down', '', 'stop it', async () => (await import('./down.ts')).registerDown),
      entry(
        'status',
        '',
        'is it running, where, and how is it',
        async () => (await import('./status.ts')).registerStatus,
      ),
      entry(
        'log',
        'VERB',
        'verify, export or import the log',
        async () => (await import('./log.ts')).registerLog,
      ),
    ],
  },
  {
    heading: 'Talking',
    commands: [
      entry(
        'send',
        'CHANNEL [TEXT]',
        'send a message',
        async () => (await import('./send.ts')).registerSend,
      ),
      entry(
        'recv',
        '',
        'take what is owed to you',
        async () => (await import('./recv.ts')).registerRecv,
      ),
      entry(
        'tail',
        '[PATTERN...]',
        'show messages as they come',
        async () => (await import('./tail.ts')).registerTail,
      ),
      entry(
        'replay',
        'CHANNEL',
        'read a channel again',
        async () => (await import('./replay.ts')).registerReplay,
      ),
      entry(
        'ack',
        'MESSAGE-ID STATUS',
        'tell the sender what you did',
        async () => (await import('./ack.ts')).registerAck,
      ),
      entry(
        'receipts',
        'MESSAGE-ID',
        'what became of a message',
        async () => (await import('./receipts.ts')).registerReceipts,
      ),
    ],
  },
  {
    heading: 'Channels and agents',
    commands: [
      entry(
        'subscribe',
        'PATTERN',
        'be owed what is sent from now on',
        async () => (await import('./subscribe.ts')).registerSubscribe,
      ),
      entry(
        'unsubscribe',
        'PATTERN...',
        'no longer be owed it',
        async () => (await import('./unsubscribe.ts')).registerUnsubscribe,
      ),
      entry(
        'channels',
        '',
        'list channels',
        async () => (await import('./channels.ts')).registerChannels,
      ),
      entry(
        'agents',
        '',
        'list agents and their presence',
        async () => (await import('./agents.ts')).registerAgents,
      ),
      entry(
        'groups',
        '[VERB]',
        'list yours, create, invite, join, leave, members',
        async () => (await import('./groups.ts')).registerGroups,
      ),
      entry(
        'token',
        'VERB',
        'create, list, rotate or revoke credentials',
        async () => (await import('./token.ts')).registerToken,
      ),
    ],
  },
  {
    heading: 'For programs',
    commands: [
      entry(
        'mcp',
        '',
        'MCP over stdio for one agent',
        async () => (await import('./mcp.ts')).registerMcp,
      ),
      entry(
        'call',
        'OPERATION [JSON]',
        'call any operation',
        async () => (await import('./call.ts')).registerCall,
      ),
      entry(
        'ops',
        '[OPERATION]',
        'list the operations',
        async () => (await import('./ops.ts')).registerOps,
      ),
      entry('completion', 'SHELL', 'completion for bash, zsh or fish', async () => {
        const { registerCompletion } = await import('./completion.ts');
        return (program) => registerCompletion(program, COMMANDS);
      }),
    ],
  },
];

export const COMMANDS: readonly CommandEntry[] = COMMAND_GROUPS.flatMap(({ commands }) => commands);
