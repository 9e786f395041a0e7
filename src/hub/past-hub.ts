/**
 * A hub of an earlier moment: it answers what the world was and what the log held then, at the time it
 * was then, and takes nothing. Nothing happens in it any more, so nobody waits there for anything.
 */
import { type Refusal, refuse } from '../core/law/decider.ts';
import type { World } from '../core/law/state.ts';
import type { Log } from '../log/log.ts';
import type { Hub } from './hub.ts';
import { createMessageStore, type MessageHead } from './message-store.ts';
import { createReading } from './reading.ts';
import { NO_TURNS } from './turns.ts';
import { createWatch } from './watch.ts';

/** What is needed of a log to look back into it. */
export type PastLog = Pick<Log, 'read' | 'at' | 'loadSnapshot'>;

export interface PastHubOptions {
  readonly space: string;
  /** Not changed as long as this hub is used. */
  readonly world: World;
  readonly at: number;
  readonly log: PastLog;
  /** Which of these messages may be shown. */
  screen(heads: readonly MessageHead[]): Promise<readonly boolean[]>;
}

export function openPastHub({ space, world, at, log, screen }: PastHubOptions): Hub {
  const store = createMessageStore(log, 0);
  const watch = createWatch({ now: () => at, soon() {}, after: () => () => {} }, () => {});
  watch.endWaits();

  async function shown<M extends MessageHead>(found: (M | null)[]): Promise<(M | null)[]> {
    const messages = found.filter((one) => one !== null);
    const isShown = await screen(messages);
    let next = 0;
    return found.map((one) => (one !== null && isShown[next++] ? one : null));
  }

  return {
    space,
    watch,
    // It stands in a thread of its own.
    turns: NO_TURNS,
    stamp: () => at,
    submitThen: (_command, done) => done(readOnly()),
    submit: async () => readOnly(),
    ask: async (question) => question(world),
    messages: async (positions) => shown(await store.read(positions)),
    messageTexts: async (positions) => shown(await store.readTexts(positions)),
    ...createReading(log, () => world.length, NO_TURNS),
    describedAs: (channel) => world.channels.get(channel)?.described ?? null,
    schemaOf(channel) {
      const settings = world.channels.get(channel)?.settings;
      return { text: settings?.schema ?? null, version: settings?.schemaVersion ?? 0 };
    },
    compactedAt: null,
    head: '',
    hasManaged: world.turns.agents.size > 0,
    async reach() {},
    openFeed: readOnly,
    isAvailable: true,
    isInUse: true,
    standing: null,
    whispers: null,
    stats: { entries: world.length, queued: 0, feeds: 0, batches: 0 },
    async close() {},
  };
}

function readOnly(): Refusal {
  return refuse('record.operation', 'the past is read only; ask for what happened, and act now');
}
