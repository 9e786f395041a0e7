/**
 * What an agent is doing, as its hooks tell it: at work and on what, asking a person, or done. It is
 * evidence for presence [PE3]: kept in memory beside the rest of it, and good for as long as the
 * session's process is there. No vendor says when a person has answered, so a question stands until
 * the tool it was about has ended.
 */
import type { Hooked } from '../desk/seen.ts';
import { type HookEvent, shortened } from './hook-event.ts';

const NOTE_CHARS_MAX = 200;

export type Doing = Pick<Hooked, 'state' | 'note'>;

/** Null where the event says nothing of it. A stop and a start are told by who lets the agent rest. */
export function doingOf({ kind, tool, words, isQuestion, ...event }: HookEvent): Doing | null {
  switch (kind) {
    case 'tool_about':
      return isQuestion
        ? { state: 'blocked', note: lineOf('asks', words ?? tool) }
        : { state: 'busy', note: lineOf(tool, words ?? objectOf(event)) };
    case 'asked': {
      const what = tool === null ? words : lineOf(tool, objectOf(event) ?? words);
      return { state: 'blocked', note: lineOf(tool === null ? 'asks' : 'asks leave for', what) };
    }
    case 'rested':
      return { state: 'idle', note: null };
    case 'turn_started':
    case 'answered':
    case 'tool_used':
      return { state: 'busy', note: null };
    case 'session_started':
    case 'stop_requested':
    case 'session_ended':
      return null;
  }
}

function objectOf({ paths, command }: Pick<HookEvent, 'paths' | 'command'>): string | null {
  return paths.length > 0 ? paths.join(', ') : command;
}

function lineOf(name: string | null, what: string | null): string | null {
  const parts = [name, what].filter((one) => one !== null);
  const line = parts
    .join(': ')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return line === '' ? null : shortened(line, NOTE_CHARS_MAX);
}

/** Since when: an agent that goes on with the next tool has been busy all the while. */
export function nextHooked(
  before: Hooked | null,
  doing: Doing,
  at: number,
  isLive: () => boolean,
): Hooked {
  const since = before?.state === doing.state && before.isLive() ? before.since : at;
  return { ...doing, since, at, isLive };
}
