/**
 * What a scripted model is asked and what it answers, the same for every vendor's API.
 *
 * A request is read once, by its dialect, into these words, so that a test says "the model was shown
 * this" without knowing four JSON shapes. The raw body stays beside it. Nothing here does I/O.
 */

export type DialectName = 'anthropic' | 'responses' | 'chat' | 'gemini';

/** One tool the model was offered, under the name it must call it by. */
export interface OfferedTool {
  readonly name: string;
  /** Codex groups the tools of an MCP server: the call must name the group too. */
  readonly namespace?: string;
}

/** One thing in the conversation: what the user, the model or a tool said. */
export interface Said {
  readonly by: 'system' | 'user' | 'model' | 'tool';
  readonly text: string;
}

export interface ModelRequest {
  readonly dialect: DialectName;
  readonly path: string;
  readonly model: string;
  readonly isStreaming: boolean;
  readonly tools: readonly OfferedTool[];
  readonly said: readonly Said[];
  readonly body: unknown;
  /** When it came, on the clock of `performance.now()`. */
  readonly atMs: number;
}

export type Step = { readonly say: string } | CallStep | FailStep;

/** The API itself refuses: its status, its headers, and its body in the vendor's own words. */
export interface FailStep {
  readonly fail: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

export interface CallStep {
  readonly call: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Done instead, again and again, while the tool is not offered yet. */
  readonly meanwhile?: CallStep;
}

/** A step that is decided when its turn comes. It may wait: that is a model which thinks. */
export type Thought = (request: ModelRequest) => Step | Promise<Step>;

/** A list is played once, one step a turn, then `say: 'done'` for ever; a function decides alone. */
export type Script = readonly (Step | Thought)[] | Thought;

/** What the dialect writes: the step, with the tool found in the request's own list. */
export type Answer =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly tool: OfferedTool; readonly args: unknown };

export interface Dialect {
  readonly name: DialectName;
  /** Null when the path is not this dialect's. */
  readonly read: (path: string, body: unknown) => Omit<ModelRequest, 'atMs'> | null;
  /** The whole answer: the body, and its content type. */
  readonly write: (answer: Answer, request: ModelRequest, id: string) => Written;
}

export interface Written {
  readonly contentType: string;
  readonly text: string;
}

/** The offered tool called `suffix`, or whose name ends with it behind the vendor's prefix. */
export function findTool(request: ModelRequest, suffix: string): OfferedTool | undefined {
  return (
    request.tools.find(({ name }) => name === suffix) ??
    request.tools.find(({ name }) => name.endsWith(suffix))
  );
}

/** Everything that the model was shown, or only what one of the parties said. */
export function textShown(request: ModelRequest, by?: Said['by']): string {
  const said = by === undefined ? request.said : request.said.filter((each) => each.by === by);
  // Gemini CLI hands a tool's answer on as a JSON string within JSON.
  return said.map(({ text }) => text.replaceAll('\\"', '"')).join('\n');
}

/** Side errands (titles, summaries, probes) offer no tools; a turn of the agent does. */
export function isTurn(request: ModelRequest): boolean {
  return request.tools.length > 0;
}

/** `data:` lines as each API streams them; `event:` where the API names its events. */
export function serverSentEvents(
  events: readonly (readonly [name: string | null, payload: unknown])[],
): string {
  return events
    .map(([name, payload]) => {
      const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
      return `${name === null ? '' : `event: ${name}\n`}data: ${text}\n\n`;
    })
    .join('');
}
