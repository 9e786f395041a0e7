/**
 * Sessions whose harness asks a person, on the docket [DK9]. Whoever sits at the terminal answers
 * within seconds and needs no list; a session that still stands after a while is put on it, with the
 * words and since when, and is off it when its next hook says that it goes on. One that died while it
 * asked says nothing any more: whoever is listed is looked at now and then.
 */
import { blockedSessions } from '../../core/docket/blocked-session.ts';
import { isRefusal } from '../../core/law/decider.ts';
import { SERVER } from '../../core/law/principal.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Attention } from './attention.ts';
import { type HookEvent, shortened } from './hook-event.ts';

export interface BlockedTimes {
  /** How long a session asks before it is on the docket. */
  readonly patienceMs?: number;
  /** How often it is looked whether those on the docket are still there. */
  readonly lookMs?: number;
}

export interface BlockedOptions extends BlockedTimes {
  /** Whether a session of the agent is there to ask. */
  isLive(space: string, agent: string): boolean;
  hubs(): readonly Hub[];
  report(what: string, cause: unknown): void;
}

export interface BlockedSessions {
  /** It asks; `words` is what, in one line. */
  asks(attention: Attention, event: HookEvent, words: string | null): void;
  goesOn(attention: Attention, session: string, outcome: string): void;
  /** Takes those off the docket that are not there any more. */
  look(): Promise<void>;
  close(): void;
}

const PATIENCE_MS = 10_000;
const LOOK_MS = 60_000;
const TOOL_CHARS_MAX = 64;
const WAITING_MAX = 5_000;

export function createBlockedSessions(options: BlockedOptions): BlockedSessions {
  const { patienceMs = PATIENCE_MS, lookMs = LOOK_MS, isLive, hubs, report } = options;
  /** Asking, and not on the docket yet. */
  const waiting = new Map<string, NodeJS.Timeout>();
  const keyOf = (space: string, session: string): string => `${space} ${session}`;
  const looking = setInterval(() => void look(), lookMs).unref();

  function asks({ space, agent, hub }: Attention, event: HookEvent, words: string | null): void {
    const { session, tool, isQuestion } = event;
    const key = keyOf(space, session);
    if (hub === null || waiting.size >= WAITING_MAX) return;
    const since = hub.stamp();
    const reason =
      tool === null || isQuestion
        ? 'asks its person'
        : `asks leave for ${shortened(tool.replaceAll(/\s+/g, ' '), TOOL_CHARS_MAX)}`;
    clearTimeout(waiting.get(key));
    const raise = (): void => {
      waiting.delete(key);
      const told = { agent, session, reason, text: words ?? reason, since };
      submit(hub, { type: 'docket.block', by: SERVER, at: hub.stamp(), ...told });
    };
    waiting.set(key, setTimeout(raise, patienceMs).unref());
  }

  function goesOn({ space, hub }: Attention, session: string, outcome: string): void {
    const key = keyOf(space, session);
    clearTimeout(waiting.get(key));
    if (waiting.delete(key) || hub === null) return;
    // Nothing is recorded where it is not on the docket; after a restart only the docket knows.
    submit(hub, { type: 'docket.unblock', by: SERVER, at: hub.stamp(), session, outcome });
  }

  function submit(hub: Hub, command: Parameters<Hub['submit']>[0]): void {
    hub.submitThen(command, (outcome) => {
      if (isRefusal(outcome)) report('a blocked session is not on the docket', outcome.message);
    });
  }

  async function look(): Promise<void> {
    for (const hub of hubs()) {
      const sessions = await hub.ask(blockedSessions);
      if (isRefusal(sessions)) continue;
      for (const { session, agent } of sessions) {
        if (isLive(hub.space, agent)) continue;
        const outcome = 'the session is gone';
        submit(hub, { type: 'docket.unblock', by: SERVER, at: hub.stamp(), session, outcome });
      }
    }
  }

  return {
    asks,
    goesOn,
    look,
    close() {
      clearInterval(looking);
      for (const timer of waiting.values()) clearTimeout(timer);
      waiting.clear();
    },
  };
}
