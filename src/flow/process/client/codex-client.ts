/**
 * Codex, over its app-server: one process, any number of threads. Unless it is told otherwise a thread may
 * write in its workspace alone and asks for anything else; its approvals never go to an automatic reviewer
 * [VC2]. A refusal is steered into the turn with who and why, because Codex itself only says "rejected".
 */
import {
  answerCodex,
  CODEX_HELLO,
  CODEX_THREAD,
  codexLack,
  threadOf,
} from '../../../vendor/codex-app-server.ts';
import { type LineRpc, type Params, RpcFailure } from '../../../vendor/line-rpc.ts';
import { isFields } from '../../../wire/fields.ts';
import {
  type AgentClient,
  AgentClientError,
  type AgentClientOptions,
  type AgentSession,
  type AgentTurn,
  checkOpen,
  checkSessionId,
  checkText,
  type ProbedProgram,
  type SessionOptions,
} from './agent-client.ts';
import { type ClientApprovals, createApprovals } from './client-approvals.ts';
import { type ClientProbe, callWithin, createClientProbe, planClient } from './client-link.ts';
import { type CodexItems, createCodexItems } from './codex-items.ts';
import { openRpcLink, type RpcLink } from './rpc-link.ts';
import { createTurnStream, type TurnStream } from './turn-stream.ts';

/**
 * How Codex is started.
 *
 * @example
 * ```ts
 * const options: CodexClientOptions = { sandbox: 'read-only', approvalPolicy: 'untrusted' };
 * ```
 */
export interface CodexClientOptions extends AgentClientOptions {
  /** What commands may touch without asking. Default `workspace-write`. */
  readonly sandbox?: 'read-only' | 'workspace-write' | 'danger-full-access';
  /** When it asks. Default `on-request`: whenever the sandbox would not let it. */
  readonly approvalPolicy?: 'untrusted' | 'on-request' | 'never';
  /** Settings of Codex for these threads, by their dotted names. */
  readonly config?: Readonly<Record<string, unknown>>;
}

const USED_CALLS = [
  ...['thread/start', 'thread/resume', 'thread/fork'],
  ...['turn/start', 'turn/steer', 'turn/interrupt'],
];

interface Running {
  readonly stream: TurnStream;
  readonly items: CodexItems;
  readonly approvals: ClientApprovals;
  turnId: string | null;
}

/**
 * Codex as a program speaks with it.
 *
 * @example
 * await using codex = new CodexClient({ hub, cwd: 'project', inheritEnv: ['OPENAI_API_KEY'] });
 * const session = await codex.start();
 * const turn = session.run('make the tests pass');
 * for await (const item of turn) console.log(item.type);
 * console.log((await turn.ended).text);
 */
export class CodexClient implements AgentClient {
  readonly vendor = 'codex';
  readonly #options: CodexClientOptions;
  readonly #command: readonly string[];
  readonly #probe: ClientProbe;
  readonly #running = new Map<string, Running>();
  #link: Promise<RpcLink> | null = null;
  #isClosed = false;

  constructor(options: CodexClientOptions = {}) {
    this.#options = options;
    this.#command = options.command ?? ['codex'];
    this.#probe = createClientProbe(options, this.#command, (ask) => codexLack(ask, USED_CALLS));
  }

  probe(): Promise<ProbedProgram> {
    return this.#probe.look();
  }

  start(options: SessionOptions = {}): Promise<AgentSession> {
    return this.#open('thread/start', {}, options);
  }

  async resume(id: string, options: SessionOptions = {}): Promise<AgentSession> {
    return this.#open('thread/resume', { threadId: checkSessionId(id) }, options);
  }

