/**
 * Everything behind the hook door, put together: the session book, the record, the settings, the desk of
 * hooks and the waker, for one hub and one data directory. It hears what is sent in every space whose
 * agents came by.
 */
import { join } from 'node:path';
import { SERVER } from '../../core/law/principal.ts';
import type { Introduction } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import type { ReportFailure } from '../desk/failure.ts';
import type { Spaces } from '../desk/spaces.ts';
import { createAttentions } from './attention.ts';
import { type BlockedTimes, createBlockedSessions } from './blocked.ts';
import { openDecisionLog } from './decision-log.ts';
import { createHookDesk, type HookDesk } from './hook-desk.ts';
import { createPromptGates } from './prompt-gates.ts';
import { openSessionBook } from './session-book.ts';
import { sessionsPath } from './session-place.ts';
import { openDoorSettings } from './settings-file.ts';
import { claudeSocket } from './wake/claude-socket.ts';
import { codexAppServer } from './wake/codex-app-server.ts';
import { createWaiters, type Waiters } from './wake/waiters.ts';
import { createWaker } from './wake/wake.ts';
import { streamMeans } from './wake/wake-means.ts';

export interface HooksOptions {
  readonly desk: Desk;
  readonly spaces: Spaces;
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long the waking of idle agents waits, for tests. */
  readonly wake?: WakeTimes | undefined;
  /** For a mistake in a person's settings. */
  warn(line: string): void;
  readonly report: ReportFailure;
}

export interface WakeTimes extends BlockedTimes {
  readonly settleMs?: number;
  readonly confirmMs?: number;
}

export interface Hooks {
  readonly desk: HookDesk;
  readonly waiters: Waiters;
  /** From now on it is heard what is sent there. */
  follow(space: string): void;
  /** Prompts that wait for people are taken back. */
  endWaits(): void;
  close(): Promise<void>;
}

/** The owner may speak for any agent of theirs. */
const OWNERS: Omit<Introduction, 'agent' | 'space'> = {
  ...{ token: null, clientVersion: null, isOwnerSocket: true, wantsOwner: false },
  ...{ transport: 'http', connectionId: 'hooks' },
};

export async function openHooks(options: HooksOptions): Promise<Hooks> {
  const { spaces, dir, env, warn, report } = options;
  const book = await openSessionBook({ path: sessionsPath(dir), onTrouble: report });
  // A name that a session was given stays its own, also before it speaks to this hub again [I13].
  for (const { agent, space } of book.list()) {
    if (spaces.has(space)) await options.desk.authenticate({ ...OWNERS, agent, space });
  }
  const logs = env.SOX_LOG_DIR || join(dir, 'logs');
  const record = openDecisionLog(join(logs, 'decisions.jsonl'), report);
  const settings = openDoorSettings(dir, env, (what, cause) => {
    if (cause === null) warn(what);
    else report(what, cause);
  });
  const waiters = createWaiters();
  const waker = createWaker({
    ...{ settings, record, ...options.wake },
    means: [streamMeans, waiters.means, claudeSocket, codexAppServer],
    onWake(space, wake) {
      const hub = spaces.find(space);
      hub?.submitThen({ type: 'wake.record', by: SERVER, at: hub.stamp(), wake }, () => {});
    },
  });
  const attentions = createAttentions(options.desk, spaces);
  const isLive = (space: string, agent: string): boolean =>
    book.list().some((one) => one.space === space && one.agent === agent && book.isLive(one));
  const blocked = createBlockedSessions({
    ...{ ...options.wake, report, isLive },
    hubs: () => spaces.list().flatMap(({ name }) => spaces.find(name) ?? []),
  });
  const prompts = createPromptGates({ desk: options.desk, lookMs: options.wake?.lookMs, isLive });
  const desk = createHookDesk({
    ...{ desk: options.desk, book, attentions, waker, blocked, prompts, settings, record, report },
  });
  const followed = new Map<string, () => void>();

  function follow(space: string): void {
    const hub = followed.has(space) ? null : spaces.find(space);
    if (hub === null) return;
    const stop = hub.watch.events((_world, _first, events) => {
      let isAnySent = false;
      for (const event of events) {
        if (event.type === 'message.sent' && event.held === undefined) {
          desk.onSent(space, event.by, event.at);
          isAnySent = true;
        } else if (event.type === 'message.reviewed' && event.isReleased) isAnySent = true;
      }
      if (isAnySent) waker.arrived(space);
    });
    followed.set(space, stop);
  }

  const stopHearing = spaces.onRemoved((space) => {
    followed.get(space)?.();
    followed.delete(space);
  });

  // Where agents were idle when the hub stopped, they are to be heard of again.
  for (const space of await desk.restore()) follow(space);
  void blocked.look();
  return {
    desk,
    waiters,
    follow,
    endWaits: () => prompts.close(),
    async close() {
      stopHearing();
      for (const stop of followed.values()) stop();
      waker.close();
      blocked.close();
      prompts.close();
      waiters.close();
      await Promise.all([book.close(), record.close()]);
    },
  };
}
