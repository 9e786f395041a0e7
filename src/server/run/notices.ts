/**
 * Tells people of what waits for them [DK10]: once for each item, and again after a while. That they
 * are told is recorded before it is done, so that a restart, or a way that fails, repeats nothing; a
 * way that fails is a line in the log. A space is looked at when something happened in it, at most once
 * a second, and when a reminder is due: a quiet hub costs nothing.
 */

import { kindsOf } from '../../core/docket/docket-page.ts';
import { itemId } from '../../core/docket/docket-state.ts';
import { dueNotices } from '../../core/docket/due-notices.ts';
import { isRefusal } from '../../core/law/decider.ts';
import { SERVER } from '../../core/law/principal.ts';
import type { Hub } from '../../hub/hub.ts';
import { checkWay, type Notice, type NoticeWay, tell, type WayOptions } from './notice-ways.ts';
import type { ServerLog } from './server-log.ts';
import type { OpenSpaces } from './spaces.ts';

export interface NoticesConfig {
  readonly ways: readonly NoticeWay[];
  /** Null: never again. */
  readonly remindAfterMs: number | null;
}

export interface NoticesOptions extends NoticesConfig, Pick<WayOptions, 'env' | 'retryMs'> {
  readonly spaces: Pick<OpenSpaces, 'onOpened'>;
  readonly log: ServerLog;
  /** So long things may gather before one notice tells of them. */
  readonly gatherMs?: number;
}

/** Of one notice. */
const ITEMS_MAX = 50;
const GATHER_MS = 1_000;
/** The longest a timer can wait. */
const TIMER_MS_MAX = 2_147_483_647;

export function openNotices(options: NoticesOptions): { close(): Promise<void> } {
  const { ways, remindAfterMs, spaces, log, env, retryMs, gatherMs = GATHER_MS } = options;
  const ending = new AbortController();
  const stops = new Set<() => void>();
  /** One at a time for each way: a slow one holds up nobody but itself. */
  const queues = ways.map(() => Promise.resolve());
  for (const way of ways) {
    void checkWay(way).then((why) => {
      if (why !== null) log('error', `notices by ${way.kind} will fail: ${why}`);
    });
  }

  function follow(hub: Hub): void {
    let timer: NodeJS.Timeout | null = null;
    let dueAt = Number.POSITIVE_INFINITY;
    const lookAt = (at: number): void => {
      if (at >= dueAt || ending.signal.aborted) return;
      if (timer !== null) clearTimeout(timer);
      dueAt = at;
      const waitMs = Math.min(Math.max(0, at - Date.now()), TIMER_MS_MAX);
      timer = setTimeout(() => {
        dueAt = Number.POSITIVE_INFINITY;
        void look();
      }, waitMs).unref();
    };
    const look = async (): Promise<void> => {
      const found = await due(hub);
      if (found === null) return;
      if (found.notice !== null) tellAll(found.notice);
      if (found.nextAt !== null) lookAt(found.nextAt);
    };
    const stop = hub.watch.events(({ docket }) => {
      if (docket.open.length > 0) lookAt(Date.now() + gatherMs);
    });
    stops.add(() => {
      stop();
      if (timer !== null) clearTimeout(timer);
    });
    void look();
  }

  /** What is to be told now, put on the record; null when the hub does not answer. */
  async function due(hub: Hub): Promise<{ notice: Notice | null; nextAt: number | null } | null> {
    const at = hub.stamp();
    const found = await hub.ask(({ docket }) => {
      const { items, nextAt } = dueNotices(docket, at, remindAfterMs, ITEMS_MAX);
      const ids = items.map(({ id }) => id);
      const shown = items.map((item) => ({
        ...{ item_id: itemId(item.id), kinds: kindsOf(item), agent_id: item.agent },
        ...{ reason: item.reason, text: item.text, count: item.count, since: item.since / 1000 },
        is_reminder: item.noticedAt !== null && item.since <= item.noticedAt,
      }));
      return { ids, shown, nextAt, open: docket.open.length };
    });
    if (isRefusal(found)) return null;
    const { ids, shown, nextAt, open } = found;
    if (ids.length === 0) return { notice: null, nextAt };
    const recorded = await hub.submit({ type: 'docket.notice', by: SERVER, at: hub.stamp(), ids });
    if (isRefusal(recorded)) return null;
    const notice: Notice = { event: 'docket', space: hub.space, at: at / 1000, open, items: shown };
    const again = remindAfterMs === null ? null : at + remindAfterMs;
    return { notice, nextAt: nextAt ?? again };
  }

  function tellAll(notice: Notice): void {
    ways.forEach((way, i) => {
      queues[i] = (queues[i] ?? Promise.resolve())
        .then(() =>
          ending.signal.aborted
            ? undefined
            : tell(way, notice, { env, signal: ending.signal, ...(retryMs && { retryMs }) }),
        )
        .catch((cause: Error) => {
          const what = notice.items.map(({ item_id }) => item_id).join(', ');
          log('warn', `nobody was told of ${what} by ${way.kind}: ${cause.message}`);
        });
    });
  }

  stops.add(spaces.onOpened(follow));
  return {
    async close() {
      ending.abort();
      for (const stop of stops) stop();
      await Promise.all(queues);
    },
  };
}
