/**
 * Claude Code, as `claude -p` with stream-json in and out: one process a session, which stays for its turns.
 * It asks before it writes or runs anything, has none of the user's settings, hooks and MCP servers [VC2], and
 * says only in the first turn whether it knows a session that is resumed.
 */
import { randomUUID } from 'node:crypto';
import {
  CLAUDE_STREAM,
  claudeAnswer,
  claudeAsk,
  claudeLack,
  claudePermission,
  claudeQuestion,
  claudeSays,
  QUESTION_TOOL,
} from '../../../vendor/claude-stream-json.ts';
import type { Permission } from '../../../vendor/permission.ts';
import { brief, parseLine } from '../../../vendor/spoken.ts';
import { UNANSWERED } from '../../../vendor/unanswered.ts';
import type { Fields } from '../../../wire/fields.ts';
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
import { type ClaudeItems, createClaudeItems } from './claude-items.ts';
import { type ClientApprovals, createApprovals } from './client-approvals.ts';
import {
  type ClientLink,
  type ClientProbe,
  createClientProbe,
  openClientLink,
  planClient,
  tell,
} from './client-link.ts';
import { createTurnStream, type TurnStream } from './turn-stream.ts';

/**
 * How Claude Code is started.
 *
 * @example
 * ```ts
 * const options: ClaudeClientOptions = { cwd: '/srv/app', permissionMode: 'plan' };
 * ```
 */
export interface ClaudeClientOptions extends AgentClientOptions {
  /** When it asks. Default `default`: before each write and command. */
  readonly permissionMode?: 'default' | 'acceptEdits' | 'plan';
  /** MCP servers, as a file or as JSON; left out, it has none. */
  readonly mcpConfig?: string;
}

interface Running {
  readonly stream: TurnStream;
  readonly items: ClaudeItems;
  readonly approvals: ClientApprovals;
  /** What was said to it and it has not heard yet. */
  readonly unheard: Set<string>;
  isInterrupted: boolean;
}

/**
 * Claude Code as a program speaks with it.
 *
 * @example
 * await using claude = new ClaudeClient({ hub, cwd: 'project' });
 * const session = await claude.start({ instructions: 'Answer in one sentence.' });
 * console.log((await session.run('What is this project?').ended).text);
 */
export class ClaudeClient implements AgentClient {
  readonly vendor = 'claude';
  readonly #options: ClaudeClientOptions;
  readonly #command: readonly string[];
  readonly #probe: ClientProbe;
  readonly #links = new Set<ClientLink>();
  #isClosed = false;

