/**
 * Everything behind the hook door, put together: the session book, the record, the settings, the desk and
 * the waker, for one hub and one data directory.
 */
import { join } from 'node:path';
import type { ReportFailure } from '../desk/failure.ts';
import { createAttentions } from './attention.ts';
import { openDecisionLog } from './decision-log.ts';
import type { HarnessHub } from './harness-hub.ts';
import { createHookDesk, type HookDesk } from './hook-desk.ts';
import { openSessionBook } from './session-book.ts';
import { openDoorSettings } from './settings-file.ts';
import { claudeSocket } from './wake/claude-socket.ts';
import { codexAppServer } from './wake/codex-app-server.ts';
import { createHeadless } from './wake/headless.ts';
import { createStreamMeans } from './wake/stream.ts';
import { createWaiters, type Waiters } from './wake/waiters.ts';
import { createWaker } from './wake/wake.ts';

export interface HookRoomOptions {
  readonly dir: string;
  readonly hub: HarnessHub;
  readonly env: Readonly<Record<string, string | undefined>>;
  warn(line: string): void;
  readonly report: ReportFailure;
  readonly settleMs?: number;
  readonly confirmMs?: number;
}

export interface Sent {
  readonly by: string | null;
  readonly atMs: number;
}

export interface HookRoom {
  readonly desk: HookDesk;
  readonly waiters: Waiters;
  /** Where agents were idle when the hub stopped: they are to be heard of again. */
  readonly spaces: readonly string[];
  /** These were sent in the space and are durable; what was held and is released now counts as sent by nobody. */
  onSent(space: string, sent: readonly Sent[]): void;
  close(): Promise<void>;
}

export async function openHookRoom(options: HookRoomOptions): Promise<HookRoom> {
  const { dir, hub, env, warn, report, settleMs, confirmMs } = options;
  const book = await openSessionBook({ path: join(dir, 'sessions.json'), onTrouble: report });
  const logs = env.SOX_LOG_DIR || join(dir, 'logs');
  const record = openDecisionLog(join(logs, 'decisions.jsonl'), report);
  const settings = openDoorSettings(dir, env, (what, cause) => {
    if (cause === null) warn(what);
    else report(what, cause);
  });
  const waiters = createWaiters();
  const headless = createHeadless(env);
  const waker = createWaker({
    ...{ hub, settings, record },
    means: [createStreamMeans(hub), waiters.means, claudeSocket, codexAppServer, headless.means],
    ...(settleMs !== undefined && { settleMs }),
    ...(confirmMs !== undefined && { confirmMs }),
  });
  const desk = createHookDesk({
    hub,
    book,
    attentions: createAttentions(),
    waker,
    settings,
    record,
    report,
  });
  const spaces = await desk.restore();
  return {
    desk,
    waiters,
    spaces,
    onSent(space, sent) {
      for (const { by, atMs } of sent) if (by !== null) desk.onSent(space, by, atMs);
      waker.arrived(space);
    },
    async close() {
      waker.close();
      waiters.close();
      headless.close();
      await Promise.all([book.close(), record.close()]);
    },
  };
}
