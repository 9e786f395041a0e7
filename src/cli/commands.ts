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
  load(): Promise<Register>;
}

export interface CommandGroup {
  readonly heading: string;
  readonly commands: readonly CommandEntry[];
}

type Register = (program: Command) => void;

const FILES = {
  serve: async () => (await import('./serve.ts')).registerServe,
  up: async () => (await import('./up.ts')).registerUp,
  down: async () => (await import('./down.ts')).registerDown,
  service: async () => (await import('./service.ts')).registerService,
  status: async () => (await import('./status.ts')).registerStatus,
  config: async () => (await import('./config.ts')).registerConfig,
  log: async () => (await import('./log.ts')).registerLog,
  cluster: async () => (await import('./cluster.ts')).registerCluster,
  join: async () => (await import('./join.ts')).registerJoin,
  drain: async () => (await import('./cluster.ts')).registerDrain,
  token: async () => (await import('./token.ts')).registerToken,
  send: async () => (await import('./send.ts')).registerSend,
  web: async () => (await import('./web.ts')).registerWeb,
  chat: async () => (await import('./chat.ts')).registerChat,
  tell: async () => (await import('./tell.ts')).registerTell,
  recv: async () => (await import('./recv.ts')).registerRecv,
  arm: async () => (await import('./arm.ts')).registerArm,
  tail: async () => (await import('./tail.ts')).registerTail,
  subscribe: async () => (await import('./subscribe.ts')).registerSubscribe,
  unsubscribe: async () => (await import('./subscribe.ts')).registerUnsubscribe,
  replay: async () => (await import('./replay.ts')).registerReplay,
  thread: async () => (await import('./thread.ts')).registerThread,
  sessions: async () => (await import('./sessions.ts')).registerSessions,
  search: async () => (await import('./search.ts')).registerSearch,
  ack: async () => (await import('./receipts.ts')).registerAck,
  receipts: async () => (await import('./receipts.ts')).registerReceipts,
  channels: async () => (await import('./channels.ts')).registerChannels,
  groups: async () => (await import('./groups.ts')).registerGroups,
  claim: async () => (await import('./claim.ts')).registerClaim,
  release: async () => (await import('./held-claim.ts')).registerRelease,
  claims: async () => (await import('./claims.ts')).registerClaims,
  lock: async () => (await import('./lock.ts')).registerLock,
  board: async () => (await import('./board.ts')).registerBoard,
  task: async () => (await import('./task.ts')).registerTask,
  checkpoint: async () => (await import('./held-claim.ts')).registerCheckpoint,
  handoff: async () => (await import('./held-claim.ts')).registerHandoff,
  context: async () => (await import('./shared-context.ts')).registerContext,
  workflow: async () => (await import('./workflow.ts')).registerWorkflow,
  offers: async () => (await import('./offers.ts')).registerOffers,
  manifest: async () => (await import('./manifest.ts')).registerManifest,
  route: async () => (await import('./route.ts')).registerRoute,
  install: async () => (await import('./install.ts')).registerInstall,
  doctor: async () => (await import('./doctor.ts')).registerDoctor,
  uninstall: async () => (await import('./uninstall.ts')).registerUninstall,
  verify: async () => (await import('./verify.ts')).registerVerify,
  discipline: async () => (await import('./discipline.ts')).registerDiscipline,
  'lint-discipline': async () => (await import('./discipline.ts')).registerLintDiscipline,
  hook: async () => (await import('./hook.ts')).registerHook,
  upgrade: async () => (await import('./upgrade.ts')).registerUpgrade,
  guard: async () => (await import('./guard.ts')).registerGuard,
  conflicts: async () => (await import('./conflicts.ts')).registerConflicts,
  git: async () => (await import('./git.ts')).registerGit,
  gates: async () => (await import('./gates.ts')).registerGates,
  person: async () => (await import('./person.ts')).registerPerson,
  docket: async () => (await import('./docket.ts')).registerDocket,
  who: async () => (await import('./presence.ts')).registerWho,
  whoami: async () => (await import('./whoami.ts')).registerWhoami,
  report: async () => (await import('./presence.ts')).registerReport,
  team: async () => (await import('./team.ts')).registerTeam,
  agents: async () => (await import('./agents.ts')).registerAgents,
  turns: async () => (await import('./turns.ts')).registerTurns,
  bus: async () => (await import('./bus.ts')).registerBus,
  worker: async () => (await import('./worker.ts')).registerWorker,
  mcp: async () => (await import('./mcp.ts')).registerMcp,
  call: async () => (await import('./call.ts')).registerCall,
  ingest: async () => (await import('./ingest.ts')).registerIngest,
  relay: async () => (await import('./relay.ts')).registerRelay,
  ops: async () => (await import('./ops.ts')).registerOps,
  completion: async () => {
    const { registerCompletion } = await import('./completion.ts');
    return (program) => registerCompletion(program, COMMANDS);
  },
} satisfies Record<string, () => Promise<Register>>;

type Name = keyof typeof FILES;

const daily = (name: Name, usage: string, summary: string): CommandEntry => ({
  ...{ name, usage, summary, isDaily: true },
  load: FILES[name],
});