  constructor(options: ClaudeClientOptions = {}) {
    this.#options = options;
    this.#command = options.command ?? ['claude'];
    const used = this.#argumentsOf(['--resume', 'x', '--fork-session', '--session-id', 'x'], {
      ...{ model: 'x', instructions: 'x' },
    });
    this.#probe = createClientProbe(options, this.#command, (ask) => claudeLack(ask, used));
  }

  probe(): Promise<ProbedProgram> {
    return this.#probe.look();
  }

  start(options: SessionOptions = {}): Promise<AgentSession> {
    const id = randomUUID();
    return this.#open(id, ['--session-id', id], options);
  }

  async resume(id: string, options: SessionOptions = {}): Promise<AgentSession> {
    return this.#open(checkSessionId(id), ['--resume', id], options);
  }

  async fork(id: string, options: SessionOptions = {}): Promise<AgentSession> {
    const next = randomUUID();
    const which = ['--resume', checkSessionId(id), '--fork-session', '--session-id', next];
    return this.#open(next, which, options);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#links].map((link) => link.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #argumentsOf(which: readonly string[], { model, instructions }: SessionOptions): string[] {
    const { permissionMode = 'default', mcpConfig } = this.#options;
    const option = (flag: string, value: string | undefined): string[] =>
      value === undefined ? [] : [flag, value];
    return [
      ...CLAUDE_STREAM,
      ...['--include-partial-messages', '--replay-user-messages'],
      ...['--permission-mode', permissionMode, '--setting-sources', '', '--strict-mcp-config'],
      ...option('--mcp-config', mcpConfig),
      ...option('--model', model ?? this.#options.model),
      ...option('--append-system-prompt', instructions),
      ...which,
    ];
  }

  async #open(
    id: string,
    which: readonly string[],
    options: SessionOptions,
  ): Promise<AgentSession> {
    checkOpen(this.#isClosed);
    await this.#probe.check();
    let running: Running | null = null;
    const argv = [...this.#command, ...this.#argumentsOf(which, options)];
    const cwd = options.cwd ?? this.#options.cwd ?? process.cwd();
    const plan = await planClient(this.#options, argv, cwd, () => this.#isClosed);
    const link = openClientLink(this.#options, 'Claude Code', plan, (text) => {
      const line = parseLine(text);
      if (line !== null) return void (running !== null && this.#hear(link, running, line));
      if (text.trim() === '') return;
      const bad = { type: 'bad_line', line: brief(text) } as const;
      if (running !== null && !running.stream.isOver) running.stream.push(bad);
      else tell(this.#options, bad);
    });
    this.#links.add(link);
    void link.ended.then((reason) => {
      this.#links.delete(link);
      running?.stream.end(running.isInterrupted ? 'interrupted' : 'failed', reason);
    });
    const run = (text: string): AgentTurn => {
      checkText(text, 'what is said to an agent');
      if (running !== null && !running.stream.isOver) {
        const words = `the session ${id} runs a turn already; steer it, or wait for its end`;
        throw new AgentClientError('vendor.busy', words);
      }
      if (link.isOver) {
        const words = `the program of the session ${id} has ended; resume it`;
        throw new AgentClientError('vendor.ended', words);
      }
      running = this.#begin(link, text);
      return running.stream.turn;
    };
    return { id, run };
  }

  #begin(link: ClientLink, text: string): Running {
    const unheard = new Set<string>();
    const say = (words: string): void => {
      const uuid = randomUUID();
      unheard.add(uuid);
      link.write(claudeSays(words, uuid));
    };
    const stream = createTurnStream({
      async steer(words) {
        checkUnheard(unheard.size);
        say(checkText(words, 'what is said to an agent'));
        return 'now';
      },
      async interrupt() {
        running.isInterrupted = true;
        const request = { subtype: 'interrupt' };
        link.write(
          `${JSON.stringify({ type: 'control_request', request_id: randomUUID(), request })}\n`,
        );
      },
    });
    const running: Running = {
      ...{ stream, unheard, isInterrupted: false, items: createClaudeItems(stream) },
      approvals: createApprovals(this.#options, stream),
    };
    say(text);
    return running;
  }

  #hear(link: ClientLink, running: Running, line: Fields): void {
    const { stream, items, unheard } = running;
    if (line.type === 'control_request') return void this.#decide(link, running, line);
    if (line.type === 'user' && typeof line.uuid === 'string') unheard.delete(line.uuid);
    items.line(line);
    if (line.type !== 'result') return;
    if (running.isInterrupted) return stream.end('interrupted');
    const { is_error: isError, result, subtype, errors } = line;
    if (isError === true) {
      const listed = Array.isArray(errors) ? errors.filter((one) => typeof one === 'string') : [];
      const said = typeof result === 'string' && result !== '' ? result : listed.join('; ');
      return stream.end('failed', brief(said || String(subtype ?? 'an error')));
    }
    // What it has not heard yet begins the next stretch of the same turn.
    if (unheard.size === 0) stream.end('completed');
  }

  async #decide(link: ClientLink, { approvals }: Running, line: Fields): Promise<void> {
    const ask = claudeAsk(line);
    if (ask === null) return;
    if (ask.kind === 'unknown-ask') return link.write(claudeAnswer(ask.id, null));
    const { id, tool, input } = ask;
    let permission: Permission;
    if (tool === QUESTION_TOOL) {
      await approvals.question(brief(claudeQuestion(input)));
      permission = { isApproved: false, state: 'withdrawn', words: UNANSWERED };
    } else permission = await approvals.ask(claudePermission(tool, input));
    link.write(claudeAnswer(id, { ...permission, input }));
  }
}