  async fork(id: string, options: SessionOptions = {}): Promise<AgentSession> {
    return this.#open('thread/fork', { threadId: checkSessionId(id) }, options);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#link?.catch(() => null))?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #open(method: string, which: object, options: SessionOptions): Promise<AgentSession> {
    const { sandbox, approvalPolicy, config, answerTimeoutMs } = this.#options;
    const link = await this.#connected();
    const model = options.model ?? this.#options.model;
    const params = {
      ...{ ...which, cwd: options.cwd ?? this.#options.cwd ?? process.cwd() },
      ...CODEX_THREAD,
      ...(sandbox !== undefined && { sandbox }),
      ...(approvalPolicy !== undefined && { approvalPolicy }),
      ...(config !== undefined && { config }),
      ...(model !== undefined && { model }),
      ...(options.instructions !== undefined && { developerInstructions: options.instructions }),
    };
    const id = threadOf(await link.call(method, params, answerTimeoutMs));
    return { id, run: (text) => this.#run(link, id, checkText(text, 'what is said to an agent')) };
  }

  #connected(): Promise<RpcLink> {
    checkOpen(this.#isClosed);
    this.#link ??= this.#connect().catch((error) => {
      this.#link = null;
      throw error;
    });
    return this.#link;
  }

  async #connect(): Promise<RpcLink> {
    await this.#probe.check();
    const cwd = this.#options.cwd ?? process.cwd();
    const plan = await planClient(
      this.#options,
      [...this.#command, 'app-server'],
      cwd,
      () => this.#isClosed,
    );
    const link = openRpcLink(this.#options, 'Codex', plan, {
      onNotice: (method, params) => {
        this.#running.get(String(params.threadId))?.items.notice(method, params);
      },
      onRequest: (rpc, method, params) => this.#answer(rpc, method, params),
      turns: () => [...this.#running.values()].map(({ stream }) => stream),
      onEnded: () => {
        this.#link = null;
      },
    });
    await link.greet('initialize', CODEX_HELLO, this.#options.answerTimeoutMs);
    link.rpc.tell('initialized');
    return link;
  }

  #run(link: RpcLink, threadId: string, text: string): AgentTurn {
    if (this.#running.get(threadId)?.stream.isOver === false) {
      const words = `the session ${threadId} runs a turn already; steer it, or wait for its end`;
      throw new AgentClientError('vendor.busy', words);
    }
    const within = this.#options.answerTimeoutMs;
    const stream = createTurnStream({
      steer: async (words) => {
        const input = [{ type: 'text', text: checkText(words, 'what is said to an agent') }];
        const expectedTurnId = await begun;
        await link.call('turn/steer', { threadId, expectedTurnId, input }, within);
        return 'now';
      },
      interrupt: async () => {
        const turnId = await begun.catch(() => null);
        if (turnId === null || stream.isOver) return;
        await link.call('turn/interrupt', { threadId, turnId }, within).catch(() => {});
      },
    });
    const running: Running = {
      ...{ stream, turnId: null, items: createCodexItems(stream) },
      approvals: createApprovals(this.#options, stream),
    };
    this.#running.set(threadId, running);
    const begun = link
      .call('turn/start', { threadId, input: [{ type: 'text', text }] }, within)
      .then(({ turn }) => {
        running.turnId = isFields(turn) ? String(turn.id) : '';
        return running.turnId;
      });
    begun.catch((error: Error) => stream.end('failed', error.message));
    void stream.turn.ended.then(() => {
      if (this.#running.get(threadId) === running) this.#running.delete(threadId);
    });
    return stream.turn;
  }

  async #answer(rpc: LineRpc, method: string, params: Params): Promise<object> {
    const running = this.#running.get(String(params.threadId));
    if (running === undefined) throw new RpcFailure(-32601, 'no turn of ours asks that', null);
    const { approvals, items, stream } = running;
    return answerCodex(method, params, {
      question: (text) => approvals.question(text),
      permission: (ask) => approvals.ask(ask),
      changedBy: items.changedBy,
      steer: async (call) =>
        stream.isOver || callWithin(rpc, 'turn/steer', call, this.#options.answerTimeoutMs),
    });
  }
}
