/**
 * The page's one source of truth: a client of the hub, what was asked over it, whether the hub is there,
 * and which moment is looked at. The hub names what changed and the page asks again; nothing here polls
 * and nothing is guessed. With the slider in the past every question is asked of that moment, and
 * nothing can be done there.
 */
import {
  type CallId,
  type CallInput,
  type CallOutput,
  type Client,
  type ConnectionState,
  createClient,
  SynodError,
} from '../../client/index.ts';
import { type Asks, createAsks } from './asks.ts';
import { type Cell, createCell } from './cell.ts';
import { createProver, type Prover } from './proof.ts';

export interface Link {
  readonly state: ConnectionState;
  readonly reason: string | null;
  /** Why it is closed for good. */
  readonly code: string | null;
}

export interface Notice {
  readonly text: string;
  readonly isProblem: boolean;
}

/** Does something for the person. Null when it was refused; the reason is then on the page. */
export type Act = <Id extends CallId>(
  operation: Id,
  input: CallInput<Id>,
) => Promise<CallOutput<Id> | null>;

export type AskOnce = <Id extends CallId>(
  operation: Id,
  input: CallInput<Id>,
) => Promise<CallOutput<Id>>;

export interface PageStore {
  readonly client: Client;
  readonly asks: Asks;
  readonly link: Cell<Link>;
  /** The position that is looked at; null is now. */
  readonly past: Cell<number | null>;
  /** What the clock showed there, in Unix seconds; null at now, and until it is told. */
  readonly pastAt: Cell<number | null>;
  readonly notice: Cell<Notice | null>;
  readonly prover: Prover;
  /** Asks of the moment that is looked at, once. */
  readonly ask: AskOnce;
  readonly act: Act;
  /** Says it on the page. */
  say(text: string, isProblem?: boolean): void;
  complain(error: unknown): void;
  close(): Promise<void>;
}

/** About the record and the hub itself: these are not asked of an earlier moment. */
const OF_NOW: ReadonlySet<CallId> = new Set([
  ...(['audit.list', 'hub.whoami', 'record.head', 'record.span'] as const),
]);

/** A hub that was started again is back on the page soon; full jitter keeps a thousand pages apart. */
const RECONNECT_MS_MAX = 3_000;

/** The token is the page's half of its session; without one the hub says that nobody is let in. */
export function openPageStore(url: string, token: string | null): PageStore {
  const reconnect = { maxMs: RECONNECT_MS_MAX };
  const client = createClient({ url, token: token ?? undefined, reconnect });
  const link = createCell<Link>({ state: client.state, reason: null, code: null });
  const past = createCell<number | null>(null);
  const pastAt = createCell<number | null>(null);
  const notice = createCell<Notice | null>(null);
  const stopping = new AbortController();

  const ask: AskOnce = async (operation, input) => {
    const position = past.get();
    if (position === null || OF_NOW.has(operation)) {
      return client.call(operation, ...([input] as never));
    }
    const said = await client.call('record.at', {
      position,
      operation,
      input: { ...(input as object) },
    });
    if (past.get() === position) pastAt.set(said.at);
    return said.answer as never;
  };
  const asks = createAsks(({ operation, input }) => ask(operation as CallId, input as never));

  function say(text: string, isProblem = false): void {
    notice.set({ text, isProblem });
  }

  function complain(error: unknown): void {
    const { code } = error instanceof SynodError ? error : { code: '' };
    // A line that is down is told by the top line.
    if (link.get().state !== 'open' && /^(connection|client|request)\./.test(code)) return;
    say(error instanceof Error ? error.message : String(error), true);
  }

  async function follow(): Promise<void> {
    try {
      for await (const { nouns } of client.changes({ signal: stopping.signal })) {
        // The past does not change; after a break it is asked for again all the same.
        if (past.get() === null || nouns === 'all') asks.changed(nouns);
      }
    } catch (error) {
      complain(error);
    }
  }

  client.onState((state, error) => {
    const wasOpen = link.get().state === 'open';
    link.set({ state, reason: error?.message ?? null, code: error?.code ?? null });
    // What is asked from here on waits for the hub; `changes` says `all` when it is back.
    if (wasOpen) asks.age(false);
  });
  past.watch(() => {
    if (past.get() === null) pastAt.set(null);
    asks.age(true);
  });
  void follow();

  return {
    ...{ client, asks, link, past, pastAt, notice, ask, say, complain },
    prover: createProver(client),
    act: async (operation, input) => {
      if (past.get() !== null) {
        say('this is the past, and nothing can be done there; go back to now first', true);
        return null;
      }
      try {
        const answer = await client.call(operation, ...([input] as never));
        if (notice.get()?.isProblem) notice.set(null);
        return answer;
      } catch (error) {
        complain(error);
        return null;
      }
    },
    async close() {
      stopping.abort();
      await client.close();
    },
  };
}
