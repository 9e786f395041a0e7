/**
 * The one interface to agents of all vendors: sessions that are started, resumed and forked, turns that are
 * streams of items, steered and interrupted [VC1]. What an agent asks permission for becomes a gate at the hub,
 * or a question to a function of the caller; where there is neither, the answer is no [VC3].
 */
import type { Guard } from '../../../guard/guard.ts';
import type { HubCalls } from '../supervisor-options.ts';
import type { AgentItem, AgentTurnEnd } from './agent-item.ts';

/**
 * What it wants to do, for whoever decides.
 *
 * @example
 * ```ts
 * const approve = async ({ action }: ApprovalAsk): Promise<boolean> => action === 'read';
 * ```
 */
export interface ApprovalAsk {
  /** In a word or two. */
  readonly action: string;
  readonly subject: string;
  /** The arguments in full; the answer holds for these and no others. */
  readonly payload: unknown;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * How a vendor's program is started, whichever it is.
 *
 * @example
 * ```ts
 * const options: AgentClientOptions = { cwd: '/srv/app', inheritEnv: ['OPENAI_API_KEY'] };
 * ```
 */
export interface AgentClientOptions {
  /** The program and its first arguments; left out, the vendor's own name on the PATH. */
  readonly command?: readonly string[];
  /** Where sessions work unless they say otherwise; left out, where we are. */
  readonly cwd?: string;
  /** Variables that are set. It inherits no others but what a program needs to run at all. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of variables of ours that it is given too: its key, for one. `LC_*` is all that begin so. */
  readonly inheritEnv?: readonly string[];
  /** What the program may do: all that is started of it is started through it, or not at all. */
  readonly guard?: Guard;
  readonly model?: string;
  /** Where approvals become gates. */
  readonly hub?: HubCalls;
  /** Seconds after which a gate that nobody answered expires; left out, as long as gates wait. */
  readonly askSeconds?: number;
  /** Decides instead of a gate. Anything but true, and anything thrown, is no. */
  approve?(ask: ApprovalAsk): Promise<boolean> | boolean;
  /** How long the program may take to answer a call that is not a turn. Default 60 s. */
  readonly answerTimeoutMs?: number;
  /** Between being asked to end and being killed. Default 5 s. */
  readonly graceMs?: number;
  /** What concerns no turn: stderr, stray lines, the end of the program. What it throws changes nothing. */
  onEvent?(event: AgentClientEvent): void;
}

/**
 * What a vendor's program did beside its turns.
 *
 * @example
 * ```ts
 * const line = (event: AgentClientEvent): string =>
 *   event.type === 'ended' ? event.reason : event.line;
 * ```
 */
export type AgentClientEvent =
  | { readonly type: 'stderr'; readonly line: string }
  | { readonly type: 'bad_line'; readonly line: string }
  | { readonly type: 'ended'; readonly reason: string };

/**
 * What is said of a session with a vendor's agent when it starts.
 *
 * @example
 * ```ts
 * const options: SessionOptions = { cwd: '/srv/app', instructions: 'Answer in one line.' };
 * ```
 */
export interface SessionOptions {
  readonly cwd?: string;
  readonly model?: string;
  /** What the agent is told before all else, where the vendor has a place for it. */
  readonly instructions?: string;
}

/**
 * A vendor's program, as a program speaks with it.
 *
 * @example
 * const clients: AgentClient[] = [new CodexClient({ hub }), new ClaudeClient({ hub })];
 * const sessions = await Promise.all(clients.map((client) => client.start()));
 */
export interface AgentClient extends AsyncDisposable {
  readonly vendor: string;
  /** The program's version, and what it lacks; asked once, and again when the file has changed. */
  probe(): Promise<ProbedProgram>;
  start(options?: SessionOptions): Promise<AgentSession>;
  /** Goes on with a session, by the id it had, also of another process. */
  resume(id: string, options?: SessionOptions): Promise<AgentSession>;
  /** A new session with the same past; the old one stays as it is. */
  fork(id: string, options?: SessionOptions): Promise<AgentSession>;
  /** Ends the program, and with it every turn. */
  close(): Promise<void>;
}

/**
 * Which version of a vendor's program is there, and what it lacks.
 *
 * @example
 * ```ts
 * const isUsable = ({ lack }: ProbedProgram): boolean => lack === null;
 * ```
 */
export interface ProbedProgram {
  /** As it calls itself; null when it would not say. */
  readonly version: string | null;
  /** What it lacks, as a sentence; null when it can be used. */
  readonly lack: string | null;
}

/**
 * A conversation with a vendor's agent.
 *
 * @example
 * ```ts
 * const ask = async (session: AgentSession): Promise<string> =>
 *   (await session.run('what is missing?').ended).text;
 * ```
 */
export interface AgentSession {
  readonly id: string;
  /** One turn at a time. */
  run(text: string): AgentTurn;
}

/**
 * A turn: its items as they come, once, and its end. Who stops reading does not stop it.
 *
 * @example
 * ```ts
 * async function read(turn: AgentTurn): Promise<string> {
 *   for await (const item of turn) if (item.type === 'text') process.stdout.write(item.text);
 *   return (await turn.ended).state;
 * }
 * ```
 */
export interface AgentTurn extends AsyncIterable<AgentItem> {
  /** Never rejects: what goes wrong is the state `failed`. */
  readonly ended: Promise<AgentTurnEnd>;
  /**
   * Says something to it while it works: `now` when it hears it within what it does, `after` when its
   * protocol lets it hear only afterwards, in the same turn.
   */
  steer(text: string): Promise<'now' | 'after'>;
  /** Ends it; resolves when it has ended. What it was about to ask is withdrawn. */
  interrupt(): Promise<void>;
}

/**
 * Why a vendor's program could not be used as asked, in a word.
 *
 * @example
 * ```ts
 * const isForLater = (code: AgentClientErrorCode): boolean => code === 'vendor.busy';
 * ```
 */
export type AgentClientErrorCode =
  | 'vendor.invalid'
  | 'vendor.unusable'
  | 'vendor.refused'
  | 'vendor.unsupported'
  | 'vendor.busy'
  | 'vendor.ended'
  | 'vendor.timeout'
  | 'vendor.closed';

/**
 * Why a vendor's program could not be used as asked.
 *
 * @example
 * await client.start().catch((error: AgentClientError) => console.error(error.code, error.message));
 */
export class AgentClientError extends Error {
  override readonly name = 'AgentClientError';
  readonly code: AgentClientErrorCode;

