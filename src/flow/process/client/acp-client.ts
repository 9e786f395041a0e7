/**
 * Agents that speak the Agent Client Protocol; Gemini CLI and opencode are two. One process, any number of
 * sessions. The protocol has no word for steering, so what is said meanwhile is heard right after what the
 * agent does, in the same turn; nor for a refusal's reason, which comes the same way. An agent that begins in
 * a mode in which it asks nobody is not begun with [VC2].
 */
import {
  ACP_HELLO,
  AUTH_REQUIRED,
  acpAsk,
  acpCan,
  acpLack,
  greetAcp,
  UNASKED_MODE,
} from '../../../vendor/acp-agent.ts';
import { createReplay, type Replay } from '../../../vendor/acp-replay.ts';
import { type Params, RpcFailure } from '../../../vendor/line-rpc.ts';
import { brief } from '../../../vendor/spoken.ts';
import { isFields } from '../../../wire/fields.ts';
import { type AcpItems, createAcpItems } from './acp-items.ts';
import {
  type AgentClient,
  AgentClientError,
  type AgentClientOptions,
  type AgentSession,
  type AgentTurn,
  checkOpen,
  checkSessionId,
  checkText,
  checkUnheard,
  type ProbedProgram,
  type SessionOptions,
} from './agent-client.ts';
import { type ClientApprovals, createApprovals } from './client-approvals.ts';
import { type ClientProbe, createClientProbe, planClient } from './client-link.ts';
import { openRpcLink, type RpcLink } from './rpc-link.ts';
import { createTurnStream, type TurnStream } from './turn-stream.ts';

/**
 * How an agent that speaks ACP is started.
 *
 * @example
 * ```ts
 * const options: AcpClientOptions = { command: ['gemini', '--acp'], mode: 'default' };
 * ```
 */
export interface AcpClientOptions extends AgentClientOptions {
  /** The mode of the agent's own that sessions are in; one in which it asks nobody is refused. */
  readonly mode?: string;
  /** How it signs in when it asks for that, by the id that the agent gives it. */
  readonly authMethod?: string;
  /** MCP servers, as `session/new` takes them. */
  readonly mcpServers?: readonly object[];
}

interface Running {
  readonly stream: TurnStream;
  readonly items: AcpItems;
  readonly approvals: ClientApprovals;
  /** What it is told after what it does now. */
  readonly later: string[];
}

interface Opened {
  readonly link: RpcLink;
  /** What the agent said of itself. */
  readonly hello: Params;
}

/** How often in one turn it is told something afterwards. */
const LATER_MAX = 20;
/** A turn takes as long as it takes. */
const TURN_MS = 2_147_483_647;

/**
 * Any agent that speaks ACP.
 *
 * @example
 * await using agent = new AcpClient('my agent', ['my-agent', '--acp'], { approve: () => false });
 * const session = await agent.start();
 * for await (const item of session.run('hello')) console.log(item);
 */
export class AcpClient implements AgentClient {
  readonly vendor: string;
  readonly #options: AcpClientOptions;
  readonly #command: readonly string[];
  readonly #probe: ClientProbe;
  readonly #running = new Map<string, Running>();
  /** Sessions whose past is being told. */
  readonly #replays = new Map<string, Replay>();
  #opened: Promise<Opened> | null = null;
  #isClosed = false;

  constructor(vendor: string, command: readonly string[], options: AcpClientOptions = {}) {
    this.vendor = vendor;
    this.#options = options;
    this.#command = command;
    this.#probe = createClientProbe(options, command, async (ask) => acpLack(await greetAcp(ask)));
    if (UNASKED_MODE.test(options.mode ?? '')) {
      const words = `in the mode ${JSON.stringify(options.mode)} the agent asks nobody; choose another`;
      throw new AgentClientError('vendor.invalid', words);
    }
  }

  probe(): Promise<ProbedProgram> {
    return this.#probe.look();
  }

  async start(options: SessionOptions = {}): Promise<AgentSession> {
    return this.#open('session/new', {}, options, await this.#connected());
  }

  async resume(id: string, options: SessionOptions = {}): Promise<AgentSession> {
    const sessionId = checkSessionId(id);
    const opened = await this.#connected();
    const method = acpCan(opened.hello, 'sessionCapabilities.resume')
      ? 'session/resume'
      : acpCan(opened.hello, 'loadSession')
        ? 'session/load'
        : null;
    if (method === null) throw this.#unsupported('resume');
    const replay = createReplay();
    this.#replays.set(sessionId, replay);
    try {
      const session = await this.#open(method, { sessionId }, options, opened);
      if (method === 'session/load') await replay.over();
      return session;
    } finally {
      this.#replays.delete(sessionId);
    }
  }

  async fork(id: string, options: SessionOptions = {}): Promise<AgentSession> {
    const sessionId = checkSessionId(id);
    const opened = await this.#connected();
    if (!acpCan(opened.hello, 'sessionCapabilities.fork')) throw this.#unsupported('fork');
    return this.#open('session/fork', { sessionId }, options, opened);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#opened?.catch(() => null))?.link.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #unsupported(what: string): AgentClientError {
    const words = `this version of ${this.vendor} cannot ${what} a session; it does not say that it can`;
    return new AgentClientError('vendor.unsupported', words);
  }

  #connected(): Promise<Opened> {
    checkOpen(this.#isClosed);
    this.#opened ??= this.#connect().catch((error) => {
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }

