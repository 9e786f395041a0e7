/**
 * A channel somebody looks at: its end is read once, then the hub pushes what is said, and older pages are
 * fetched when they are scrolled to. The stream is confirmed before the end is read, so that nothing falls
 * between; after a break the client resumes it, without loss and without repeat [K3]. In the past nothing
 * is pushed: the channel is read as it was.
 */
import { type Replay, readAfter, readBefore, readTail } from '../../../client/history.ts';
import { type Cell, createCell } from '../cell.ts';
import type { PageStore } from '../page-store.ts';
import {
  type ChannelLog,
  EMPTY_LOG,
  HELD_MESSAGES_MAX,
  type Said,
  saidOf,
  withNews,
  withOlder,
} from './channel-log.ts';

export interface Talk {
  /** Reads and follows until the returned function is called; may be begun again. */
  start(): () => void;
  readonly log: Cell<ChannelLog>;
  /** Why nothing can be read; null while all is well. */
  readonly error: Cell<string | null>;
  /** Whether the first answer is there. */
  readonly isRead: Cell<boolean>;
  loadOlder(): void;
  /** To the newest again, after the window has moved far from it. */
  loadEnd(): void;
}

/** Messages that arrive together are shown together. */
const GATHER_MS = 16;
/** Beyond this many missed, the end is read anew. */
const CATCH_UP_MAX = HELD_MESSAGES_MAX / 2;

type TalkStore = Pick<PageStore, 'client' | 'ask' | 'past'>;

export function createTalk(store: TalkStore, channel: string, known: ChannelLog | null): Talk {
  const log = createCell<ChannelLog>(known ?? EMPTY_LOG);
  const error = createCell<string | null>(null);
  const isRead = createCell(known !== null);
  let running = new AbortController();
  let loading: AbortSignal | null = null;
  const replay: Replay = (name, options = {}) =>
    store.ask('channels.replay', { ...options, channel: name });

  /** One thing at a time; what was begun before the talk was left changes nothing any more. */
  async function load(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = running;
    if (loading === signal || signal.aborted) return;
    loading = signal;
    try {
      await work(signal);
      error.set(null);
    } catch (cause) {
      if (!signal.aborted) error.set(cause instanceof Error ? cause.message : String(cause));
    } finally {
      if (loading === signal) loading = null;
      if (!signal.aborted) isRead.set(true);
    }
  }

  async function readEnd(signal: AbortSignal): Promise<void> {
    const { messages, isWhole } = await readTail(replay, channel);
    if (signal.aborted) return;
    const said = messages.map(saidOf);
    const fresh: ChannelLog = { said, isFromStart: isWhole, isToEnd: true };
    // What was pushed meanwhile stays.
    log.set(
      withNews(
        fresh,
        log.get().said.filter(({ seq }) => seq > (said.at(-1)?.seq ?? 0)),
      ),
    );
  }

  async function readMissed(last: Said, signal: AbortSignal): Promise<void> {
    let missed = 0;
    for await (const page of readAfter(replay, channel, last.seq)) {
      if (signal.aborted) return;
      missed += page.length;
      if (missed > CATCH_UP_MAX) {
        log.set(EMPTY_LOG);
        return readEnd(signal);
      }
      log.set(withNews(log.get(), page.map(saidOf)));
    }
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const gathered: Said[] = [];
    let isDue = false;
    const stream = store.client.messages({ channels: [channel], from: 'now', signal });
    try {
      await stream.ready;
      const last = log.get().isToEnd ? log.get().said.at(-1) : undefined;
      void load(() => (last === undefined ? readEnd(signal) : readMissed(last, signal)));
      for await (const message of stream) {
        gathered.push(saidOf(message));
        if (isDue) continue;
        isDue = true;
        setTimeout(() => {
          isDue = false;
          log.set(withNews(log.get(), gathered.splice(0)));
        }, GATHER_MS);
      }
    } catch (cause) {
      if (signal.aborted) return;
      error.set(cause instanceof Error ? cause.message : String(cause));
      isRead.set(true);
    }
  }

  return {
    log,
    error,
    isRead,
    start() {
      const mine = new AbortController();
      running = mine;
      if (store.past.get() === null) void follow(mine.signal);
      else void load(readEnd);
      return () => mine.abort();
    },
    loadOlder() {
      const { said, isFromStart } = log.get();
      const [first] = said;
      if (isFromStart || first === undefined) return;
      void load(async (signal) => {
        const { messages, isWhole } = await readBefore(replay, channel, first.seq);
        if (!signal.aborted) log.set(withOlder(log.get(), messages.map(saidOf), isWhole));
      });
    },
    loadEnd() {
      if (log.get().isToEnd) return;
      void load(async (signal) => {
        log.set(EMPTY_LOG);
        await readEnd(signal);
      });
    },
  };
}
