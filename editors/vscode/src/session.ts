/**
 * The hub as the editor follows it: connected while one answers, looked for again when it is gone. It is
 * told which nouns changed and asks for those; nothing is asked for on a clock but a hub that is away.
 */
import { basename, dirname } from 'node:path';
import type { Client, ConnectionState } from '../../../src/client/index.ts';
import type { DocketItem } from './docket-rows.ts';
import { asPattern, type Holder, holdersOf } from './held-file.ts';
import type { ThreadHead, ThreadMessage } from './thread-rows.ts';

const RETRY_MS = 5_000;
const THREADS_SHOWN = 50;
const REPLIES_SHOWN = 200;

export type Changed = 'state' | 'docket' | 'threads' | 'claims';

export interface Session {
  readonly isHere: boolean;
  /** Who one is there. */
  readonly me: string;
  readonly docket: readonly DocketItem[];
  readonly threads: readonly ThreadHead[];
  /** Who else holds a file; nobody when it cannot be told. */
  holders(file: string): Promise<Holder[]>;
  thread(id: string): Promise<{ messages: readonly ThreadMessage[]; isMore: boolean }>;
  answer(itemId: string, text: string): Promise<void>;
  take(itemId: string): Promise<void>;
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface SessionOptions {
  open(): Promise<Client>;
  onChange(what: Changed): void;
  readonly retryMs?: number;
}

/** Operations by name: a hub that does not know one says so, and the rest goes on. */
type Ask = (id: string, input: object) => Promise<Record<string, unknown>>;

export function openSession({ open, onChange, retryMs = RETRY_MS }: SessionOptions): Session {
  let client: Client | null = null;
  let me = '';
  let docket: readonly DocketItem[] = [];
  let threads: readonly ThreadHead[] = [];
  /** Null before the first look. */
  let isUp: boolean | null = null;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const stop = new AbortController();

  const ask: Ask = (id, input) => {
    if (client === null) return Promise.reject(new Error('no hub answers; start one: synod up'));
    return (client.call as unknown as Ask)(id, input);
  };

  async function askDocket(): Promise<void> {
    docket = (await ask('docket.list', {})).items as DocketItem[];
    onChange('docket');
  }

  async function askThreads(): Promise<void> {
    const answer = await ask('threads.list', { state: 'open', limit: THREADS_SHOWN });
    threads = answer.threads as ThreadHead[];
    onChange('threads');
  }

  /** One part that fails does not keep the others from being shown. */
  async function askFor(nouns: readonly string[] | 'all'): Promise<void> {
    const has = (...wanted: string[]): boolean =>
      nouns === 'all' || wanted.some((noun) => nouns.includes(noun));
    await Promise.allSettled([
      has('docket', 'gates', 'held') && askDocket(),
      has('messages', 'channels', 'threads') && askThreads(),
    ]);
    if (has('claims')) onChange('claims');
  }

  /** The client mends its line by itself; while there is none, what was known may be so no more. */
  function onLine(state: ConnectionState): void {
    const isNow = state === 'open';
    if (isNow === isUp) return;
    isUp = isNow;
    if (!isUp) [docket, threads] = [[], []];
    onChange('state');
  }

  async function follow(): Promise<void> {
    try {
      client = await open();
      me = (await client.whoami()).agent_id;
      if (isClosed) return;
      client.onState(onLine);
      onLine('open');
      for await (const { nouns } of client.changes({ signal: stop.signal })) await askFor(nouns);
    } catch {
      // There is none, or it has gone: it is looked for again below.
    }
    const lost = client;
    client = null;
    await lost?.close().catch(() => {});
    if (isClosed) return;
    isUp = null;
    onLine('closed');
    timer = setTimeout(() => void follow(), retryMs);
  }

  const following = follow();

  return {
    get isHere() {
      return isUp === true;
    },
    get me() {
      return me;
    },
    get docket() {
      return docket;
    },
    get threads() {
      return threads;
    },
    async holders(file) {
      const input = { worktree: dirname(file), paths: [asPattern(basename(file))] };
      try {
        const { conflicts } = await ask('claims.check', input);
        return holdersOf(conflicts as Parameters<typeof holdersOf>[0]);
      } catch {
        return [];
      }
    },
    async thread(id) {
      const page = await ask('threads.get', { message_id: id, limit: REPLIES_SHOWN });
      const root = page.root as ThreadMessage | null;
      const replies = page.replies as ThreadMessage[];
      return { messages: root === null ? replies : [root, ...replies], isMore: page.next !== null };
    },
    async answer(item_id, note) {
      const { item } = await ask('docket.get', { item_id });
      const { subjects } = item as DocketItem;
      const [only, another] = subjects.filter(({ kind }) => kind === 'question');
      if (only === undefined) throw new Error(`${item_id} asks nothing any more`);
      if (another !== undefined) {
        throw new Error(`${item_id} asks several things: answer with synod docket answer --about`);
      }
      const { subject } = only;
      await ask('docket.close', { item_id, subject, outcome: 'answered', note });
    },
    take: async (item_id) => void (await ask('docket.take', { item_id })),
    refresh: () => askFor('all'),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      stop.abort();
      await client?.close().catch(() => {});
      await following.catch(() => {});
    },
  };
}