  constructor(code: AgentClientErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** What a program has not read yet is kept by us: one text is not more than this. */
export const TEXT_CHARS_MAX: number = 1024 * 1024;
/** What may be said to a turn that has not heard of it yet. */
export const UNHEARD_MAX = 100;

export function checkText(text: unknown, what: string): string {
  if (typeof text === 'string' && text.length > TEXT_CHARS_MAX) {
    const words = `${what} has at most ${TEXT_CHARS_MAX} characters; put the rest into a file`;
    throw new AgentClientError('vendor.invalid', words);
  }
  if (typeof text === 'string' && text.trim() !== '') return text;
  throw new AgentClientError('vendor.invalid', `${what} is a text that is not empty`);
}

export function checkUnheard(count: number): void {
  if (count < UNHEARD_MAX) return;
  const words = `${UNHEARD_MAX} things were said to this turn that it has not heard; wait for it`;
  throw new AgentClientError('vendor.busy', words);
}

/** An id goes into a command line or a call as it is. */
export function checkOpen(isClosed: boolean): void {
  if (isClosed) throw new AgentClientError('vendor.closed', 'this client is closed');
}

export function checkSessionId(id: unknown): string {
  if (typeof id === 'string' && /^[\w.:-]{1,200}$/.test(id) && !id.startsWith('-')) return id;
  throw new AgentClientError('vendor.invalid', `${JSON.stringify(id)} is no id of a session`);
}
