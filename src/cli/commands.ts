/**
 * Every command there is: where it is listed, how it is used, and the file that does it. Only the
 * file of the command that was asked for is loaded, which keeps a one-shot command quick.
 */
import type { Command } from 'commander';

export interface CommandEntry {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  /** A line of its own on the first help screen; the rest of a group is only named there. */
  readonly isDaily: boolean;
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
): CommandEntry => ({ name, usage, summary, isDaily: true, load });

const rarer = (...of: Parameters<typeof entry>): CommandEntry => ({
  ...entry(...of),
  isDaily: false,
});

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
      rarer(
        'log',
        'VERB',
        'verify, export or import the log',
        async () => (await import('./log.ts')).registerLog,
      ),
      rarer(
        'token',
        'VERB',
        'create, list, rotate or revoke credentials',
        async () => (await import('./token.ts')).registerToken,
      ),
    ],
  },
  {
    heading: 'Talking',
    commands: [
      entry(
        'send',
        'CHANNEL [TEXT]',
        'send a message to a channel',
        async () => (await import('./send.ts')).registerSend,
      ),
      entry(
        'chat',
        '',
        'talk and watch, on the whole terminal',
        async () => (await import('./chat.ts')).registerChat,
      ),
      entry(
        'tell',
        'AGENT [TEXT]',
        'tell an agent, a project, a role or all in private',
        async () => (await import('./tell.ts')).registerTell,
      ),
      entry(
        'recv',
        '',
        'take what is owed to you',
        async () => (await import('./recv.ts')).registerRecv,
      ),
      entry(
        'arm',
        '',
        'wait until something for you arrives',
        async () => (await import('./arm.ts')).registerArm,
      ),
      entry(
        'tail',
        '[PATTERN...]',
        'show messages as they come',
        async () => (await import('./tail.ts')).registerTail,
      ),
      entry(
        'subscribe',
        'PATTERN',
        'be owed what is sent from now on',
        async () => (await import('./subscribe.ts')).registerSubscribe,
      ),
      rarer(
        'unsubscribe',
        'PATTERN...',
        'no longer be owed it',
        async () => (await import('./unsubscribe.ts')).registerUnsubscribe,
      ),
      rarer(
        'replay',
        'CHANNEL',
        'read a channel again',
        async () => (await import('./replay.ts')).registerReplay,
      ),
      rarer(
        'ack',
        'MESSAGE-ID STATUS',
        'tell the sender what you did',
        async () => (await import('./ack.ts')).registerAck,
      ),
      rarer(
        'receipts',
        'MESSAGE-ID',
        'what became of a message',
        async () => (await import('./receipts.ts')).registerReceipts,
      ),
      rarer(
        'channels',
        '',
        'list channels',
        async () => (await import('./channels.ts')).registerChannels,
      ),
      rarer(
        'groups',
        '[VERB]',
        'list yours, create, invite, join, leave, members',
        async () => (await import('./groups.ts')).registerGroups,
      ),
    ],
  },
  {
    heading: 'Working',
    commands: [
      entry(
        'claim',
        'TASK [PATHS...]',
        'take a task and its files, or wait for them',
        async () => (await import('./claim.ts')).registerClaim,
      ),
      entry(
        'release',
        'TASK',
        'give them back',
        async () => (await import('./release.ts')).registerRelease,
      ),
      entry(
        'claims',
        '[VERB]',
        'who holds what; check, wait, update',
        async () => (await import('./claims.ts')).registerClaims,
      ),
      entry(
        'board',
        '',
        'the plan and who holds what of it',
        async () => (await import('./board.ts')).registerBoard,
      ),
      entry(
        'task',
        'VERB',
        'declare, update, progress, notes, remove',
        async () => (await import('./task.ts')).registerTask,
      ),
      rarer(
        'checkpoint',
        'TASK TEXT',
        'keep where you are, for the next holder',
        async () => (await import('./checkpoint.ts')).registerCheckpoint,
      ),
      rarer(
        'handoff',
        'TASK AGENT',
        'give a claim to another agent',
        async () => (await import('./handoff.ts')).registerHandoff,
      ),
      rarer(
        'offers',
        '[VERB]',
        'resources on offer: list, make, withdraw',
        async () => (await import('./offers.ts')).registerOffers,
      ),
      rarer(
        'manifest',
        '[VERB]',
        'what agents can do: list, advertise, withdraw',
        async () => (await import('./manifest.ts')).registerManifest,
      ),
      rarer(
        'route',
        '[TEXT]',
        'the best agent for a piece of work',
        async () => (await import('./route.ts')).registerRoute,
      ),
    ],
  },
  {
    heading: 'Coding agents',
    commands: [
      entry(
        'install',
        '[VENDORS...]',
        'connect claude, codex, gemini, opencode; reversible',
        async () => (await import('./install.ts')).registerInstall,
      ),
      entry(
        'doctor',
        '[VENDORS...]',
        'a canary through every hop; says which failed',
        async () => (await import('./doctor.ts')).registerDoctor,
      ),
      rarer(
        'uninstall',
        '[VENDORS...]',
        'take back what install wrote, byte for byte',
        async () => (await import('./uninstall.ts')).registerUninstall,
      ),
      rarer(
        'verify',
        '[VENDORS...]',
        'is what install wrote still there and whole',
        async () => (await import('./verify.ts')).registerVerify,
      ),
      rarer(
        'discipline',
        '',
        'print what agents are taught',
        async () => (await import('./discipline.ts')).registerDiscipline,
      ),
      rarer(
        'lint-discipline',
        'PATH',
        'check such a document',
        async () => (await import('./lint-discipline.ts')).registerLintDiscipline,
      ),
      rarer(
        'hook',
        'VENDOR',
        'hand a hook of a coding agent to the hub',
        async () => (await import('./hook.ts')).registerHook,
      ),
      rarer(
        'upgrade',
        '[VENDORS...]',
        'bring what install wrote up to date',
        async () => (await import('./upgrade.ts')).registerUpgrade,
      ),
    ],
  },
  {
    heading: 'Git and files',
    commands: [
      rarer(
        'guard',
        '[PATHS...]',
        'is this yours to touch? for editors and hooks',
        async () => (await import('./guard.ts')).registerGuard,
      ),
      rarer(
        'conflicts',
        '',
        'who will collide with whom, before the merge',
        async () => (await import('./conflicts.ts')).registerConflicts,
      ),
      rarer(
        'git',
        'VERB',
        'claim with branch and base; hooks install, uninstall',
        async () => (await import('./git.ts')).registerGit,
      ),
    ],
  },
  {
    heading: 'Agents',
    commands: [
      entry(
        'who',
        '',
        'who is here, what they do, and how we know',
        async () => (await import('./who.ts')).registerWho,
      ),
      rarer(
        'whoami',
        '',
        'who you are here, and how that came about',
        async () => (await import('./whoami.ts')).registerWhoami,
      ),
      rarer(
        'report',
        'STATE [NOTE]',
        'say that you are idle, busy or blocked',
        async () => (await import('./report.ts')).registerReport,
      ),
      rarer(
        'agents',
        '',
        'list agents and their presence',
        async () => (await import('./agents.ts')).registerAgents,
      ),
    ],
  },
  {
    heading: 'For programs',
    commands: [
      entry(
        'bus',
        '--config FILE',
        'pools of workers behind one JSON-RPC line',
        async () => (await import('./bus.ts')).registerBus,
      ),
      rarer(
        'worker',
        'NAME',
        'the workers in the box: echo, acp-echo, openai, registry and more',
        async () => (await import('./worker.ts')).registerWorker,
      ),
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
      rarer(
        'ingest',
        '',
        'memory events as NDJSON, from a cursor',
        async () => (await import('./ingest.ts')).registerIngest,
      ),
      rarer(
        'relay',
        'FILE',
        'what is new in a relay file',
        async () => (await import('./relay.ts')).registerRelay,
      ),
      rarer(
        'ops',
        '[OPERATION]',
        'list the operations',
        async () => (await import('./ops.ts')).registerOps,
      ),
      rarer('completion', 'SHELL', 'completion for bash, zsh or fish', async () => {
        const { registerCompletion } = await import('./completion.ts');
        return (program) => registerCompletion(program, COMMANDS);
      }),
    ],
  },
];

export const COMMANDS: readonly CommandEntry[] = COMMAND_GROUPS.flatMap(({ commands }) => commands);