  async #connect(): Promise<Opened> {
    await this.#probe.check();
    const cwd = this.#options.cwd ?? process.cwd();
    const plan = await planClient(this.#options, this.#command, cwd, () => this.#isClosed);
    const link = openRpcLink(this.#options, this.vendor, plan, {
      onNotice: (method, { sessionId, update }) => {
        if (method !== 'session/update' || !isFields(update)) return;
        const running = this.#running.get(String(sessionId));
        if (running === undefined) this.#replays.get(String(sessionId))?.heard();
        else if (!running.stream.isOver) running.items.update(update);
      },
      onRequest: (_rpc, method, params) => this.#answer(method, params),
      turns: () => [...this.#running.values()].map(({ stream }) => stream),
      onEnded: () => {
        this.#opened = null;
      },
    });
    const hello = await link.greet('initialize', ACP_HELLO, this.#options.answerTimeoutMs);
    const lack = acpLack(hello);
    if (lack === null) return { link, hello };
    await link.close();
    throw new AgentClientError('vendor.unusable', `${this.vendor} ${lack}`);
  }

  async #open(
    method: string,
    which: object,
    options: SessionOptions,
    { link }: Opened,
  ): Promise<AgentSession> {
    const { mcpServers = [], mode, authMethod, answerTimeoutMs: within } = this.#options;
    if (options.model !== undefined) {
      const words = 'ACP has no word for the model: name it in the arguments of command';
      throw new AgentClientError('vendor.invalid', words);
    }
    const cwd = options.cwd ?? this.#options.cwd ?? process.cwd();
    const params = { ...which, cwd, mcpServers };
    const answer = await link.call(method, params, within).catch(async (error) => {
      const { cause } = error as AgentClientError;
      const isAuth = cause instanceof RpcFailure && cause.code === AUTH_REQUIRED;
      if (!isAuth || authMethod === undefined) throw error;
      await link.call('authenticate', { methodId: authMethod }, within);
      return link.call(method, params, within);
    });
    const given = (which as { readonly sessionId?: string }).sessionId;
    const id = typeof answer.sessionId === 'string' ? answer.sessionId : given;
    if (id === undefined) {
      throw new AgentClientError('vendor.refused', `${this.vendor} began no session`);
    }
    const modes = isFields(answer.modes) ? String(answer.modes.currentModeId ?? '') : '';
    if (mode !== undefined) {
      await link.call('session/set_mode', { sessionId: id, modeId: mode }, within);
    } else if (UNASKED_MODE.test(modes)) {
      const words = `${this.vendor} begins in the mode ${modes}, in which it asks nobody; name another in mode`;
      throw new AgentClientError('vendor.refused', words);
    }
    let before = options.instructions === undefined ? [] : [options.instructions];
    const run = (text: string): AgentTurn => {
      const turn = this.#run(link, id, [...before, checkText(text, 'what is said to an agent')]);
      before = [];
      return turn;
    };
    return { id, run };
  }

  #run(link: RpcLink, sessionId: string, texts: readonly string[]): AgentTurn {
    if (this.#running.get(sessionId)?.stream.isOver === false) {
      const words = `the session ${sessionId} runs a turn already; steer it, or wait for its end`;
      throw new AgentClientError('vendor.busy', words);
    }
    const later: string[] = [];
    const stream = createTurnStream({
      async steer(words) {
        checkUnheard(later.length);
        later.push(checkText(words, 'what is said to an agent'));
        return 'after';
      },
      async interrupt() {
        later.length = 0;
        link.rpc.tell('session/cancel', { sessionId });
      },
    });
    const items = createAcpItems(stream);
    const approvals = createApprovals(this.#options, stream);
    const running: Running = { stream, items, approvals, later };
    this.#running.set(sessionId, running);
    void converse(link, sessionId, texts, later, items, stream).finally(() => {
      if (this.#running.get(sessionId) === running) this.#running.delete(sessionId);
    });
    return stream.turn;
  }

  async #answer(method: string, params: Params): Promise<object> {
    if (method !== 'session/request_permission') {
      throw new RpcFailure(-32601, `${method} is not answered here`, null);
    }
    const running = this.#running.get(String(params.sessionId));
    if (running === undefined) return { outcome: { outcome: 'cancelled' } };
    const { title, ask, answer } = acpAsk(params);
    const { approvals, later, stream } = running;
    const { isApproved, words } =
      ask === null
        ? { isApproved: false, words: 'Not approved: it could only be allowed for ever.' }
        : await approvals.ask(ask);
    if (stream.signal.aborted) return { outcome: { outcome: 'cancelled' } };
    if (!isApproved) later.push(`Synod: ${brief(title)}: ${words}`);
    return answer(isApproved);
  }
}

/** The prompt, and then what it is told afterwards, until there is nothing to tell. */
async function converse(
  link: RpcLink,
  sessionId: string,
  texts: readonly string[],
  later: string[],
  items: AcpItems,
  stream: TurnStream,
): Promise<void> {
  let next = texts;
  for (let told = 0; ; told += 1) {
    const prompt = next.map((text) => ({ type: 'text', text }));
    try {
      const response = await link.call('session/prompt', { sessionId, prompt }, TURN_MS);
      items.answered(response);
      const { stopReason: why } = response;
      if (why === 'cancelled') return stream.end('interrupted');
      if (why !== 'end_turn') return stream.end('failed', `the agent stopped: ${String(why)}`);
    } catch (error) {
      return stream.end(
        stream.signal.aborted ? 'interrupted' : 'failed',
        brief((error as Error).message),
      );
    }
    if (later.length === 0 || told >= LATER_MAX || stream.signal.aborted) {
      return stream.end(stream.signal.aborted ? 'interrupted' : 'completed');
    }
    next = later.splice(0);
  }
}