const rarer = (...of: Parameters<typeof daily>): CommandEntry => ({
  ...daily(...of),
  isDaily: false,
});

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    heading: 'The hub',
    commands: [
      daily('serve', '', 'run it here until Ctrl-C (plain "synod" does too)'),
      daily('up', '', 'start it in the background, unless it runs'),
      daily('down', '', 'stop it'),
      daily('status', '', 'is it running, where, and how is it'),
      rarer('service', 'VERB', 'have the machine start it: install, status or uninstall'),
      rarer('config', '', 'the settings in force here, and where each comes from'),
      rarer('log', 'VERB', 'verify, export, import or compact the log, or look back into it'),
      rarer(
        'cluster',
        'VERB',
        'the servers that share the store: who does what, and how far each is',
      ),
      rarer('join', 'TOKEN', 'make this data directory a server of a cluster'),
      rarer('drain', '', 'hand over what this server sequences, before it is stopped'),
      rarer('token', 'VERB', 'create, list, rotate or revoke credentials'),
    ],
  },
  {
    heading: 'Talking',
    commands: [
      daily('send', 'CHANNEL [TEXT]', 'send a message to a channel'),
      daily('chat', '', 'talk and watch, on the whole terminal'),
      rarer('web', '', 'the page for people, in a browser'),
      daily('tell', 'AGENT [TEXT]', 'tell an agent, a project, a role or all in private'),
      daily('recv', '', 'take what is owed to you'),
      daily('arm', '', 'wait until something for you arrives'),
      daily('tail', '[PATTERN...]', 'show messages as they come'),
      daily('subscribe', 'PATTERN', 'be owed what is sent from now on'),
      rarer('unsubscribe', 'PATTERN...', 'no longer be owed it'),
      rarer('replay', 'CHANNEL', 'read a channel again'),
      daily('thread', 'MESSAGE', 'read a thread; list, pin, close, resolve, and back'),
      rarer('search', 'QUERY...', 'find messages by their words'),
      rarer('ack', 'MESSAGE-ID STATUS', 'tell the sender what you did'),
      rarer('receipts', 'MESSAGE-ID', 'what became of a message'),
      rarer('channels', '[VERB]', 'list them; describe one, digest of several'),
      rarer('groups', '[VERB]', 'list yours, create, invite, join, leave, members'),
    ],
  },
  {
    heading: 'Working',
    commands: [
      daily('claim', 'TASK [PATHS...]', 'take a task and its files, or wait for them'),
      daily('release', 'TASK', 'give them back'),
      daily('claims', '[VERB]', 'who holds what; check, wait, update'),
      daily('board', '', 'the plan and who holds what of it'),
      daily('task', 'VERB', 'declare, update, progress, notes, remove'),
      rarer('lock', 'ID -- COMMAND', 'run a command while you hold a lock'),
      rarer('checkpoint', 'TASK TEXT', 'keep where you are, for the next holder'),
      rarer('handoff', 'TASK AGENT', 'offer a claim to another agent'),
      rarer(
        'context',
        '[VERB]',
        'values agents share: set, get, delete, list, snapshot, diff, watch',
      ),
      rarer(
        'workflow',
        '[VERB]',
        'runs of workflows: list, show, start, signal, cancel, retry, fork',
      ),
      rarer('offers', '[VERB]', 'resources on offer: list, make, withdraw'),
      rarer('manifest', '[VERB]', 'what agents can do: list, advertise, withdraw'),
      rarer('route', '[TEXT]', 'the best agent for a piece of work'),
    ],
  },
  {
    heading: 'Coding agents',
    commands: [
      daily('install', '[VENDORS...]', 'connect claude, codex, gemini, opencode; reversible'),
      daily('doctor', '[VENDORS...]', 'a canary through every hop; says which failed'),
      rarer('uninstall', '[VENDORS...]', 'take back what install wrote, byte for byte'),
      rarer('verify', '[VENDORS...]', 'is what install wrote still there and whole'),
      rarer('discipline', '', 'print what agents are taught'),
      rarer('lint-discipline', 'PATH', 'check such a document'),
      rarer('hook', 'VENDOR', 'hand a hook of a coding agent to the hub'),
      rarer('upgrade', '[VENDORS...]', 'bring what install wrote up to date'),
    ],
  },
  {
    heading: 'Git and files',
    commands: [
      rarer('guard', '[PATHS...]', 'is this yours to touch? for editors and hooks'),
      rarer('conflicts', '', 'who will collide with whom, before the merge'),
      rarer('git', 'VERB', 'claim with branch and base; hooks install, uninstall'),
    ],
  },
  {
    heading: 'Agents',
    commands: [
      daily('who', '', 'who is here, what they do, and how we know'),
      rarer('whoami', '', 'who you are here, and how that came about'),
      daily('docket', '[VERB]', 'what waits for a person: answer, approve, deny, close'),
      rarer('gates', '[VERB]', 'what only a person may allow: list, approve, deny, ask …'),
      rarer('person', 'VERB', 'who decides gates: add, list, remove'),
      rarer('report', 'STATE [NOTE]', 'say that you are idle, busy or blocked'),
      rarer('team', 'FILE', 'start a team from one file; show, stop'),
      rarer('sessions', '[VERB]', 'histories that outlive a process: show, append, hand on …'),
      rarer('agents', '[VERB]', 'list agents; have the hub run one, or host one as a process'),
      rarer(
        'turns',
        '[VERB]',
        'turns that the hub began: list, show, follow, cancel, retry, pause, resume',
      ),
    ],
  },
  {
    heading: 'For programs',
    commands: [
      daily('bus', '--config FILE', 'pools of workers behind one JSON-RPC line'),
      rarer('worker', 'NAME', 'the workers in the box: echo, acp-echo, openai, registry and more'),
      rarer('mcp', '', 'MCP over stdio for one agent'),
      daily('call', 'OPERATION [JSON]', 'call any operation'),
      rarer('ingest', '', 'memory events as NDJSON, from a cursor'),
      rarer('relay', 'FILE', 'what is new in a relay file'),
      rarer('ops', '[OPERATION]', 'list the operations'),
      rarer('completion', 'SHELL', 'completion for bash, zsh or fish'),
    ],
  },
];

export const COMMANDS: readonly CommandEntry[] = COMMAND_GROUPS.flatMap(({ commands }) => commands);
